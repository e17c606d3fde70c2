"""The captions of several reference images as one text, of which only what they share is meant to stay.

A language model reads the text as it is; the built-in one takes it apart again with :func:`captions_in`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

BEGINNING = "what these pictures share:"
_NUMBER = re.compile(r"(?:^|; )\((\d)\) ")
_UNKNOWN = "not described"


def one_caption(captions: Sequence[str]) -> str:
    """``captions``, numbered from 1; a single one is left as it is. Of an image without one, nothing is known to be
    shared; without any, "".

    >>> one_caption(["a red dress", "a red shirt"])
    'what these pictures share: (1) a red dress; (2) a red shirt'
    """
    if len(captions) == 1:
        return captions[0]
    numbered = (f"({number}) {caption.strip().rstrip('.;') or _UNKNOWN}"
                for number, caption in enumerate(captions, start=1))
    return f"{BEGINNING} {'; '.join(numbered)}" if any(caption.strip() for caption in captions) else ""


def captions_in(text: str) -> tuple[str, ...]:
    """The inverse of :func:`one_caption`, with "" for an image without a caption; () for a text of another form."""
    beginning, found, rest = text.strip().partition(BEGINNING)
    if not found or beginning:
        return ()
    pieces = _NUMBER.split(rest.strip())   # what is before (1), then number and caption in turn
    return tuple("" if piece == _UNKNOWN else piece.strip() for piece in pieces[2::2])
