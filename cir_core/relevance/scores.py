"""Relevance scores of query vectors and candidates' token vectors, and of sets of images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

Reading = Literal["mean", "max"]
"""How a candidate's token scores become one. ``mean``: CIRQRS, eq. 1, one dot product (of the query with the mean of
the tokens). ``max``: the published code, the best token."""

READINGS: tuple[Reading, ...] = ("mean", "max")
_BLOCK = 2048   # candidates of one block: 32 MiB of 32 x 256 half-precision numbers


def pair_scores(queries: Tensor, candidates: Tensor, reading: Reading) -> Tensor:
    """``[n]``: the i-th query ``[n, dim]`` with the i-th candidate ``[n, tokens, dim]``. Without temperature."""
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
    memory-mapped: they are read once, block by block."""
    n, tokens, dim = candidates.shape
    out = np.empty(n, np.float32)
    vector = torch.from_numpy(np.ascontiguousarray(query, np.float32))
    for start in range(0, n, _BLOCK):
        block = torch.from_numpy(np.ascontiguousarray(candidates[start : start + _BLOCK])).float()
        values = (block.view(-1, dim) @ vector).view(-1, tokens)
        out[start : start + len(block)] = _read(values, reading).numpy()
    return out


def set_score(scores: Sequence[float], k: int) -> float:
    """CIRQRS of a result set: the mean score of its first ``k`` images (eq. 6). NaN for an empty set."""
    first = [float(score) for score in scores[:k]]
    return cast(float, np.mean(first)) if first else float("nan")


def _read(token_scores: Tensor, reading: Reading) -> Tensor:
    return token_scores.mean(dim=-1) if reading == "mean" else token_scores.amax(dim=-1)
