"""Relevance scores over a gallery: of all its images, of some rows, of result sets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from PIL import Image

from cir_core.encoders.torch_encoder import split
from cir_core.gallery.gallery import Gallery
from cir_core.relevance.model import RelevanceModel
from cir_core.relevance.scores import UNREADABLE, set_score
from cir_core.relevance.store import CandidateFeatures, FeaturesOnDemand, StoredFeatures, open_features

_BATCH = 1024   # rows whose features are in memory at one time
Scores = npt.NDArray[np.float32]


class RelevanceScorer:
    """Scores a gallery's images with one model. Thread-safe.

    With stored features (`cirque relevance index`) every image can be scored at once; without, features of the scored
    images are made when they are first needed.
    """

    def __init__(self, model: RelevanceModel, gallery: Gallery) -> None:
        self.model, self.gallery = model, gallery
        stored = open_features(gallery, model)
        self._made = FeaturesOnDemand(gallery, model)
        self._features: CandidateFeatures = stored or self._made
        self._stored: StoredFeatures | None = stored

    @property
    def revision(self) -> str:
        return self.model.identity.revision

    @property
    def size(self) -> int:
        return len(self.gallery)

    @property
    def gallery_name(self) -> str:
        return self.gallery.name

    @property
    def complete(self) -> bool:
        """Whether the gallery's features are stored, so that :meth:`all_scores` is quick."""
        return self._stored is not None

    def query(self, reference: Image.Image, text: str) -> Scores:
        """``[dim]`` unit vector."""
        row: Scores = self.model.encode_queries([reference], [text])[0]
        return row

    def all_scores(self, query: Scores) -> Scores:
        """``[images]``; an image without features gets ``UNREADABLE``, the lowest score of all."""
        if self._stored is None:
            return self.scores_of(query, range(len(self.gallery)))
        found = self.model.scores(query, self._stored.tokens)
        found[list(self._stored.missing)] = UNREADABLE
        if damaged := sorted(self._stored.damaged):
            found[damaged] = self.scores_of(query, damaged)
        return found

    def scores_of(self, query: Scores, rows: Sequence[int]) -> Scores:
        """``[rows]``, as :meth:`all_scores`."""
        found = [np.zeros(0, np.float32)]
        for part in split(rows, _BATCH):
            tokens = self._features.rows(part)
            if self._stored is not None and (damaged := [row for row in part if row in self._stored.damaged]):
                tokens[[row in self._stored.damaged for row in part]] = self._made.rows(damaged)
            scores = self.model.scores(query, tokens)
            scores[~tokens.any(axis=(1, 2))] = UNREADABLE
            found.append(scores)
        return np.concatenate(found)

    def set_score(self, query: Scores, image_ids: Sequence[str], k: int) -> float:
        """CIRQRS of a result set: mean over its first ``k`` images; NaN without images. Raises ``UnknownImage``."""
        rows = [self.gallery.row_of(image_id) for image_id in image_ids[:k]]
        return set_score(self.scores_of(query, rows).tolist(), k) if rows else float("nan")
