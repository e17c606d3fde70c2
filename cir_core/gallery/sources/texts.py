"""Captions and ids of archives and tables."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence

from cir_core.support.texts import counted, quoted

_MOST_CAPTION = 1000    # characters


def caption_of(value: object) -> str | None:
    """A text, or the first of several, on one line; None if there is none."""
    if isinstance(value, list | tuple):
        value = next((one for one in value if isinstance(one, str)), None)
    if not isinstance(value, str):
        return None
    return unicodedata.normalize("NFC", " ".join(value[:_MOST_CAPTION].split())) or None


def repeated(names: Sequence[str], ids: Sequence[str], what: str, instead: str) -> tuple[str, ...]:
    """A remark on names that several images have."""
    count = sum(name != image_id for name, image_id in zip(names, ids, strict=True))
    if not count:
        return ()
    name, times = Counter(names).most_common(1)[0]
    return (f"{counted(count, 'image')} share a {what} with another one ({quoted(name)} occurs {times} times); the id "
            f"of each is {instead}.",)
