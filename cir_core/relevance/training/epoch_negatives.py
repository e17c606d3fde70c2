"""Negatives of each epoch: those that were chosen last, on disk for a resumed training, and one of them a query."""

from __future__ import annotations

import os
import pickle
import random
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError

from cir_core.errors import RelevanceUnavailable
from cir_core.relevance.training.data import Rows, TrainingQuery
from cir_core.relevance.training.negatives import drawn
from cir_core.relevance.training.presets import TrainingPreset

DAMAGED = (OSError, RuntimeError, ValueError, KeyError, EOFError, SafetensorError, pickle.UnpicklingError,
           zipfile.BadZipFile)
"""What reading a training's own files raises when they are damaged."""


class EpochNegatives:
    """``chosen``: rows for each query; None: any image of the query's pool."""

    def __init__(
        self, preset: TrainingPreset, queries: Sequence[TrainingQuery], pools: Mapping[str, Rows], seed: int,
        folder: Path,
    ) -> None:
        self.chosen: list[Rows] | None = None
        self._preset, self._queries, self._pools = preset, queries, pools
        self._seed, self._folder = seed, folder

    def load(self, epoch: int) -> bool:
        """Whether :attr:`chosen` is right for ``epoch`` now: after a rule that chooses none, in the warm-up, and with
        those that were saved. Raises ``RelevanceUnavailable`` for a damaged file."""
        if self._preset.rule == "random" or epoch < self._preset.schedule.interval:
            self.chosen = None
            return True
        path = self._path(epoch)
        if not path.is_file():
            return False
        try:
            with path.open("rb") as file, np.load(file) as stored:
                self.chosen = np.split(stored["rows"], stored["ends"][:-1])
        except DAMAGED as error:
            raise RelevanceUnavailable(f"The negatives in {path} cannot be read: {error}. Remove the folder "
                                       f"{self._folder.parent} to start again.") from error
        return True

    def save(self, epoch: int) -> None:
        path, chosen = self._path(epoch), self.chosen or []
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".partial.npz")
        np.savez(unfinished, rows=np.concatenate(chosen), ends=np.cumsum([len(one) for one in chosen]))
        os.replace(unfinished, path)

    def count(self, epoch: int) -> int:
        """How many are chosen for ``epoch`` (rule "top")."""
        found = self._preset.schedule.rebuild(self._last(epoch))
        assert found is not None
        return found

    def is_new(self, epoch: int) -> bool:
        """Whether they were chosen for this epoch, and not for one before."""
        return self.chosen is not None and self._last(epoch) == epoch

    @property
    def mean(self) -> float:
        """Negatives of a query."""
        return round(float(np.mean([len(one) for one in self.chosen or ()])), 2)

    def drawn(self, epoch: int, rng: random.Random) -> npt.NDArray[np.int64]:
        """One negative of each query for this epoch."""
        whole = self.chosen is None
        since = epoch if whole else epoch - self._last(epoch)
        repeated = self._preset.repeated or whole   # of a whole pool hardly any comes twice
        return np.array([
            drawn(self._pools[query.pool] if self.chosen is None else self.chosen[row], query.target, rng, since=since,
                  query=row, seed=self._seed, repeated=repeated)
            for row, query in enumerate(self._queries)
        ], np.int64)

    def _last(self, epoch: int) -> int:
        """The epoch before which the negatives of ``epoch`` are chosen."""
        return epoch - epoch % self._preset.schedule.interval

    def _path(self, epoch: int) -> Path:
        return self._folder / f"negatives-{self._last(epoch)}.npz"
