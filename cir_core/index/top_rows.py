"""Streaming top-k of several queries over tiles of products."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cir_core.index.scoring import Products, Rows
from cir_core.types.records import Matrix, Vector

_HEAD = 2048   # leading images whose k-th best product gives the first threshold


class TopRows:
    """For queries ``[n, dim]``, the best ``limits[i]`` rows of each; ``error`` ``[n]`` bounds the
    difference between a fast and an exact product.

    Of every tile only possible members of the top k are stored: the threshold is the k-th best fast product so far,
    less twice the error. Double-precision products decide at the end, or before if near ties fill the memory.
    """

    def __init__(
        self, products: Products, queries: Matrix, limits: npt.NDArray[np.int64], error: npt.NDArray[np.float64]
    ) -> None:
        self._products, self._queries, self._limits, self._error = products, queries, limits, error
        self._floor: Vector = np.full(len(queries), -np.inf, dtype=np.float32)
        empty = np.empty(0, dtype=np.int64)
        self._found = [(empty, empty, np.empty(0, dtype=np.float32))]   # query, row, product
        self._held, self._room = 0, 3 * int(limits.sum())

    def look(self, fast: Matrix, start: int, flags: npt.NDArray[np.bool_]) -> None:
        """Process ``fast`` ``[n, m]``, the products with the rows from ``start``; -inf means
        no image. ``flags`` ``[n, m]`` is overwritten."""
        if start == 0:
            self._begin(fast[:, :_HEAD])
        np.greater(fast, self._floor[:, None], out=flags)
        at = np.flatnonzero(flags)
        which, columns = np.divmod(at, fast.shape[1])
        self._found.append((which, columns + start, fast[which, columns]))
        self._held += len(at)
        if self._held > self._room:
            self._prune()
            if 2 * self._held > self._room:
                self._prune(exactly=True)

    def lists(self) -> list[tuple[Rows, Vector]]:
        """Rows and their exact scores, best first; ties by row."""
        self._prune()
        self._prune(exactly=True)
        which, rows, scores = self._found[0]
        ends = np.searchsorted(which, np.arange(1, len(self._queries)))
        return list(zip(np.split(rows, ends), np.split(scores, ends), strict=True))

    def _begin(self, head: Matrix) -> None:
        k = int(self._limits.max(initial=0))
        if 0 < k <= head.shape[1]:
            edge = np.partition(head, head.shape[1] - k, axis=1)[:, -k]
            self._floor = just_below(edge - 2 * self._error)

    def _prune(self, *, exactly: bool = False) -> None:
        """Drop rows that cannot be among the best. ``exactly`` leaves just the best: an exact product is
        within any bound of itself, so it can replace the fast one from then on."""
        which, rows, scores = (np.concatenate(parts) for parts in zip(*self._found, strict=True))
        if exactly:
            scores = self._products.pairs(self._queries, which, rows)
            order = np.lexsort((rows, -scores, which))
        else:
            order = np.argsort(_by_query_and_score(which, scores))
        which, rows, scores = which[order], rows[order], scores[order]
        place = np.arange(len(which)) - np.searchsorted(which, which)
        last = place == self._limits[which] - 1
        edges = scores[last] - 2 * self._error[which[last]]
        self._floor[which[last]] = just_below(edges)
        keep = place < self._limits[which] if exactly else scores > self._floor[which]
        self._found = [(which[keep], rows[keep], scores[keep])]
        self._held = int(np.count_nonzero(keep))


def _by_query_and_score(which: Rows, scores: Vector) -> Rows:
    """Integer sort keys by query, then falling score: sorting those is ten times as fast as by two keys. The bits of a
    float32 are ordered as an integer, negative ones backwards."""
    bits = scores.view(np.int32)
    return (which << 32) - np.where(bits < 0, bits ^ 0x7FFFFFFF, bits)


def just_below(values: npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
    """Float32 numbers strictly below ``values``."""
    return np.nextafter(values.astype(np.float32), np.float32(-np.inf))
