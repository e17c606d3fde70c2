"""Relevance scores of query vectors and candidates' token vectors, and of sets of images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

Reading = Literal["mean", "max"]
"""How a candidate's token scores become one. ``mean``: CIRQRS, eq. 1, one dot product: of the query with the mean of
the tokens, which has length one as the query has. ``max``: the published code, the best token."""

READINGS: tuple[Reading, ...] = ("mean", "max")
_BLOCK = 2**21   # numbers of one block: 8 MiB in single precision, which stays in the cache of a server's processor
_BLOCKS_READ = 128   # blocks whose products are read together: small readings cost more than products
_LEAST_MEAN = 0.05   # tokens of a network that knows nothing may point anywhere; half precision holds 20 times a token


def as_scored(tokens: Tensor, reading: Reading) -> Tensor:
    """Unit token vectors ``[n, tokens, dim]`` as they are stored and scored. For the reading "mean" those of an image
    are all multiplied by one number, such that their mean has length one: scores are cosines, and no image is the more
    relevant to every query because its tokens agree."""
    if reading == "max":
        return tokens
    lengths: Tensor = torch.linalg.vector_norm(tokens.mean(dim=1, keepdim=True), dim=2, keepdim=True)
    return tokens / lengths.clamp(min=_LEAST_MEAN)


def pair_scores(queries: Tensor, candidates: Tensor, reading: Reading) -> Tensor:
    """``[n]``: the i-th query ``[n, dim]`` with the i-th candidate ``[n, tokens, dim]``, of :func:`as_scored`, as in
    the functions below. Without temperature."""
    return _read(torch.einsum("nd,ntd->nt", queries, candidates), reading)


def all_scores(queries: Tensor, candidates: Tensor, reading: Reading) -> Tensor:
    """``[queries, candidates]`` of ``[queries, dim]`` and ``[candidates, tokens, dim]``. Without temperature."""
    if reading == "mean":
        return queries @ candidates.mean(dim=1).T
    n, tokens, dim = candidates.shape
    return _read((candidates.reshape(n * tokens, dim) @ queries.T).view(n, tokens, -1).movedim(1, 2), "max").T


def gallery_scores(
    query: npt.NDArray[np.float32], candidates: npt.NDArray[np.float16], reading: Reading
) -> npt.NDArray[np.float32]:
    """``[n]`` float32 scores of one query ``[dim]`` with ``[n, tokens, dim]`` half-precision candidates, which may be
    memory-mapped (copy-on-write, or each block is copied first): they are read once, block by block."""
    candidates = np.asarray(candidates)
    n, tokens, dim = candidates.shape
    vector = torch.from_numpy(np.array(query, np.float32))
    size = max(_BLOCK // (tokens * dim), 1)
    together = size * _BLOCKS_READ
    block, values = torch.empty(size, tokens, dim), torch.empty(min(n, together), tokens)
    out = torch.empty(n)
    for first in range(0, n, together):
        last = min(first + together, n)
        for start in range(first, last, size):
            rows = _as_tensor(candidates[start : min(start + size, last)])
            part = block[: len(rows)].copy_(rows)
            torch.mv(part.view(-1, dim), vector, out=values[start - first :][: len(rows)].view(-1))
        out[first:last] = _read(values[: last - first], reading)
    return out.numpy()


UNREADABLE = -1.0   # in place of the score of an image without features; cosines of trained networks are far from it


def set_score(scores: Sequence[float], k: int) -> float:
    """CIRQRS of a result set (eq. 7 of five images, eq. 10 of any number): the mean score of those of its first ``k``
    images that can be read. NaN without any. Scores are without the temperature of eq. 1, so that values cannot stand
    beside Table 6."""
    first = [float(score) for score in scores[:k] if score > UNREADABLE]
    return cast(float, np.mean(first)) if first else float("nan")


def _read(token_scores: Tensor, reading: Reading) -> Tensor:
    return token_scores.mean(dim=-1) if reading == "mean" else token_scores.amax(dim=-1)


def _as_tensor(rows: npt.NDArray[np.float16]) -> Tensor:
    # PyTorch warns of memory that it cannot write to, although nothing is written.
    return torch.from_numpy(rows if rows.flags.writeable and rows.flags.c_contiguous else rows.copy())
