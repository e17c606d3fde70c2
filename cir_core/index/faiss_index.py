"""faiss as an engine: HNSW over 8-bit vectors, and inverted files with scalar or product quantisation.

Vectors are indexed from the gallery's file block by block. Inverted files are made in shards, which searches map, so
that neither the build nor a search holds all of them in memory; HNSW is written at intervals. A run that was killed
goes on behind the last shard or interval. Files are complete under their names: they are renamed when written.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cir_core.errors import GalleryError
from cir_core.gallery.gallery import Gallery
from cir_core.index.engines import OVERSAMPLING, Made, Progress, Settings, Variant
from cir_core.index.scoring import Rows
from cir_core.support.checksums import NO_ROWS
from cir_core.support.texts import quoted
from cir_core.types.records import Matrix

_HNSW_UP_TO, _SQ_UP_TO = 200_000, 20_000_000   # vectors, for "auto"
_LINKS, _EF_BUILD = 32, 100
_BLOCK = 16_384          # vectors added at a time
_INTERVAL = 131_072      # after which HNSW is written
_SHARD = 1_000_000       # vectors
_TRAINED_ON = 64         # vectors for each list
_FILE, _TRAINED = "vectors.faiss", "trained.faiss"
_EF, _PROBES = "efSearch", "nprobe"

_LADDERS: dict[str, tuple[Settings, ...]] = {
    "hnsw": tuple({OVERSAMPLING: more, _EF: ef} for more, ef in ((2, 128), (2, 256), (4, 512), (8, 1024), (8, 2048))),
    "ivf-sq": tuple({OVERSAMPLING: 2, _PROBES: 2**power} for power in range(2, 11)),
    "ivf-pq": tuple({OVERSAMPLING: more, _PROBES: probes} for more, probes in (
        (8, 8), (8, 16), (16, 32), (16, 64), (32, 128), (32, 256), (64, 512))),
}


class HnswIndex:
    """An opened graph. Settings go with each search, so that searches at once do not share any."""

    def __init__(self, index: Any) -> None:
        self._index = index

    def candidates(self, vectors: Matrix, k: int, settings: Settings, hidden: Rows = NO_ROWS) -> Sequence[Rows]:
        faiss = _faiss()
        parameters = faiss.SearchParametersHNSW(efSearch=settings[_EF])
        _, found = self._index.search(np.ascontiguousarray(vectors, np.float32), k + len(hidden), params=parameters)
        return [rows[rows >= 0].astype(np.int64) for rows in found]   # -1 fills up short lists


class ListsIndex:
    """Opened inverted files, in shards."""

    def __init__(self, shards: Sequence[Any]) -> None:
        self._shards = shards

    def candidates(self, vectors: Matrix, k: int, settings: Settings, hidden: Rows = NO_ROWS) -> Sequence[Rows]:
        faiss = _faiss()
        queries, wanted = np.ascontiguousarray(vectors, np.float32), k + len(hidden)
        probes = faiss.SearchParametersIVF(nprobe=min(settings[_PROBES], self._shards[0].nlist))
        # All shards have the same centroids, so which lists are near is asked once.
        near, lists = self._shards[0].quantizer.search(queries, probes.nprobe)
        parts = [_searched(shard, queries, wanted, lists, near, probes) for shard in self._shards]
        scores, rows = (np.concatenate(some, axis=1) for some in zip(*parts, strict=True))
        best = np.argsort(-scores, axis=1, kind="stable")[:, :wanted]
        return [of[of >= 0].astype(np.int64) for of in np.take_along_axis(rows, best, axis=1)]


class FaissMaker:
    """See :class:`cir_core.index.engines.IndexMaker`."""

    def variant(self, name: str, size: int, dim: int) -> Variant:
        if name in ("", "auto"):
            name = "hnsw" if size <= _HNSW_UP_TO else "ivf-sq" if size <= _SQ_UP_TO else "ivf-pq"
        if name not in _LADDERS:
            raise GalleryError(f"faiss has no index {quoted(name)} here. Choose auto, {', '.join(_LADDERS)}.")
        return Variant(name, _LADDERS[name])

    def build(self, gallery: Gallery, variant: str, work: Path, progress: Progress) -> Made:
        faiss = _faiss()
        size, dim = gallery.features.shape
        if variant == "hnsw":
            recipe = f"HNSW{_LINKS}_SQ8"
            _build_hnsw(gallery.features, recipe, work, progress)
        else:
            # np: without training for comparisons by Hamming distance, which takes minutes and no search here uses.
            codes = "SQ8" if variant == "ivf-sq" else f"PQ{_parts(dim)}np"
            recipe = f"IVF{_lists(size)},{codes}"
            _build_lists(gallery.features, recipe, work, progress)
        files = {path.name: _digest(path) for path in _files(work)}
        digest = hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()[:16]
        return Made({"files": files}, f"faiss {faiss.__version__}, {recipe}", digest,
                    sum(path.stat().st_size for path in _files(work)))

    def open(self, folder: Path, data: Mapping[str, Any], dim: int) -> HnswIndex | ListsIndex:
        """Reads the files once: faiss would follow damaged links to anywhere in memory."""
        faiss = _faiss()
        try:
            for name, digest in data["files"].items():
                if _digest(folder / name) != digest:
                    raise OSError(f"{name} does not match its checksum")
            if _FILE in data["files"]:
                return HnswIndex(faiss.read_index(str(folder / _FILE), faiss.IO_FLAG_MMAP_IFC))
            shards = [faiss.read_index(str(folder / name), faiss.IO_FLAG_MMAP) for name in sorted(data["files"])]
        except (RuntimeError, OSError, KeyError) as error:
            raise GalleryError(f"The index in {folder} is damaged ({error}), so search is exact. To build it again: "
                               f"cirque galleries index {folder.parent.name} faiss:auto") from error
        for shard in shards:
            # Threads that read ahead cost each search more than they gain.
            faiss.downcast_InvertedLists(shard.invlists).prefetch_nthread = 0
        return ListsIndex(shards)

    def is_there(self, folder: Path, data: Mapping[str, Any]) -> bool:
        return True   # all lies in the folder

    def put_in_use(self, data: Mapping[str, Any]) -> None: ...

    def discard(self, folder: Path, *, in_use: bool = False) -> bool:
        return True


MAKER = FaissMaker()


def _faiss() -> Any:
    import faiss  # takes a third of a second, and only approximate indexes need it

    return faiss


def _build_hnsw(features: Matrix, recipe: str, work: Path, progress: Progress) -> None:
    faiss = _faiss()
    path = work / _FILE
    if path.exists():
        index = faiss.read_index(str(path))
    else:
        index = faiss.index_factory(features.shape[1], recipe, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = _EF_BUILD
        index.train(_sample(features, 65_536))
    written = index.ntotal
    for block in _blocks(features, index.ntotal, len(features)):
        index.add(block)
        progress(index.ntotal, len(features))
        if index.ntotal - written >= _INTERVAL and index.ntotal < len(features):
            _write(index, path)
            written = index.ntotal
    _write(index, path)


def _build_lists(features: Matrix, recipe: str, work: Path, progress: Progress) -> None:
    faiss = _faiss()
    trained = work / _TRAINED
    if not trained.exists():
        index = faiss.index_factory(features.shape[1], recipe, faiss.METRIC_INNER_PRODUCT)
        index.cp.spherical = True
        index.train(_sample(features, _TRAINED_ON * index.nlist))
        _write(index, trained)
    for number, start in enumerate(range(0, len(features), _SHARD)):
        shard, end = work / f"shard-{number:05}.faiss", min(start + _SHARD, len(features))
        if not shard.exists():
            index = faiss.read_index(str(trained))
            for block in _blocks(features, start, end):
                first = start + index.ntotal
                index.add_with_ids(block, np.arange(first, first + len(block)))
                progress(start + index.ntotal, len(features))
            _write(index, shard)
        progress(end, len(features))


def _searched(shard: Any, queries: Matrix, wanted: int, lists: Rows, near: Matrix, probes: Any) -> tuple[Matrix, Rows]:
    """Scores and rows ``[n, wanted]``. faiss's own wrapper of this call takes no settings of one search."""
    pointer = _faiss().swig_ptr
    scores = np.empty((len(queries), wanted), np.float32)
    rows = np.empty((len(queries), wanted), np.int64)
    shard.search_preassigned_c(len(queries), pointer(queries), wanted, pointer(lists), pointer(near), pointer(scores),
                               pointer(rows), False, probes)
    return scores, rows


def _files(folder: Path) -> list[Path]:
    return sorted((*folder.glob("shard-*.faiss"), *folder.glob(_FILE)))


def _blocks(features: Matrix, start: int, end: int) -> Iterator[Matrix]:
    for first in range(start, end, _BLOCK):
        yield np.ascontiguousarray(features[first:min(first + _BLOCK, end)], np.float32)


def _sample(features: Matrix, most: int) -> Matrix:
    """Rows to train with, the same ones every time."""
    if len(features) <= most:
        return np.ascontiguousarray(features, np.float32)
    rows = np.sort(np.random.default_rng(0).choice(len(features), most, replace=False))
    return np.ascontiguousarray(features[rows], np.float32)


def _lists(size: int) -> int:
    """A power of two, about twice the root of the number of vectors; of few, so many that each list has the 39 vectors
    that faiss wants to train with."""
    return int(2 ** max(0, min(16, round(np.log2(2 * size**0.5)), int(np.log2(max(1, size / 39))))))


def _parts(dim: int) -> int:
    """Bytes of a product-quantised vector: one for about eight dimensions, and a divisor of them."""
    return next(parts for parts in range(max(1, dim // 8), 0, -1) if dim % parts == 0)


def _write(index: Any, path: Path) -> None:
    faiss = _faiss()
    part = path.with_name(f"{path.name}.part")
    try:
        faiss.write_index(index, str(part))
    except RuntimeError as error:   # its own kind of error
        raise OSError(str(error).splitlines()[-1]) from error
    with part.open("rb") as file:
        os.fsync(file.fileno())
    part.replace(path)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]
