"""Decode image files of any supported format to RGB, safely.

The format is detected from the content, not the file name. Size is checked from the header, before
any pixel is decoded, and memory is taken from one budget for the process
(:mod:`cir_core.images.decode_budget`). Every failure is raised as :class:`ImageUnreadable`.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import io
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from PIL import GifImagePlugin, Image, ImageChops, ImagePalette, JpegImagePlugin, TiffImagePlugin

from cir_core.errors import ImageUnreadable
from cir_core.images import jpeg_ends, png_chunks, refusals, tiff_numbers
from cir_core.images.decode_budget import PATIENCE, budget, decoding_bytes
from cir_core.images.pixels import consumed_to_rgb, strips
from cir_core.images.profiles import numbers_of
from cir_core.support.files import write_atomically

_Result = TypeVar("_Result")

ENCODER_EDGE = 1024
THUMBNAIL_EDGE = 320

# Pillow supports dozens of formats; rarely used decoders are rarely tested ones.
_FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "HEIF", "AVIF")
_TIFF = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
_ORIENTATION = 0x0112
_UPPER_BYTES, _LOWER_BYTES = "RGB;16B", "RGB;16L"       # how Pillow's decoder reads the pixels of a PNG of 16 bits
_NEW_SUBFILE, _SUBFILE = 254, 255
_PREVIEW_EDGE = 512      # pixels: a first picture up to that size may be a preview that does not say so
_MOST_PICTURES = 64      # of a file, looked at
_LARGER = 4              # times the pixels: what a preview is of
_UNLIKE = 0.03           # by so much its proportions may differ
_CUT_OFF = re.compile(r"truncated|unexpected end|end of file|premature|incomplete", re.I)
_UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180, 4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_270, 7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def process_image(
    source: Path | bytes | BinaryIO, work: Callable[[Image.Image], _Result], *, max_megapixels: float, name: str = "",
    draft_edge: int | None = None, patience: float | None = PATIENCE,
) -> _Result:
    """Apply ``work`` to ``source``, decoded: RGB, upright, first frame, transparency on white.

    Decoding and ``work`` take their memory from the budget of the process, so ``work`` should make the image small.
    ``name`` identifies the image in errors (default: the file's name). ``draft_edge`` lets a JPEG be decoded at a
    fraction of its size, no smaller than that many pixels on its longer edge: much faster, and good enough for
    thumbnails. Pixels differ slightly, so use it for nothing that is encoded or named after its pixels.
    ``patience``: seconds to wait for the budget; None: without limit, for background work.

    Raises:
        ImageUnreadable: absent, empty, not an image, larger than ``max_megapixels``, cut
            off or damaged; the text says which.
        DecodingBusy: too many other images are being decoded.
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
    """``source`` decoded, in its full size. Prefer :func:`process_image` where a smaller image will do: the budget does
    not cover the image returned here."""
    return process_image(source, lambda image: image, max_megapixels=max_megapixels, name=name, draft_edge=draft_edge)


def reason_of(error: ImageUnreadable, name: str) -> str:
    """The text of ``error`` without the image's name in front, for lists that show the name."""
    return str(error).removeprefix(f"{name} ")


def looks_like_image(head: bytes) -> bool:
    """Whether a file that starts with ``head`` (16 bytes or more) may be a supported image."""
    return (
        head.startswith((b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF8", b"BM", *_TIFF))
        or (head[:4] == b"RIFF" and head[8:12] == b"WEBP")
        or (head[4:8] == b"ftyp" and head[8:12] in (*refusals.HEIC, b"avif", b"avis"))
    )


def for_encoder(image: Image.Image) -> Image.Image:
    """``image``, or a copy scaled to 1024 pixels on its longer edge: encoders use no more."""
    return within(image, ENCODER_EDGE, gap=1.5)


def thumbnail(image: Image.Image) -> bytes:
    """``image`` as WebP, at most ``THUMBNAIL_EDGE`` pixels on a side."""
    small = within(image, THUMBNAIL_EDGE, gap=1.0)
    content = io.BytesIO()
    # Method 0 takes a quarter of the default's time for files a few per cent larger.
    small.save(content, "WEBP", quality=80, method=0)
    return content.getvalue()


def save_thumbnail(image: Image.Image, path: Path) -> None:
    """Write the :func:`thumbnail` of ``image``. Atomic."""
    write_atomically(path, thumbnail(image), synced=False)


def within(image: Image.Image, edge: int, *, gap: float) -> Image.Image:
    """``image``, or a smaller one of at most ``edge`` pixels on its longer edge. Pixels are first averaged in whole
    squares down to ``gap`` times the target size: a third of the time for photos, without a visible difference."""
    if max(image.size) <= edge:
        return image
    small = image._new(image.im)   # shares the pixels, which a thumbnail replaces and never modifies
    small.thumbnail((edge, edge), Image.Resampling.LANCZOS, reducing_gap=gap)
    return small


def _opened(path: Path, name: str) -> BinaryIO:
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise ImageUnreadable(f"{name} is missing.") from None
    except IsADirectoryError:
        raise ImageUnreadable(f"{name} is a folder, not an image.") from None
    except PermissionError:
        raise ImageUnreadable(f"{name} cannot be read: permission denied.") from None
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
        raise ImageUnreadable(f"{name} {refusals.EMPTY}")
    try:
        stream, profile = png_chunks.readable(stream)
    except OSError as error:
        raise ImageUnreadable(f"{name} cannot be read from disk: {error.strerror or error}.") from error
    image = _header(stream, head, name)
    main = _main_picture(image, name)
    if main or image.format == "TIFF":
        with _explained(stream, name, max_megapixels):
            image.seek(main)
    if image.format in ("AVIF", "HEIF") and not image.info.get("icc_profile"):
        with _explained(stream, name, max_megapixels):
            profile = numbers_of(stream)
    if profile is not None:
        image.info["icc_profile"] = profile
    if image.format == "TIFF" and image.mode in ("P", "PA") and (colours := tiff_numbers.eight_bit_map(_tags(image))):
        image.palette = ImagePalette.raw("RGB;L", colours)
    full = image.size
    if full[0] * full[1] / 1e6 > max_megapixels:
        raise ImageUnreadable(_too_large(name, full[0] * full[1] / 1e6, max_megapixels))
    if draft_edge and image.format == "JPEG":
        with _explained(stream, name, max_megapixels):
            _draft(image, draft_edge)
    with budget().hold(decoding_bytes(image, full), patience=patience):
        with _explained(stream, name, max_megapixels):
            try:
                rgb = _decoded(image, stream)
            except Exception as error:
                second = _second_try(image, stream, error)
                if second is None:
                    raise
                rgb = _decoded(second, stream)
        return work(rgb)


def _second_try(image: Image.Image, stream: BinaryIO, error: Exception) -> Image.Image | None:
    """``image``, which could not be decoded, in the form that can be; None if there is none."""
    size, form, second = image.size, image.format, image.tell() > 0
    Image.Image.close(image)    # releases what was decoded
    if form == "PNG" and second:      # its animation is broken, but there is the picture in its place
        stream.seek(0)
        still = cast(Image.Image, _plugin("PNG")(stream, ""))
        still.info["icc_profile"] = image.info.get("icc_profile")
        return still if still.size == size else None
    if form == "JPEG" and _CUT_OFF.search(str(error)):

        def again(content: bytes) -> Image.Image:
            whole = JpegImagePlugin.JpegImageFile(io.BytesIO(content), "")
            if size != whole.size:      # at a fraction of its size
                whole.draft(None, size)
            return whole

        def digest(content: bytes) -> bytes:
            whole, pixels = again(content), hashlib.sha256()
            for box in strips(size):
                pixels.update(whole.crop(box).tobytes())
            return pixels.digest()

        content = jpeg_ends.ended(stream, digest)
        return None if content is None else again(content)
    return None


@contextlib.contextmanager
def _explained(stream: BinaryIO, name: str, max_megapixels: float) -> Iterator[None]:
    """Convert decoder failures to ``ImageUnreadable``."""
    try:
        yield
    except Image.DecompressionBombError as error:  # a frame larger than its header says
        raise ImageUnreadable(_too_large(name, _pixels_of(error), max_megapixels)) from error
    except MemoryError as error:
        raise ImageUnreadable(f"{name} needs more memory than is available.") from error
    except Exception as error:  # decoders raise OSError, SyntaxError, ValueError, struct.error, …
        if _CUT_OFF.search(str(error)):
            raise ImageUnreadable(f"{name} {refusals.CUT_OFF}") from error
        raise ImageUnreadable(f"{name} {refusals.undecoded(stream, error)}") from error


def _decoded(image: Image.Image, stream: BinaryIO) -> Image.Image:
    """All of ``image`` in ``stream``, which cannot be used afterwards."""
    # The first frame of a GIF may cover a part of the picture; nothing is seen around it.
    frame = image.tile[0][1] if isinstance(image, GifImagePlugin.GifImageFile) and image.tile else None
    tiles: Any = getattr(image, "tile", None)
    deep = image.format == "PNG" and bool(tiles) and tiles[0].args == _UPPER_BYTES
    image.load()
    if deep and isinstance(clear := image.info.pop("transparency", None), tuple):
        _clear_exactly(image, stream, clear)
    turn = _turn(image)
    rgb = consumed_to_rgb(image)
    if frame is not None and frame != (0, 0, *rgb.size):
        part = rgb.crop(frame)
        rgb.paste("white", (0, 0, *rgb.size))
        rgb.paste(part, frame[:2])
    Image.Image.close(image)   # releases its pixels; the stream belongs to the caller
    if turn is not None:
        rgb = rgb.transpose(turn)
    rgb.info = {}   # a rotation tag would be applied twice, a profile too, and a location is private
    return rgb


def _clear_exactly(image: Image.Image, stream: BinaryIO, clear: tuple[int, ...]) -> None:
    """Make transparent what has the colour ``clear`` of 16 bits in the PNG in ``stream``. Pillow keeps the upper bytes
    alone, in which colours are the same that are not; so the lower ones are read, too."""
    stream.seek(0)
    lower: Any = _plugin("PNG")(stream, "")
    lower.seek(image.tell())
    lower.tile = [part._replace(args=_LOWER_BYTES) for part in lower.tile]
    lower.load()
    image.putalpha(255)     # in place
    for box in strips(image.size):
        part, other = image.crop(box), Image.new("L", (box[2], box[3] - box[1]))
        bands = zip((*part.split()[:3], *lower.crop(box).split()[:3]),
                    (*(value >> 8 for value in clear), *(value & 255 for value in clear)), strict=True)
        for band, value in bands:
            other = ImageChops.lighter(other, band.point([255 * (level != value) for level in range(256)]))
        part.putalpha(other)
        image.paste(part, box)
    Image.Image.close(lower)


def _header(stream: BinaryIO, head: bytes, name: str) -> Image.Image:
    tags = tiff_numbers.tags_of(stream, head)
    numbers = tiff_numbers.opened(stream, tags)
    if numbers is not None and numbers.width > 0 and numbers.height > 0:
        return numbers
    # Image.open warns about sizes through process-wide settings and filters, which threads
    # share; so the plugins are called directly and the size is checked here.
    why = ""
    for factory, accept in _plugins():
        if accept is not None and accept(head) is not True:
            continue
        try:
            stream.seek(0)
            # Without a name: given one, Pillow would map the file into memory, wherever it is.
            image: Image.Image = factory(stream, "")
        except Image.DecompressionBombError as error:
            raise ImageUnreadable(f"{name} is {_pixels_of(error):.0f} megapixels, more than can be decoded. Scale it "
                                  "down.") from error
        except Exception as error:  # not this format after all, or a broken header, or a form that is not supported
            why = why or str(error)
            continue
        if image.width > 0 and image.height > 0:
            return image
    raise ImageUnreadable(f"{name} {refusals.unopened(stream, head, tags, why, known=looks_like_image(head))}")


def _main_picture(image: Image.Image, name: str) -> int:
    """The number of the main picture. The first of a TIFF may be a small copy of another one, as in camera raw files
    and in scans; that of an animated PNG may be a picture for programs that do not show animations. Of other files with
    several pictures, the first is the one that viewers show.

    Raises ``ImageUnreadable`` if only a small copy can be read.
    """
    if image.format == "PNG":
        return 1 if getattr(image, "default_image", False) and getattr(image, "n_frames", 1) > 1 else 0
    if image.format != "TIFF":
        return 0
    first, reduced = image.size, _is_reduced(image)
    if not reduced and max(first) > _PREVIEW_EDGE:
        return 0
    best, size = 0, first
    with contextlib.suppress(Exception):     # the end of the file, or a broken directory: what was found counts
        for number in range(1, _MOST_PICTURES):
            try:
                image.seek(number)
            except (SyntaxError, KeyError, OSError):     # the unprocessed pixels of a camera, for example
                continue
            (width, height), (own_width, own_height) = image.size, first
            alike = reduced or abs(width * own_height - height * own_width) <= _UNLIKE * width * own_height
            if not _is_reduced(image) and alike and width * height >= _LARGER * size[0] * size[1]:
                best, size = number, image.size
    if reduced and not best:
        raise ImageUnreadable(f"{name} is a file of which only a preview of {first[0]} × {first[1]} pixels can be "
                              "read, as in camera raw files. Export it as JPEG or PNG.")
    return best


def _is_reduced(image: Image.Image) -> bool:
    """Whether a TIFF's directory says that it is a smaller version of another (tags NewSubfileType and SubfileType)."""
    tags = _tags(image)
    return bool(tags.get(_NEW_SUBFILE, 0) & 1) or tags.get(_SUBFILE) == 2


def _tags(image: Image.Image) -> Any:
    return getattr(image, "tag_v2", {})


@cache
def _plugins() -> tuple[tuple[Callable[..., Any], Callable[[bytes], bool | str] | None], ...]:
    Image.init()
    # Pillow itself takes the first of several planes of 16 bits for all of them.
    TiffImagePlugin.READ_LIBTIFF = True
    with contextlib.suppress(ImportError):  # HEIC files are then reported as unreadable
        importlib.import_module("pillow_heif").register_heif_opener(thumbnails=False)
    # Without the plugin for several pictures in a JPEG, which stumbles over a broken list of them: the first counts.
    return tuple((JpegImagePlugin.JpegImageFile if name == "JPEG" else Image.OPEN[name][0], Image.OPEN[name][1])
                 for name in _FORMATS if name in Image.OPEN)


def _plugin(form: str) -> Callable[..., Any]:
    return Image.OPEN[form][0]


def _draft(image: Image.Image, edge: int) -> None:
    scale = edge / max(image.size)
    if scale < 1:
        image.draft(None, (max(1, round(image.width * scale)), max(1, round(image.height * scale))))


def _turn(image: Image.Image) -> Image.Transpose | None:
    try:
        return _UPRIGHT.get(image.getexif().get(_ORIENTATION, 1))
    except Exception:  # broken EXIF is no reason to reject the image
        return None


def _too_large(name: str, megapixels: float, limit: float) -> str:
    return f"{name} is {megapixels:.0f} megapixels; the limit is {limit:g} (CIRQUE_MAX_IMAGE_MEGAPIXELS)."


def _pixels_of(error: Exception) -> float:
    found = re.search(r"\((\d+) pixels\)", str(error))
    return int(found[1]) / 1e6 if found else float("inf")
