"""Ranks of many queries at once, by a blocked matrix product and counting. Streaming top-k of several queries over
tiles of products.

A tile of fast float32 products is compared with two thresholds for each target: its score plus and minus the maximum
error of a fast product. Products above count, those below do not, and the few in between are decided by the
double-precision products that :mod:`cir_core.index.flat` uses. So the ranks are those of a full sort, whatever the
tiles, the threads and the BLAS, and no queries × images matrix is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cir_core.index.scoring import Products, Rows
from cir_core.support.process import cores
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


Progress = Callable[[int, int], None]
"""Called with the numbers of queries ranked and in all."""

_Flags = npt.NDArray[np.bool_]
QUERIES = 1024            # per product
_COUNTED = 255 * 8        # flags that :func:`_count` adds up in one pass
IMAGES = 4 * _COUNTED     # per product: numpy compares long rows three times as fast as short ones
_STRIP = 32               # queries compared together: their products fit in a core's cache
_TOP = 2**18              # rows in the top lists of one block
_NO_LIST: tuple[Rows, Vector] = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32))


@dataclass(frozen=True, eq=False)
class RankedQuery:
    """``ranks`` of the query's target rows, in their order; ``top``: the best rows,
    best first, as many as requested or left, and ``scores``: their scores."""

    ranks: tuple[int, ...]
    top: Rows = field(repr=False)
    scores: Vector = field(repr=False)


@dataclass(frozen=True)
class RowQuery:
    """The request of one query: ranks of ``targets`` among all rows less ``hidden``."""

    targets: Sequence[int]
    hidden: Collection[int] = ()


def rank_many(
    products: Products, queries: Matrix, questions: Sequence[RowQuery], k: int, *,
    block: int = QUERIES, tile: int = IMAGES, threads: int | None = None, progress: Progress | None = None,
) -> list[RankedQuery]:
    """Rank ``queries`` ``[q, dim]`` against every row of ``products``, one question each.

    Rank: 1 + rows that score higher + earlier rows that score the same. ``block`` and ``tile``
    (queries and images of one product, the latter rounded to fit) and ``threads`` affect speed
    only. Working memory grows with neither q nor n.
    """
    # Queries with most targets come first, so that those with an s-th one are a slice.
    order = sorted(range(len(questions)), key=lambda i: -len(questions[i].targets))
    block = max(1, min(block, _TOP // max(1, k)))
    width = _width(min(tile, len(products.features)))
    found: dict[int, RankedQuery] = {}
    with ThreadPoolExecutor(threads or cores()) as pool:
        workers = _Workers(pool, threads or cores(), width)
        for start in range(0, len(order), block):
            members = order[start:start + block]
            ranked = _rank_block(products, queries[members], [questions[i] for i in members], k, workers)
            found.update(zip(members, ranked, strict=True))
            if progress:
                progress(len(found), len(order))
    return [found[i] for i in range(len(order))]


def _rank_block(
    products: Products, queries: Matrix, questions: Sequence[RowQuery], k: int, workers: _Workers
) -> list[RankedQuery]:
    features, width = products.features, workers.width
    parts = [slice(start, start + _STRIP) for start in range(0, len(queries), _STRIP)]
    strips = [_Strip(products, queries[part], questions[part], k) for part in parts]
    hidden = _Hidden(questions)
    buffers = np.empty((2, len(queries), width), dtype=np.float32)
    counting: list[Future[None]] = []
    for start in range(0, len(features), width):
        rows = features[start:start + width]
        fast = buffers[start // width % 2]
        np.matmul(queries, rows.T, out=fast[:, :len(rows)])
        fast[:, len(rows):] = -np.inf
        hidden.take_out(fast, start)
        # This tile is multiplied while the previous one is counted.
        for one in counting:
            one.result()
        counting = workers.look([(strip, fast[part]) for strip, part in zip(strips, parts, strict=True)], start)
    for one in counting:
        one.result()
    return [ranked for strip in strips for ranked in strip.answers()]


class _Workers:
    """Thread pool over the strips of a block; numpy releases the interpreter's lock while it compares."""

    def __init__(self, pool: ThreadPoolExecutor, threads: int, width: int) -> None:
        self._pool, self.width = pool, width
        self._flags = [np.empty((2, _STRIP, width), dtype=np.bool_) for _ in range(threads)]

    def look(self, strips: Sequence[tuple[_Strip, Matrix]], start: int) -> list[Future[None]]:
        threads = min(len(self._flags), len(strips))

        def share(thread: int) -> None:
            for strip, fast in strips[thread::threads]:
                strip.look(fast, start, self._flags[thread][:, :len(fast)])

        return [self._pool.submit(share, thread) for thread in range(threads)]


class _Hidden:
    """Excluded rows of all queries of a block, in order of rows."""

    def __init__(self, questions: Sequence[RowQuery]) -> None:
        pairs = sorted((row, i) for i, question in enumerate(questions) for row in set(question.hidden))
        self._rows, self._queries = np.array(pairs, dtype=np.int64).reshape(-1, 2).T

    def take_out(self, fast: Matrix, start: int) -> None:
        first, end = np.searchsorted(self._rows, [start, start + fast.shape[1]])
        here = slice(int(first), int(end))
        fast[self._queries[here], self._rows[here] - start] = -np.inf


class _Strip:
    """Queries of a block that one thread processes."""

    def __init__(self, products: Products, queries: Matrix, questions: Sequence[RowQuery], k: int) -> None:
        self._products, self._queries = products, queries
        counts = np.array([len(question.targets) for question in questions], dtype=np.int64)
        # Targets as a matrix; -1 where a query has fewer than others.
        self._targets = np.full((len(queries), counts.max(initial=0)), -1, dtype=np.int64)
        self._having = [int(np.count_nonzero(counts > slot)) for slot in range(self._targets.shape[1])]
        for i, question in enumerate(questions):
            self._targets[i, :len(question.targets)] = question.targets
        self._ranks = np.ones(self._targets.shape, dtype=np.int64)
        # Half the error of a single search, which doubles the bound for any order of summation:
        # here each near tie counts. The 1 % covers the rounding of the bound itself.
        share = (queries.shape[1] + 2) * 2.0**-24 * 1.01
        error = share * products.sizes(queries) + 1e-37
        which, slots = np.nonzero(self._targets >= 0)
        self._scores = np.zeros(self._targets.shape, dtype=np.float32)
        self._scores[which, slots] = products.pairs(queries, which, self._targets[which, slots])
        wide = self._scores.astype(np.float64)
        self._below = just_below(wide - error[:, None])
        self._above = -just_below(-(wide + error[:, None]))
        left = [len(products.features) - len(set(question.hidden)) for question in questions]
        self._top = TopRows(products, queries, np.minimum(k, left), error) if k else None

    def look(self, fast: Matrix, start: int, flags: _Flags) -> None:
        """Process ``fast`` ``[n, m]``, the products with the rows from ``start``; -inf means
        no image. ``flags`` ``[2, n, m]`` is overwritten."""
        for slot, n in enumerate(self._having):
            higher, close = flags[0, :n], flags[1, :n]
            np.greater(fast[:n], self._above[:n, slot, None], out=higher)
            np.greater(fast[:n], self._below[:n, slot, None], out=close)
            self._ranks[:n, slot] += _count(higher)
            np.not_equal(close, higher, out=close)
            self._decide(slot, close, start)
        if self._top is not None:
            self._top.look(fast, start, flags[0])

    def _decide(self, slot: int, close: _Flags, start: int) -> None:
        which, rows = np.divmod(np.flatnonzero(close), close.shape[1])
        rows += start
        targets = self._targets[:, slot]
        other = rows != targets[which]
        which, rows = which[other], rows[other]
        scores, wanted = self._products.pairs(self._queries, which, rows), self._scores[:, slot][which]
        before = (scores > wanted) | ((scores == wanted) & (rows < targets[which]))
        self._ranks[:, slot] += np.bincount(which[before], minlength=len(self._ranks))

    def answers(self) -> list[RankedQuery]:
        used = self._targets >= 0
        ranks = [tuple(self._ranks[i, used[i]].tolist()) for i in range(len(self._ranks))]
        if self._top is None:
            return [RankedQuery(of, *_NO_LIST) for of in ranks]
        return [RankedQuery(of, *best) for of, best in zip(ranks, self._top.lists(), strict=True)]


def _width(images: int) -> int:
    """The nearest number of flags that :func:`_count` can add up."""
    unit = 8 if images <= _COUNTED else _COUNTED
    return max(unit, -(-images // unit) * unit)


def _count(flags: _Flags) -> npt.NDArray[np.int64]:
    """Row-wise count, ``[n]`` of ``[n, m]``, m as :func:`_width` gives it: eight flags are added up as one integer,
    none of whose bytes overflows in 255 additions. numpy's own row-wise count takes longer than the comparison."""
    words = flags.view(np.uint64)
    words = words.reshape(len(flags), -1, min(words.shape[1], _COUNTED // 8)).sum(axis=2)
    counts: npt.NDArray[np.int64] = words.view(np.uint8).reshape(len(flags), -1).sum(axis=1, dtype=np.int64)
    return counts
