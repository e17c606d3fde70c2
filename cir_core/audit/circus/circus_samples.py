"""Read the samples of CIRCUS's files, and match them to a data set's queries."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt

from cir_core.audit.records import Variant
from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.files.json_files import Record, validated
from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.support.texts import quoted


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)


class _OwnRanks(Strict):
    ranks: dict[Variant, list[PositiveInt]]


class Asked(Strict):
    """How files name a query: by its line, from 0; CIRCUS's have no ids."""

    query_idx: NonNegativeInt
    query_id: str | None = None
    query_text: str | None = None


class Sample(Asked):
    """The fields read of one sample; the rest can be recomputed."""

    ranks: dict[Variant, PositiveInt | None]
    retrievals: dict[Variant, list[NonNegativeInt]] = Field(default_factory=dict)
    cirque: _OwnRanks | None = None


def read_samples(path: Path, document: Record, faults: ValidationIssues) -> list[tuple[int, Sample]]:
    """Valid samples with their numbers; each query once, images within ``gallery_paths``."""
    images, records = document.get("gallery_paths", []), document.get("samples")
    if not isinstance(records, list) or not isinstance(images, list):
        faults.add(path, "", "it has no list of samples", "Check that it is an audit's file of one retriever")
        return []
    found: list[tuple[int, Sample]] = []
    seen: dict[int, int] = {}
    for number, record in enumerate(records):
        where = f"sample {number}"
        if (one := validated(Sample, record, path, where, faults)) is None:
            continue
        place = max((place for places in one.retrievals.values() for place in places), default=-1)
        rank = max((rank for rank in one.ranks.values() if rank), default=0)
        if one.query_idx in seen:
            faults.add(path, where, f"query_idx {one.query_idx} is also in sample {seen[one.query_idx]}", "Keep one")
        elif place >= len(images) or (images and rank > len(images)):
            faults.add(path, where, f"it points beyond the {len(images)} images of gallery_paths",
                       "Take ranks and retrievals from the same run")
        else:
            seen[one.query_idx] = number
            found.append((number, one))
    return found


def names_of(benchmark: Benchmark) -> frozenset[str]:
    """Names of the data set in files, case-folded: CIRCUS writes "fashionIQ" for "fashioniq"."""
    return frozenset(name.casefold() for name in (benchmark.name, benchmark.kind, benchmark.dataset) if name)


class QueryFinder:
    """Find queries of a benchmark by the ids and line numbers of external files."""

    def __init__(self, benchmark: Benchmark | None) -> None:
        """Without ``benchmark`` a query's id is that of the file, or its line."""
        self._benchmark = benchmark
        queries = benchmark.queries if benchmark else ()
        self._by_id = {query.query_id: query for query in queries}
        self._by_line = {benchmark.line_of(place): query for place, query in enumerate(queries)} if benchmark else {}

    def at(self, line: int) -> BenchmarkQuery | None:
        return self._by_line.get(line)

    def find(self, path: Path, where: str, one: Asked, faults: ValidationIssues) -> str | None:
        """The query's id: by that of the file if the benchmark has it, else by its line. None after a fault: no such
        line, or a different text."""
        if self._benchmark is None:
            return one.query_id or str(one.query_idx)
        text = one.query_text
        query = self._by_id.get(one.query_id or "") or self.at(one.query_idx)
        if query is not None and (not text or plain_text(text) == plain_text(query.modification_text)):
            return query.query_id
        here = (f"query {quoted(query.query_id)} of {self._benchmark.name} asks "
                f"{quoted(query.modification_text)}" if query
                else f"{self._benchmark.name} has no query there, of {len(self._by_id)}")
        faults.add(path, where, f"query_idx {one.query_idx} asks {quoted(text or 'nothing')}, but {here}",
                   "query_idx counts the lines of the query file it was made from: read the data set from that file")
        return None


def plain_text(text: str) -> str:
    """Letters and digits only: identical for a caption in every caption mode."""
    return " ".join(re.findall(r"\w+", text.casefold()))
