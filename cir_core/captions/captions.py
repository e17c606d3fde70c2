"""Retrieval-driven caption optimisation: of several captions, choose the one that retrieves its image best.

For one image and its candidate captions, rho is the rank of the image when the caption is the query over the whole
gallery, s the cosine of the two; the caption that minimises (rho, -s) is chosen. Source: CoRR section 3.4. What the
paper leaves open: candidates are de-duplicated first, and remaining ties go to the one generated first.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cir_core.encoders.base import Encoder
from cir_core.index.flat import FlatIndex
from cir_core.support.texts import MAX_TEXT, clean_text
from cir_core.types.records import Matrix

_MOST_READ = 4 * MAX_TEXT   # characters that NFC may compose into a caption of MAX_TEXT
MANIFEST = -1
"""``sample`` of a caption that came from the gallery's manifest."""


@dataclass(frozen=True, slots=True)
class Candidate:
    caption: str
    sample: int         # index of the language model's answer; MANIFEST if it is none


@dataclass(frozen=True, slots=True)
class CaptionChoice:
    """The chosen caption of an image, with its rank."""

    caption: str
    sample: int
    rank: int           # rho
    cosine: float       # s
    distinct: int       # different captions it was chosen from
    first_rank: int     # rho of the first of them


@dataclass(frozen=True)
class RankSummary:
    """Summary of ranks, with one caption per image. All 0 if there are none."""

    mean: float
    median: float
    first: float        # share of images with rank 1

    @classmethod
    def of(cls, ranks: Sequence[int]) -> RankSummary:
        if not ranks:
            return cls(0.0, 0.0, 0.0)
        return cls(float(np.mean(ranks)), float(np.median(ranks)), sum(rank == 1 for rank in ranks) / len(ranks))


def tidy_caption(text: str) -> str:
    """``text`` normalised for ranking and publishing: NFC, one line, at most 1,000 characters; may be empty."""
    return clean_text(unicodedata.normalize("NFC", text[:_MOST_READ])[:MAX_TEXT], required=False)


def distinct_captions(candidates: Iterable[Candidate]) -> list[Candidate]:
    """``candidates`` without empty and repeated captions; of equal ones the first remains."""
    by_caption: dict[str, Candidate] = {}
    for candidate in candidates:
        if candidate.caption:
            by_caption.setdefault(candidate.caption, candidate)
    return list(by_caption.values())


def best_captions(
    index: FlatIndex, features: Matrix, encoder: Encoder, images: Sequence[tuple[int, Sequence[Candidate]]]
) -> list[CaptionChoice]:
    """The best caption of each of ``images``: a gallery row with its candidates, in the order generated, at least one
    of them not empty. ``index`` is over ``features`` ``[n, dim]``, the whole gallery; ``encoder`` made them."""
    candidates = [distinct_captions(given) for _, given in images]
    rows = np.array(
        [row for (row, _), several in zip(images, candidates, strict=True) for _ in several], dtype=np.int64
    )
    texts = [candidate.caption for several in candidates for candidate in several]
    position = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    encoded = encoder.encode_texts(list(position))
    queries = encoded[[position[text] for text in texts]]
    ranks = index.ranks_of_many(queries, rows)
    # As the index computes its scores: in double precision, each separately, then rounded.
    cosines = (queries.astype(np.float64) * features[rows].astype(np.float64)).sum(axis=1).astype(np.float32)
    choices, start = [], 0
    for several in candidates:
        end = start + len(several)
        choices.append(choose(several, ranks[start:end], cosines[start:end]))
        start = end
    return choices


def choose(
    candidates: Sequence[Candidate], ranks: npt.NDArray[np.int64], cosines: npt.NDArray[np.float32]
) -> CaptionChoice:
    """The candidate minimal under (rank, -cosine), the first of those that tie."""
    best = min(range(len(candidates)), key=lambda i: (ranks[i], -cosines[i]))
    return CaptionChoice(
        candidates[best].caption, candidates[best].sample, int(ranks[best]), float(cosines[best]),
        len(candidates), int(ranks[0]),
    )
