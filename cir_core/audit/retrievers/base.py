"""Retriever interface of audits, and precomputed ranks as a retriever."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Protocol

from cir_core.audit.records import QueryAudit, Ranking, RetrieverRun, RunCard, Variant
from cir_core.datasets.records import Benchmark, BenchmarkQuery, caption_mode_of
from cir_core.evaluation.query_steps import Problem


class Retriever(Protocol):
    """Ranks a benchmark's queries under each variant. Made for one benchmark and ablation."""

    @property
    def name(self) -> str: ...

    def card(self) -> RunCard:
        """Everything its ranks depend on. May index a gallery first, but loads no model if there is
        one. Raises ``CirqueError`` if this retriever cannot be used at all."""

    def rank(self, queries: Sequence[BenchmarkQuery], variant: Variant) -> Sequence[Ranking | Problem]:
        """One outcome per query, in their order.

        A problem with a single query is a :class:`Problem`. Exceptions concern the batch or
        the retriever: ``LanguageModelUnavailable``, ``EncoderUnavailable``,
        ``EncoderMismatch``, ``GalleryError`` and ``MethodError`` mean that it cannot continue.
        """

    def close(self) -> None:
        """Release its models. It can be used again afterwards."""


class RanksRetriever:
    """External ranks read from a file, for ``benchmark`` or a part of it."""

    def __init__(self, run: RetrieverRun, benchmark: Benchmark) -> None:
        self._run = run
        self._card = replace(run.card, dataset_digest=benchmark.digest, caption_mode=caption_mode_of(benchmark.queries))
        self.name = run.card.retriever

    def card(self) -> RunCard:
        return self._card

    def rank(self, queries: Sequence[BenchmarkQuery], variant: Variant) -> Sequence[Ranking | Problem]:
        return [self._of(query.query_id, variant) for query in queries]

    def close(self) -> None:
        pass

    def _of(self, query_id: str, variant: Variant) -> Ranking | Problem:
        audit = self._by_id.get(query_id)
        if audit is None:
            return Problem("the file of ranks does not have this query", of_query=True)
        if audit.problem or variant not in audit.rankings:
            return Problem(audit.problem or "the file of ranks has none for this input", of_query=True)
        return audit.rankings[variant]

    @cached_property
    def _by_id(self) -> Mapping[str, QueryAudit]:
        return {query.query_id: query for query in self._run.queries}
