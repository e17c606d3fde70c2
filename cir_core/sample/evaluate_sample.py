"""The sample gallery as a benchmark of methods: single turns in FashionIQ's protocol, requests
without a fixed target, then fixed sessions, with intervals and paired differences.

``docs/how-to/evaluate/evaluation.md`` describes the protocol, ``docs/concepts/methods.md`` how to add a method.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cir_core.datasets.readers.fashioniq import CATEGORIES, read_queries, read_split
from cir_core.encoders.base import Encoder, composes
from cir_core.errors import MethodError
from cir_core.evaluation.evaluate_replay import RememberingEncoder, SessionScores, SessionSet, score_sessions
from cir_core.evaluation.evaluate_single import (
    MEASURES,
    SCOPE,
    Category,
    Progress,
    SingleTurn,
    single_turn,
    without_exclusions,
)
from cir_core.evaluation.metrics.bootstrap import MeanEstimate, Values, estimates
from cir_core.evaluation.metrics.multi_turn import MultiTurnScores, multi_turn_scores, session_values
from cir_core.gallery.gallery import Gallery
from cir_core.language.base import LanguageModel
from cir_core.methods.declared import Method
from cir_core.sample.atelier.ground_truth import read_attributes
from cir_core.sample.evaluate_requests import RequestsReport, evaluate_requests
from cir_core.sample.evaluate_sessions import build_sessions, neutral_sessions
from cir_core.search.protocol import make_card
from cir_core.search.searcher import Searcher
from cir_core.support.texts import quoted
from cir_core.types.records import ProtocolCard

if TYPE_CHECKING:
    from cir_core.relevance.scorer import RelevanceScorer


@dataclass(frozen=True)
class Difference:
    """``method`` minus ``base``, query by query, in the unit of the measures."""

    method: str
    base: str
    measures: Mapping[str, MeanEstimate]


@dataclass(frozen=True)
class SessionsReport:
    """One set of sessions. ``live``, for built ones: the figures of the search that made them,
    over all its sessions, including those of one turn, which the set excludes."""

    fixed: SessionSet
    scores: tuple[SessionScores, ...]
    differences: tuple[Difference, ...] = ()
    live: MultiTurnScores | None = None


@dataclass(frozen=True)
class SampleReport:
    """``skipped``: methods that could not run, by name, with the reason."""

    queries: Mapping[str, Sequence[Mapping[str, str]]]   # by category: reference, target, text
    single: tuple[SingleTurn, ...]
    differences: tuple[Difference, ...]
    sessions: tuple[SessionsReport, ...]
    skipped: Mapping[str, str]
    seed: int
    requests: RequestsReport | None = None
    relevance: str = ""           # revision of the model behind CIRQRS, if that was measured


def evaluate_sample(
    gallery: Gallery, folder: Path, encoder: Encoder, language: LanguageModel, methods: Sequence[Method], *,
    seed: int, max_turns: int = 4, limit: int | None = None, sessions: bool = True, requests: bool = True,
    against: str | None = None, scorer: RelevanceScorer | None = None, progress: Progress | None = None,
) -> SampleReport:
    """Evaluate ``methods`` over ``folder``'s queries (all, or the first ``limit`` of each category, and as many
    requests).

    ``against`` is the one of ``methods`` that the others are compared with; with a ``scorer``, single turns are also
    measured by CIRQRS. Raises
    ``MethodError`` if it is none of them, and the error of a turn when a method's base fails.
    """
    methods = list({method.name: method for method in methods}.values())
    if against is not None and against not in [method.name for method in methods]:
        raise MethodError(f"The method {quoted(against)} to compare with is not among those evaluated. Add it.")
    categories = [
        Category(name, read_split(folder, name, gallery.split), read_queries(folder, name, gallery.split)[:limit])
        for name in CATEGORIES
    ]
    able = [method for method in methods if method.settings.base != "joint" or composes(encoder)]
    skipped = {
        method.name: f"the encoder {encoder.name} does not compose image and text by itself"
        for method in methods if method not in able
    }

    def card(
        method: Method, mode: str, scope: str = SCOPE, *, drawn: int | None = None, turns: int | None = None
    ) -> ProtocolCard:
        return make_card(
            gallery=gallery.name, gallery_size=len(gallery), gallery_digest=gallery.digest, split=gallery.split,
            encoder=encoder.identity, language_model=language.name, method=without_exclusions(method),
            caption_mode=mode, scope=scope, seed=drawn, max_turns=turns,
        )

    def searcher(category: Category, using: Encoder = encoder) -> Searcher:
        return Searcher(gallery, using, language, within=category.ids)

    # Warm-up: the first caption and the first text also load their models, which is no method's time.
    searcher(categories[0]).stored_captions(categories[0].ids[:1])
    encoder.encode_texts([""])
    single = tuple(
        single_turn(method, categories, searcher, card(method, "joined"), scorer=scorer, seed=seed, progress=progress)
        for method in able
    )
    of_queries = {one.method: [one.values(category.name) for category in categories] for one in single}
    measured = tuple(single[0].measures) if single else MEASURES
    truth = read_attributes(folder, gallery.split)
    asked = evaluate_requests(gallery, truth, encoder, language, able, seed=seed, limit=limit,
                              progress=progress) if requests else None
    reports: list[SessionsReport] = []
    if sessions:
        remembering = cast(Encoder, RememberingEncoder(encoder))
        searchers = {category.name: searcher(category, remembering) for category in categories}
        for fixed, live in _session_sets(searchers, categories, truth, seed, max_turns, progress):
            scope = f"{SCOPE}, {fixed.kind} sessions {fixed.digest}"
            scores = tuple(
                score_sessions(method, fixed, searchers, seed=seed, progress=progress,
                               card=card(method, "single", scope, drawn=seed, turns=max_turns))
                for method in able
            )
            values = {one.method: [session_values(one.ranks, fixed.longest)] for one in scores}
            reports.append(SessionsReport(fixed, scores, _differences(values, against, fixed.measures, seed), live))
    queries = {
        category.name: [{"reference": query.reference_id, "target": query.target_ids[0],
                         "text": query.modification_text}
                        for query in category.queries]
        for category in categories
    }
    return SampleReport(queries, single, _differences(of_queries, against, measured, seed), tuple(reports),
                        skipped, seed, asked, scorer.revision if scorer else "")


def _session_sets(
    searchers: Mapping[str, Searcher], categories: Sequence[Category], truth: Mapping[str, Mapping[str, str]],
    seed: int, max_turns: int, progress: Progress | None,
) -> list[tuple[SessionSet, MultiTurnScores | None]]:
    sets: list[tuple[SessionSet, MultiTurnScores | None]] = []
    neutral = neutral_sessions(categories, truth, seed=seed, turns=max_turns, progress=progress)
    sets.append((SessionSet.of("neutral", neutral), None))
    built = build_sessions(searchers, categories, truth, seed=seed, max_turns=max_turns, progress=progress)
    kept = [one.session for one in built if len(one.session.turns) > 1]
    if kept:
        sets.append((SessionSet.of("built", kept), multi_turn_scores([one.ranks for one in built])))
    return sets


def _differences(
    values: Mapping[str, Sequence[Values]], against: str | None, measures: Sequence[str], seed: int
) -> tuple[Difference, ...]:
    """``values``: method to one matrix ``[queries, measures]`` for each group."""
    if against is None or against not in values:
        return ()
    return tuple(
        Difference(name, against, dict(zip(measures, estimates(
            [mine - base for mine, base in zip(groups, values[against], strict=True)], seed=seed,
        ), strict=True)))
        for name, groups in values.items() if name != against
    )
