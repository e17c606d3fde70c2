"""The same turn under several methods: same gallery, same reference, same words."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from time import perf_counter

from cir_core.comparisons import Column, Comparison, ComparisonStore
from cir_core.composition import Marks
from cir_core.errors import CirqueError, SearchError, Stopped
from cir_core.ids import new_id
from cir_core.methods.declared import Method
from cir_core.references import Previous, Reference
from cir_core.search import Searcher
from cir_core.service import SearchService
from cir_core.texts import clean_text
from cir_core.turn_watch import TurnWatch
from cir_core.types import Exclude, Turn

FEWEST, MOST = 2, 6
DEPTH = 20   # images of a column that are kept


class ComparisonService:
    def __init__(self, search: SearchService, store: ComparisonStore) -> None:
        self._search = search
        self._store = store

    def comparison(self, comparison_id: str) -> Comparison:
        return self._store.comparison(comparison_id)

    def run(
        self, gallery: str, reference_id: str, text: str, methods: Sequence[Method], *,
        session_id: str | None = None, parent_id: str | None = None, marks: Marks = Marks(),
        exclude: Exclude = "reference", blind: bool = False, seed: int | None = None,
        watch: TurnWatch | None = None, column_done: Callable[[], None] = lambda: None,
    ) -> Comparison:
        """Run the turn once per method, one after the other, and store the outcome.

        With ``parent_id`` every method goes on from that turn of ``session_id``. ``blind``
        draws the order of the columns by ``seed``. A method that cannot run here takes part
        with its problem. Stopping keeps the columns that are done, if there are two.

        Raises:
            SearchError: fewer than two methods or more than six, one twice, an empty text.
            CirqueError: no method at all could run.
        """
        text = clean_text(text, required=any(method.settings.base != "image-only" for method in methods))
        _check(methods)
        searcher = self._search.searcher(gallery)
        path = self._path(session_id, parent_id)
        reference, _ = self._search.reference(searcher, reference_id)
        seed = random.SystemRandom().randrange(2**31) if seed is None else seed
        order = list(methods)
        if blind:
            random.Random(seed).shuffle(order)
        columns: list[Column] = []
        for method in order:
            if watch is not None and watch.stopped and len(columns) >= FEWEST:
                break
            columns.append(_column(searcher, reference, text, method, exclude, path, marks, watch))
            column_done()
        if all(column.problem for column in columns):
            raise SearchError(f"None of the methods could run. {columns[0].problem}")
        return self._store.add_comparison(Comparison(
            new_id(), gallery, reference_id, text, tuple(columns), blind, seed, datetime.now(UTC),
            session_id if path else None, parent_id if path else None,
        ))

    def _path(self, session_id: str | None, parent_id: str | None) -> tuple[Turn, ...]:
        if session_id is None or parent_id is None:
            return ()
        path = self._search.session(session_id).path_to(parent_id)
        if not path:
            raise SearchError("That turn is not part of this session. Reload the page.")
        return path


def _check(methods: Sequence[Method]) -> None:
    if not FEWEST <= len(methods) <= MOST:
        raise SearchError(f"Choose {FEWEST} to {MOST} methods to compare; there are {len(methods)}.")
    names = [method.name for method in methods]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise SearchError(f"The method {twice!r} is there twice. Choose different ones.")


def _column(
    searcher: Searcher, reference: Reference, text: str, method: Method, exclude: Exclude,
    path: Sequence[Turn], marks: Marks, watch: TurnWatch | None,
) -> Column:
    settings = replace(method.settings, exclude=exclude)
    card = searcher.card(settings)
    before = watch.usage if watch is not None else None
    began = perf_counter()
    try:
        found = searcher.turn(reference, text, settings, previous=Previous.of(path), marks=marks, k=DEPTH, watch=watch)
    except Stopped:
        return Column(method.name, card, problem="Stopped before it had a result.")
    except CirqueError as error:
        return Column(method.name, card, problem=str(error))
    total = (perf_counter() - began) * 1000
    composition = found.composition
    if before is not None:  # one watch counts for all columns; this is the share of this one
        composition = replace(composition, usage=composition.usage - before)
    return Column(
        method.name, card, found.caption, found.merged_text, found.notes, found.hits,
        {**found.timings_ms, "total": total}, composition,
    )
