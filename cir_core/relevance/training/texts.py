"""Texts of a training as the backbone gives them: each made once, since the text tower is frozen.

Texts are made in fixed groups, whichever is asked for first: the last bits of a text's features depend on the texts
beside it, and a resumed training asks in another order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from cir_core.relevance.backbones.base import RelevanceBackbone, Texts

_TOGETHER = 64


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
