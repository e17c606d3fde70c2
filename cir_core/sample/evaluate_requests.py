"""How well a search does what it was asked: satisfaction and preservation, as image editing is evaluated.

Requests of one turn, then sessions of a simulated person. :mod:`cir_core.sample.request_figures` defines the figures,
``docs/evaluation.md`` describes the protocol.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from cir_core.encoders.base import Encoder, composes
from cir_core.errors import DatasetError, EncoderUnavailable, LanguageModelError
from cir_core.evaluation.evaluate_replay import RememberingEncoder
from cir_core.evaluation.evaluate_single import SEEN, Progress, looks_at
from cir_core.gallery.gallery import Gallery
from cir_core.garments.lexicon import GROUPS
from cir_core.language.base import LanguageModel
from cir_core.methods.declared import Method
from cir_core.sample.atelier.ground_truth import attributes_path, read_attributes
from cir_core.sample.request_figures import Answer, GalleryLimits, RequestFigures, figures, gallery_limits, judge
from cir_core.sample.request_set import (
    KIND_SHARES,
    TURNS,
    Pool,
    RequestSet,
    SessionPlan,
    Truth,
    carried_on,
    make_request_set,
    next_request,
    unmentioned,
)
from cir_core.sample.requests import SPLITS, Purpose, Request, Wants, satisfies
from cir_core.search.protocol import make_card
from cir_core.search.searcher import Previous, Searcher, TurnResult
from cir_core.support.texts import quoted
from cir_core.types.records import MethodSettings, ProtocolCard


@dataclass(frozen=True)
class RequestScores:
    """``turns``: of the sessions, by turn; ``skipped`` the number of sessions that could ask for nothing the gallery
    has at a turn (None among their answers)."""

    method: str
    title: str
    protocol: ProtocolCard
    overall: RequestFigures
    by_kind: Mapping[str, RequestFigures]
    by_group: Mapping[str, RequestFigures]
    turns: tuple[RequestFigures, ...]
    skipped: tuple[int, ...]
    answers: tuple[Answer, ...] = field(repr=False)
    sessions: tuple[tuple[Answer | None, ...], ...] = field(repr=False)


@dataclass(frozen=True)
class RequestsReport:
    """``skipped``: methods that could not run, by name, with the reason."""

    purpose: Purpose
    digest: str
    requests: int
    sessions: int
    gallery: GalleryLimits
    scores: tuple[RequestScores, ...]
    skipped: Mapping[str, str]
    seed: int


def read_truth(folder: Path, purpose: Purpose = "measured") -> dict[str, dict[str, str]]:
    """Ground truth of the splits for ``purpose`` that are drawn in ``folder``. Raises ``FileNotFoundError`` if
    none is."""
    splits = [split for split in SPLITS[purpose] if attributes_path(folder, split).exists()] or SPLITS[purpose][:1]
    return {image_id: found for split in splits for image_id, found in read_attributes(folder, split).items()}


def evaluate_requests(
    gallery: Gallery, truth: Truth, encoder: Encoder, language: LanguageModel, methods: Sequence[Method], *,
    seed: int, asked: RequestSet | None = None, limit: int | None = None, progress: Progress | None = None,
) -> RequestsReport:
    """Evaluate ``methods`` over requests about the images of ``truth``, each ranked against the whole gallery.

    ``asked`` is by default the set to measure with, drawn with ``seed``; ``limit`` takes the first requests and
    sessions of it. A method whose encoder or language model is missing is left out, with the reason.

    Raises ``DatasetError`` for a gallery whose ground truth is not known, or too small to ask for anything.
    """
    if unknown := set(gallery.ids) - truth.keys():
        raise DatasetError(f"There is no ground truth of {len(unknown)} images of the gallery {quoted(gallery.name)}. "
                           "Index the sample gallery as it was drawn.")
    pool = Pool({image_id: truth[image_id] for image_id in gallery.ids})
    asked = (asked or make_request_set(pool.truth, seed=seed)).first(limit)
    if not asked.requests:
        raise DatasetError(f"No image of the gallery {quoted(gallery.name)} has another one that a request could be "
                           "for. Use a larger gallery.")
    searcher = Searcher(gallery, cast(Encoder, RememberingEncoder(encoder)), language)
    scores, skipped = list[RequestScores](), dict[str, str]()
    for method in {method.name: method for method in methods}.values():
        if method.settings.base == "joint" and not composes(encoder):
            skipped[method.name] = f"the encoder {encoder.name} does not compose image and text by itself"
            continue
        card = make_card(
            gallery=gallery.name, gallery_size=len(gallery), gallery_digest=gallery.digest, split=gallery.split,
            encoder=encoder.identity, language_model=language.name, method=_settings(method), seed=seed,
            scope=f"whole gallery, {asked.purpose} requests {asked.digest}", max_turns=TURNS,
        )
        try:
            scores.append(score_requests(method, asked, pool, searcher, card, seed=seed, progress=progress))
        except (LanguageModelError, EncoderUnavailable) as error:
            skipped[method.name] = str(error)
    return RequestsReport(asked.purpose, asked.digest, len(asked.requests), len(asked.sessions),
                          gallery_limits(asked, pool), tuple(scores), skipped, seed)


def score_requests(
    method: Method, asked: RequestSet, pool: Pool, searcher: Searcher, card: ProtocolCard, *, seed: int,
    progress: Progress | None = None,
) -> RequestScores:
    """Run every request and session of ``asked``."""
    settings, total = _settings(method), len(asked.requests) + len(asked.sessions)
    answers, sessions = list[Answer](), list[tuple[Answer | None, ...]]()

    def update() -> None:
        if progress:
            progress(f"{method.title}, requests", len(answers) + len(sessions), total)

    for one in asked.requests:
        found = _turn(searcher, one.reference_id, one.request.text, settings, None)
        answers.append(judge(found, one.request, one.reference_id, one.request.wants, (one.reference_id,), pool))
        update()
    for session in asked.sessions:
        sessions.append(run_session(session, asked.purpose, settings, pool, searcher))
        update()
    by_turn = list(zip(*sessions, strict=True))
    by_kind = {kind: [one for one in answers if one.kind == kind] for kind in KIND_SHARES}
    by_group = {group.key: [one for one in answers if group.key in one.about] for group in GROUPS}
    return RequestScores(
        method.name, method.title, card, figures(answers, seed),
        {kind: figures(some, seed) for kind, some in by_kind.items() if some},
        {group: figures(some, seed) for group, some in by_group.items() if some},
        tuple(figures([one for one in turn if one], seed) for turn in by_turn),
        tuple(turn.count(None) for turn in by_turn), tuple(answers), tuple(sessions),
    )


def run_session(
    session: SessionPlan, purpose: Purpose, settings: MethodSettings, pool: Pool, searcher: Searcher
) -> tuple[Answer | None, ...]:
    """A simulated person asks, looks at the first ten, and goes on from the one that does most of what was asked."""
    reference_id, wants = session.reference_id, dict[str, frozenset[str]]()
    used: tuple[str, ...] = (reference_id,)
    requests, answers = list[Request](), list[Answer | None]()
    previous: Previous | None = None
    for turn in range(1, len(session.plan) + 1):
        request = next_request(session, turn, reference_id, wants, used, pool, purpose)
        if request is None:
            answers.append(None)
            continue
        wants = carried_on(wants, request.wants)
        requests.append(request)
        found = _turn(searcher, reference_id, request.text, settings, previous)
        answers.append(judge(found, request, reference_id, wants, used, pool))
        previous = Previous.after(previous, [reference_id], found.vector, found.hits, found.composition)
        reference_id = pick([hit.image_id for hit in found.hits[:SEEN]], reference_id, requests, wants, pool)
        used = (*used, reference_id)
    return tuple(answers)


def pick(
    shown: Sequence[str], reference_id: str, requests: Sequence[Request], wants: Wants, pool: Pool
) -> str:
    """The shown image that satisfies most requests so far, then the one that shares most of the attributes that
    nobody mentioned with the reference, then the first. What was taken back no longer counts."""
    still = [{group: wants[group] for group in request.wants if wants[group] <= request.wants[group]}
             for request in requests]
    reference, others = pool.truth[reference_id], unmentioned(wants)

    def merit(image_id: str) -> tuple[int, int]:
        attributes = pool.truth[image_id]
        met = sum(satisfies(attributes, one) for one in still if one)
        return met, sum(attributes[group] == reference[group] for group in others)

    return max(shown, key=merit)


def _settings(method: Method) -> MethodSettings:
    """As on the screen, and no image comes twice."""
    return replace(method.settings, exclude="history")


def _turn(
    searcher: Searcher, reference_id: str, text: str, settings: MethodSettings, previous: Previous | None
) -> TurnResult:
    reference = searcher.gallery_reference(reference_id)
    return searcher.turn(reference, text, settings, previous=previous, k=looks_at(settings))
