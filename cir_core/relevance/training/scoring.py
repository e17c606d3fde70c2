"""Scores of the network in training, without gradients: validation, and negatives chosen by the current model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from cir_core.relevance.qformer import RelevanceNetwork
from cir_core.relevance.scores import Reading, all_scores, as_scored
from cir_core.relevance.training.data import Rows, TrainingQuery, spoken
from cir_core.relevance.training.negatives import Rule, between_drops, top_below_target
from cir_core.relevance.training.texts import RememberedTexts

CHUNK = 128   # queries or images of one forward pass
Pools = Mapping[str, Rows]


@dataclass(frozen=True)
class Scoring:
    """``network``: gives the current one; ``images``: patches of rows, on the device; ``autocast``: the training's."""

    network: Callable[[], RelevanceNetwork]
    texts: RememberedTexts
    images: Callable[[Rows], Tensor]
    reading: Reading
    device: torch.device
    autocast: Callable[[], Any]

    @torch.inference_mode()
    def recall(self, queries: Sequence[TrainingQuery], pools: Pools) -> dict[int, float]:
        """Recall at 1, 10 and 50 of the targets, over their pools without the reference's own image."""
        ranks: list[int] = []
        for _, query, scores, places in self._of_pools(queries, pools):
            better = scores > scores[places[query.target]]
            if query.reference in places:
                better[places[query.reference]] = False
            ranks.append(int(better.sum()))
        return {k: float(np.mean([rank < k for rank in ranks])) for k in (1, 10, 50)}

    @torch.inference_mode()
    def negatives(self, queries: Sequence[TrainingQuery], pools: Pools, rule: Rule, n: int,
                  progress: Callable[[int, int], None] | None = None) -> list[Rows]:
        """Rows of images, of each query."""
        chosen: list[Rows] = [np.zeros(0, np.int64)] * len(queries)
        for done, (row, query, scores, places) in enumerate(self._of_pools(queries, pools), 1):
            place = places[query.target]
            found = top_below_target(scores, place, n) if rule == "top" else between_drops(scores, place)
            chosen[row] = pools[query.pool][found]
            if progress and done % CHUNK == 0:
                progress(done, len(queries))
        return chosen

    def _of_pools(
        self, queries: Sequence[TrainingQuery], pools: Pools
    ) -> Iterator[tuple[int, TrainingQuery, npt.NDArray[np.float32], dict[int, int]]]:
        """Each query with its row, its scores over its pool, and the place of each image there."""
        self.network().eval()
        for name, pool in pools.items():
            rows = [row for row, query in enumerate(queries) if query.pool == name]
            if not rows:
                continue
            tokens, places = self._candidates(pool), {int(row): place for place, row in enumerate(pool)}
            for start in range(0, len(rows), CHUNK):
                part = rows[start : start + CHUNK]
                for row, scores in zip(part, self._scores([queries[row] for row in part], tokens), strict=True):
                    yield row, queries[row], scores, places

    def _candidates(self, rows: Rows) -> Tensor:
        """``[rows, tokens, dim]``; for the reading "mean" ``[rows, 1, dim]``, which is all that it needs."""
        made = []
        for start in range(0, len(rows), CHUNK):
            with self.autocast():
                tokens = self.network().candidates(self.images(rows[start : start + CHUNK]))
            tokens = as_scored(tokens.float(), self.reading)
            made.append(tokens.mean(dim=1, keepdim=True) if self.reading == "mean" else tokens)
        return torch.cat(made)

    def _scores(self, queries: Sequence[TrainingQuery], tokens: Tensor) -> npt.NDArray[np.float32]:
        with self.autocast():
            vectors = self.network().query(
                self.images(np.array([query.reference for query in queries])),
                self.texts([spoken(query)[0] for query in queries]).to(self.device))
        found: npt.NDArray[np.float32] = all_scores(vectors.float(), tokens, self.reading).cpu().numpy()
        return found
