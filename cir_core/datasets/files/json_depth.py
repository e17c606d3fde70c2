"""Limit JSON nesting and number length before parsing.

ijson stores a path for every open array, so its memory grows with the square of the depth;
``json`` overflows the interpreter's stack. No data set nests more than a few levels.
An integer of more than 4,300 digits crashes the process in ijson's C parser.

Own code: ijson limits neither, and raises no ``RecursionError`` that could be caught.
"""

from __future__ import annotations

from io import BytesIO
from itertools import accumulate
from typing import BinaryIO

DEEPEST = 100
BLOCK = 2**16

_MOST_DIGITS = 1000
_LONG = b"0" * (_MOST_DIGITS + 1)
_AS_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_NOT_STRUCTURE = bytes(set(range(256)) - set(b'[]{}"'))
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


class TooDeep(ValueError):
    """``offset``: byte position of the bracket that exceeds the limit."""

    def __init__(self, offset: int) -> None:
        super().__init__(f"nested too deep: more than {DEEPEST} arrays and objects in each other at byte {offset}")
        self.offset = offset


class LongNumber(TooDeep):
    """``offset``: a nearby byte position."""

    def __init__(self, offset: int) -> None:
        ValueError.__init__(self, f"no data: there are more than {_MOST_DIGITS:,} digits in a row near byte {offset}")
        self.offset = offset


class LongRecord(TooDeep):
    """``offset``: a nearby byte position."""

    def __init__(self, offset: int, most: int) -> None:
        ValueError.__init__(self, f"no record: one array or object of more than {most >> 20} MB goes on at byte "
                                  f"{offset}")
        self.offset = offset


class DepthLimited:
    """A binary stream of JSON that raises ``TooDeep`` where it is nested deeper than ``DEEPEST``,
    ``LongNumber`` before a block with more than a thousand digits in a row, and ``LongRecord`` where
    something below ``level`` arrays and objects has more than ``most`` bytes, to a block.

    Content before that bracket is still returned, so that a parser yields the records
    before it. Brackets in strings do not count; invalid JSON is left to the parser.
    """

    def __init__(self, source: BinaryIO, *, level: int = 0, most: int | None = None) -> None:
        self._source, self._level, self._most = source, level, most
        self._below = 0      # bytes since the depth was last at most level
        self._offset = source.tell()
        self._depth = 0
        self._in_string = self._after_backslash = False
        self._digits = b""   # the end of the last block, digits as zeros
        self._problem: TooDeep | None = None

    def read(self, size: int = -1) -> bytes:
        if self._problem:
            raise self._problem
        if size < 0:
            return b"".join(iter(lambda: self.read(BLOCK), b""))
        block = self._source.read(size)
        digits = self._digits + block.translate(_AS_ZEROS)
        if _LONG in digits:
            self._problem = LongNumber(self._offset)
            raise self._problem
        self._digits = digits[-_MOST_DIGITS:]
        if self.passes(block):
            self._offset += len(block)
            if self._most is not None and self._below > self._most:
                self._problem = LongRecord(self._offset, self._most)
                raise self._problem
            return block
        place = self._place(block)
        self._problem = TooDeep(self._offset + place)
        if not place:
            raise self._problem
        return block[:place]

    def passes(self, block: bytes) -> bool:
        """Whether ``block`` stays within the depth limit; if so, the state advances past it."""
        text = block[self._after_backslash:]
        after_backslash = (len(text) - len(text.rstrip(b"\\"))) % 2 == 1
        if rb'\"' in text:  # escapes matter only if quotes are escaped
            if rb"\\" in text:
                text = text.replace(rb"\\", b"")
            text = text.replace(rb'\"', b"")
        parts = text.translate(None, _NOT_STRUCTURE).split(b'"')
        brackets = b"".join(parts[self._in_string::2])
        # Most of a file is records of a few levels: they are removed as a whole, and counted as two.
        few = brackets.replace(b"[]", b"").replace(b"{}", b"")
        depths = list(accumulate(map(_STEP.__getitem__, few), initial=self._depth))
        if max(depths) > DEEPEST - 2:
            depths = list(accumulate(map(_STEP.__getitem__, brackets), initial=self._depth))
            if max(depths) > DEEPEST:
                return False
        self._below = self._below + len(block) if min(depths) > self._level else 0
        self._depth, self._after_backslash = depths[-1], after_backslash
        self._in_string ^= len(parts) % 2 == 0
        return True

    def _place(self, block: bytes) -> int:
        """Position in ``block`` of the bracket that exceeds the limit."""
        depth, in_string, escaped = self._depth, self._in_string, self._after_backslash
        for place, byte in enumerate(block):
            if escaped:
                escaped = False
            elif byte == ord("\\"):
                escaped = True
            elif byte == ord('"'):
                in_string = not in_string
            elif not in_string:
                depth += _STEP.get(byte, 0)
                if depth > DEEPEST:
                    return place
        raise AssertionError("the block is shallow")


def is_too_deep(text: str) -> bool:
    """Whether one line of JSON is nested deeper than ``DEEPEST``."""
    if text.count("[") + text.count("{") <= DEEPEST:
        return False
    return not DepthLimited(BytesIO()).passes(text.encode("utf-8", "replace"))
