"""How well a search does what it was asked: satisfaction and preservation, as image editing is evaluated.

Requests of one turn, then sessions of a simulated person. :mod:`cir_core.sample.request_figures` defines the figures,
``docs/how-to/evaluate/requests.md`` describes the protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar, cast

from cir_core.encoders.base import Encoder, composes
from cir_core.errors import DatasetError, EncoderUnavailable, LanguageModelError
from cir_core.evaluation.evaluate_replay import RememberingEncoder
from cir_core.evaluation.evaluate_single import SEEN, Progress, looks_at
from cir_core.gallery.gallery import Gallery
from cir_core.garments.lexicon import GROUPS
from cir_core.language.base import LanguageModel
from cir_core.language.readers.reader import Pointed
from cir_core.language.readers.scene import Scene, revoked_after
from cir_core.methods.declared import Method
from cir_core.methods.guidance import Aspect, Unclear
from cir_core.sample.atelier.ground_truth import attributes_path, read_attributes
from cir_core.sample.request_figures import (
    SHOWN,
    Answer,
    GalleryLimits,
    RequestFigures,
    WrittenAnswer,
    WrittenFigures,
    figures,
    gallery_limits,
    judge,
    written_figures,
)
from cir_core.sample.request_file import OTHER, REFERENCES, WrittenEntry, WrittenSet, WrittenTurn, drawn, wanted
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
from cir_core.sessions.acts import meant, outcome
from cir_core.support.texts import clean_text, quoted
from cir_core.types.composition import Composition
from cir_core.types.records import MethodSettings, ProtocolCard, SearchSession, Turn


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


@dataclass(frozen=True)
class WrittenScores:
    """``overall`` and ``by_class`` are of the requests, ``turns`` of the dialogues, by turn; ``dialogues`` of all their
    turns."""

    method: str
    title: str
    protocol: ProtocolCard
    overall: WrittenFigures
    by_class: Mapping[str, WrittenFigures]
    dialogues: WrittenFigures
    turns: tuple[WrittenFigures, ...]
    answers: tuple[WrittenAnswer, ...] = field(repr=False)


@dataclass(frozen=True)
class WrittenReport:
    """Of a file; each of its entries was asked about at most ``references`` images, in all ``asked`` times.
    ``without``: entries that can be asked about no image, with the reason."""

    file: str
    digest: str
    requests: int
    dialogues: int
    references: int
    asked: int
    without: tuple[str, ...]
    scores: tuple[WrittenScores, ...]
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
    pool = _pool(gallery, truth)
    asked = (asked or make_request_set(pool.truth, seed=seed)).first(limit)
    if not asked.requests:
        raise DatasetError(f"No image of the gallery {quoted(gallery.name)} has another one that a request could be "
                           "for. Use a larger gallery.")
    scores, skipped = _each_method(
        gallery, encoder, language, methods, seed, f"{asked.purpose} requests {asked.digest}", TURNS,
        lambda method, searcher, card: score_requests(method, asked, pool, searcher, card, seed=seed,
                                                      progress=progress))
    return RequestsReport(asked.purpose, asked.digest, len(asked.requests), len(asked.sessions),
                          gallery_limits(asked, pool), scores, skipped, seed)


def evaluate_written(
    gallery: Gallery, truth: Truth, encoder: Encoder, language: LanguageModel, methods: Sequence[Method],
    asked: WrittenSet, *, seed: int, most: int = REFERENCES, progress: Progress | None = None,
) -> WrittenReport:
    """Evaluate ``methods`` over the requests and dialogues of a file, each about at most ``most`` images, as the screen
    answers them. A method that cannot run is left out, and so is an entry that can be asked about no image. Raises
    ``DatasetError`` as :func:`evaluate_requests` does, and if no entry is left."""
    pool = _pool(gallery, truth)
    asked_about, without = drawn(asked, pool, most, seed)
    longest = max(len(entry.turns) for entry in asked.entries)
    scores, skipped = _each_method(
        gallery, encoder, language, methods, seed, f"written requests {asked.digest}, {most} references", longest,
        lambda method, searcher, card: score_written(method, asked_about, pool, searcher, card, seed=seed,
                                                     progress=progress))
    return WrittenReport(asked.file, asked.digest, asked.requests, len(asked.entries) - asked.requests, most,
                         len(asked_about), tuple(without), scores, skipped, seed)


def _pool(gallery: Gallery, truth: Truth) -> Pool:
    if unknown := set(gallery.ids) - truth.keys():
        raise DatasetError(f"There is no ground truth of {len(unknown)} images of the gallery {quoted(gallery.name)}. "
                           "Index the sample gallery as it was drawn.")
    return Pool({image_id: truth[image_id] for image_id in gallery.ids})


_S = TypeVar("_S")


def _each_method(
    gallery: Gallery, encoder: Encoder, language: LanguageModel, methods: Sequence[Method], seed: int, scope: str,
    turns: int, score: Callable[[Method, Searcher, ProtocolCard], _S],
) -> tuple[tuple[_S, ...], dict[str, str]]:
    """The scores of each method, and those that cannot run, with the reason."""
    searcher = Searcher(gallery, cast(Encoder, RememberingEncoder(encoder)), language)
    scores, skipped = list[_S](), dict[str, str]()
    for method in {method.name: method for method in methods}.values():
        if method.settings.base == "joint" and not composes(encoder):
            skipped[method.name] = f"the encoder {encoder.name} does not compose image and text by itself"
            continue
        card = make_card(
            gallery=gallery.name, gallery_size=len(gallery), gallery_digest=gallery.digest, split=gallery.split,
            encoder=encoder.identity, language_model=language.name, method=_settings(method), seed=seed,
            scope=f"whole gallery, {scope}", max_turns=turns,
        )
        try:
            scores.append(score(method, searcher, card))
        except (LanguageModelError, EncoderUnavailable) as error:
            skipped[method.name] = str(error)
    return tuple(scores), skipped


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


def score_written(
    method: Method, asked: Sequence[tuple[WrittenEntry, str]], pool: Pool, searcher: Searcher, card: ProtocolCard, *,
    seed: int, progress: Progress | None = None,
) -> WrittenScores:
    """Ask every entry about its reference."""
    answers, dialogues = list[WrittenAnswer](), list[WrittenAnswer]()
    for number, (entry, reference_id) in enumerate(asked, start=1):
        (dialogues if entry.is_dialogue else answers).extend(
            run_written(entry, reference_id, _settings(method), pool, searcher))
        if progress:
            progress(f"{method.title}, {card.scope.split(', ')[1]}", number, len(asked))
    names = dict.fromkeys(one.name for one in answers)
    return WrittenScores(
        method.name, method.title, card, written_figures(answers, seed),
        {name: written_figures([one for one in answers if one.name == name], seed) for name in names},
        written_figures(dialogues, seed),
        tuple(written_figures([one for one in dialogues if one.turn == turn], seed)
              for turn in range(1, max((one.turn for one in dialogues), default=0) + 1)),
        (*answers, *dialogues),
    )


def run_written(
    entry: WrittenEntry, first: str, settings: MethodSettings, pool: Pool, searcher: Searcher
) -> tuple[WrittenAnswer, ...]:
    """Ask the turns of ``entry`` one after the other, beginning with the reference ``first``. The person goes on from
    the one of the first ten that satisfies most; an act that goes back shows an earlier turn's hits again."""
    session = SearchSession("", searcher.gallery.name, settings, searcher.card(settings))
    reference_id, shown = first, _NOTHING
    seen = [_NOTHING]   # what is on the screen after each turn, the first before any
    answers = list[WrittenAnswer]()
    for number, turn in enumerate(entry.turns, start=1):
        wants = wanted(turn.wants, pool.truth[first])
        earlier, session, shown = shown, *_said(searcher, session, shown, reference_id, turn.text)
        others = earlier.image_ids if turn.act == OTHER else ()
        answers.append(_judged(entry, number, turn, shown, earlier, wants, others, seen, pool))
        seen.append(shown)
        reference_id = pick(shown.image_ids, shown.reference_id, _one_by_one(wants), wants, pool) \
            if shown.turn else first
    return tuple(answers)


@dataclass(frozen=True)
class _Shown:
    """The screen: a turn, or the first reference alone, and what was ``said`` of an act that led there. ``used`` are
    the references of the turns up to it."""

    turn: Turn | None = None
    said: str = ""
    used: tuple[str, ...] = ()

    @property
    def image_ids(self) -> tuple[str, ...]:
        return tuple(hit.image_id for hit in self.turn.hits[:SEEN]) if self.turn else ()

    @property
    def reference_id(self) -> str:
        return self.turn.reference_id if self.turn else ""


_NOTHING = _Shown()


def _said(
    searcher: Searcher, session: SearchSession, shown: _Shown, reference_id: str, text: str
) -> tuple[SearchSession, _Shown]:
    """What the screen does with ``text``: an act is carried out, all else is searched for."""
    text, now = clean_text(text), shown.turn
    path = session.path_to(now.turn_id) if now else ()
    if (act := meant(text, session, now.turn_id if now else None)) is None:
        pointed = searcher.reader.follow(text, Scene(path, reference_id, searcher.stored_captions,
                                                     revoked=revoked_after(path, session.turns)))
        return _searched(searcher, session, path, text, pointed, reference_id)
    done = outcome(act, session, now.turn_id if now else None)
    if done.kind == "again" and done.turn:
        again = done.turn
        before, without = path[:-1], (*again.excluded_ids, *(hit.image_id for hit in again.hits[:SEEN]))
        pointed = searcher.reader.follow(again.modification_text,
                                         Scene(before, again.reference_id, searcher.stored_captions))
        return _searched(searcher, session, before, again.modification_text, pointed, again.reference_id, without)
    if done.kind == "nothing":
        return session, replace(shown, said=done.said)
    to = done.turn if done.kind == "turn" else None
    used = tuple(one.reference_id for one in session.path_to(to.turn_id)) if to else ()
    return session, _Shown(to, done.said, used)


def _searched(
    searcher: Searcher, session: SearchSession, path: Sequence[Turn], text: str, pointed: Pointed, reference_id: str,
    without: Sequence[str] = (),
) -> tuple[SearchSession, _Shown]:
    """A turn after those of ``path``, as :mod:`cir_core.sessions.service` makes it."""
    reference_id = pointed.reference_id or reference_id
    found = searcher.turn(searcher.gallery_reference(reference_id), pointed.text, session.method,
                          previous=Previous.of(path, pointed.held, pointed.released), k=looks_at(session.method),
                          without=without)
    made = found.composition
    if pointed.text != text:
        made = replace(made, read_as=pointed.text)   # what later turns go back to
    parent = path[-1].turn_id if path else None
    turn = Turn(str(len(session.turns) + 1), "", "", parent, len(path) + 1, reference_id, text, found.caption,
                found.merged_text, pointed.with_notes(found.notes), found.vector, found.hits, found.excluded_ids,
                None, {}, "", _NEVER, made)
    return (replace(session, turns=(*session.turns, turn)),
            _Shown(turn, used=(*(one.reference_id for one in path), reference_id)))


_NEVER = datetime(1970, 1, 1, tzinfo=UTC)   # turns that nobody stores


def _judged(
    entry: WrittenEntry, number: int, turn: WrittenTurn, shown: _Shown, earlier: _Shown, wants: Wants,
    others: Sequence[str], seen: Sequence[_Shown], pool: Pool,
) -> WrittenAnswer:
    """``others`` were shown before and do not count; ``seen`` is what was on the screen after each earlier turn."""
    first, satisfaction, preservation = shown.image_ids[:SHOWN], None, None
    left_out = tuple(dict.fromkeys((*shown.used, *others)))
    if turn.shows is not None:
        satisfaction = float(first == seen[turn.shows].image_ids[:SHOWN])
    elif shown.turn is None:
        satisfaction = 0.0 if wants else None
    elif wants and pool.satisfying(wants, left_out).any():
        request = Request(turn.text, "single", tuple(wants), wants)
        answer = judge(TurnResult.of(shown.turn), request, shown.reference_id, wants, left_out, pool)
        satisfaction, preservation = answer.satisfaction, answer.preservation
    composition = shown.turn.composition if shown.turn and not shown.said else None
    unclear = (composition.part("unclear") if composition else None) or Unclear()
    notes = (shown.said,) if shown.said else shown.turn.notes if shown.turn else ()
    said = bool(unclear or notes)
    asked = _asked(composition)
    now = tuple(label for label, at in asked if shown.turn and at == shown.turn.number)
    before = _asked(earlier.turn.composition if earlier.turn else None)
    reads = composition is not None and composition.part("guidance") is not None
    return WrittenAnswer(
        entry.where, entry.name, number, shown.reference_id, turn.text, turn.act,
        shown.turn.merged_text if shown.turn else "", now, notes, unclear.words, unclear.choices,
        {group: tuple(sorted(values)) for group, values in wants.items()}, first,
        {group: tuple(pool.truth[image_id][group] for image_id in first) for group in wants}, satisfaction,
        preservation, {"choices": bool(unclear.choices), "said": said}.get(turn.expect),
        not (now or said or asked != before) if reads else None,
    )


def _asked(composition: Composition | None) -> tuple[tuple[str, int], ...]:
    """What is asked for, and in which turn."""
    aspects: tuple[Aspect, ...] = (composition.part("aspects") if composition else None) or ()
    return tuple((one.label, one.turn) for one in aspects if one.turn)


def _one_by_one(wants: Wants) -> list[Request]:
    return [Request("", "single", (group,), {group: values}) for group, values in wants.items()]
