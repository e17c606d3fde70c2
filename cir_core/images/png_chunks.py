"""PNG files without what Pillow stumbles over though the pixels need none of it, and the colours that they name."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import BinaryIO

from cir_core.images.profiles import SRGB_PRIMARIES, described, gamma, matrix_profile

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_SMALL = 100             # bytes of a chunk, which unpack to a tenth of a megabyte at most
_CHUNKS = 100_000        # looked at: pixels come in chunks of 8 kB and more
_PILLOW = 2**20          # bytes of a profile that Pillow unpacks
_LARGEST = 2**24         # bytes of a profile; those of scanners and printers have a few megabytes
_MOST_EXIF = 2**20
_ANIMATION = (b"acTL", b"fcTL", b"fdAT")
_OF_COLOURS = (b"iCCP", b"sRGB", b"gAMA", b"cHRM", b"cICP")
_USUAL_GAMMA, _NEARLY = 45455, 100      # alone, it stands for sRGB
_WHITE = (0.3127, 0.3290)
_Chunk = tuple[bytes, int, int]


def readable(stream: BinaryIO) -> tuple[BinaryIO, bytes | None]:
    """``stream``, which may begin with a PNG, or a copy of it in memory without the chunks that Pillow stumbles over
    and the pixels do not need: long texts (the history of an editor, the workflow of an image generator), damaged ones.
    And a profile of the colours that the file describes otherwise than by a profile that Pillow reads; b"" if it says
    that they are those of sRGB, None if it says nothing. Whatever is wrong with the pixels is left to the decoder."""
    stream.seek(0)
    if stream.read(8) != _SIGNATURE:
        stream.seek(0)
        return stream, None
    chunks = list(islice(_chunks(stream), _CHUNKS))
    if len(chunks) == _CHUNKS:      # made to be many, not to hold pixels
        stream.seek(0)
        return stream, None
    left_out = {chunk for chunk in chunks if _is_of_no_use(stream, chunk)}
    profile = _colours(stream, [chunk for chunk in chunks if chunk not in left_out])
    left_out |= {chunk for chunk in chunks if chunk[0] in _OF_COLOURS and profile is not None}
    stream.seek(0)
    if not left_out:
        return stream, profile
    lean = io.BytesIO()
    lean.write(stream.read(8))
    for chunk in chunks:
        if chunk not in left_out:
            _, begin, length = chunk
            stream.seek(begin - 8)
            lean.write(stream.read(8 + length + 4))
    lean.seek(0)
    return lean, profile


def _chunks(stream: BinaryIO) -> Iterator[_Chunk]:
    """Kind, where its data begin, and their length, of each chunk; the last one may be cut off."""
    while len(head := stream.read(8)) == 8:
        length, kind = struct.unpack(">I4s", head)
        begin = stream.tell()
        yield kind, begin, length
        stream.seek(begin + length + 4)


def _is_of_no_use(stream: BinaryIO, chunk: _Chunk) -> bool:
    kind, begin, length = chunk
    if not kind[0] & 0x20:      # its name begins with a capital letter: the pixels need it
        return False
    if kind in _ANIMATION:
        return kind != b"fdAT" and not _is_whole(stream, begin, length, 8 if kind == b"acTL" else 26)
    if kind == b"iCCP":
        return length > _LARGEST or not _is_whole(stream, begin, length, 3)
    if kind == b"eXIf":
        return length > _MOST_EXIF or not _is_whole(stream, begin, length, 8)
    least = {b"sRGB": 1, b"gAMA": 4, b"cHRM": 32, b"cICP": 4, b"tRNS": 1, b"pHYs": 9}.get(kind, 0)
    return length > (768 if kind == b"tRNS" else _SMALL) or not _is_whole(stream, begin, length, least)


def _is_whole(stream: BinaryIO, begin: int, length: int, least: int) -> bool:
    """Whether a chunk has ``least`` bytes of data and is as it was written."""
    if length < least:
        return False
    stream.seek(begin - 4)
    content, code = stream.read(length + 4), stream.read(4)
    return len(code) == 4 and zlib.crc32(content) == int.from_bytes(code, "big")


def _colours(stream: BinaryIO, chunks: Sequence[_Chunk]) -> bytes | None:
    """In the order of the standard (PNG, third edition, 4.3): the numbers of H.273, a profile, sRGB, gamma."""
    found: dict[bytes, _Chunk] = {}
    for chunk in chunks:
        if chunk[0] == b"IDAT":
            break
        if chunk[0] in _OF_COLOURS:
            found.setdefault(chunk[0], chunk)

    def numbers(kind: bytes, form: str) -> tuple[int, ...]:
        stream.seek(found[kind][1])
        return struct.unpack(form, stream.read(struct.calcsize(form)))

    if b"cICP" in found:
        primaries, transfer, _, _ = numbers(b"cICP", ">BBBB")
        if (profile := described(primaries, transfer, video=True)) is not None:
            return profile
    if b"iCCP" in found:
        return _profile(stream, *found[b"iCCP"][1:])
    if b"sRGB" in found:
        return b""
    if b"gAMA" not in found or not 1000 <= (value := numbers(b"gAMA", ">I")[0]) <= 1_000_000:
        return None
    if b"cHRM" not in found and abs(value - _USUAL_GAMMA) <= _NEARLY:
        return b""
    white, *corners = _points(numbers(b"cHRM", ">8I")) if b"cHRM" in found else [_WHITE, *SRGB_PRIMARIES]
    return matrix_profile(corners, white, gamma(100_000 / value))


def _points(numbers: Sequence[int]) -> list[tuple[float, float]]:
    return [(x / 100_000, y / 100_000) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]


def _profile(stream: BinaryIO, begin: int, length: int) -> bytes | None:
    """The profile in a chunk, if it is too large for Pillow; None if Pillow reads it; b"" if it is none."""
    stream.seek(begin)
    _, _, packed = stream.read(length).partition(b"\0")
    unpacking = zlib.decompressobj()
    try:
        found = unpacking.decompress(packed[1:], _LARGEST)
    except zlib.error:
        return b""
    if len(found) <= _PILLOW:
        return None
    return b"" if unpacking.unconsumed_tail else found
