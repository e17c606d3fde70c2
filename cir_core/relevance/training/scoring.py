"""Scores of the network in training, without gradients: validation, and negatives chosen by the current model.

Texts are made once, since the text tower is frozen, and in fixed groups, whichever is asked for first: the last bits
of a text's features depend on the texts beside it, and a resumed training asks in another order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from cir_core.relevance.backbones.base import RelevanceBackbone, Texts
from cir_core.relevance.qformer import RelevanceNetwork
from cir_core.relevance.scores import Reading, all_scores, as_scored
from cir_core.relevance.training.data import Rows, TrainingQuery, spoken
from cir_core.relevance.training.negatives import Rule, between_drops, top_below_target

_TOGETHER = 64
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


class RememberedTexts:
    """Features in half precision, or token ids, of ``texts``, by groups as they are asked for."""

    def __init__(self, backbone: RelevanceBackbone, texts: Sequence[str]) -> None:
        self._backbone = backbone
        self._all = list(dict.fromkeys(texts))
        self._group = {text: place // _TOGETHER for place, text in enumerate(self._all)}
        self._known: dict[str, np.ndarray] = {}

    def __call__(self, texts: Sequence[str]) -> Texts:
        """Padded to the longest of ``texts``, on the CPU."""
        new = {self._group[text] for text in texts if text not in self._known}
        for group in sorted(new):
            part = self._all[group * _TOGETHER : (group + 1) * _TOGETHER]
            made = self._backbone.texts(part).to(torch.device("cpu"))
            values = made.values.half() if made.values.is_floating_point() else made.values
            for text, row, length in zip(part, values.numpy(), made.mask.sum(dim=1).tolist(), strict=True):
                self._known[text] = row[:length].copy()
        rows = [self._known[text] for text in texts]
        longest = max(len(row) for row in rows)
        mask = np.zeros((len(rows), longest), np.int64)
        whole = rows[0].dtype.kind == "i"
        out = np.zeros((len(rows), longest, *rows[0].shape[1:]), np.int64 if whole else np.float32)
        for place, row in enumerate(rows):
            out[place, : len(row)], mask[place, : len(row)] = row, 1
        return Texts(torch.from_numpy(out), torch.from_numpy(mask))
