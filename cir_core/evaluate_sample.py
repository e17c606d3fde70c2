"""The sample gallery as a benchmark: one turn in FashionIQ's protocol, then sessions.

Single turn: each category is ranked by itself, the reference stays in the gallery, two
captions joined by "and". Sessions: a simulated person starts from any garment of the
category, looks at the best ten, picks the one closest to the target and says in one short
sentence something that still differs. The person reads the ground truth; the searcher
never does.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from cir_core.atelier.captions import relative_captions
from cir_core.atelier.ground_truth import read_attributes
from cir_core.datasets.fashioniq import CATEGORIES, FashionIQQuery, read_queries, read_split
from cir_core.encoders.base import Encoder
from cir_core.gallery import Gallery
from cir_core.language.base import LanguageModel
from cir_core.metrics.multi_turn import MultiTurnScores, multi_turn_scores
from cir_core.metrics.recall import recall_at
from cir_core.protocol import make_card
from cir_core.search import Found, Previous, Searcher
from cir_core.types import Hit, MethodSettings, ProtocolCard

CUTOFFS = (1, 5, 10, 50)
SEEN = 10
SCOPE = "each category by itself"
Progress = Callable[[str, int, int], None]

# Nothing is removed, as FashionIQ's and CIRCLED's evaluators do (docs/evaluation.md).
PROTOCOL = MethodSettings(exclude="none")
SYSTEMS: dict[str, MethodSettings] = {
    "text only": replace(PROTOCOL, base="text-only"),
    "image only": replace(PROTOCOL, base="image-only"),
    "composed": replace(PROTOCOL, base="cirevl"),
}


@dataclass(frozen=True)
class SingleTurn:
    """``recall[category][k]``; the category "mean" is the unweighted mean of the others."""

    system: str
    recall: Mapping[str, Mapping[int, float]]
    queries: int
    protocol: ProtocolCard


@dataclass(frozen=True)
class Sessions:
    scores: MultiTurnScores
    protocol: ProtocolCard
    seed: int


@dataclass(frozen=True)
class SampleReport:
    single: tuple[SingleTurn, ...]
    sessions: Sessions


@dataclass(frozen=True)
class _Category:
    name: str
    searcher: Searcher
    queries: list[FashionIQQuery]


def evaluate_sample(
    gallery: Gallery, folder: Path, encoder: Encoder, language: LanguageModel, *,
    seed: int, max_turns: int = 4, limit: int | None = None, progress: Progress | None = None,
) -> SampleReport:
    """Evaluate over ``folder``'s queries (all, or the first ``limit`` of each category)."""
    categories = [
        _Category(
            name,
            Searcher(gallery, encoder, language, within=read_split(folder, name, gallery.split)),
            read_queries(folder, name, gallery.split)[:limit],
        )
        for name in CATEGORIES
    ]
    def card(method: MethodSettings, captions: str, **more: int) -> ProtocolCard:
        return make_card(
            gallery=gallery.name, gallery_size=len(gallery), gallery_digest=gallery.digest,
            split=gallery.split, encoder=encoder.identity, language_model=language.name,
            method=method, caption_mode=captions, scope=SCOPE, **more,
        )
    single = tuple(
        _single_turn(name, method, categories, card(method, "joined"), progress)
        for name, method in SYSTEMS.items()
    )
    truth = read_attributes(folder, gallery.split)
    sessions = _sessions(categories, truth, seed, max_turns, progress)
    return SampleReport(single, Sessions(sessions, card(PROTOCOL, "single", seed=seed, max_turns=max_turns), seed))


def _single_turn(
    name: str, method: MethodSettings, categories: Sequence[_Category], card: ProtocolCard,
    progress: Progress | None,
) -> SingleTurn:
    recall: dict[str, dict[int, float]] = {}
    total, done = sum(len(category.queries) for category in categories), 0
    for category in categories:
        ranks = []
        for query in category.queries:
            ranks.append(_rank(_turn(category.searcher, query, query.joined, method), query.target_id))
            done += 1
            if progress:
                progress(name, done, total)
        recall[category.name] = {k: recall_at(ranks, k) for k in CUTOFFS}
    recall["mean"] = {k: float(np.mean([recall[c.name][k] for c in categories])) for k in CUTOFFS}
    return SingleTurn(name, recall, total, card)


def _turn(searcher: Searcher, query: FashionIQQuery, text: str, method: MethodSettings) -> Found:
    return searcher.turn(
        searcher.gallery_reference(query.reference_id), text, method, k=SEEN, target_id=query.target_id,
    )


def _rank(found: Found, target_id: str) -> int:
    if found.target_rank is None:
        raise AssertionError(f"no rank for target {target_id}")
    return found.target_rank


def _sessions(
    categories: Sequence[_Category], truth: Mapping[str, Mapping[str, str]], seed: int,
    max_turns: int, progress: Progress | None,
) -> MultiTurnScores:
    rng = random.Random(seed)
    total, done = sum(len(category.queries) for category in categories), 0
    ranks = []
    for category in categories:
        for query in category.queries:
            begun = _far_start(category, query.target_id, truth, rng)
            ranks.append(_session(category.searcher, begun, truth, rng, max_turns))
            done += 1
            if progress:
                progress("sessions", done, total)
    scores = multi_turn_scores(ranks)
    if scores is None:
        raise ValueError("no queries to evaluate")
    return scores


def _far_start(
    category: _Category, target_id: str, truth: Mapping[str, Mapping[str, str]], rng: random.Random
) -> FashionIQQuery:
    """A first turn towards ``target_id`` from anywhere: most attributes differ, one sentence
    cannot say them all, so one turn is rarely enough. The benchmark's own queries lie within
    four attributes of their target and leave a session nothing to do."""
    others = [image_id for image_id in category.searcher.index.ids if image_id != target_id]
    reference_id = rng.choice(others)
    captions = relative_captions(truth[reference_id], truth[target_id], rng)
    return FashionIQQuery(reference_id, target_id, captions[:1], category.name)


def _session(
    searcher: Searcher, query: FashionIQQuery, truth: Mapping[str, Mapping[str, str]],
    rng: random.Random, max_turns: int,
) -> list[int]:
    """Ranks of the target after each turn. Ends at the first hit in the top ten, as
    CIRCLED's sessions do, or when nothing is left to pick or to say."""
    reference, text = query.reference_id, query.joined
    previous: Previous | None = None
    used: tuple[str, ...] = ()
    ranks: list[int] = []
    while True:
        found = searcher.turn(
            searcher.gallery_reference(reference), text, PROTOCOL,
            previous=previous, k=SEEN, target_id=query.target_id,
        )
        ranks.append(_rank(found, query.target_id))
        used = (*used, reference)
        if ranks[-1] <= SEEN or len(ranks) == max_turns:
            return ranks
        picked = _closest(searcher, found.hits, query.target_id, used)
        if picked is None:
            return ranks
        captions = relative_captions(truth[picked], truth[query.target_id], rng)
        if not captions:
            return ranks
        previous = Previous(found.vector, found.hits, used)
        reference, text = picked, captions[0]


def _closest(searcher: Searcher, hits: Sequence[Hit], target_id: str, used: Sequence[str]) -> str | None:
    """What the simulated person points at: the shown image most like the target."""
    shown = [hit.image_id for hit in hits if hit.image_id not in used]
    if not shown:
        return None
    likeness = searcher.features_of(shown) @ searcher.features_of([target_id])[0]
    return shown[int(np.argmax(likeness))]
