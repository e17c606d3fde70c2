"""Storage of a gallery's optimised captions.

    <home>/galleries/<name>/captions/
        captions.jsonl      the published captions, replaced atomically, in four lines: their header, one
                            caption for each image, how each was chosen, and the checksum of these three
        texts.jsonl         all answers of the language model so far (see ``caption_answers``)
        ranks.jsonl         earlier choices by candidates, so that they are not ranked again
        lock

Captions belong to the images they were ranked against: once the gallery is indexed again
with other images or another encoder, they are ignored until they are built anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from cir_core.captions.captions import CaptionChoice, RankSummary
from cir_core.errors import GalleryError
from cir_core.gallery.gallery import Gallery
from cir_core.gallery.paths import locked
from cir_core.support.checksums import signed, sum_of
from cir_core.support.files import write_durably
from cir_core.support.texts import quoted

FORMAT = 1
_COLUMNS = ("sample", "rank", "cosine", "distinct", "first_rank")
_DAMAGE = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)


@dataclass(frozen=True)
class CaptionsHeader:
    """What the published captions depend on, and what choosing them gained."""

    captioner: str              # the language model
    samples: int                # M, captions requested per image
    domain: str
    encoder_revision: str
    gallery_digest: str
    digest: str                 # 16 hex of ids and captions, in gallery order
    created_at: str             # ISO 8601, UTC
    images: int                 # in the gallery
    captioned: int              # images with a caption
    incomplete: int             # images whose caption was chosen from fewer than M answers
    distinct: float             # different captions per image, mean
    before: RankSummary         # with each image's first caption
    after: RankSummary          # with the chosen one


@dataclass(frozen=True, eq=False)
class GalleryCaptions:
    """The captions of one generation of a gallery. ``texts``: image id to caption."""

    header: CaptionsHeader
    texts: Mapping[str, str]

    @property
    def digest(self) -> str:
        return self.header.digest

    def caption_of(self, image_id: str) -> str | None:
        """The image's caption; None if it has none, or is not in this gallery."""
        return self.texts.get(image_id)


def captions_folder(gallery: Gallery) -> Path:
    return gallery.folder / "captions"


def captions_path(gallery: Gallery) -> Path:
    return captions_folder(gallery) / "captions.jsonl"


_known: weakref.WeakValueDictionary[tuple[Path, int, int, str, str], GalleryCaptions] = weakref.WeakValueDictionary()
_reading = threading.Lock()


def read_captions(gallery: Gallery) -> GalleryCaptions | None:
    """The published captions of ``gallery``; cheap while another reference to them exists.

    None if there are none, or none for these images and this encoder (:func:`why_ignored`
    gives the reason). Raises ``GalleryError`` if they are damaged.
    """
    path = captions_path(gallery)
    with _reading:
        try:
            with path.open("rb") as file:
                state = os.fstat(file.fileno())
                key = (path, state.st_mtime_ns, state.st_size, gallery.digest, gallery.encoder.revision)
                known = _known.get(key)
                if known is not None:
                    return known
                first = file.readline()
                if not _fits(_header(first), gallery):
                    return None
                header, column, _ = _checked(first + file.read())
                texts = {image_id: text for image_id, text in zip(gallery.ids, column, strict=True) if text}
                if _digest(texts) != header.digest:     # all that tells damage of earlier versions' files
                    raise ValueError("it does not match its checksum")
        except FileNotFoundError:
            return None
        except _DAMAGE as error:
            raise GalleryError(_damaged(path, gallery.name, error)) from error
        captions = GalleryCaptions(header, MappingProxyType(texts))
        _known[key] = captions
        return captions


def why_ignored(gallery: Gallery) -> str | None:
    """Why existing captions are ignored; None if they are used, or there are none."""
    header = _published(gallery)
    if header is None or _fits(header, gallery):
        return None
    if gallery.lost:
        return f"The captions of gallery {quoted(gallery.name)} are not used while it is damaged. {gallery.damage}"
    what = ("other images" if header.gallery_digest != gallery.digest else "another encoder")
    return (f"The captions of gallery {quoted(gallery.name)} were chosen for {what} and are not used. Choose again: "
            f"cirque captions build {gallery.name} (the language model's answers for the same images are reused)")


def read_choices(gallery: Gallery) -> tuple[dict[str, CaptionChoice], dict[str, str]]:
    """How each caption was chosen, and why images have none or got fewer answers; both
    by image id, in gallery order. Empty where :func:`read_captions` gives None."""
    path = captions_path(gallery)
    try:
        header, column, rest = _checked(path.read_bytes())
        if not _fits(header, gallery):
            return {}, {}
        fields = [rest[field] for field in _COLUMNS]
        choices = {
            image_id: CaptionChoice(text, *row)
            for image_id, text, row in zip(gallery.ids, column, zip(*fields, strict=True), strict=True) if text
        }
        return choices, dict(rest["problems"])
    except FileNotFoundError:
        return {}, {}
    except _DAMAGE as error:
        raise GalleryError(_damaged(path, gallery.name, error)) from error


def write_captions(
    gallery: Gallery, header: CaptionsHeader, choices: Mapping[str, CaptionChoice], problems: Mapping[str, str]
) -> CaptionsHeader:
    """Publish ``choices``. Nothing is written if they are published already; returns the header
    now published, with its time."""
    rows = [choices.get(image_id) for image_id in gallery.ids]
    rest: dict[str, Any] = {field: [row and getattr(row, field) for row in rows] for field in _COLUMNS}
    rest["problems"] = list(problems.items())
    body = b"".join(_line(part) for part in ([row and row.caption for row in rows], rest))
    path = captions_path(gallery)
    try:
        content = path.read_bytes()
        published, *_ = _checked(content)
        old_body = content.partition(b"\n")[2]
        if old_body.startswith(body) and replace(published, created_at=header.created_at) == header:
            if old_body == body:    # of an earlier version
                write_durably(path, _with_sum(content))
            return published
    except _DAMAGE:
        pass  # nothing usable is there
    write_durably(path, _with_sum(_line({"format": FORMAT, **asdict(header)}) + body))
    return header


def check_captions(gallery: str, folder: Path) -> str:
    """What is damaged of the captions of ``gallery``, in the gallery's ``folder``, and what to do; "" if nothing is, or
    there are none."""
    path = folder / "captions" / "captions.jsonl"
    try:
        _checked(path.read_bytes())
    except FileNotFoundError:
        return ""
    except _DAMAGE as error:
        return _damaged(path, gallery, error)
    return ""


def remove_captions(gallery: Gallery) -> bool:
    """Delete the captions and all their working files; returns whether there were any. Raises ``GalleryError`` while
    they are being built."""
    folder = captions_folder(gallery)
    if not folder.is_dir():
        return False
    with captions_locked(gallery):
        captions_path(gallery).unlink(missing_ok=True)
        shutil.rmtree(folder)
    return True


@contextmanager
def captions_locked(gallery: Gallery) -> Iterator[None]:
    """Exclusive lock for building captions. Searching and indexing continue meanwhile. Raises ``GalleryError`` if
    another process holds it."""
    folder = captions_folder(gallery)
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(folder))
        except GalleryError as error:
            holder = (folder / "lock").read_text("ascii").strip()
            raise GalleryError(f"The captions of gallery {quoted(gallery.name)} are being made by another process"
                               f"{f' (process {holder})' if holder else ''}. Wait until it is done, or stop it: its "
                               "progress is saved.") from error
        yield


def captions_digest(ids: Sequence[str], choices: Mapping[str, CaptionChoice]) -> str:
    """16 hex of the ids and captions of the images that have one, in the order of ``ids``."""
    return _digest({image_id: choices[image_id].caption for image_id in ids if image_id in choices})


def _digest(texts: Mapping[str, str]) -> str:
    digest = hashlib.sha256()
    for image_id, text in texts.items():
        digest.update(f"{image_id}\0{text}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]


def _published(gallery: Gallery) -> CaptionsHeader | None:
    path = captions_path(gallery)
    try:
        with path.open("rb") as file:
            return _header(file.readline())
    except FileNotFoundError:
        return None
    except _DAMAGE as error:
        raise GalleryError(_damaged(path, gallery.name, error)) from error


def _checked(content: bytes) -> tuple[CaptionsHeader, list[str | None], Any]:
    """Header, captions, and how they were chosen. Raises what :data:`_DAMAGE` holds if they are not what was written;
    earlier versions wrote no checksum, and of theirs only the captions can be told."""
    first, column, rest, *more = content.split(b"\n")
    header, texts, chosen = _header(first), json.loads(column), json.loads(rest)
    if more and more[0]:
        if more != [signed({"sum": sum_of(b"\n".join((first, column, rest, b"")))}), b""]:
            raise ValueError("it does not match its checksum")
    elif len([text for text in texts if text]) != header.captioned or len(texts) != header.images:
        raise ValueError("its captions do not match its header")
    return header, texts, chosen


def _with_sum(content: bytes) -> bytes:
    return content + signed({"sum": sum_of(content)}) + b"\n"


def _header(line: bytes) -> CaptionsHeader:
    content = json.loads(line)
    if content.pop("format") != FORMAT:
        raise ValueError("written by another version of cirque")
    return CaptionsHeader(**{
        **content, "before": RankSummary(**content["before"]), "after": RankSummary(**content["after"]),
    })


def _fits(header: CaptionsHeader, gallery: Gallery) -> bool:
    return (header.gallery_digest, header.encoder_revision) == (gallery.digest, gallery.encoder.revision)


def _line(content: Any) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode() + b"\n"


def _damaged(path: Path, gallery: str, error: Exception) -> str:
    return f"{path} cannot be used ({error}). Choose again: cirque captions build {gallery}"
