"""Milvus as an engine: ``milvus:http://HOST:19530``, with a database behind a slash and ``?index=`` if wanted.

A collection for each revision of a gallery, named by a digest of its vectors, is uploaded beside the one in use; the
alias ``cirque_GALLERY`` then leads to it. Searches name the collection, since each process may be at another revision.
One that a process searches is not dropped: it holds a lock on the index's folder.
"""

from __future__ import annotations

import hashlib
import json
import re
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

from cir_core.errors import GalleryError
from cir_core.gallery.gallery import Gallery
from cir_core.gallery.paths import share_lock, try_lock
from cir_core.index.engines import OVERSAMPLING, Made, Progress, Settings, Variant
from cir_core.index.milvus.collection import Collection
from cir_core.index.milvus.server import NotThere, address_of, check_installed, server_at
from cir_core.index.scoring import Rows
from cir_core.index.stored import digest_of
from cir_core.support.checksums import NO_ROWS
from cir_core.support.files import write_durably
from cir_core.support.texts import quoted
from cir_core.types.records import Matrix, new_id

_FLAT_UP_TO = 200_000    # vectors, for "auto"
_MARGIN = 16             # more candidates than asked for: the server's scores differ in their last bits
_IN_USE, _SENT = "in-use", "collection.json"
_LADDERS: dict[str, tuple[Settings, ...]] = {
    "flat": ({OVERSAMPLING: 1},),
    "hnsw": tuple({OVERSAMPLING: more, "ef": ef} for more, ef in ((1, 128), (1, 256), (2, 512), (4, 1024), (8, 2048))),
    "ivf_sq8": tuple({OVERSAMPLING: 2, "nprobe": 2**power} for power in range(3, 11)),
}


class MilvusIndex:
    """An index on a server, which is not asked before the first search. Holds the lock on ``folder`` while it lives."""

    def __init__(self, collection: Collection, folder: Path) -> None:
        self._collection = collection
        self._checked = False
        with suppress(OSError):
            lock = (folder / _IN_USE).open("rb")
            weakref.finalize(self, lock.close)
            share_lock(lock)

    def candidates(self, vectors: Matrix, k: int, settings: Settings, hidden: Rows = NO_ROWS) -> Sequence[Rows]:
        if not self._checked:
            self._collection.check()
            self._checked = True
        parameters = {name: value for name, value in settings.items() if name != OVERSAMPLING}
        return self._collection.search(vectors, k + _MARGIN, hidden, parameters)


class MilvusMaker:
    """See :class:`cir_core.index.engines.IndexMaker`."""

    def variant(self, name: str, size: int, dim: int) -> Variant:
        address, index = _parsed(name)
        check_installed()
        if index == "auto":
            index = "flat" if size <= _FLAT_UP_TO else "hnsw"
        return Variant(f"{address}?{urlencode({'index': index})}", _LADDERS[index])

    def build(self, gallery: Gallery, variant: str, work: Path, progress: Progress) -> Made:
        address, index = _parsed(variant)
        rows, dim = gallery.features.shape
        server = server_at(address)
        collection, sent = _begun(work) or (Collection(server, _name_for(gallery), rows, dim), 0)
        data = {"address": address, "name": collection.name, "rows": rows, "dim": dim, "gallery": gallery.name}
        (work / _IN_USE).touch()

        def note(there: int) -> None:
            write_durably(work / _SENT, json.dumps({**data, "sent": there}).encode())
            progress(there, rows)

        note(sent)   # the name before there is anything of it
        parameters = _parameters(index, rows)
        new = collection.create(index.upper(), parameters)
        collection.upload(gallery.features, None if new else sent, note)
        version = server.call(lambda client: str(client.get_server_version(timeout=server.seconds)))
        recipe = ", ".join([index.upper(), *(f"{key} {value}" for key, value in parameters.items())])
        digest = hashlib.sha256(f"{collection.name} {version} {recipe}".encode()).hexdigest()[:16]
        return Made(data, f"Milvus {version}, {recipe}", digest, rows * dim * 4)

    def open(self, folder: Path, data: Mapping[str, Any], dim: int) -> MilvusIndex:
        return MilvusIndex(_collection(data), folder)

    def is_there(self, folder: Path, data: Mapping[str, Any]) -> bool:
        try:
            _collection(data).check()
        except NotThere:
            return False
        return True

    def put_in_use(self, data: Mapping[str, Any]) -> None:
        _collection(data).name_it(f"cirque_{_slug(data['gallery'])}")

    def discard(self, folder: Path, *, in_use: bool = False) -> bool:
        begun = _begun(folder)
        if begun is None:
            return True
        with (folder / _IN_USE).open("a+b") as file:
            if not try_lock(file) and not in_use:
                return False
            begun[0].drop()
        return True


MAKER = MilvusMaker()


def _parsed(variant: str) -> tuple[str, str]:
    """Address and kind of index. Raises ``GalleryError``."""
    address, _, query = variant.partition("?")
    chosen = dict(parse_qsl(query, keep_blank_values=True))
    index = chosen.pop("index", "auto")
    if "@" not in query and (chosen or index not in ("auto", *_LADDERS)):
        raise GalleryError(f"{quoted(query)} after the address of Milvus is not understood. Write index=KIND; "
                           f"KIND is auto, {', '.join(_LADDERS)}.")
    return address_of(variant if "@" in query else address), index


def _parameters(index: str, rows: int) -> dict[str, int]:
    """Of the build."""
    if index == "hnsw":
        return {"M": 32, "efConstruction": 200}
    return {"nlist": max(1, min(65_536, round(4 * rows**0.5), rows // 39))} if index == "ivf_sq8" else {}


def _name_for(gallery: Gallery) -> str:
    return f"cirque_{_slug(gallery.name)}_{digest_of(gallery.features)}_{new_id(8)}"


def _slug(name: str) -> str:
    """Names of Milvus have letters, digits and underscores."""
    return re.sub(r"\W", "_", name, flags=re.ASCII)


def _begun(work: Path) -> tuple[Collection, int] | None:
    """The collection of an earlier run and the rows sent to it."""
    try:
        content = json.loads((work / _SENT).read_bytes())
        return _collection(content), int(content["sent"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _collection(data: Mapping[str, Any]) -> Collection:
    return Collection(server_at(data["address"]), data["name"], data["rows"], data["dim"])
