"""PNG files without what they say about themselves, whose size Pillow limits though the pixels need none of it."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_TEXTS = (b"tEXt", b"zTXt", b"iTXt")
_SMALL = 100             # bytes of a chunk, which unpack to a tenth of a megabyte at most
_CHUNKS = 100_000        # looked at: pixels come in chunks of 8 kB and more
_PILLOW = 2**20          # bytes of a profile that Pillow unpacks
_LARGEST = 2**24         # bytes of a profile; those of scanners and printers have a few megabytes


def without_texts(stream: BinaryIO) -> tuple[BinaryIO, bytes | None]:
    """``stream``, which begins with a PNG, or a copy of it in memory without long texts (the history of an editor, the
    workflow of an image generator); and the colour profile, where it is larger than Pillow takes. Whatever is wrong
    with the file is left to the decoder."""
    stream.seek(0)
    if stream.read(8) != _SIGNATURE:
        stream.seek(0)
        return stream, None
    chunks = list(islice(_chunks(stream), _CHUNKS))
    if len(chunks) == _CHUNKS:      # made to be many, not to hold pixels
        stream.seek(0)
        return stream, None
    profile = next((_profile(stream, begin, length) for kind, begin, length in chunks
                    if kind == b"iCCP" and length > _SMALL), None)
    left_out = {begin for kind, begin, length in chunks if (kind in _TEXTS and length > _SMALL)
                or (kind == b"iCCP" and profile is not None)}
    stream.seek(0)
    if not left_out:
        return stream, None
    lean = io.BytesIO()
    lean.write(stream.read(8))
    for _, begin, length in chunks:
        if begin not in left_out:
            stream.seek(begin - 8)
            lean.write(stream.read(8 + length + 4))
    lean.seek(0)
    return lean, profile or None


def _chunks(stream: BinaryIO) -> Iterator[tuple[bytes, int, int]]:
    """Kind, where its data begin, and their length, of each chunk; the last one may be cut off."""
    while len(head := stream.read(8)) == 8:
        length, kind = struct.unpack(">I4s", head)
        begin = stream.tell()
        yield kind, begin, length
        stream.seek(begin + length + 4)


def _profile(stream: BinaryIO, begin: int, length: int) -> bytes | None:
    """The profile in a chunk, if it is too large for Pillow; b"" if it is too large at all."""
    stream.seek(begin)
    _, _, packed = stream.read(min(length, _LARGEST)).partition(b"\0")
    unpacking = zlib.decompressobj()
    try:
        found = unpacking.decompress(packed[1:], _LARGEST)
    except zlib.error:
        return None
    if len(found) <= _PILLOW:
        return None
    return b"" if unpacking.unconsumed_tail else found
