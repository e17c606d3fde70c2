"""Candidate panels for annotators: the audited retrievers' results for one query, merged.

CIRCUS shows its annotators the de-duplicated union of the top-10 results of all retrievers, in
an unspecified order. Its length reveals how far the retrievers agree, and so something about a query's
label; cirque's own studies use the same number of images for every query instead (:func:`in_turn`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from cir_core.audit.records import RetrieverRun

DEPTH = 10
MOST_IN_TURN = 60   # enough for the largest panel of a study, with a reserve for unreadable images


def panel(runs: Sequence[RetrieverRun], position: int, depth: int = DEPTH) -> tuple[str, ...]:
    """Union of the retrievers' first ``depth`` images with both inputs, each image once.

    Ordered by the best rank any retriever gives it, so that the likeliest answer is seen first; then by the number of
    retrievers; then by image id, so that neither the order nor the names of the retrievers are revealed.

    Args:
        position: of the query in the runs, from 0.

    A retriever with a problem, or one read from a file without images, adds nothing.
    """
    best: dict[str, int] = {}
    votes: dict[str, int] = {}
    for run in runs:
        ranking = run.queries[position].rankings.get("multimodal")
        for rank, image_id in enumerate(dict.fromkeys(ranking.top[:depth] if ranking else ()), 1):
            best[image_id] = min(rank, best.get(image_id, rank))
            votes[image_id] = votes.get(image_id, 0) + 1
    return tuple(sorted(best, key=lambda image_id: (best[image_id], -votes[image_id], image_id)))


def in_turn(runs: Sequence[RetrieverRun], position: int, most: int = MOST_IN_TURN) -> tuple[str, ...]:
    """The retrievers' images with both inputs, interleaved: the first of each, then the second, …, each
    image once. Source of panels of a fixed size.

    Args:
        position: of the query in the runs, from 0.
    """
    lists = [ranking.top for run in runs if (ranking := run.queries[position].rankings.get("multimodal"))]
    found = dict.fromkeys(image_id for rank in zip_longest(*lists) for image_id in rank if image_id is not None)
    return tuple(found)[:most]
