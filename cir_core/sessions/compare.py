"""Run the same turn under several methods: same gallery, reference and text."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import perf_counter

from cir_core.errors import CirqueError, SearchError, Stopped
from cir_core.language.readers.reader import Pointed
from cir_core.methods.declared import Method
from cir_core.methods.observer import PartWatch, StageTimer, TurnObserver
from cir_core.methods.references import Previous, Reference
from cir_core.search.protocol import with_stand_ins
from cir_core.search.searcher import Searcher
from cir_core.sessions.service import SearchService
from cir_core.sessions.store import Comparison, ComparisonStore, MethodColumn
from cir_core.support.texts import clean_text, quoted
from cir_core.types.composition import Marks, Usage
from cir_core.types.records import Exclude, MethodSettings, Turn, new_id

FEWEST, MOST = 2, 6
DEPTH = 20   # images stored per column


class ComparisonService:
    def __init__(self, search: SearchService, store: ComparisonStore) -> None:
        self._search = search
        self._store = store

    def comparison(self, comparison_id: str) -> Comparison:
        return self._store.comparison(comparison_id)

    def run(
        self, gallery: str, reference_id: str, text: str, methods: Sequence[Method], *, further: Sequence[str] = (),
        session_id: str | None = None, parent_id: str | None = None, marks: Marks = Marks(),
        exclude: Exclude = "reference", blind: bool = False, seed: int | None = None,
        watch: TurnObserver | None = None, column_done: Callable[[], None] = lambda: None,
    ) -> Comparison:
        """Run the turn once per method, sequentially, and store the outcome.

        With ``parent_id`` every method continues from that turn of ``session_id``. ``blind``
        shuffles the columns by ``seed``. A method that cannot run here is included
        with its problem, and so is one that the user's stop prevented.

        Raises:
            SearchError: fewer than two methods or more than six, a repeated one, an empty text, ``further`` references
            beside the first, a turn that cannot be continued from.
            Stopped: stopped by the user before any result.
        """
        text = clean_text(text, required=any(method.settings.base != "image-only" for method in methods))
        _check(methods)
        searcher = self._search.searcher(gallery)
        path = self._search.going_on(gallery, session_id, parent_id)
        pointed = self._search.pointed(searcher, path, reference_id, text, further=further)
        if further if pointed.further is None else pointed.further:
            raise SearchError("Methods are compared from one reference picture, and several are given. Remove the "
                              "added ones, then compare.")
        reference_id = pointed.reference_id or reference_id
        reference, _ = self._search.reference(searcher, reference_id)
        seed = random.SystemRandom().randrange(2**31) if seed is None else seed
        watch = watch or TurnObserver()
        shared = _caption(searcher, reference, [method.settings for method in methods], watch)
        columns: list[MethodColumn] = []
        for method in methods:  # as requested: the order shown must not depend on how long each takes
            columns.append(_column(searcher, reference, pointed, method, exclude, path, marks, watch, shared))
            column_done()
        if all(column.problem for column in columns):
            if watch.stopped:
                raise Stopped("Stopped before any method had a result.")
            raise SearchError(f"None of the methods could run. {columns[0].problem}")
        if blind:
            random.Random(seed).shuffle(columns)
        return self._store.add_comparison(Comparison(
            new_id(), gallery, reference_id, text, tuple(columns), blind, seed, datetime.now(UTC),
            session_id if path else None, parent_id if path else None,
        ))


@dataclass(frozen=True)
class _Shared:
    """Cost of the reference caption, which is computed once. It counts for every column that needs
    it: a column shows the cost of its method alone."""

    milliseconds: float
    usage: Usage


def _caption(
    searcher: Searcher, reference: Reference, methods: Sequence[MethodSettings], watch: TurnObserver
) -> _Shared | None:
    needing = next((method for method in methods if searcher.needs_caption(method)), None)
    if needing is None:
        return None
    part = PartWatch(watch)
    stages = StageTimer(part)
    try:
        answer = searcher.caption(reference, needing, stages)
    except CirqueError:
        return None  # each column that needs it reports the error itself
    if answer is None or answer.notes:  # not cached, so each column makes its own
        return None
    return _Shared(stages.milliseconds["caption"], part.usage)


def _check(methods: Sequence[Method]) -> None:
    if not FEWEST <= len(methods) <= MOST:
        raise SearchError(f"Choose {FEWEST} to {MOST} methods to compare; there are {len(methods)}.")
    names = [method.name for method in methods]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise SearchError(f"The method {quoted(twice)} is listed twice. Choose different ones.")


def _column(
    searcher: Searcher, reference: Reference, asked: Pointed, method: Method, exclude: Exclude,
    path: Sequence[Turn], marks: Marks, watch: TurnObserver, shared: _Shared | None,
) -> MethodColumn:
    settings = replace(method.settings, exclude=exclude)
    card = searcher.card(settings)
    if watch.stopped:
        return MethodColumn(method.name, card, problem="Stopped before it started.")
    part = PartWatch(watch)
    began = perf_counter()
    try:
        found = searcher.turn(reference, asked.text, settings, previous=Previous.of(path, asked.held, asked.released),
                              marks=marks, k=DEPTH, watch=part)
    except Stopped:
        return MethodColumn(method.name, card, problem="Stopped before it had a result.")
    except CirqueError as error:
        return MethodColumn(method.name, card, problem=str(error))
    timings = dict(found.timings_ms) | {"total": (perf_counter() - began) * 1000}
    composition = found.composition
    if shared is not None and searcher.needs_caption(settings):
        timings["total"] += shared.milliseconds - timings.get("caption", 0.0)
        timings["caption"] = shared.milliseconds
        composition = replace(composition, usage=shared.usage + composition.usage)
    card = with_stand_ins(card, composition.usage.stand_ins)
    return MethodColumn(
        method.name, card, found.caption, found.merged_text, asked.with_notes(found.notes), found.hits, timings,
        composition,
    )
