"""Combine the captions written for one query into its search text.

Benchmarks with several captions per query differ here, and so do the figures reported on them.
"""

from __future__ import annotations

from collections.abc import Sequence

from cir_core.datasets.records import CaptionMode
from cir_core.errors import DatasetError

_EDGES = ".?, "  # stripped from both ends by CLIP4CIR and its successors


def query_texts(captions: Sequence[str], mode: CaptionMode) -> tuple[str, ...]:
    """Search texts of one query: several for "separate", else one, () if every caption is empty.

    White space around captions is stripped, and empty captions are dropped before joining.

    * "joined" (CIReVL): joined by " and ", in the file's order.
    * "clip4cir" (CLIP4CIR, QuRe): full stops, question marks, commas and spaces off both ends,
      then ``str.capitalize`` on the first, which lowercases its other letters; joined by " and ".
    * "m-beir": each starts with a small letter and loses one full stop at its end; joined by
      " and "; double quotes stripped from both ends; a capital, and a full stop unless it ends in ".?!".
    * "separate" (CIRCLED) and "first": unchanged.

    Raises ``DatasetError`` for "single" if there are several captions.
    """
    texts = [text for text in map(str.strip, captions) if text]
    if mode == "clip4cir":
        texts = [text for text in (text.strip(_EDGES) for text in texts) if text]
    if mode == "m-beir":
        texts = [text for text in map(_opened, texts) if text]
    if not texts:
        return ()
    match mode:
        case "single":
            if len(texts) > 1:
                raise DatasetError(f'There are {len(texts)} captions for one query; "single" takes one. '
                                   'Choose a caption mode, for example "joined".')
            return (texts[0],)
        case "joined":
            return (" and ".join(texts),)
        case "clip4cir":
            return (" and ".join([texts[0].capitalize(), *texts[1:]]),)
        case "m-beir":
            return _closed(" and ".join(texts))
        case "separate":
            return tuple(texts)
        case "first":
            return (texts[0],)


def _opened(text: str) -> str:
    return (text[:1].lower() + text[1:]).removesuffix(".")


def _closed(text: str) -> tuple[str, ...]:
    text = text.replace("\r", "").strip().strip('"')
    if not text:
        return ()
    return (text[0].upper() + text[1:] + ("" if text[-1] in ".?!" else "."),)
