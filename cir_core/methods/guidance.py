"""Guided ranking: what was asked outweighs what was merely there.

An aspect (colour, pattern, …) has captions that satisfy it, W, and captions of its alternatives, O. With x the image's
cosine with each of them and temperature τ, the encoder's zero-shot reading of the aspect gives

    p = Σ_W exp(x/τ) / Σ_{W ∪ O} exp(x/τ)

Where the encoder has a learned reader (:func:`cir_core.language.readers.choosing.aspect_reader`) and the captions are
those of values that it knows, x/τ is the value's own linear score instead, and p is calibrated.

    score = (s + Σ_a w_a · (max(log p_a, −F) + F)) / (1 + Σ_a w_a · F)

s is the product with the query (the merged text and, with weight ``picture``, the reference), w_a the weight ``asked``
or ``kept``, F a floor: the encoder's doubt beyond it does not count. "Red rather than the other colours" is asked, not
"how red": merged captions alone spread their weight over everything they mention. What earlier turns asked for holds
until a later one speaks of the same aspect. The whole gallery is scored.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from cir_core.encoders.base import Encoder
from cir_core.errors import ImageUnreadable, LanguageModelError
from cir_core.language.readers.choosing import aspect_reader, can_read
from cir_core.language.readers.reader import AspectReader
from cir_core.language.tasks import AspectAnswer, AspectsAnswer, AspectsTask, Domain, Task
from cir_core.methods.feedback import IMAGE, ComposedQuery, compose
from cir_core.methods.observer import StageTimer
from cir_core.methods.parameters import Label, declare
from cir_core.methods.step import Ledger, Notes, Scores, Step, StepTurn
from cir_core.support.texts import MAX_TEXT, clean_text
from cir_core.types.composition import Adjustment, Composition
from cir_core.types.methods import Weight
from cir_core.types.records import Matrix, Vector
from cir_core.types.vectors import TextEncoder

FLOOR = 6.0      # F, in nats
MOST_WORDS, MOST_CHOICES = 12, 4   # shown of what was not understood
KEPT = "kept"    # ledger: everything that stays
ASKED = "asked: "
SURE, NOT = 0.95, 0.05   # p of what the learned reader sees, and does not see: between them it is not sure

Tick = Literal["yes", "no", "not sure"]


@dataclass(frozen=True)
class Guidance:
    """Weights beside the merged text's 1. Tuned on the sample gallery's train and val splits (docs/methods.md)."""

    asked: Weight = 1.6
    kept: Weight = 0.1
    picture: Weight = 0.3
    temperature: Annotated[float, Field(ge=0.005, le=0.2)] = 0.025   # τ


@dataclass(frozen=True)
class Aspect:
    """One aspect of the wanted image. ``asked`` in ``turn`` (of the session, the first is 1); 0: not asked, kept."""

    name: str
    label: str
    wanted: tuple[str, ...]
    others: tuple[str, ...]
    turn: int = 0


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


@dataclass(frozen=True)
class ReadBy:
    """The learned reader that read the turn's aspects. A turn without it was read by comparison with texts."""

    digest: str


class GuidanceStep(Step[Guidance]):
    name, label, title, settings = "guidance", "Guided", "Guided ranking", Guidance
    parameters = declare(
        Guidance, Label("asked", "weight of what is asked", step=0.05), Label("kept", "weight of what stays"),
        Label("picture", "weight of the reference image", step=0.05),
        Label("temperature", "sharpness of the encoder's reading", "τ", "tau", step=0.005),
    )
    moves_query = ("guidance",)

    @property
    def keeps(self) -> Mapping[str, type[Any]]:
        return {self.name: Guidance, "aspects": Aspect, "shown": Shown, "unclear": Unclear, "reader": ReadBy}

    def trace(self, composition: Composition) -> list[tuple[str, str]]:
        aspects: tuple[Aspect, ...] = composition.part("aspects") or ()
        requested, kept = [one.label for one in aspects if one.turn], [one.label for one in aspects if not one.turn]
        unclear = composition.part("unclear") or Unclear()
        rows = (("Asked", requested), ("Stays", kept), ("Not understood", unclear.words))
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
        aspects = _joined(answer.aspects, _earlier_requests(turn.earlier), turn.number)
        unclear = Unclear(_short(answer.unused, MOST_WORDS), _short(answer.choices, MOST_CHOICES))
        reader = aspect_reader(turn.encoder)
        return {self.name: settings, "aspects": aspects or None, "shown": Shown(turn.reference.features),
                "unclear": unclear or None, "reader": ReadBy(reader.digest) if reader else None}, notes

    def reread(self, settings: Guidance, turn: StepTurn, before: str) -> Mapping[str, Any]:
        if not before:
            carried = tuple(one for one in _aspects(turn.current) if one.turn < turn.number)
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
            return guided_score(query, aspects, settings, encoder, reader_of(composition, encoder))

    def adjust(
        self, composition: Composition, notes: Notes, adjustment: Adjustment, encoder: Encoder, stages: StageTimer
    ) -> tuple[Composition, Notes]:
        composition, notes = super().adjust(composition, notes, adjustment, encoder, stages)
        changed = {name: adjustment.part(name) for name in ("aspects", "unclear")}
        return composition.with_parts({name: part for name, part in changed.items() if part is not None}), notes


@dataclass(frozen=True)
class _Term:
    """Columns of an aspect among the products: x/τ + ``offsets`` is the score of each of its values."""

    label: str
    weight: float
    all: npt.NDArray[np.intp]   # those that satisfy it first
    satisfying: int             # number of these
    temperature: float          # τ
    offsets: Vector | None = None


@dataclass(frozen=True)
class GuidedScore:
    """The score of the module's docstring. ``vectors`` ``[1 + columns, dim]``: the query, then each caption or value
    once."""

    vectors: Matrix
    terms: tuple[_Term, ...]

    @property
    def _most(self) -> float:
        return 1 + FLOOR * sum(term.weight for term in self.terms)

    def combine(self, products: Scores) -> Scores:
        """``[n, 1 + columns]`` products to ``[n]`` scores."""
        total = products[..., 0].copy()
        for term in self.terms:
            total += self._added(term, products)
        return np.asarray(total / products.dtype.type(self._most))

    def error(self, errors: npt.NDArray[np.float64], sizes: npt.NDArray[np.float64]) -> float:
        """Both sums of an aspect move by a factor of at most exp(error/τ); the rest is rounding of :meth:`combine`."""
        of_terms = sum(
            term.weight * (2 * float(errors[term.all].max()) + self._rounding(term, sizes)) / term.temperature
            for term in self.terms)
        return (float(errors[0]) + of_terms + 2.0**-20 * self._most) / self._most

    @staticmethod
    def _rounding(term: _Term, sizes: npt.NDArray[np.float64]) -> float:
        """Of a score's own digits in float32, which grow with it."""
        if term.offsets is None:
            return 2.0**-20
        return 2.0**-20 * max(1.0, float(sizes[term.all].max()) + float(np.abs(term.offsets).max()))

    def ledgers(self, parts: Sequence[Ledger], products: Scores) -> list[Ledger]:
        """``parts`` of the product with the query, then what each request adds, and in one sum what stays."""
        columns = np.concatenate([np.zeros((len(products), 1)), products], axis=1)   # places count the query
        added: dict[str, Scores] = {}
        for term in self.terms:
            added[term.label] = added.get(term.label, 0.0) + self._added(term, columns)
        rows = np.column_stack(list(added.values())).tolist() if added else [[]] * len(parts)
        most = self._most
        return [tuple((name, value / most) for name, value in (*one, *zip(added, row, strict=True)))
                for one, row in zip(parts, rows, strict=True)]

    def _added(self, term: _Term, products: Scores) -> Scores:
        scaled = products[..., term.all] / products.dtype.type(term.temperature)
        if term.offsets is not None:
            scaled = scaled + term.offsets.astype(products.dtype)
        exponentials = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
        with np.errstate(divide="ignore"):   # a sum that underflows is far below the floor
            read = np.log(exponentials[..., :term.satisfying].sum(axis=-1)) - np.log(exponentials.sum(axis=-1))
        added: Scores = term.weight * (np.maximum(read, -FLOOR) + FLOOR)
        return added.astype(products.dtype)


def reader_of(composition: Composition, encoder: TextEncoder) -> AspectReader | None:
    """The reader that a turn's aspects are read by; None for turns of versions that had none."""
    return aspect_reader(encoder) if composition.part("reader") else None


def guided_score(
    query: Vector, aspects: Sequence[Aspect], settings: Guidance, encoder: TextEncoder,
    reader: AspectReader | None = None,
) -> GuidedScore:
    """Combine ``query`` ``[dim]`` with the values of ``aspects``: those asked for as ``reader`` reads them; what stays,
    and what it does not know, by captions, which are encoded. Read by it, what stays would outweigh requests of earlier
    turns."""
    known = [reader.columns(one.wanted, one.others) if reader and one.turn else None for one in aspects]
    texts = tuple(dict.fromkeys(text for one, read in zip(aspects, known, strict=True) if read is None
                                for text in (*one.wanted, *one.others)))
    place = {text: column for column, text in enumerate(texts, start=1)}
    vectors = [query[None], encoder.encode_texts(texts)] if texts else [query[None]]
    terms, width = list[_Term](), 1 + len(texts)
    for one, read in zip(aspects, known, strict=True):
        label, weight = (ASKED + one.label, settings.asked) if one.turn else (KEPT, settings.kept)
        if read is None:
            places = np.array([place[text] for text in dict.fromkeys((*one.wanted, *one.others))])
            terms.append(_Term(label, weight, places, len(set(one.wanted)), settings.temperature))
            continue
        rows, offsets, satisfying = read
        vectors.append(rows)
        terms.append(_Term(label, weight, np.arange(width, width + len(rows)), satisfying, 1.0, offsets))
        width += len(rows)
    return GuidedScore(np.vstack(vectors).astype(np.float32), tuple(terms))


def ticks(composition: Composition | None, scores: Iterable[Ledger]) -> Iterator[list[tuple[str, Tick]]]:
    """For each image, by the parts of its score: the requests of the turn, and whether the encoder sees each in it. A
    learned reader says so with probability :data:`SURE`, or is not sure; texts say what is more likely (p ≥ ½)."""
    settings, aspects = (composition.part("guidance"), composition.part("aspects")) if composition else (None, None)
    if settings is None or composition is None:
        settings, aspects = Guidance(), ()
    most = 1 + FLOOR * sum(settings.asked if one.turn else settings.kept for one in aspects or ())

    def value_of(p: float) -> float:
        return settings.asked * (FLOOR + math.log(p)) / most - 1e-9

    by_reader = composition is not None and composition.part("reader") is not None
    requested: dict[str, tuple[str, float, float]] = {}
    for one in aspects or ():
        if one.turn and settings.asked:
            yes, no = (SURE, NOT) if by_reader and can_read(one.wanted, one.others) else (0.5, 0.5)
            requested[ASKED + one.label] = one.label, value_of(yes), value_of(no)
    reranked = composition.part("relevance") if composition else None
    share = 1 - reranked.weight if reranked else 1.0   # of the guided score, where relevance is added
    for parts in scores:
        here = share if any(name == "relevance" for name, _ in parts) else 1.0
        yield [(label, "yes" if value >= yes * here else "no" if value < no * here else "not sure")
               for name, value in parts if name in requested for label, yes, no in [requested[name]]]


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
    requested = {name: Aspect(name, one.label, one.wanted, one.others, turn) for name, one in now.items()
             if name not in was or was[name].label != one.label}
    left = tuple(one for one in aspects if one.name not in requested and (one.name in now or one.name not in was))
    return (*(one for one in left if one.turn), *requested.values(), *(one for one in left if not one.turn))


def _joined(answered: Sequence[AspectAnswer], before: Sequence[Aspect], turn: int) -> tuple[Aspect, ...]:
    """Earlier requests that this turn does not replace, its own, and what stays of the rest. One of each name,
    whatever its case, and no two requests of one label: their ticks are told apart by it."""
    requested = {_key(one.name): one for one in before}
    for one in answered:
        if one.asked:
            requested.pop(_key(one.name), None)   # so that the newest comes last
            label = one.label if one.label not in {other.label for other in requested.values()} else \
                f"{one.label} ({one.name})"
            requested[_key(one.name)] = Aspect(one.name, label, one.wanted, one.others, turn)
    kept = {_key(one.name): Aspect(one.name, one.label, one.wanted, one.others) for one in answered}
    return (*requested.values(), *(one for key, one in kept.items() if key not in requested))


def _key(name: str) -> str:
    return " ".join(name.casefold().split())
