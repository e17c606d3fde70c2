"""Walk a folder of images: the files that may be images, and what is left out, each with the reason.

What other programs and systems keep beside images (trash, thumbnails, sidecar files) is left out, and what the patterns
of ``.cirqueignore`` and of the caller say, in the syntax of gitignore. Every command that looks through a folder for
images uses this walk.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pathspec.pattern import RegexPattern
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
_MOST_LETTERS = 4096        # of a pattern, as of a path
_MOST_BYTES = 2**20         # of a .cirqueignore
_CLASSES = {                # of POSIX, as parts of a set of characters; those of ASCII, as in Git
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "blank": r" \t", "cntrl": r"\x00-\x1f\x7f", "digit": "0-9",
    "graph": r"\x21-\x7e", "lower": "a-z", "print": r"\x20-\x7e", "punct": r"\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e",
    "space": r"\t-\r ", "upper": "A-Z", "xdigit": "0-9A-Fa-f",
}
_LONGEST_CLASS = 64         # characters looked at
_SET = "\0"                 # stands for a set of characters: no name has it
_AROUND = "ps_d"            # pathspec's group for the slash after a folder around the path that it matched


class _UnknownClass(ValueError):
    """A set of characters names one that POSIX does not have."""


@dataclass(frozen=True)
class Walked:
    """Paths are relative to the folder walked and spelled as in the file system."""

    files: tuple[str, ...]                      # in no particular order
    left_out: tuple[tuple[str, str], ...] = ()  # (path, reason); the path of a folder ends with a slash
    unreadable: tuple[tuple[str, str], ...] = ()    # (folder, reason)


@dataclass(frozen=True)
class _Rule:
    pattern: RegexPattern   # without the slash at its end
    takes_out: bool
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
                        if not self._is_included(path, entry.name, folder, rules, is_folder=True):
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
                          and self._is_included(path, entry.name, folder, rules, is_folder=False)):
                        self.files.append(path)
                except OSError:
                    continue  # a link to itself

    def _is_included(self, path: str, name: str, folder: str, rules: tuple[_Rules, ...], *, is_folder: bool) -> bool:
        reason = _own_reason(name, folder, is_folder=is_folder)
        if self.given.rules or rules:
            spelled = unicodedata.normalize("NFC", path)
            for one in (self.given, *reversed(rules)):     # the caller's come first, then those nearest to the file
                if (rule := one.verdict(spelled, is_folder)) is not None:
                    if rule.takes_out:
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
    walking = _Walk(source, _option_rules(exclude, include))
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


def _option_rules(exclude: Sequence[str], include: Sequence[str]) -> _Rules:
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
    if not text.strip() or text.startswith("#"):
        return None
    if len(text) > _MOST_LETTERS:
        raise GalleryError(f"{where}: a pattern has more than {_MOST_LETTERS:,} characters, more than any path has.")
    names = text.split("/")
    if names.count("**") > _MOST_STARS or any(name.count("*") > _MOST_STARS for name in names):
        raise GalleryError(f"{where}: {quoted(text)} has more than {_MOST_STARS} stars. Use fewer.")
    plain = unicodedata.normalize("NFC", text if text.endswith("\\ ") else text.rstrip(" "))
    wrong = "is not a pattern as in .gitignore. Examples: '*.gif', 'drafts/', '!keep.png'."
    try:
        spelled, sets = _without_sets(plain.removesuffix("/"))
        regex, takes_out = GitIgnoreSpecPattern.pattern_to_regex(spelled)
        if regex is not None and takes_out is not None:
            parts = zip(regex.split(_SET), (*sets, ""), strict=True)
            return _Rule(RegexPattern("".join(map("".join, parts))), takes_out, plain.endswith("/"), reason)
    except _UnknownClass as error:
        wrong = (f"has {error}, which is not a class of characters. There are "
                 f"{', '.join(f'[:{name}:]' for name in _CLASSES)}.")
    except (ValueError, re.error):
        pass
    raise GalleryError(f"{where}: {quoted(text)} {wrong}")


def _without_sets(pattern: str) -> tuple[str, list[str]]:
    """``pattern`` with a sign in place of each set of characters in brackets, and a regular expression for each: in
    those, pathspec knows neither classes nor backslashes, and lets them fit slashes.

    Raises ``ValueError`` for a set without an end, with a slash, with a range that is none, or of an unknown class.
    """
    if _SET in pattern:
        raise ValueError("no name has such a character")
    names, sets, at = list[str](), list[str](), 0
    while at < len(pattern):
        if pattern[at] == "[":
            regex, at = _set(pattern, at + 1)
            sets.append(regex)
            names.append(_SET)
        else:
            length = 2 if pattern[at] == "\\" else 1
            names.append(pattern[at:at + length])
            at += length
    return "".join(names), sets


def _set(pattern: str, at: int) -> tuple[str, int]:
    """The regular expression for the set that begins at ``at``, behind its bracket, and where the pattern goes on."""
    negated = pattern[at:at + 1] in ("!", "^")
    at += negated
    begin, parts, before = at, list[str](), ""
    while at == begin or pattern[at:at + 1] != "]":
        if pattern[at:at + 1] == "-" and before and pattern[at + 1:at + 2] != "]":
            last, at = _character(pattern, at + 1)
            parts.append(f"-{re.escape(last)}")     # re refuses one that ends before it begins
            before = ""
        elif name := _class_at(pattern, at):
            parts.append(_CLASSES.get(name[2:-2], ""))
            if not parts[-1]:
                raise _UnknownClass(name)
            at, before = at + len(name), ""
        else:
            before, at = _character(pattern, at)
            parts.append(re.escape(before))
    return f"(?!/)[{'^' * negated}{''.join(parts)}]", at + 1


def _character(pattern: str, at: int) -> tuple[str, int]:
    at += pattern[at:at + 1] == "\\"
    if pattern[at:at + 1] in ("", "/"):
        raise ValueError("a set of characters without an end")
    return pattern[at], at + 1


def _class_at(pattern: str, at: int) -> str:
    """The class in a set that begins at ``at``, known or not, such as "[:digit:]"; "" if there is none."""
    end = pattern.find("]", at + 2, at + _LONGEST_CLASS) if pattern.startswith("[:", at) else -1
    return pattern[at:end + 1] if end > at + 2 and pattern[end - 1] == ":" else ""


def by_folder(files: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """``files`` as (folder, names), in the order of folders; "" is the folder walked."""
    folders: dict[str, list[str]] = {}
    for path in files:
        folder, _, name = path.rpartition("/")
        folders.setdefault(folder, []).append(name)
    yield from sorted(folders.items())
