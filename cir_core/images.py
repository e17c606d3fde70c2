"""Files of all kinds to RGB images, safely.

The content decides what a file is, not its name. Size is checked from the header, before
any pixel is decoded. Whatever is wrong with a file ends as one :class:`ImageUnreadable`.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import re
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from PIL import Image

from cir_core.errors import ImageUnreadable
from cir_core.pixels import to_rgb

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


def open_image(
    source: Path | bytes | BinaryIO, *, max_megapixels: float, name: str = "", draft_edge: int | None = None
) -> Image.Image:
    """Decode ``source``: RGB, upright, first frame, transparency on white.

    ``name`` stands for the image in errors (default: the file's name). ``draft_edge`` lets a
    JPEG be decoded at a fraction of its size, no smaller than that many pixels on its longer
    edge; good enough for thumbnails and much faster.

    Raises:
        ImageUnreadable: absent, empty, not an image, larger than ``max_megapixels``, cut
            off or damaged; the text says which.
    """
    if isinstance(source, (str, Path)):
        name = name or Path(source).name
        try:
            with Path(source).open("rb") as stream:
                return _decode(stream, name, max_megapixels, draft_edge)
        except FileNotFoundError:
            raise ImageUnreadable(f"{name} is not there (any more).") from None
        except IsADirectoryError:
            raise ImageUnreadable(f"{name} is a folder, not an image.") from None
        except PermissionError:
            raise ImageUnreadable(f"{name} may not be read: permission denied.") from None
        except OSError as error:
            raise ImageUnreadable(f"{name} cannot be read from disk: {error.strerror or error}.") from error
    opened = io.BytesIO(source) if isinstance(source, bytes) else source
    return _decode(opened, name or Path(str(getattr(opened, "name", "") or "The image")).name,
                   max_megapixels, draft_edge)


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
    return _within(image, ENCODER_EDGE, gap=1.5)


def save_thumbnail(image: Image.Image, path: Path, edge: int = THUMBNAIL_EDGE) -> None:
    """Write ``image`` as WebP, at most ``edge`` pixels on a side. The file appears whole or not."""
    small = _within(image, edge, gap=1.0)
    content = io.BytesIO()
    # Method 0 takes a quarter of the default's time for files a few per cent larger.
    small.save(content, "WEBP", quality=80, method=0)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.stem}.{os.getpid()}-{threading.get_ident()}.part")
    part.write_bytes(content.getbuffer())
    part.replace(path)


def _within(image: Image.Image, edge: int, *, gap: float) -> Image.Image:
    if max(image.size) <= edge:
        return image
    small = image.copy()
    # Pixels are first averaged in whole squares down to `gap` times the size wanted: a third
    # of the time for photos, and nobody sees the difference.
    small.thumbnail((edge, edge), Image.Resampling.LANCZOS, reducing_gap=gap)
    return small


def _decode(stream: BinaryIO, name: str, max_megapixels: float, draft_edge: int | None) -> Image.Image:
    head = stream.read(32)
    if not head:
        raise ImageUnreadable(f"{name} is empty (0 bytes).")
    stream.seek(0)
    image = _header(stream, head, name)
    megapixels = image.width * image.height / 1e6
    if megapixels > max_megapixels:
        raise ImageUnreadable(_too_large(name, megapixels, max_megapixels))
    try:
        if draft_edge and image.format in ("JPEG", "MPO"):
            _draft(image, draft_edge)
        image.load()
        rgb = _upright(image, to_rgb(image))
        # Metadata stays behind: a rotation tag would be applied twice, a place is nobody's
        # business. A profile still describes the pixels, unless they were converted by it.
        profile = image.info.get("icc_profile") if image.mode in ("RGB", "RGBA") else None
        rgb.info = {"icc_profile": profile} if profile else {}
        return rgb
    except Image.DecompressionBombError as error:  # a frame larger than its header says
        raise ImageUnreadable(_too_large(name, _pixels_of(error), max_megapixels)) from error
    except MemoryError as error:
        raise ImageUnreadable(f"{name} needs more memory than there is.") from error
    except Exception as error:  # decoders raise OSError, SyntaxError, ValueError, struct.error, …
        if re.search(r"truncated|unexpected end|end of file|premature|incomplete", str(error), re.I):
            raise ImageUnreadable(f"{name} is cut off: its last part is missing. Copy it again.") from error
        raise ImageUnreadable(f"{name} is damaged and cannot be decoded ({error}).") from error


def _header(stream: BinaryIO, head: bytes, name: str) -> Image.Image:
    # Image.open warns by size through process-wide settings and filters, which threads
    # share; the plugins behind it are called directly and the size is ours to judge.
    for factory, accept in _plugins():
        if accept is not None and accept(head) is not True:
            continue
        try:
            stream.seek(0)
            image: Image.Image = factory(stream, name)
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
    raise ImageUnreadable(f"{name} is not an image cirque can read ({KNOWN}).")


@cache
def _plugins() -> tuple[tuple[Callable[..., Any], Callable[[bytes], bool | str] | None], ...]:
    Image.init()
    with contextlib.suppress(ImportError):  # HEIC files are then "not an image cirque can read"
        importlib.import_module("pillow_heif").register_heif_opener(thumbnails=False)
    return tuple(Image.OPEN[name] for name in _FORMATS if name in Image.OPEN)


def _draft(image: Image.Image, edge: int) -> None:
    scale = edge / max(image.size)
    if scale < 1:
        image.draft(None, (max(1, round(image.width * scale)), max(1, round(image.height * scale))))


def _upright(image: Image.Image, rgb: Image.Image) -> Image.Image:
    try:
        orientation = image.getexif().get(_ORIENTATION, 1)
    except Exception:  # broken EXIF is no reason to lose the picture
        orientation = 1
    return rgb.transpose(_UPRIGHT[orientation]) if orientation in _UPRIGHT else rgb


def _too_large(name: str, megapixels: float, limit: float) -> str:
    return f"{name} is {megapixels:.0f} megapixels; the limit is {limit:g} (CIRQUE_MAX_IMAGE_MEGAPIXELS)."


def _pixels_of(error: Exception) -> float:
    found = re.search(r"\((\d+) pixels\)", str(error))
    return int(found[1]) / 1e6 if found else float("inf")
