"""Why a file cannot be an image of a gallery: words that follow its name."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from typing import Any, BinaryIO

from cir_core.images.tiff_numbers import kind_of, lacks_samples, tags_of

KNOWN = "JPEG, PNG, WebP, GIF, HEIC, AVIF, TIFF, BMP"
EMPTY = "is empty (0 bytes)."
CUT_OFF = "is cut off: its last part is missing. Copy it again."
_OTHERS = (
    (b"\0\0\0\x0cjP  ", "a JPEG 2000 file"), (b"\xff\x4f\xff\x51", "a JPEG 2000 file"),
    (b"\0\0\0\x0cJXL ", "a JPEG XL file"), (b"\xff\x0a", "a JPEG XL file"), (b"II\xbc", "a JPEG XR file"),
    (b"8BPS", "a Photoshop file"), (b"gimp xcf", "a GIMP file"), (b"%PDF", "a PDF file"), (b"<svg", "an SVG drawing"),
    (b"\0\0\1\0", "a Windows icon"), (b"icns", "an icon of macOS"), (b"v/1\1", "an OpenEXR file"),
    (b"#?RADIANCE", "a Radiance file"), (b"DDS ", "a DirectDraw surface"), (b"qoif", "a QOI file"),
    (b"P4", "a Netpbm file"), (b"P5", "a Netpbm file"), (b"P6", "a Netpbm file"), (b"P7", "a Netpbm file"),
    (b"FUJIFILM", "a camera raw file"), (b"IIRO", "a camera raw file"), (b"IIRS", "a camera raw file"),
    (b"IIU\0", "a camera raw file"), (b"FOVb", "a camera raw file"),
)
_BRANDS = {b"crx ": "a camera raw file", b"qt  ": "a video", b"isom": "a video", b"iso2": "a video", b"mp41": "a video",
           b"mp42": "a video", b"M4V ": "a video", b"avc1": "a video", b"3gp4": "a video", b"3gp5": "a video"}
HEIC = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")
_OF_PYTHON = re.compile(r"unpack|buffer|bytes-like|index out of|object |argument|attribute|NoneType|not subscriptable")
_DEPTH = re.compile(r"cannot handle (\d{1,3})-bit")
_FRAMES = re.compile(rb"\xff([\xc0-\xc3\xc5-\xc7\xc9-\xcb\xcd-\xcf\xf7])\0")
_LOSSLESS = b"\xc3\xc7\xcb\xcf\xf7"
_LOOKED_AT = 2**20      # bytes
_UNUSUAL_BMP = "Unsupported BMP"
_BMP = struct.Struct("<14xI10xHI20x3I")     # length of the header, bits a pixel, compression, three masks
_BMP_HEADERS, _BMP_BITS = (12, 16, 40, 52, 56, 64, 108, 124), (0, 1, 2, 4, 8, 16, 24, 32, 64)
_OLDEST_BMP, _MASKS = 12, 3
_INSIDE_BMP = {4: "a JPEG inside", 5: "a PNG inside"}


def unknown(head: bytes) -> str:
    """For a file that begins with ``head`` (32 bytes) and is of none of the formats that cirque reads."""
    if not head:
        return EMPTY
    kind = next((kind for begin, kind in _OTHERS if head.startswith(begin)), None)
    if head[4:8] == b"ftyp":
        kind = _BRANDS.get(head[8:12])
    if kind is None:
        return f"cannot be read as an image. Use {KNOWN}."
    return f"is {kind}, which cirque does not read. Use {KNOWN}."


def unopened(stream: BinaryIO, head: bytes, tags: Mapping[int, Any], why: str, *, known: bool) -> str:
    """For a file that no decoder opens. ``known``: it begins like those of a format that cirque reads; ``tags``: those
    of a TIFF; ``why``: what a decoder said."""
    if not known:
        return unknown(head)
    if head[4:8] == b"ftyp" and head[8:12] in HEIC and not _reads_heic():
        return "is a HEIC file, for which cirque needs the extra heic (docs/start/install.md)."
    if ("unknown" in why or why.isdigit()) and (kind := kind_of(tags)):     # the number of a compression
        return f"is a TIFF that cirque cannot decode: {kind}. Save it as PNG, JPEG or a TIFF of 8 or 16 bits."
    if found := _DEPTH.search(why):
        return f"is a JPEG of {found[1]} bits a colour, which cirque does not decode. Save it with 8 bits."
    if _is_lossless(stream, head):
        return "is a lossless JPEG, which cirque does not decode. Save it as PNG."
    if why.startswith(_UNUSUAL_BMP) and (kind := _kind_of_bmp(stream)):
        return f"is a BMP of a form that cirque does not decode: {kind}. Save it as PNG."
    return f"is damaged, or of a kind that cirque cannot decode: its header cannot be read{_in_brackets(why)}."


def undecoded(stream: BinaryIO, error: Exception) -> str:
    """For a file whose header can be read and whose pixels cannot."""
    stream.seek(0)
    head = stream.read(32)
    if lacks_samples(stream, tags_of(stream, head)):
        return CUT_OFF
    if _is_lossless(stream, head):
        return "is a lossless JPEG, which cirque does not decode. Save it as PNG."
    return f"is damaged, or of a kind that cirque cannot decode{_in_brackets(str(error))}."


def _kind_of_bmp(stream: BinaryIO) -> str:
    """What a BMP holds that no decoder opens; "" if there is no such form."""
    stream.seek(0)
    head = stream.read(_BMP.size).ljust(_BMP.size, b"\0")
    length, bits, compression, *masks = _BMP.unpack(head)
    if length == _OLDEST_BMP:
        bits, compression = int.from_bytes(head[24:26], "little"), 0
    shares = [mask.bit_count() for mask in masks]
    if length not in _BMP_HEADERS or bits not in _BMP_BITS or (compression == _MASKS and bits > 8 and not all(shares)):
        return ""
    if compression == _MASKS and bits > 8:
        return f"{bits} bits a pixel, of them {shares[0]}, {shares[1]} and {shares[2]} for red, green and blue"
    return _INSIDE_BMP.get(compression, "") if not bits else f"{bits} bits a pixel, compression {compression}"


def _in_brackets(why: str) -> str:
    """A decoder's message about the image; messages about Python's own calls are left out."""
    words = why.strip().rstrip(".")
    return f" ({words})" if words and not _OF_PYTHON.search(words) else ""


def _is_lossless(stream: BinaryIO, head: bytes) -> bool:
    if not head.startswith(b"\xff\xd8\xff"):
        return False
    stream.seek(0)
    found = _FRAMES.search(stream.read(_LOOKED_AT))
    return found is not None and found[1] in _LOSSLESS


def _reads_heic() -> bool:
    from PIL import Image

    return "HEIF" in Image.OPEN
