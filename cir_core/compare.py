"""The same turn under several methods."""

from __future__ import annotations

from cir_core.comparisons import Comparison, ComparisonStore
from cir_core.service import SearchService


class ComparisonService:
    def __init__(self, search: SearchService, store: ComparisonStore) -> None:
        self._search = search
        self._store = store

    def comparison(self, comparison_id: str) -> Comparison:
        return self._store.comparison(comparison_id)
