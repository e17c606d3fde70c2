"""Whether a picture shows a garment as the bundled encoder knows them, by its vector.

The encoder has only seen drawn garments and gives every picture some garment's vector, so neither cosines nor its
reading tell. But the vector of a garment is explained by what is read of it: the mean vector of the values of all
groups, and the cosines with the texts of these values, leave little. What they leave is measured on drawn garments, and
a picture is unlike them if what is left of it is larger than of (nearly) any new garment (Mahalanobis distance, with
the covariance of what is left).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cir_core.garments.lexicon import GROUPS
from cir_core.garments.zero_shot import ZeroShotAttributes, attributes_of, decided
from cir_core.types.records import Matrix
from cir_core.types.vectors import TextEncoder

Mask = npt.NDArray[np.bool_]   # [n]

#: Of new garments (other designs, other seeds) one in a thousand is farther away than 1; nothing that is no garment
#: should be nearer (benchmarks/figures/reader.md).
LIMIT = 1.05
#: What the bundled encoder knows; ``python -m benchmarks.training known`` makes it.
RECORD = Path(__file__).with_name("known.safetensors")
_CHUNK = 4096


@dataclass(frozen=True)
class KnownGarments:
    """What an encoder knows. ``revision`` is that of the encoder; a distance of 1 is that which one new garment in a
    thousand exceeds."""

    revision: str
    weights: Matrix      # [1 + values, dim]: the mean, and the part of each value of each group
    centre: Matrix       # [1, dim + groups]: of what is left
    directions: Matrix   # [dim + groups, dim + groups], scaled so that distances are Euclidean

    def distances(self, features: Matrix, attributes: ZeroShotAttributes) -> npt.NDArray[np.float32]:
        """``[n]`` for ``features`` ``[n, dim]``."""
        away = unexplained(features, self.weights, attributes) - self.centre
        return np.asarray(np.linalg.norm(away @ self.directions, axis=1), dtype=np.float32)

    def save(self, path: Path) -> None:
        from safetensors.numpy import save_file

        save_file({name: np.ascontiguousarray(getattr(self, name), dtype=np.float32) for name in _TENSORS}, path,
                  {"revision": self.revision})


_TENSORS = ("weights", "centre", "directions")


def load_known(path: Path) -> KnownGarments:
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        return KnownGarments((file.metadata() or {}).get("revision", ""),
                             *(file.get_tensor(name) for name in _TENSORS))


def unlike_garments(features: Matrix, encoder: TextEncoder | None) -> Mask:
    """For each row of ``features`` (``[n, dim]``) whether it shows something that ``encoder`` does not know. All False
    for other encoders than the bundled one, which know more than garments, or of which nothing is known."""
    features = np.atleast_2d(np.asarray(features, dtype=np.float32))
    known = _known_of(encoder)
    if known is None or encoder is None or features.shape[1] != known.weights.shape[1]:
        return np.zeros(len(features), dtype=np.bool_)
    attributes = attributes_of(encoder)
    parts = [known.distances(np.asarray(features[start:start + _CHUNK]), attributes) > LIMIT
             for start in range(0, len(features), _CHUNK)]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.bool_)


def knows_garments_only(encoder: object) -> bool:
    """Whether ``encoder`` is one of which :func:`unlike_garments` can tell."""
    return _known_of(encoder) is not None


def _known_of(encoder: object) -> KnownGarments | None:
    revision = getattr(getattr(encoder, "identity", None), "revision", None)
    if not isinstance(revision, str):
        return None
    known = _loaded(RECORD)
    return known if known is not None and known.revision == revision else None


@lru_cache(maxsize=1)
def _loaded(path: Path) -> KnownGarments | None:
    return load_known(path) if path.is_file() else None


def unexplained(features: Matrix, weights: Matrix, attributes: ZeroShotAttributes) -> Matrix:
    """``[n, dim + groups]``: what the reading does not explain of each vector, and how sure it is of each group."""
    read, best = readings(features, attributes)
    return np.concatenate([features - weights[0] - read @ weights[1:], best], axis=1)


def readings(features: Matrix, attributes: ZeroShotAttributes) -> tuple[Matrix, Matrix]:
    """``[n, values]`` with 1 for the value of each group, and ``[n, groups]``: the best cosine of each."""
    scores = attributes.scores(features)
    codes = decided(scores)
    columns = [np.eye(len(group.keys), dtype=np.float32)[codes[group.key]] for group in GROUPS]
    return np.concatenate(columns, axis=1), np.stack([scores[group.key].max(axis=1) for group in GROUPS], axis=1)
