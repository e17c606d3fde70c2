"""The ranked images with their ground truth, for evaluation only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from cir_core.garments.lexicon import GROUPS
from cir_core.sample.requests import Attributes, Wants

Truth = Mapping[str, Attributes]
Mask = npt.NDArray[np.bool_]
_KEYS = tuple(group.key for group in GROUPS)


def unmentioned(wants: Wants) -> list[str]:
    """The attribute groups that ``wants`` say nothing about."""
    return [key for key in _KEYS if key not in wants]


class Pool:
    """The images that are ranked, with their ground truth, in the order of ``truth``."""

    def __init__(self, truth: Truth) -> None:
        self.truth = truth
        self.ids = tuple(truth)
        self._row = {image_id: row for row, image_id in enumerate(self.ids)}
        self._values = {key: np.array([truth[image_id][key] for image_id in self.ids]) for key in _KEYS}
        self._with: dict[tuple[str, frozenset[str]], Mask] = {}

    def satisfying(self, wants: Wants, without: Sequence[str] = ()) -> Mask:
        """``[n]``: which images satisfy all of ``wants``; those of ``without`` count as not."""
        mask = np.ones(len(self.ids), dtype=np.bool_)
        for group, values in wants.items():
            if (group, values) not in self._with:
                self._with[group, values] = np.isin(self._values[group], sorted(values))
            mask &= self._with[group, values]
        mask[[self._row[image_id] for image_id in without]] = False
        return mask

    def shared(self, reference: Attributes, groups: Sequence[str]) -> npt.NDArray[np.int64]:
        """``[n]``: in how many of ``groups`` each image is as ``reference``."""
        counts = np.zeros(len(self.ids), dtype=np.int64)
        for group in groups:
            counts += self._values[group] == reference[group]
        return counts

    def rows(self, image_ids: Sequence[str]) -> list[int]:
        return [self._row[image_id] for image_id in image_ids]
