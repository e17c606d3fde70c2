"""Read, decode and encode files: the bulk work of an index run.

Files are encoded in batches of those that lie together in one part of the run. The parts follow from the files alone,
so an interrupted run, and one on several machines, forms the same batches as any other: their composition can change
the last bits of a vector.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cir_core.bulk.shards import packed, unpacked
from cir_core.encoders.base import Encoder
from cir_core.errors import EncoderMismatch, EncoderUnavailable, GalleryError
from cir_core.gallery.decoding import Decoded, Reusable, Skipped, ahead, read_file
from cir_core.gallery.journal import Record
from cir_core.gallery.scan import Entry
from cir_core.gallery.sources.objects import is_store
from cir_core.gallery.sources.source import ImageSource
from cir_core.types.records import EncoderIdentity, Matrix

BATCHES = 8     # of a part; its last one is smaller if files of it cannot be read


@dataclass(frozen=True)
class Encoded:
    """One batch. ``vectors``: ``[n, dim]`` float32; ``thumbnails``: WebP by the hash of the file."""

    records: tuple[Record, ...]
    vectors: Matrix
    thumbnails: dict[str, bytes]


@dataclass(frozen=True, slots=True)
class File:
    """``sha256``: of the bytes that an interrupted run found in this place; else empty."""

    entry: Entry
    sha256: str = ""


@dataclass(frozen=True)
class FilesOfRun:
    """A part of an index run."""

    files: tuple[File, ...]

    def __str__(self) -> str:
        return f"{len(self.files)} files from {self.files[0].entry.path} to {self.files[-1].entry.path}"


class KnownHashes:
    """Content hashes of files, in 32 bytes each: there may be millions."""

    def __init__(self, hashes: Iterable[str]) -> None:
        self._sorted = np.sort(np.array([bytes.fromhex(sha256) for sha256 in hashes], dtype="S32"))

    def __contains__(self, sha256: str) -> bool:
        key = np.array(bytes.fromhex(sha256), dtype="S32")
        at = int(np.searchsorted(self._sorted, key))
        return at < len(self._sorted) and bool(self._sorted[at] == key)


Outcome = Encoded | Reusable | Skipped


@dataclass(frozen=True)
class EncodeFiles:
    """Implements :class:`~cir_core.bulk.places.Work`. ``load`` gives the encoder of ``identity``, ``source`` the
    images; ``known`` are the bytes whose vectors are reused; ``folder`` is the gallery's."""

    load: Callable[[], Encoder]
    identity: EncoderIdentity
    source: Callable[[], ImageSource]
    folder: Path
    max_megapixels: float
    batch_size: int
    threads: int        # that decode
    known: KnownHashes

    def prepare(self) -> None:
        where = socket.gethostname()
        location = self.source().location
        if not is_store(location) and not Path(location).exists():
            raise GalleryError(f"There is no {location} on {where}. All machines of the cluster must see the images "
                               "under the same path: mount the folder there.")
        found = self.load().identity
        if (found.revision, found.dim) != (self.identity.revision, self.identity.dim):
            raise EncoderMismatch(f"Encoder {self.identity.spec} has revision {found.revision} on {where} and "
                                  f"{self.identity.revision} here. Give all machines of the cluster the same weights.")

    def __call__(self, parts: Iterable[FilesOfRun]) -> Generator[Outcome]:
        files = ((file, file is part.files[-1]) for part in parts for file in part.files)
        batch: list[Decoded] = []
        # One batch waits decoded while another is encoded; more would only take memory.
        depth = self.batch_size + 2 * self.threads
        with closing(ahead(self._read, files, threads=self.threads, depth=depth)) as outcomes:
            for outcome, is_last in outcomes:
                if isinstance(outcome, Decoded):
                    batch.append(outcome)
                else:
                    yield outcome
                if batch and (is_last or len(batch) == self.batch_size):
                    yield from self._encode(batch)
                    batch = []

    def pack(self, results: Sequence[Outcome]) -> bytes:
        content: list[tuple[str, Any]] = []
        arrays: dict[str, npt.NDArray[Any]] = {}
        for outcome in results:
            if isinstance(outcome, Encoded):
                content.append(("encoded", [astuple(record) for record in outcome.records]))
                arrays[f"vectors-{len(content) - 1}"] = outcome.vectors
                for sha256, image in outcome.thumbnails.items():
                    arrays[f"thumbnail-{sha256}"] = np.frombuffer(image, np.uint8)
            elif isinstance(outcome, Reusable):
                content.append(("reusable", astuple(outcome.record)))
            else:
                content.append(("skipped", astuple(outcome)))
        return packed(content, arrays)

    def unpack(self, content: bytes) -> list[Outcome]:
        lines, arrays = unpacked(content)
        return list(self._outcomes(lines, arrays))

    def _outcomes(self, lines: Sequence[tuple[str, Any]], arrays: dict[str, npt.NDArray[Any]]) -> Iterator[Outcome]:
        for at, (kind, fields) in enumerate(lines):
            if kind == "encoded":
                records = tuple(Record(*each) for each in fields)
                thumbnails = {record.sha256: arrays[name].tobytes() for record in records
                              if (name := f"thumbnail-{record.sha256}") in arrays}
                vectors = arrays[f"vectors-{at}"]
                if vectors.shape != (len(records), self.identity.dim):
                    raise ValueError(f"vectors of shape {vectors.shape}")
                yield Encoded(records, vectors, thumbnails)
            else:
                yield Reusable(Record(*fields)) if kind == "reusable" else Skipped(*fields)

    def _read(self, item: tuple[File, bool]) -> tuple[Decoded | Reusable | Skipped, bool]:
        file, is_last = item
        return read_file(
            self.source(), file.entry, folder=self.folder, max_megapixels=self.max_megapixels,
            known=lambda sha256: sha256 == file.sha256 or sha256 in self.known), is_last

    def _encode(self, batch: Sequence[Decoded]) -> Iterator[Outcome]:
        encoder = self.load()
        vectors = encoder.encode_images([one.image for one in batch])
        if vectors.shape != (len(batch), encoder.dim):
            raise EncoderUnavailable(f"{encoder.name} gave vectors of shape {vectors.shape} for {len(batch)} images of "
                                     f"{encoder.dim} dimensions. Check its config.")
        usable = [bool(np.isfinite(vector).all()) for vector in vectors]
        kept = [one for one, good in zip(batch, usable, strict=True) if good]
        yield Encoded(tuple(one.record for one in kept), vectors[usable],
                      {one.record.sha256: one.thumbnail for one in kept if one.thumbnail})
        for one, good in zip(batch, usable, strict=True):
            if not good:
                yield Skipped(one.record.path, "has a vector that is not finite; try fp32.")
