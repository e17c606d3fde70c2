"""Files of all kinds to RGB images, safely.

The content decides what a file is, not its name. Size is checked from the header, before
any pixel is decoded, and memory is taken from one budget for the process
(:mod:`cir_core.images.decode_budget`). Whatever is wrong with a file ends as one :class:`ImageUnreadable`.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import re
import threading
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from PIL import Image

from cir_core.errors import ImageUnreadable
from cir_core.images.decode_budget import PATIENCE, budget
from cir_core.images.decoded_size import decoding_bytes
from cir_core.images.pixels import consumed_to_rgb

_Result = TypeVar("_Result")

KNOWN = "JPEG, PNG, WebP, GIF, HEIC, AVIF, TIFF, BMP"
ENCODER_EDGE = 1024
THUMBNAIL_EDGE = 320

# Pillow knows dozens of formats; rarely used decoders are rarely tested ones.
_FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "HEIF", "AVIF")
_TIFF = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
_ORIENTATION = 0x0112
_UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180, 4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_270, 7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def process_image(
    source: Path | bytes | BinaryIO, work: Callable[[Image.Image], _Result], *, max_megapixels: float, name: str = "",
    draft_edge: int | None = None, patience: float | None = PATIENCE,
) -> _Result:
    """What ``work`` makes of ``source``, decoded: RGB, upright, first frame, transparency on white.

    Decoding and ``work`` take their memory from the budget of the process, so ``work`` should make the image small.
    ``name`` stands for the image in errors (default: the file's name). ``draft_edge`` lets a JPEG be decoded at a
    fraction of its size, no smaller than that many pixels on its longer edge: much faster, and good enough for
    thumbnails. It gives slightly other pixels, so it is for nothing that is encoded or named after its pixels.
    ``patience``: seconds to wait for the budget; None: without end, for work in the background.

    Raises:
        ImageUnreadable: absent, empty, not an image, larger than ``max_megapixels``, cut
            off or damaged; the text says which.
        DecodingBusy: too many others are being decoded.
    """
    if isinstance(source, (str, Path)):
        name = name or Path(source).name
        with _opened(Path(source), name) as stream:
            return _processed(stream, work, name, max_megapixels, draft_edge, patience)
    opened = io.BytesIO(source) if isinstance(source, bytes) else source
    own = getattr(opened, "name", "")
    name = name or (Path(own).name if isinstance(own, str) else "") or "The image"
    return _processed(opened, work, name, max_megapixels, draft_edge, patience)


def open_image(
    source: Path | bytes | BinaryIO, *, max_megapixels: float, name: str = "", draft_edge: int | None = None
) -> Image.Image:
    """``source`` decoded, in its full size. See :func:`process_image`, which is better where a smaller image will do:
    the memory of what is handed out here is the caller's own affair."""
    return process_image(source, lambda image: image, max_megapixels=max_megapixels, name=name, draft_edge=draft_edge)


def reason_of(error: ImageUnreadable, name: str) -> str:
    """The text of ``error`` without the image's name in front, for lists that show the name."""
    return str(error).removeprefix(f"{name} ")


def looks_like_image(head: bytes) -> bool:
    """Whether a file that starts with ``head`` (16 bytes or more) may be an image we read."""
    return (
        head.startswith((b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF8", b"BM", *_TIFF))
        or (head[:4] == b"RIFF" and head[8:12] == b"WEBP")
        or (head[4:8] == b"ftyp" and head[8:12] in
            (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1", b"avif", b"avis"))
    )


def for_encoder(image: Image.Image) -> Image.Image:
    """``image``, or a copy scaled to 1024 pixels on its longer edge: no encoder looks closer."""
    return within(image, ENCODER_EDGE, gap=1.5)


def save_thumbnail(image: Image.Image, path: Path, edge: int = THUMBNAIL_EDGE) -> None:
    """Write ``image`` as WebP, at most ``edge`` pixels on a side. The file appears whole or not."""
    small = within(image, edge, gap=1.0)
    content = io.BytesIO()
    # Method 0 takes a quarter of the default's time for files a few per cent larger.
    small.save(content, "WEBP", quality=80, method=0)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.stem}.{os.getpid()}-{threading.get_ident()}.part")
    part.write_bytes(content.getbuffer())
    part.replace(path)


def within(image: Image.Image, edge: int, *, gap: float) -> Image.Image:
    """``image``, or a smaller one of at most ``edge`` pixels on its longer edge.

    Pixels are first averaged in whole squares down to ``gap`` times the size wanted: a third of the time for photos,
    and nobody sees the difference.
    """
    if max(image.size) <= edge:
        return image
    small = image._new(image.im)   # shares the pixels, which a thumbnail replaces and never changes
    small.thumbnail((edge, edge), Image.Resampling.LANCZOS, reducing_gap=gap)
    return small


def _opened(path: Path, name: str) -> BinaryIO:
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise ImageUnreadable(f"{name} is not there (any more).") from None
    except IsADirectoryError:
        raise ImageUnreadable(f"{name} is a folder, not an image.") from None
    except PermissionError:
        raise ImageUnreadable(f"{name} may not be read: permission denied.") from None
    except OSError as error:
        raise ImageUnreadable(f"{name} cannot be read from disk: {error.strerror or error}.") from error


def _processed(
    stream: BinaryIO, work: Callable[[Image.Image], _Result], name: str, max_megapixels: float,
    draft_edge: int | None, patience: float | None,
) -> _Result:
    try:
        head = stream.read(32)
    except OSError as error:
        raise ImageUnreadable(f"{name} cannot be read from disk: {error.strerror or error}.") from error
    if not head:
        raise ImageUnreadable(f"{name} is empty (0 bytes).")
    stream.seek(0)
    image = _header(stream, head, name)
    full = image.size
    if full[0] * full[1] / 1e6 > max_megapixels:
        raise ImageUnreadable(_too_large(name, full[0] * full[1] / 1e6, max_megapixels))
    if draft_edge and image.format in ("JPEG", "MPO"):
        with _explained(name, max_megapixels):
            _draft(image, draft_edge)
    with budget().hold(decoding_bytes(image, full), patience=patience):
        with _explained(name, max_megapixels):
            rgb = _decoded(image)
        return work(rgb)


@contextlib.contextmanager
def _explained(name: str, max_megapixels: float) -> Iterator[None]:
    """What goes wrong in a decoder as ``ImageUnreadable``."""
    try:
        yield
    except Image.DecompressionBombError as error:  # a frame larger than its header says
        raise ImageUnreadable(_too_large(name, _pixels_of(error), max_megapixels)) from error
    except MemoryError as error:
        raise ImageUnreadable(f"{name} needs more memory than there is.") from error
    except Exception as error:  # decoders raise OSError, SyntaxError, ValueError, struct.error, …
        if re.search(r"truncated|unexpected end|end of file|premature|incomplete", str(error), re.I):
            raise ImageUnreadable(f"{name} is cut off: its last part is missing. Copy it again.") from error
        raise ImageUnreadable(f"{name} is damaged and cannot be decoded ({error}).") from error


def _decoded(image: Image.Image) -> Image.Image:
    """All of ``image``, which cannot be used afterwards."""
    image.load()
    # Metadata stays behind: a rotation tag would be applied twice, a place is nobody's
    # business. A profile still describes the pixels, unless they were converted by it.
    profile = image.info.get("icc_profile") if image.mode in ("RGB", "RGBA") else None
    turn = _turn(image)
    plain = image.mode == "RGB" and not image.has_transparency_data
    rgb = image._new(image.im) if plain else consumed_to_rgb(image)   # what is RGB already is not copied
    Image.Image.close(image)   # lets go of its pixels; the stream is not ours to close
    if turn is not None:
        rgb = rgb.transpose(turn)
    rgb.info = {"icc_profile": profile} if profile else {}
    return rgb


def _header(stream: BinaryIO, head: bytes, name: str) -> Image.Image:
    # Image.open warns by size through process-wide settings and filters, which threads
    # share; the plugins behind it are called directly and the size is ours to judge.
    for factory, accept in _plugins():
        if accept is not None and accept(head) is not True:
            continue
        try:
            stream.seek(0)
            # Without a name: by that Pillow would map a file into memory, wherever it lies.
            image: Image.Image = factory(stream, "")
        except Image.DecompressionBombError as error:
            raise ImageUnreadable(
                f"{name} is {_pixels_of(error):.0f} megapixels, more than can be decoded. Scale it down."
            ) from error
        except Exception:  # not this format after all, or a broken header
            continue
        if image.width > 0 and image.height > 0:
            return image
    if looks_like_image(head):
        raise ImageUnreadable(f"{name} is damaged: it starts like an image, but its header cannot be read.")
    raise ImageUnreadable(f"{name} is not in a readable image format. Use {KNOWN}.")


@cache
def _plugins() -> tuple[tuple[Callable[..., Any], Callable[[bytes], bool | str] | None], ...]:
    Image.init()
    with contextlib.suppress(ImportError):  # HEIC files then cannot be read
        importlib.import_module("pillow_heif").register_heif_opener(thumbnails=False)
    return tuple(Image.OPEN[name] for name in _FORMATS if name in Image.OPEN)


def _draft(image: Image.Image, edge: int) -> None:
    scale = edge / max(image.size)
    if scale < 1:
        image.draft(None, (max(1, round(image.width * scale)), max(1, round(image.height * scale))))


def _turn(image: Image.Image) -> Image.Transpose | None:
    try:
        return _UPRIGHT.get(image.getexif().get(_ORIENTATION, 1))
    except Exception:  # broken EXIF is no reason to lose the picture
        return None


def _too_large(name: str, megapixels: float, limit: float) -> str:
    return f"{name} is {megapixels:.0f} megapixels; the limit is {limit:g} (CIRQUE_MAX_IMAGE_MEGAPIXELS)."


def _pixels_of(error: Exception) -> float:
    found = re.search(r"\((\d+) pixels\)", str(error))
    return int(found[1]) / 1e6 if found else float("inf")
