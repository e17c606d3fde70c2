"""Fast and exact products of vectors with the gallery, and scores computed from them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from cachetools import LRUCache

from cir_core.errors import GalleryError
from cir_core.support.texts import quoted
from cir_core.types.records import Matrix, Vector
from cir_core.types.vectors import Summand

Rows = npt.NDArray[np.int64]
_BLOCK = 4096   # rows scored in double precision at a time
_PAIRS = 64     # the same, each with its own vector: fits in a cache
_KEPT = 64 * 2**20   # bytes of summands of scores that are kept


class Scoring(Protocol):
    """A score combined from the products with several vectors, e.g. a filtered one."""

    @property
    def vectors(self) -> Matrix:
        """``[m, dim]``."""

    def combine(self, products: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """``[n, m]`` products to ``[n]`` scores."""

    def error(self, errors: npt.NDArray[np.float64], sizes: npt.NDArray[np.float64]) -> float:
        """Error bound of a score when column j is off by ``errors[j]`` at most and no larger than ``sizes[j]``."""


@runtime_checkable
class SummedScoring(Scoring, Protocol):
    """A score that adds parts to the product with the first vector. Those parts recur from query to query."""

    @property
    def summands(self) -> Sequence[Summand]: ...

    def total(
        self, first: npt.NDArray[np.floating], parts: Sequence[npt.NDArray[np.floating]]
    ) -> npt.NDArray[np.floating]:
        """``[n]`` scores from the products ``[n]`` with the first vector and the parts, each ``[n]``."""


class Scored(Protocol):
    """Scores of a whole gallery, fast within ``error``, and exact for chosen rows."""

    @property
    def error(self) -> float: ...

    def fast(self) -> Vector:
        """``[n]``, a new array."""

    def exact(self, rows: Rows) -> npt.NDArray[np.float32]:
        """``[len(rows)]``; a row's score does not depend on the other rows requested."""


class Products:
    """Products with ``features`` ``[n, dim]`` float32; ``ids`` names its rows in errors."""

    def __init__(self, features: Matrix, ids: Sequence[str]) -> None:
        self.features = features
        self._ids = ids
        self._kept: LRUCache[tuple[object, ...], npt.NDArray[np.floating]] = LRUCache(_KEPT, lambda part: part.nbytes)
        self._lock = threading.Lock()

    def exact(self, vectors: Matrix, rows: Rows) -> npt.NDArray[np.float64]:
        """``[len(rows), m]``, each row summed separately and in one order: a matrix product would
        not give the same digits for one row as for many."""
        wide = vectors.astype(np.float64)
        products = np.empty((len(rows), len(vectors)), dtype=np.float64)
        for start in range(0, len(rows), _BLOCK):
            block = self.features[rows[start:start + _BLOCK]].astype(np.float64)
            for column, vector in enumerate(wide):
                products[start:start + _BLOCK, column] = (block * vector).sum(axis=1)
        return products

    def fast(self, vectors: Matrix) -> Matrix:
        """``[n, m]``, within :meth:`errors` of the exact ones."""
        found: Matrix = self.features @ vectors.T
        return found

    def fast_scores(self, scoring: Scoring, vectors: Matrix) -> npt.NDArray[np.floating]:
        """``[n]`` scores from :meth:`fast` products. Parts of a sum are kept for the searches after this one: people
        ask for the same few things, and what a garment is compared with is the same in every search."""
        if not isinstance(scoring, SummedScoring):
            return scoring.combine(self.fast(vectors))
        summands = scoring.summands
        keys = [(one.key, vectors[one.columns].tobytes()) for one in summands]
        with self._lock:
            found = {key: self._kept[key] for key in keys if key in self._kept}
        new = {key: one for key, one in zip(keys, summands, strict=True) if key not in found}
        columns = np.unique(np.concatenate([[0], *(one.columns for one in new.values())])).astype(np.intp)
        products = self.fast(vectors[columns])
        for key, one in new.items():
            found[key] = one.of(products[:, np.searchsorted(columns, one.columns)])
        with self._lock:
            self._kept.update((key, found[key]) for key in new if found[key].nbytes <= _KEPT)
        return scoring.total(products[:, 0], [found[key] for key in keys])

    def pairs(self, vectors: Matrix, which: Rows, rows: Rows) -> npt.NDArray[np.float32]:
        """``[len(rows)]``: vector ``which[i]`` times row ``rows[i]``, identical to :meth:`exact`,
        rounded to float32 as scores are."""
        features = np.asarray(self.features)   # a memory map is slow to index
        scores = np.empty(len(rows), dtype=np.float32)
        for start in range(0, len(rows), _PAIRS):
            part = slice(start, start + _PAIRS)
            products = features[rows[part]].astype(np.float64)
            products *= vectors[which[part]]
            scores[part] = products.sum(axis=1)
        return scores

    def sizes(self, vectors: Matrix) -> npt.NDArray[np.float64]:
        """``[m]``: upper bound on any product of each of ``vectors`` ``[m, dim]``."""
        lengths: npt.NDArray[np.float64] = np.linalg.norm(vectors.astype(np.float64), axis=1)
        return self._longest * lengths

    def errors(self, vectors: Matrix) -> npt.NDArray[np.float64]:
        """``[m]``: bounds on |fast - exact|, the textbook one for a sum of dim products, doubled."""
        share = (self.features.shape[1] + 1) * 2.0**-23
        return np.asarray(share * self.sizes(vectors) + 1e-37)

    @cached_property
    def _longest(self) -> float:
        squares = np.einsum("ij,ij->i", self.features, self.features)
        if not np.isfinite(squares).all():
            row = int(np.flatnonzero(~np.isfinite(squares))[0])
            raise GalleryError(f"The vector of {quoted(self._ids[row])} is damaged. Index the gallery again.")
        return float(np.sqrt(squares.max(initial=0.0)))


class ProductsOnce(Products):
    """:class:`Products` with the same ``vectors`` ``[m, dim]`` for several scores: each product is computed once."""

    def __init__(self, products: Products, vectors: Matrix) -> None:
        super().__init__(products.features, products._ids)
        self._vectors, self._from = vectors, products
        self._exact: dict[int, npt.NDArray[np.float64]] = {}

    @cached_property
    def _fast(self) -> Matrix:
        return self._from.fast(self._vectors)

    def fast(self, vectors: Matrix) -> Matrix:
        return self._fast

    def fast_scores(self, scoring: Scoring, vectors: Matrix) -> npt.NDArray[np.floating]:
        return scoring.combine(self._fast)

    def exact(self, vectors: Matrix, rows: Rows) -> npt.NDArray[np.float64]:
        new = [row for row in rows.tolist() if row not in self._exact]
        if new:
            self._exact.update(zip(new, self._from.exact(self._vectors, np.array(new, dtype=np.int64)), strict=True))
        found = [self._exact[row] for row in rows.tolist()]
        return np.stack(found) if found else np.empty((0, len(self._vectors)))

    def sizes(self, vectors: Matrix) -> npt.NDArray[np.float64]:
        return self._from.sizes(vectors)


class PlainScores:
    """Scores by the product with one vector."""

    def __init__(self, products: Products, query: Vector) -> None:
        self._products, self._query = products, query
        self.error = float(products.errors(query[None])[0])

    def fast(self) -> Vector:
        return self._products.features @ self._query

    def exact(self, rows: Rows) -> npt.NDArray[np.float32]:
        return self._products.exact(self._query[None], rows)[:, 0].astype(np.float32)


class CombinedScores:
    """Scores combined from the products with several vectors."""

    def __init__(self, products: Products, scoring: Scoring, vectors: Matrix) -> None:
        self._products, self._scoring, self._vectors = products, scoring, vectors
        self.error = scoring.error(products.errors(vectors), products.sizes(vectors))

    def fast(self) -> Vector:
        return np.array(self._products.fast_scores(self._scoring, self._vectors), dtype=np.float32, order="C")

    def exact(self, rows: Rows) -> npt.NDArray[np.float32]:
        return np.asarray(self._scoring.combine(self._products.exact(self._vectors, rows)), dtype=np.float32)
