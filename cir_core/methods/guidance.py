"""Guided ranking: what was asked outweighs what was merely there.

An aspect (colour, pattern, …) has captions that satisfy it, W, and captions of its alternatives, O. With x the image's
cosine with each of them and temperature τ, the encoder's zero-shot reading of the aspect gives

    p(W) = Σ_W exp(x/τ) / Σ_{W ∪ O} exp(x/τ)
    log p = log p(W), or max(log p(W), log p(W ∪ N) − ``NEAR``) where some of O are near to W, N

    score = (s + Σ_a w_a · (max(log p_a, −F) + F)) / (1 + Σ_a w_a · F)

s is the product with the query (the merged text and, with weight ``picture``, the reference), w_a the weight ``asked``
or ``kept`` (``HELD`` times that where a part of the aspect is asked for; ``NEEDED`` times ``asked`` for what stays and
without which a request means another thing), F a floor: the encoder's doubt beyond it does not count. "Red rather than
the other colours" is asked, not "how red": merged captions alone spread their weight over everything they mention. All
that stays together cannot make up for one thing that was asked and is not there. What earlier turns asked for holds
until a later one speaks of the same aspect. The whole gallery is scored, or an approximate index's candidates.

Where a learned reader knows the encoder (:func:`cir_core.language.readers.choosing.aspect_reader`), log p of what is
asked is the smaller of the texts' and the reader's: they err on different images. Thin straps are near to no sleeves:
where nothing has all that was asked, they come before images that miss something altogether.

Marks become aspects, too (:func:`cir_core.methods.feedback.wishes_of`), with ``MARKED`` times the weight ``asked``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from cir_core.encoders.base import Encoder
from cir_core.errors import ImageUnreadable, LanguageModelError
from cir_core.language.readers.choosing import aspect_reader
from cir_core.language.readers.reader import WHOLE
from cir_core.language.tasks import AspectAnswer, AspectsAnswer, AspectsTask, Domain, Task
from cir_core.methods.feedback import IMAGE, ComposedQuery, Side, Wish, compose, name_key, wishes_of
from cir_core.methods.observer import StageTimer
from cir_core.methods.parameters import Label, declare
from cir_core.methods.step import Ledger, Notes, Scores, Step, StepTurn
from cir_core.support.texts import MAX_TEXT, clean_text
from cir_core.types.composition import Adjustment, Composition
from cir_core.types.methods import Weight
from cir_core.types.records import Matrix, Vector
from cir_core.types.vectors import Summand, TextEncoder

FLOOR = 4.0      # F, in nats
MOST_WORDS, MOST_CHOICES = 12, 4   # shown of what was not understood
KEPT = "kept"    # ledger: everything that stays
ASKED = "asked: "
FROM_MARKS = "marked: "
UNWANTED = ", marked less"   # behind the name of an aspect, beside which what stays of it is another
MARKED = 0.04    # of the weight of what is asked (benchmarks/figures/requests.md)
HELD = 6.0       # times the weight of what stays: the main colour, where a part of another colour is asked for
NEEDED = 0.5     # of the weight of what is asked: what stays and without which the request means another thing
NEAR = 2.0       # nats: what an image loses that has what is near to the wish, half of what another one does
SURE = 0.988     # probability from which a learned reader says yes, and no from 1 - SURE down
_WORD = re.compile(r"\w+")
_SMALL = frozenset({"a", "an", "and", "as", "at", "but", "for", "from", "in", "less", "like", "more", "no", "not", "of",
                    "on", "or", "than", "the", "to", "very", "with", "without"})
MOST_READ = 8    # images marked on one side that are read: each may be a call of a language model


Tick = Literal["yes", "no", "not sure"]


@dataclass(frozen=True)
class Guidance:
    """Weights beside the merged text's 1, tuned on the sample's train and val (benchmarks/figures/designs.md)."""

    asked: Annotated[Weight, Field(description="weight of what the words ask for")] = 1.6
    kept: Annotated[Weight, Field(description="weight of what stays as in the reference")] = 0.05
    picture: Annotated[Weight, Field(description="weight of the reference's own vector")] = 0.3
    temperature: Annotated[float, Field(ge=0.005, le=0.2, description="τ: the lower, the sharper it reads")] = 0.025


@dataclass(frozen=True)
class Aspect:
    """One aspect of the wanted image. ``asked`` in ``turn`` (of the session, the first is 1), by words or by images
    ``marked`` "more" or "less"; 0: not asked, kept. One "less" leaves what stays of the aspect beside it."""

    name: str
    label: str
    wanted: tuple[str, ...]
    others: tuple[str, ...]
    turn: int = 0
    marked: Side | None = None
    held: bool = False   # kept beside a part that was named: a pink belt on this red
    needed: bool = False   # what is asked is there only with it: on stripes a pink belt has no colour of its own
    near: int = 0   # number of ``others``, the first of them, that are near to what is wanted


@dataclass(frozen=True)
class Unclear:
    """Words of the text that nothing was made of, and concrete texts that a vague one may mean."""

    words: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.words or self.choices)


@dataclass(frozen=True)
class Shown:
    """The reference's vector, ``[dim]``."""

    vector: Vector = field(compare=False, repr=False)


class GuidanceStep(Step[Guidance]):
    name, label, title, settings = "guidance", "Guided", "Guided ranking", Guidance
    parameters = declare(
        Guidance, Label("asked", "weight of what is asked", step=0.05), Label("kept", "weight of what stays"),
        Label("picture", "weight of the reference image", step=0.05),
        Label("temperature", "sharpness of the encoder's reading", "τ", "tau", step=0.005),
    )
    moves_query = ("guidance",)
    reads_marks = True

    @property
    def keeps(self) -> Mapping[str, type[Any]]:
        return {self.name: Guidance, "aspects": Aspect, "shown": Shown, "unclear": Unclear}

    def trace(self, composition: Composition) -> list[tuple[str, str]]:
        aspects: tuple[Aspect, ...] = composition.part("aspects") or ()
        requested = [one.label for one in aspects if one.turn and not one.marked]
        marked, kept = [one.label for one in aspects if one.marked], [one.label for one in aspects if not one.turn]
        unclear = composition.part("unclear") or Unclear()
        rows = (("Asked", requested), ("From marks", marked), ("Stays", kept), ("Not understood", unclear.words))
        return [(title, " · ".join(labels)) for title, labels in rows if labels]

    def tasks(self, settings: Guidance, domain: Domain) -> tuple[Task[Any], ...]:
        return (AspectsTask(domain=domain),)

    def ask(self, settings: Guidance, turn: StepTurn) -> tuple[Mapping[str, Any], Notes]:
        task = AspectsTask(turn.reference.picture, turn.caption, turn.text, turn.domain)
        answer = AspectsAnswer(aspects=())
        notes: Notes = ()
        try:
            with turn.stages("aspects"):
                answer = turn.language.complete(task, turn.stages.watch)
            notes = answer.notes
        except (LanguageModelError, ImageUnreadable) as error:
            notes = (f"what was asked could not be taken apart, so the whole text ranks: {error}",)
        wishes, unread = _read_marks(turn, answer.aspects)
        aspects = _joined(answer.aspects, _earlier_requests(turn.earlier), turn.number, wishes,
                          free={name_key(one.name) for one in _aspects(turn.earlier) if not one.wanted})
        unused = _short(answer.unused, MOST_WORDS)
        unclear = Unclear(unused, _short(_not_repeating(unused, answer.choices), MOST_CHOICES))
        return {self.name: settings, "aspects": aspects or None, "shown": Shown(turn.reference.features),
                "unclear": unclear or None}, (*notes, *unread)

    def reread(self, settings: Guidance, turn: StepTurn, before: str) -> Mapping[str, Any]:
        if not before:
            carried = tuple(one for one in _aspects(turn.current) if one.turn < turn.number or one.marked)
            earlier = turn.current.with_parts({"aspects": carried}) if turn.current else None
            parts, _ = self.ask(settings, replace(turn, earlier=earlier))
            return {"aspects": parts["aspects"] or (), "unclear": parts["unclear"] or Unclear()}
        with turn.stages("aspects"):
            old, new = (turn.language.complete(AspectsTask(turn.reference.picture, turn.caption, text, turn.domain),
                                               turn.stages.watch).aspects for text in (before, turn.merged))
        return {"aspects": _edited(_aspects(turn.current), old, new, turn.number)}

    def refine(
        self, query: ComposedQuery, settings: Guidance, turn: StepTurn
    ) -> tuple[ComposedQuery, Mapping[str, Any], Notes]:
        return _with_picture(query, settings, turn.reference.features), {}, ()

    def replay(self, query: ComposedQuery, settings: Guidance, composition: Composition) -> ComposedQuery:
        used, shown = composition.part(self.name) or settings, composition.part("shown")
        return query if shown is None else _with_picture(query, used, shown.vector)

    def score(
        self, query: Vector, composition: Composition, encoder: TextEncoder, stages: StageTimer
    ) -> GuidedScore | None:
        settings, aspects = composition.part(self.name), composition.part("aspects")
        if settings is None or not aspects:
            return None
        with stages("encode aspects"):
            return guided_score(query, aspects, settings, encoder)

    def adjust(
        self, composition: Composition, notes: Notes, adjustment: Adjustment, encoder: Encoder, stages: StageTimer
    ) -> tuple[Composition, Notes]:
        composition, notes = super().adjust(composition, notes, adjustment, encoder, stages)
        changed = {name: adjustment.part(name) for name in ("aspects", "unclear")}
        return composition.with_parts({name: part for name, part in changed.items() if part is not None}), notes


@dataclass(frozen=True)
class _Term:
    """Columns of an aspect's captions among the products."""

    label: str
    weight: float
    all: npt.NDArray[np.intp]   # those that satisfy it first, then those of the learned reader
    satisfying: int             # number of these
    learned: _Learned | None = None
    near: int = 0               # number of those after them that are near

    @property
    def texts(self) -> int:
        """Number of captions among the columns."""
        return len(self.all) - (len(self.learned.offsets) if self.learned else 0)

    def read(self, products: Scores, temperature: float) -> Scores:
        """max(log p, −F) + F of images with ``products`` ``[n, columns]``."""
        p = _log_p(products[..., :self.texts] / products.dtype.type(temperature), self.satisfying, self.near)
        if self.learned:
            rows = products[..., self.texts:] + self.learned.offsets.astype(products.dtype)
            p = np.minimum(p, _log_p(rows, self.learned.satisfying, self.learned.near))
        return np.asarray(np.maximum(p, -FLOOR) + FLOOR)


@dataclass(frozen=True)
class _Learned:
    """Values of a learned reader, the last columns of an aspect, those that satisfy it first."""

    offsets: Vector
    satisfying: int
    near: int = 0


def _log_p(rows: Scores, satisfying: int, near: int) -> Scores:
    p = _log_share(rows, satisfying)
    return np.maximum(p, _log_share(rows, satisfying + near) - rows.dtype.type(NEAR)) if near else p


def _log_share(rows: Scores, satisfying: int) -> Scores:
    """The logarithm of the share that the first columns of ``rows`` ``[n, columns]`` have of the exponentials."""
    exponentials = np.exp(rows - rows.max(axis=-1, keepdims=True))
    with np.errstate(divide="ignore"):   # a sum that underflows is far below the floor
        share = np.log(exponentials[..., :satisfying].sum(axis=-1)) - np.log(exponentials.sum(axis=-1))
    return np.asarray(share)


@dataclass(frozen=True)
class GuidedScore:
    """The score of the module's docstring. ``vectors`` ``[1 + columns, dim]``: the query, then each caption once, then
    values of a learned reader."""

    vectors: Matrix
    terms: tuple[_Term, ...]
    temperature: float

    @property
    def _most(self) -> float:
        return 1 + FLOOR * sum(term.weight for term in self.terms)

    def combine(self, products: Scores) -> Scores:
        """``[n, 1 + columns]`` products to ``[n]`` scores."""
        return self.total(products[..., 0], [self._read(term, products) for term in self.terms])

    @property
    def summands(self) -> list[Summand]:
        """What each aspect adds, before its weight: it does not depend on the query."""
        return [Summand((term.satisfying, term.near, self.temperature, term.texts, _key_of(term.learned)), term.all,
                        partial(term.read, temperature=self.temperature)) for term in self.terms]

    def total(self, first: Scores, parts: Sequence[Scores]) -> Scores:
        """``[n]`` scores from the products with the query and what was read of each aspect."""
        total = first.copy()
        for term, part in zip(self.terms, parts, strict=True):
            total += first.dtype.type(term.weight) * part
        return np.asarray(total / first.dtype.type(self._most))

    def error(self, errors: npt.NDArray[np.float64], sizes: npt.NDArray[np.float64]) -> float:
        """Both sums of an aspect move by a factor of at most exp(error/τ), those of a learned reader by exp(error); the
        smaller of two moves no further than either. The rest is rounding of :meth:`combine`."""
        of_terms = sum(term.weight * self._error(term, errors[term.all], sizes[term.all]) for term in self.terms)
        return (float(errors[0]) + of_terms + 2.0**-20 * self._most) / self._most

    def _error(self, term: _Term, errors: npt.NDArray[np.float64], sizes: npt.NDArray[np.float64]) -> float:
        of_texts = (2 * float(errors[:term.texts].max()) + 2.0**-20) / self.temperature
        if not term.learned:
            return of_texts
        rounding = 2.0**-20 * (1 + float(sizes[term.texts:].max()) + float(np.abs(term.learned.offsets).max()))
        return max(of_texts, 2 * float(errors[term.texts:].max()) + rounding)

    def ledgers(self, parts: Sequence[Ledger], products: Scores) -> list[Ledger]:
        """``parts`` of the product with the query, then what each request adds, and in one sum what stays."""
        columns = np.concatenate([np.zeros((len(products), 1)), products], axis=1)   # places count the query
        added: dict[str, Scores] = {}
        for term in self.terms:
            added[term.label] = added.get(term.label, 0.0) + term.weight * self._read(term, columns)
        rows = np.column_stack(list(added.values())).tolist() if added else [[]] * len(parts)
        most = self._most
        return [tuple((name, value / most) for name, value in (*one, *zip(added, row, strict=True)))
                for one, row in zip(parts, rows, strict=True)]

    def _read(self, term: _Term, products: Scores) -> Scores:
        return term.read(products[..., term.all], self.temperature)


def guided_score(query: Vector, aspects: Sequence[Aspect], settings: Guidance, encoder: TextEncoder) -> GuidedScore:
    """Encode the captions of ``aspects`` and combine them with ``query`` ``[dim]``."""
    texts = tuple(dict.fromkeys(text for one in aspects for text in (*one.wanted, *one.others)))
    place = {text: column for column, text in enumerate(texts, start=1)}
    vectors, reader = [query[None], encoder.encode_texts(texts)], aspect_reader(encoder)

    def term(one: Aspect) -> _Term:
        captions = [place[text] for text in dict.fromkeys((*one.wanted, *one.others))]
        read = reader.columns(one.wanted, one.others) if reader and one.turn and not one.marked else None
        learned = None
        if read is not None:
            start = sum(map(len, vectors))
            vectors.append(read[0])
            captions += range(start, start + len(read[0]))
            with_near = reader.columns((*one.wanted, *one.others[:one.near]), one.others[one.near:]) if reader else None
            learned = _Learned(read[1], read[2], (with_near or read)[2] - read[2])
        return _Term(_part(one), _weight(one, settings), np.array(captions), len(set(one.wanted)), learned,
                     len({*one.wanted, *one.others[:one.near]}) - len(set(one.wanted)))

    terms = tuple(map(term, aspects))
    return GuidedScore(np.vstack(vectors).astype(np.float32), terms, settings.temperature)


def _key_of(learned: _Learned | None) -> tuple[object, ...]:
    return (learned.satisfying, learned.near, learned.offsets.tobytes()) if learned else ()


def _part(one: Aspect) -> str:
    """Its name in the ledger."""
    return (FROM_MARKS if one.marked else ASKED) + one.label if one.turn else KEPT


def _weight(one: Aspect, settings: Guidance) -> float:
    if not one.turn:
        if one.needed:
            return settings.asked * NEEDED
        return settings.kept * (HELD if one.held else 1)
    return settings.asked * (MARKED if one.marked else 1)


def requests_of(composition: Composition | None) -> tuple[Aspect, ...]:
    """What the turn is asked for in words, by it and by those before, where this has a weight."""
    settings = (composition.part("guidance") if composition else None) or Guidance()
    return tuple(one for one in _aspects(composition) if one.turn and not one.marked) if settings.asked else ()


def read_requests(composition: Composition | None, features: Matrix, encoder: object) -> dict[str, Vector]:
    """For each request of the turn that the encoder's learned reader can tell, by its label, the probability ``[n]``
    that the images with ``features`` ``[n, dim]`` show it. Nothing for an encoder without such a reader."""
    reader = aspect_reader(encoder)
    found: dict[str, Vector] = {}
    for one in requests_of(composition) if reader else ():
        columns = reader.columns(one.wanted, one.others) if reader else None
        if columns is not None:
            vectors, offsets, satisfying = columns
            scores = np.asarray(features, dtype=np.float64) @ vectors.T + offsets
            shares = np.exp(scores - scores.max(axis=1, keepdims=True))
            found[one.label] = shares[:, :satisfying].sum(axis=1) / shares.sum(axis=1)
    return found


def ticks(
    composition: Composition | None, scores: Iterable[Ledger], read: Mapping[str, Vector] = MappingProxyType({}),
) -> Iterator[list[tuple[str, Tick]]]:
    """For each image the requests of the turn, and whether the encoder sees each in it: with a probability of
    :data:`SURE` where a learned reader tells (:func:`read_requests`), or it is not sure; of other requests what is more
    likely (p ≥ ½), by the parts of the score."""
    settings, aspects = (composition.part("guidance"), composition.part("aspects")) if composition else (None, None)
    if settings is None:
        settings, aspects = Guidance(), ()
    most = 1 + FLOOR * sum(_weight(one, settings) for one in aspects or ())
    least = settings.asked * (FLOOR - math.log(2)) / most - 1e-9
    requested = {ASKED + one.label: one.label for one in aspects or ()
                 if one.turn and not one.marked and settings.asked}
    reranked = composition.part("relevance") if composition else None
    share = 1 - reranked.weight if reranked else 1.0   # of the guided score, where relevance is added
    for place, parts in enumerate(scores):
        least_here = least * share if any(name == "relevance" for name, _ in parts) else least
        yield [(label, _tick(read[label][place]) if label in read else "yes" if value >= least_here else "no")
               for label, value in ((requested[name], value) for name, value in parts if name in requested)]


def _tick(p: float) -> Tick:
    return "yes" if p >= SURE else "no" if p <= 1 - SURE else "not sure"


def telling(read: Iterable[Sequence[tuple[str, Tick]]]) -> frozenset[str]:
    """Labels that tell images apart: some of them show it, and others do not, or it is not known."""
    seen: dict[str, set[Tick]] = {}
    for one in read:
        for label, tick in one:
            seen.setdefault(label, set()).add(tick)
    return frozenset(label for label, found in seen.items() if len(found) > 1)


def _with_picture(query: ComposedQuery, settings: Guidance, features: Vector) -> ComposedQuery:
    return compose({**query.terms, IMAGE: np.float32(settings.picture) * features})


def _short(texts: Sequence[str], most: int) -> tuple[str, ...]:
    """The first of ``texts``: a model may answer with any number, of any length."""
    plain = (clean_text(text[:MAX_TEXT], required=False) for text in texts[:most])
    return tuple(dict.fromkeys(text for text in plain if text))


def _not_repeating(unused: Sequence[str], choices: Sequence[str]) -> list[str]:
    """Those of ``choices`` without any of the words that were not understood. Scripts that write no spaces have no
    words: there it is what was not understood as a whole."""
    said = {word for text in unused for word in _WORD.findall(text.casefold())} - _SMALL
    whole = [text.casefold() for text in unused if not text.isascii()]

    def repeats(choice: str) -> bool:
        text = choice[:MAX_TEXT].casefold()
        return not said.isdisjoint(_WORD.findall(text)) or any(one in text for one in whole)

    return [choice for choice in choices if not repeats(choice)]


def _aspects(made: Composition | None) -> tuple[Aspect, ...]:
    return (made.part("aspects") or ()) if made else ()


def _earlier_requests(earlier: Composition | None) -> tuple[Aspect, ...]:
    return tuple(one for one in _aspects(earlier) if one.turn)


def _edited(
    aspects: Sequence[Aspect], old: Sequence[AspectAnswer], new: Sequence[AspectAnswer], turn: int
) -> tuple[Aspect, ...]:
    """``aspects`` after an edit of the query: what it says otherwise than before is asked, what it no longer says is
    given up."""
    was, now = ({one.name: one for one in answered if one.asked} for answered in (old, new))
    requested = {name: Aspect(name, one.label, one.wanted, one.others, turn, near=one.near) for name, one in now.items()
             if name not in was or was[name].label != one.label}
    left = tuple(one for one in aspects if one.name.removesuffix(UNWANTED) not in requested
                 and (one.name in now or one.name not in was))
    return (*(one for one in left if one.turn), *requested.values(), *(one for one in left if not one.turn))


def _read_marks(turn: StepTurn, answered: Sequence[AspectAnswer]) -> tuple[tuple[Wish, ...], Notes]:
    """What the marked images share beyond the request, each read by the language model as if nothing was asked of it,
    and notes."""
    marks, notes = turn.marks, []
    if not marks:
        return (), ()
    requested = {name_key(one.name) for one in answered if one.asked}
    requested |= {name_key(one.name) for one in _earlier_requests(turn.earlier) if not one.marked}
    try:
        with turn.stages("marks"):
            more, less = (_aspects_of(turn, ids[:MOST_READ]) for ids in (marks.more_like, marks.less_like))
    except (LanguageModelError, ImageUnreadable) as error:
        return (), (f"what the marked images share could not be read, so nothing of it is asked: {error}",)
    for side, ids in (("more", marks.more_like), ("less", marks.less_like)):
        if len(ids) > MOST_READ:
            notes.append(f"of {len(ids)} images marked “{side} like this” the first {MOST_READ} were read")
    found = wishes_of(more, less, [one for one in answered if not one.asked], requested)
    if found:
        notes.append(f"asked because of the marked images: {', '.join(wish.answer.label for wish in found)}")
    else:
        notes.append("the marked images share nothing beyond the request that tells them apart, so nothing of it is "
                     "asked")
    return found, tuple(notes)


def _aspects_of(turn: StepTurn, image_ids: Sequence[str]) -> list[tuple[AspectAnswer, ...]]:
    view = turn.gallery_view
    captions = view.captions(image_ids) or ("",) * len(image_ids)
    tasks = [AspectsTask(view.picture(image_id), caption, WHOLE, turn.domain)
             for image_id, caption in zip(image_ids, captions, strict=True)]
    return [turn.language.complete(task, turn.stages.watch).aspects for task in tasks]


def _joined(
    answered: Sequence[AspectAnswer], before: Sequence[Aspect], turn: int, wishes: Sequence[Wish] = (),
    free: Collection[str] = (),
) -> tuple[Aspect, ...]:
    """Earlier requests that this turn does not replace, its own, what marks ask for, and what stays of the rest, of
    which the names ``free`` may be anything. One of each name, whatever its case, and no two requests with the same
    label, by which ticks are found."""
    requested = {name_key(one.name): one for one in before}
    given = [*((one, None) for one in answered if one.asked), *((wish.answer, wish.side) for wish in wishes)]
    for one, side in given:
        plain, unwanted = name_key(one.name), name_key(one.name + UNWANTED)
        requested.pop(unwanted, None)
        if side != "less" or (plain in requested and set(requested[plain].wanted) & set(one.others)):
            requested.pop(plain, None)   # so that the newest comes last
        label = one.label if one.label not in {other.label for other in requested.values()} else \
            f"{one.label} ({one.name})"
        name, key = (one.name + UNWANTED, unwanted) if side == "less" else (one.name, plain)
        requested[key] = Aspect(name, label, one.wanted, one.others, turn, side, near=0 if side else one.near)
    kept = {name_key(one.name): Aspect(one.name, one.label, one.wanted, one.others, held=one.held,
                                       needed=one.needed) for one in answered if name_key(one.name) not in free}
    return (*requested.values(), *(one for key, one in kept.items() if key not in requested))
