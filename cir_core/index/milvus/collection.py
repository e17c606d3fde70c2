"""One collection of Milvus: the vectors of one revision of a gallery by row number, and nothing else.

A row is there once, whatever was interrupted: rows that may have arrived replace themselves, and all are counted at the
end. Results of ``query_iterator`` lack rows in some versions: it is not used.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cir_core.errors import IndexUnavailable
from cir_core.index.milvus.server import UNDERTAKING, MilvusServer, NotLoaded, NotThere
from cir_core.index.scoring import Rows
from cir_core.types.records import Matrix

if TYPE_CHECKING:
    from pymilvus import MilvusClient

DEEPEST = 16_384      # results of a search, Milvus' limit
_BATCH = 4 * 2**20    # bytes in a message
_NOTED = 16_384       # rows after which it is noted that they were sent
_SENDING = 120.0      # seconds for a message
_FILTERED = 4096      # rows in a filter; beyond, that many more results are asked for
_WAIT = 0.5           # seconds between looks at an index that is being built
_ROW, _VECTOR = "row", "vector"


@dataclass(frozen=True)
class Collection:
    """``rows`` vectors of ``dim`` numbers under ``name``."""

    server: MilvusServer
    name: str
    rows: int
    dim: int

    def create(self, index_type: str, parameters: Mapping[str, int]) -> bool:
        """Whether it was not there before. Raises ``IndexUnavailable``."""
        from pymilvus import DataType

        limit = self.server.seconds

        def create(client: MilvusClient) -> bool:
            if client.has_collection(self.name, timeout=limit):
                return False
            schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
            schema.add_field(_ROW, DataType.INT64, is_primary=True)
            schema.add_field(_VECTOR, DataType.FLOAT_VECTOR, dim=self.dim)
            client.create_collection(self.name, schema=schema, consistency_level="Bounded", timeout=limit)
            return True

        def index(client: MilvusClient) -> None:
            if not client.list_indexes(self.name, timeout=limit):
                wanted = client.prepare_index_params()
                wanted.add_index(_VECTOR, index_type=index_type, metric_type="IP", params=dict(parameters))
                client.create_index(self.name, wanted, timeout=limit)

        new = self.server.call(create)
        self.server.call(index)   # an earlier run may have ended between the two
        return new

    def upload(self, vectors: Matrix, sent: int | None, note: Callable[[int], None]) -> None:
        """Send ``vectors``, then make them searchable. ``note`` gets the number of rows that the server has; ``sent``
        is what it got last in an earlier run, which may have sent more; None: there was none. Raises
        ``IndexUnavailable``; what was sent stays."""
        self._send(vectors, sent or 0, note, again=0 if sent is None else _NOTED)
        self._finish()
        if self.count() != self.rows:   # something was lost, or arrived twice
            self._send(vectors, 0, note, again=self.rows)
            self._finish()
        if (count := self.count()) != self.rows:
            raise IndexUnavailable(f"{self._at} contains {count:,} vectors after {self.rows:,} were sent. Look at the "
                                   "server's log, then run the same command again.")

    def count(self) -> int:
        """How many vectors it holds; one that is there twice counts twice. Raises ``IndexUnavailable``."""
        [found] = self._call(lambda client: client.query(
            self.name, filter="", output_fields=["count(*)"], consistency_level="Strong",
            timeout=self.server.seconds))
        return int(found["count(*)"])

    def check(self) -> None:
        """Raises ``NotThere`` unless it holds as many vectors as it should, of as many numbers."""
        described = self._call(lambda client: client.describe_collection(self.name, timeout=self.server.seconds))
        fields = {field["name"]: field.get("params", {}) for field in described["fields"]}
        dim, count = int(fields.get(_VECTOR, {}).get("dim", 0)), self.count() if _ROW in fields else 0
        if (count, dim) != (self.rows, self.dim):
            raise NotThere(f"{self._at} contains {count:,} vectors of {dim} numbers instead of {self.rows:,} of "
                           f"{self.dim}. {self._again}")

    def search(self, vectors: Matrix, k: int, hidden: Rows, parameters: Mapping[str, int]) -> list[Rows]:
        """For each of ``vectors`` ``[m, dim]`` the rows of the ``k`` largest inner products that it finds, without
        ``hidden`` where those are few, else among more results. Raises ``IndexUnavailable``."""
        filtered = 0 < len(hidden) <= _FILTERED
        limit = min(k if filtered else k + len(hidden), self.rows, DEEPEST)
        # HNSW takes no fewer candidates than results.
        chosen = {name: max(value, limit) if name == "ef" else value for name, value in parameters.items()}
        found = self._call(lambda client: client.search(
            self.name, data=list(np.asarray(vectors, np.float32)), limit=limit, output_fields=[_ROW],
            filter=f"{_ROW} not in {hidden.tolist()}" if filtered else "",
            search_params={"metric_type": "IP", "params": chosen}, timeout=self.server.seconds))
        lists = [np.unique(np.array([hit[_ROW] for hit in hits], dtype=np.int64)) for hits in found]
        if any(len(rows) and not 0 <= rows[0] <= rows[-1] < self.rows for rows in lists):
            raise NotThere(f"{self._at} contains unexpected rows. {self._again}")
        return lists

    def drop(self) -> None:
        """With the aliases that lead to it, if it is there. Raises ``IndexUnavailable``."""
        def drop(client: MilvusClient) -> None:
            limit = self.server.seconds
            if not client.has_collection(self.name, timeout=limit):
                return
            for alias in client.list_aliases(self.name, timeout=limit)["aliases"]:
                client.drop_alias(alias, timeout=limit)
            client.drop_collection(self.name, timeout=limit)

        with suppress(NotThere):
            self.server.call(drop)

    def name_it(self, alias: str) -> None:
        """Make ``alias`` lead here, in one step if it leads to another collection. Raises ``IndexUnavailable``."""
        def switch(client: MilvusClient) -> None:
            from pymilvus.exceptions import MilvusException

            limit = self.server.seconds
            try:
                there = client.describe_alias(alias, timeout=limit)["collection_name"]
            except MilvusException:
                client.create_alias(self.name, alias, timeout=limit)
            else:
                if there != self.name:
                    client.alter_alias(self.name, alias, timeout=limit)

        self.server.call(switch)

    def _send(self, vectors: Matrix, start: int, note: Callable[[int], None], *, again: int) -> None:
        """The first ``again`` of these rows may be there already, and would be there twice if they were inserted."""
        batch = max(1, _BATCH // (4 * self.dim))
        noted = start
        for first in range(start, self.rows, batch):
            last = min(first + batch, self.rows)
            block = np.asarray(vectors[first:last], np.float32)
            rows = [{_ROW: row, _VECTOR: vector} for row, vector in enumerate(block, first)]
            self.server.call(lambda client, rows=rows, replaces=first < start + again: (  # type: ignore[misc]
                client.upsert if replaces else client.insert)(self.name, rows, timeout=_SENDING))
            if last - noted >= _NOTED or last == self.rows:
                note(noted := last)

    def _finish(self) -> None:
        """Write all to segments, wait for their indexes, and load those."""
        self._call(lambda client: client.flush(self.name, timeout=UNDERTAKING))
        until = time.monotonic() + UNDERTAKING
        while int(self._call(lambda client: client.describe_index(
                self.name, _VECTOR, timeout=self.server.seconds)).get("pending_index_rows") or 0):
            if time.monotonic() > until:
                raise IndexUnavailable(f"{self._at} is still being indexed. Run the same command again later.")
            time.sleep(_WAIT)
        self._load()

    def _load(self) -> None:
        self.server.call(lambda client: client.load_collection(self.name, timeout=UNDERTAKING))

    def _call(self, do: Callable[[MilvusClient], Any]) -> Any:
        """``do``, after loading the collection if the server has not since it started."""
        try:
            try:
                return self.server.call(do)
            except NotLoaded:
                self.server.call(lambda client: client.load_collection(self.name, timeout=self.server.seconds))
                return self.server.call(do)
        except NotThere:
            raise NotThere(f"{self._at} does not exist. {self._again}") from None

    @property
    def _at(self) -> str:
        return f"The collection {self.name} of the Milvus server at {self.server.address}"

    @property
    def _again(self) -> str:
        return f"Build the gallery's index again: cirque galleries index NAME milvus:{self.server.address}"
