"""What metrics say of the columns of a comparison: CIRQRS, and Recall where its target is known.

For the time after a person's vote: nothing here may reach a screen before.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cachetools import LRUCache
from PIL import Image

from cir_core.errors import CirqueError, GalleryError
from cir_core.gallery.gallery import Gallery
from cir_core.methods.relevance import needs_relevance
from cir_core.relevance.configured import configured_scorer
from cir_core.sessions.service import SearchService
from cir_core.sessions.store import Comparison, MethodColumn

if TYPE_CHECKING:
    from cir_core.relevance.scorer import RelevanceScorer

CIRQRS, RECALL = "CIRQRS", "Recall"
K = 10          # results of a column that count: those that a screen shows
_KEPT = 2000    # comparisons whose scores are remembered
_PAUSE = 60.0   # seconds


@dataclass(frozen=True)
class MetricScores:
    """``scores``: column's method to its score, of columns with results. ``own``: methods that rank by this metric
    themselves, so that it must favour them."""

    metric: str
    scores: Mapping[str, float]
    own: frozenset[str] = frozenset()


class ComparisonJudges:
    """Thread-safe. CIRQRS of a comparison is computed once; a comparison never changes."""

    def __init__(
        self, search: SearchService, relevance: Callable[[Gallery], RelevanceScorer] = configured_scorer
    ) -> None:
        self._search, self._relevance = search, relevance
        self._known: LRUCache[tuple[str, str], Mapping[str, float]] = LRUCache(_KEPT)
        self._lock = threading.Lock()
        self._computing = threading.Lock()   # one comparison at a time: each may need many images' features
        self._unavailable_until = 0.0        # a model that cannot be loaded is not tried at every vote

    def is_known(self, comparison: Comparison) -> bool:
        """Whether :meth:`of` computes no CIRQRS."""
        with self._lock:
            return any(key[0] == comparison.comparison_id for key in self._known)

    def of(self, comparison: Comparison) -> tuple[MetricScores, ...]:
        """Metrics that can be computed: none without a model and without a known target, or if the gallery's images
        have changed since."""
        try:
            if len(_judged(comparison)) < 2:
                return ()
            gallery = self._search.gallery(comparison.gallery)
            if gallery.digest != comparison.columns[0].protocol.gallery_digest:
                return ()
        except GalleryError:
            return ()
        found = [self._recall(comparison), self._cirqrs(comparison, gallery)]
        return tuple(one for one in found if one is not None)

    def _cirqrs(self, comparison: Comparison, gallery: Gallery) -> MetricScores | None:
        """Mean over the first K results (CIRQRS, eq. 7)."""
        if time.monotonic() < self._unavailable_until:
            return None
        try:
            scorer = self._relevance(gallery)
        except (CirqueError, OSError):
            self._unavailable_until = time.monotonic() + _PAUSE
            return None
        key = comparison.comparison_id, scorer.revision
        try:
            with self._computing:
                with self._lock:
                    scores = self._known.get(key)
                if scores is None:
                    reference: Image.Image = self._search.reference_image(comparison.gallery, comparison.reference_id)
                    query = scorer.query(reference, comparison.modification_text)
                    scores = {column.method: scorer.set_score(query, [hit.image_id for hit in column.hits], K)
                              for column in _judged(comparison)}
                    with self._lock:
                        self._known[key] = scores
        except (CirqueError, OSError):
            return None
        if any(score != score for score in scores.values()):   # a column without an image that can be read
            return None
        own = frozenset(column.method for column in _judged(comparison) if needs_relevance(column.settings))
        return MetricScores(CIRQRS, scores, own)

    def _recall(self, comparison: Comparison) -> MetricScores | None:
        """Whether the target is among the first K results. A target that is still hidden from the person stays so."""
        if comparison.session_id is None:
            return None
        try:
            session = self._search.session(comparison.session_id)
        except CirqueError:
            return None
        if session.target_id is None or not (session.target_revealed or session.target_live):
            return None
        return MetricScores(RECALL, {
            column.method: float(session.target_id in {hit.image_id for hit in column.hits[:K]})
            for column in _judged(comparison)})


def preferred(scores: Mapping[str, float]) -> tuple[str, ...]:
    """The methods with the highest score: several if they tie."""
    best = max(scores.values(), default=0.0)
    return tuple(method for method, score in scores.items() if score == best)


def _judged(comparison: Comparison) -> list[MethodColumn]:
    return [column for column in comparison.columns if not column.problem and column.hits]
