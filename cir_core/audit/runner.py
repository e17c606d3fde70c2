"""Run an audit: rank every query with every retriever under three variants. Safe to kill, quick to repeat.

Queries are processed in chunks whose bounds depend on their positions alone. A chunk is stored whole or not at all, so
an interrupted run uses the same batches as an uninterrupted one, and gets identical ranks.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cir_core.audit.records import VARIANTS, AuditStore, QueryAudit, Ranking, RetrieverRun, RunCard, Variant
from cir_core.audit.retrievers.base import Retriever
from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.errors import ENDS_A_RUN, CirqueError, SearchError, StorageError
from cir_core.evaluation.query_steps import Problem
from cir_core.support.texts import quoted

CHUNK = 64      # queries
IN_A_ROW = 20   # consecutive problems after which a retriever is given up
_log = logging.getLogger("cirque.audit")

INPUTS: Mapping[Variant, str] = {
    "multimodal": "image and text", "text_only": "the text alone", "image_only": "the image alone",
}


@dataclass(frozen=True)
class AuditProgress:
    """``done`` of ``total`` queries of ``retriever`` are stored; ``variant`` is being ranked."""

    retriever: str
    variant: Variant
    done: int
    total: int


@dataclass(frozen=True)
class AuditOutcome:
    """``failed``: retrievers that could not finish, with the reason; their results so far are stored.
    ``reused``: number of queries per retriever that were stored before."""

    runs: tuple[RetrieverRun, ...]
    failed: Mapping[str, str]
    reused: Mapping[str, int]


def run_audit(
    benchmark: Benchmark, retrievers: Sequence[Retriever], store: AuditStore, *, chunk: int = CHUNK,
    retry: bool = False, progress: Callable[[AuditProgress], None] | None = None,
) -> AuditOutcome:
    """Rank all queries that are not stored yet. ``retry`` repeats the chunks with problems.

    A failed query is stored with its problem; a retriever that cannot continue is abandoned, and
    the next one runs. Raises ``SearchError`` for two retrievers of one name, ``StorageError``.
    """
    names = [retriever.name for retriever in retrievers]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise SearchError(f"Two retrievers are called {quoted(twice)}. Give one of them another name: NAME={twice}.")
    runs: list[RetrieverRun] = []
    failed: dict[str, str] = {}
    reused: dict[str, int] = {}
    for retriever in retrievers:
        try:
            work = _Work(benchmark, retriever, store, chunk, progress)
            reused[retriever.name] = work.known(retry)
            runs.append(work.run())
        except StorageError:
            raise
        except CirqueError as error:
            failed[retriever.name] = str(error)
        finally:
            retriever.close()
    return AuditOutcome(tuple(runs), failed, reused)


class _Work:
    """State of one retriever's run."""

    def __init__(
        self, benchmark: Benchmark, retriever: Retriever, store: AuditStore, chunk: int,
        progress: Callable[[AuditProgress], None] | None,
    ) -> None:
        self._queries, self._retriever, self._store = benchmark.queries, retriever, store
        self._chunk, self._progress = chunk, progress
        self._card: RunCard = retriever.card()
        self._stored: dict[int, QueryAudit] = {}
        self._in_a_row = 0

    def known(self, retry: bool) -> int:
        """Look up stored results; a chunk counts whole or not at all. Returns the number of queries."""
        found = self._store.stored(self._card)
        for first, queries in self._chunks():
            places = range(first, first + len(queries))
            if all(place in found for place in places) and not (retry and any(found[i].problem for i in places)):
                self._stored.update((place, found[place]) for place in places)
        return len(self._stored)

    def run(self) -> RetrieverRun:
        total = len(self._queries)
        self._store.begin(self._card, total)
        for first, queries in self._chunks():
            if first in self._stored:
                continue
            audits = self._audited(queries)
            self._store.put(self._card, first, audits)
            self._stored.update(enumerate(audits, start=first))
            self._tell("image_only")
        self._store.finish(self._card)
        return RetrieverRun(self._card, tuple(self._stored[place] for place in range(total)))

    def _audited(self, queries: Sequence[BenchmarkQuery]) -> list[QueryAudit]:
        outcomes: dict[Variant, Sequence[Ranking | Problem]] = {}
        for variant in VARIANTS:
            self._tell(variant)
            outcomes[variant] = self._ranked(queries, variant)
        audits = []
        for place, query in enumerate(queries):
            audit, problem = _joined(query, {variant: outcomes[variant][place] for variant in VARIANTS})
            self._count(problem)
            audits.append(audit)
        return audits

    def _ranked(self, queries: Sequence[BenchmarkQuery], variant: Variant) -> Sequence[Ranking | Problem]:
        try:
            return self._retriever.rank(queries, variant)
        except ENDS_A_RUN:
            raise
        except Exception as error:  # including errors of a model's own code: one query may cause them
            if len(queries) == 1:
                if not isinstance(error, CirqueError):
                    _log.exception("%s failed at query %s", self._retriever.name, queries[0].query_id)
                return [Problem(_sentence(error))]
        return [outcome for query in queries for outcome in self._ranked([query], variant)]

    def _count(self, problem: Problem | None) -> None:
        if problem is None:
            self._in_a_row = 0
        elif not problem.of_query:
            self._in_a_row += 1
        if problem is not None and self._in_a_row >= IN_A_ROW:
            raise SearchError(f"{IN_A_ROW} queries in a row failed. The last one: {problem.reason}")

    def _chunks(self) -> list[tuple[int, Sequence[BenchmarkQuery]]]:
        return [(first, self._queries[first:first + self._chunk])
                for first in range(0, len(self._queries), self._chunk)]

    def _tell(self, variant: Variant) -> None:
        if self._progress:
            self._progress(AuditProgress(self._retriever.name, variant, len(self._stored), len(self._queries)))


def _joined(query: BenchmarkQuery, outcomes: Mapping[Variant, Ranking | Problem]) -> tuple[QueryAudit, Problem | None]:
    """The query's record, and its problem. A query counts only with all three rankings."""
    rankings: dict[Variant, Ranking] = {}
    for variant, outcome in outcomes.items():
        if isinstance(outcome, Problem):
            reason = outcome.reason if outcome.of_query else f"with {INPUTS[variant]}: {outcome.reason}"
            return QueryAudit(query.query_id, {}, reason), outcome
        rankings[variant] = outcome
    return QueryAudit(query.query_id, rankings), None


def _sentence(error: Exception) -> str:
    if isinstance(error, CirqueError):
        return str(error)
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
