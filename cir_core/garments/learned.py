"""What the bundled encoder's vectors show, read by logistic regression that was trained on such vectors.

Comparing a vector with texts, as :mod:`cir_core.garments.zero_shot` does, reads what the text tower says of a garment,
and says nothing of how sure that is. For each group of the lexicon one linear model over all its values is trained
and calibrated on designs of which the sample gallery has none (``python -m benchmarks.training reader``). It is of one
revision of one encoder, and has a digest of its own: galleries indexed with that encoder stay as they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cir_core.garments.lexicon import GROUPS
from cir_core.garments.zero_shot import Features, decided_rows, named_value
from cir_core.types.records import Matrix, Vector

#: That of the bundled encoder; ``python -m benchmarks.training reader`` makes it.
RECORD = Path(__file__).with_name("reader.safetensors")
_TENSORS = ("weights", "offsets")


@dataclass(frozen=True)
class LearnedReader:
    """``revision`` is that of the encoder. Of a vector x ``[dim]``, the probabilities of the values of a group are the
    softmax of their rows of ``weights`` x + ``offsets``; rows are in the order of ``GROUPS`` and of their keys."""

    revision: str
    weights: Matrix    # [values, dim]
    offsets: Vector    # [values]

    @cached_property
    def digest(self) -> str:
        """16 hex digits of all that a reading depends on."""
        known = hashlib.sha256(self.revision.encode())
        for group in GROUPS:
            known.update("\0".join(("", group.key, *group.keys)).encode())
        for name in _TENSORS:
            known.update(np.ascontiguousarray(getattr(self, name), dtype="<f4").tobytes())
        return known.hexdigest()[:16]

    def scores(self, features: Features) -> dict[str, npt.NDArray[np.float32]]:
        """For each group ``[n, values]``: the logarithm of the probability of each value, columns in the order of the
        group's ``keys``, for ``features`` ``[n, dim]``."""
        rows = np.atleast_2d(np.asarray(features, dtype=np.float32)) @ self.weights.T + self.offsets
        return {key: _normalised(rows[:, places]) for key, places in _places().items()}

    def predict(self, features: Features) -> list[dict[str, str]]:
        """For each row of ``features`` ``[n, dim]`` the most probable value of every group, under the rules for the
        second colour (:class:`cir_core.garments.zero_shot.ZeroShotAttributes`)."""
        return decided_rows(self.scores(features))

    def columns(self, wanted: Sequence[str], others: Sequence[str]) -> tuple[Matrix, Vector, int] | None:
        """Vectors ``[m, dim]`` and offsets ``[m]`` of the values that the captions ``wanted`` and ``others`` name,
        those wanted first, and their number. None unless all of them are captions of values of one group
        (:func:`cir_core.garments.zero_shot.named_value`)."""
        places = places_of(wanted, others)
        if places is None:
            return None
        rows = [*places[0], *places[1]]
        return self.weights[rows], self.offsets[rows], len(places[0])

    def save(self, path: Path) -> None:
        from safetensors.numpy import save_file

        save_file({name: np.ascontiguousarray(getattr(self, name), dtype=np.float32) for name in _TENSORS}, path,
                  {"revision": self.revision})


def load_reader(path: Path) -> LearnedReader:
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        return LearnedReader((file.metadata() or {}).get("revision", ""), *(file.get_tensor(name) for name in _TENSORS))


def reader_of(encoder: object) -> LearnedReader | None:
    """The reader of ``encoder``'s vectors; None for other encoders than the bundled one."""
    reader = _loaded(RECORD)
    revision = getattr(getattr(encoder, "identity", None), "revision", None)
    return reader if reader is not None and reader.revision == revision else None


def places_of(wanted: Sequence[str], others: Sequence[str]) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Rows of the values that the captions name, each once; None unless they are of one group."""
    found = [[named_value(text) for text in texts] for texts in (wanted, others)]
    values = [value for side in found for value in side]
    if not values or None in values or len({value[0] for value in values if value}) != 1:
        return None
    yes, no = (tuple(dict.fromkeys(_row()[value] for value in side if value)) for side in found)
    return (yes, no) if yes and no and not set(yes) & set(no) else None


@lru_cache(maxsize=1)
def _loaded(path: Path) -> LearnedReader | None:
    return load_reader(path) if path.is_file() else None


@lru_cache(maxsize=1)
def _row() -> Mapping[tuple[str, str], int]:
    values = ((group.key, key) for group in GROUPS for key in group.keys)
    return {value: row for row, value in enumerate(values)}


@lru_cache(maxsize=1)
def _places() -> Mapping[str, slice]:
    ends = np.cumsum([len(group.keys) for group in GROUPS]).tolist()
    return {group.key: slice(end - len(group.keys), end) for group, end in zip(GROUPS, ends, strict=True)}


def _normalised(rows: Matrix) -> Matrix:
    shifted = rows - rows.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)), dtype=np.float32)
