"""Walk a folder of images: the files that may be images, and what is left out, each with the reason.

What other programs and systems keep beside images (trash, thumbnails, sidecar files) is left out, and what the patterns
of ``.cirqueignore`` and of the caller say, in the syntax of gitignore. Every command that looks through a folder for
images uses this walk.
"""

from __future__ import annotations

import contextlib
import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from cir_core.errors import GalleryError
from cir_core.support.texts import quoted

IGNORE_FILE = ".cirqueignore"
IMAGE_SUFFIXES = frozenset({
    ".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".webp", ".gif", ".heic", ".heif", ".avif", ".tif", ".tiff", ".bmp",
})

_HIDDEN, _SYSTEM, _TRASH = "hidden", "kept by the system", "trash"
_PREVIEW, _SIDECAR = "previews of another program", "sidecar file"
# Names are compared without regard to case.
_FOLDERS = {
    "@eadir": _PREVIEW, "captureone": _PREVIEW,
    "#recycle": _TRASH, "@recycle": _TRASH, "$recycle.bin": _TRASH, "recycler": _TRASH, "network trash folder": _TRASH,
    "#snapshot": _SYSTEM, "@recently-snapshot": _SYSTEM, "system volume information": _SYSTEM, "lost+found": _SYSTEM,
    "__macosx": _SYSTEM,
}
_FILES = {
    "thumbs.db": _SYSTEM, "ehthumbs.db": _SYSTEM, "ehthumbs_vista.db": _SYSTEM, "desktop.ini": _SYSTEM,
    "icon\r": _SYSTEM, "picasa.ini": _SIDECAR,
}
_SIDECARS = frozenset({".xmp", ".aae", ".pp3", ".dop", ".on1", ".vrd"})
_LIBRARIES = (".photoslibrary", ".photolibrary", ".migratedphotolibrary", ".aplibrary")   # of macOS: folders
_ORIGINALS = frozenset({"originals", "masters"})    # in a library; all else are versions and databases
_MOST_STARS = 4             # of a name in a pattern: matching takes a power of their number
_MOST_BYTES = 2**20         # of a .cirqueignore
_AROUND = "ps_d"            # pathspec's group for the slash after a folder around the path that it matched


@dataclass(frozen=True)
class Walked:
    """Paths are relative to the folder walked and spelled as in the file system."""

    files: tuple[str, ...]                      # in no particular order
    left_out: tuple[tuple[str, str], ...] = ()  # (path, reason); the path of a folder ends with a slash
    unreadable: tuple[tuple[str, str], ...] = ()    # (folder, reason)


@dataclass(frozen=True)
class _Rule:
    pattern: GitIgnoreSpecPattern   # without the slash at its end
    folders_only: bool
    reason: str

    def fits(self, path: str, is_folder: bool) -> bool:
        """Whether it names ``path`` itself, not a folder around it: those were decided before."""
        if self.folders_only and not is_folder:
            return False
        found = self.pattern.match_file(path)
        return found is not None and found.match.groupdict().get(_AROUND) is None


@dataclass(frozen=True)
class _Rules:
    """The rules of one file, for paths below ``base``."""

    base: str
    rules: tuple[_Rule, ...]

    def verdict(self, path: str, is_folder: bool) -> _Rule | None:
        below = path[len(self.base):]
        return next((rule for rule in reversed(self.rules) if rule.fits(below, is_folder)), None)


@dataclass
class _Walk:
    source: Path
    given: _Rules
    files: list[str] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)

    def run(self) -> None:
        home = self.source.resolve()
        seen = {home}
        folders: list[tuple[str, tuple[_Rules, ...]]] = [("", ())]
        while folders:
            folder, outer = folders.pop()
            try:
                inside = sorted(os.scandir(self.source / folder), key=lambda entry: entry.name)
            except OSError as error:
                self.unreadable.append(
                    (folder or ".", f"is a folder that cannot be read: {error.strerror or error}."))
                continue
            base = f"{folder}/" if folder else ""
            rules = outer
            if any(entry.name == IGNORE_FILE for entry in inside):
                rules = (*outer, _read_rules(self.source, base))
            for entry in inside:
                path = f"{base}{entry.name}"
                try:
                    if entry.is_dir():
                        if not self._taken(path, entry.name, folder, rules, is_folder=True):
                            continue
                        # A link to a folder is followed once, unless it leads into the tree: loops end, and nothing is
                        # listed twice.
                        if entry.is_symlink():
                            target = Path(entry.path).resolve()
                            if target in seen or target.is_relative_to(home) or home.is_relative_to(target):
                                continue
                            seen.add(target)
                        folders.append((path, rules))
                    elif (entry.name != IGNORE_FILE and (entry.is_file() or not Path(entry.path).exists())
                          and self._taken(path, entry.name, folder, rules, is_folder=False)):
                        self.files.append(path)
                except OSError:
                    continue  # a link to itself

    def _taken(self, path: str, name: str, folder: str, rules: tuple[_Rules, ...], *, is_folder: bool) -> bool:
        reason = _own_reason(name, folder, is_folder=is_folder)
        if self.given.rules or rules:
            spelled = unicodedata.normalize("NFC", path)
            for one in (self.given, *reversed(rules)):     # the caller's come first, then those nearest to the file
                if (rule := one.verdict(spelled, is_folder)) is not None:
                    if rule.pattern.include:
                        reason = reason or rule.reason
                    elif not (reason and rule.fits(_ordinary(spelled, is_folder)[len(one.base):], is_folder)):
                        reason = ""
                    break
        if reason:
            self.left_out.append((f"{path}/" if is_folder else path, reason))
        return not reason


def walk(source: Path, *, exclude: Sequence[str] = (), include: Sequence[str] = ()) -> Walked:
    """All files under ``source`` but those left out. ``exclude`` and ``include``: patterns of gitignore, relative to
    ``source``; ``include`` takes back what would be left out otherwise. Where several patterns fit a file or folder,
    one of ``include`` counts, else the last of ``exclude``, else the last of the nearest ``.cirqueignore``. What is
    left out without a pattern is taken back by one that means it, such as ``.*`` or ``@eaDir/``, not by one that fits
    all names, such as ``*``. What lies in a folder that is left out is not looked at.

    Raises ``GalleryError`` for a pattern that is none, naming its file and line, and for a ``.cirqueignore`` that
    cannot be read.
    """
    walking = _Walk(source, _given(exclude, include))
    walking.run()
    return Walked(tuple(walking.files), tuple(walking.left_out), tuple(walking.unreadable))


def _own_reason(name: str, folder: str, *, is_folder: bool) -> str:
    """Why a file or folder is left out where no pattern says anything; "" if it is not."""
    if name[0] == ".":
        return _HIDDEN
    plain = name.casefold()
    if is_folder:
        if folder.casefold().endswith(_LIBRARIES):
            return "" if plain in _ORIGINALS else _PREVIEW
        return _FOLDERS.get(plain) or (_PREVIEW if plain.endswith(".lrdata") else "")
    stem, dot, ending = plain.rpartition(".")
    if dot + ending in IMAGE_SUFFIXES:
        return ""
    if dot and ending == "thm":     # of cameras: a JPEG of 160 pixels
        return _PREVIEW
    if dot + ending in _SIDECARS or (
            dot and ending == "json" and any(f".{part}" in IMAGE_SUFFIXES for part in stem.split("."))):
        return _SIDECAR
    return _FILES.get(plain, "")


def _ordinary(path: str, is_folder: bool) -> str:
    """``path`` by a name that is not left out: a pattern that fits this too, as "*" does, does not mean the other."""
    folder, slash, name = path.rpartition("/")
    if name.startswith("."):
        return f"{folder}{slash}{name.lstrip('.') or 'x'}"
    stem = os.path.splitext(name)[0]  # noqa: PTH122
    return f"{folder}{slash}x" if is_folder else f"{folder}{slash}{'x' if name.casefold() in _FILES else stem}.jpg"


def _given(exclude: Sequence[str], include: Sequence[str]) -> _Rules:
    rules = []
    for option, patterns in (("--exclude", exclude), ("--include", include)):
        for pattern in patterns:
            reason = f"excluded by {option} {quoted(pattern)}"
            if not pattern.strip():
                raise GalleryError(f"{option} has no pattern. Give one such as '*.gif' or 'drafts/'.")
            if option == "--include":
                if pattern.startswith("!"):
                    raise GalleryError(f"{option} {quoted(pattern)} cannot be used: give the pattern without '!'.")
                pattern = f"!{pattern}"
            elif pattern.startswith("#"):     # in a file this begins a comment
                pattern = f"\\{pattern}"
            rules.append(_rule(pattern, reason, f"{option} {quoted(pattern)}"))
    return _Rules("", tuple(filter(None, rules)))


def _read_rules(source: Path, base: str) -> _Rules:
    file = f"{base}{IGNORE_FILE}"
    try:
        with (source / file).open("rb") as stream:
            content = stream.read(_MOST_BYTES + 1)
    except IsADirectoryError:
        return _Rules(base, ())
    except OSError as error:
        raise GalleryError(f"{source / file} cannot be read: {error.strerror or error}. Make it readable, or remove "
                           "it.") from error
    if len(content) > _MOST_BYTES:
        raise GalleryError(f"{source / file} is larger than a megabyte. Leave out whole folders instead of files.")
    rules = []
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        where = f"{source / file}, line {number}"
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            raise GalleryError(f"{where}: this is not UTF-8. Save the file as UTF-8.") from None
        if (rule := _rule(text, f"excluded by {file}, line {number}", where)) is not None:
            rules.append(rule)
    return _Rules(unicodedata.normalize("NFC", base), tuple(rules))


def _rule(text: str, reason: str, where: str) -> _Rule | None:
    """None for a comment and an empty line."""
    names = text.split("/")
    if names.count("**") > _MOST_STARS or any(name.count("*") > _MOST_STARS for name in names):
        raise GalleryError(f"{where}: {quoted(text)} has more than {_MOST_STARS} stars. Use fewer.")
    if not text.strip() or text.startswith("#"):
        return None
    plain = unicodedata.normalize("NFC", text if text.endswith("\\ ") else text.rstrip(" "))
    with contextlib.suppress(ValueError, re.error):
        pattern = GitIgnoreSpecPattern(plain.removesuffix("/"))
        if pattern.include is not None:
            return _Rule(pattern, plain.endswith("/"), reason)
    raise GalleryError(f"{where}: {quoted(text)} is not a pattern as in .gitignore. Examples: '*.gif', 'drafts/', "
                       "'!keep.png'.")


def by_folder(files: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """``files`` as (folder, names), in the order of folders; "" is the folder walked."""
    folders: dict[str, list[str]] = {}
    for path in files:
        folder, _, name = path.rpartition("/")
        folders.setdefault(folder, []).append(name)
    yield from sorted(folders.items())
