"""Where each candidate of a query came from, and the confidences: a JSONL file with a line for each query.

    {"query_id", "reference", "original_target", "captions": [], "text", "sentences": [modification, kept],
     "queries": {group: text}, "notes": [],
     "candidates": [{"image", "confidence", "found": [{"group", "rank", "similarity", "confidence"}]}]}

``confidence`` of a candidate is the greatest of its groups, None if it was in none of their first ones. SoFT's own
files have no room for this.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from cir_core.construct.targets.settings import LEAST_TARGETS, Group
from cir_core.datasets.files.issues import RAISE, ValidationIssues
from cir_core.datasets.readers.soft import Confidence, Finite
from cir_core.errors import DatasetError
from cir_core.support.files import bounded_lines, open_regular, write_atomically


@dataclass(frozen=True)
class FoundIn:
    """``rank`` from 1 among the group's candidates; ``confidence`` None where nothing was asked."""

    group: Group
    rank: Annotated[int, Field(ge=1, le=10**9)]
    similarity: Finite
    confidence: Confidence | None = None


@dataclass(frozen=True)
class Candidate:
    """``found``: once for each group that has it, in the order of the groups."""

    image: str
    found: tuple[FoundIn, ...]

    @property
    def confidence(self) -> float | None:
        return max((one.confidence for one in self.found if one.confidence is not None), default=None)


@dataclass(frozen=True)
class QueryCandidates:
    """``captions`` as in the data set's file, ``text`` as the language model read them. ``sentences`` is () and
    ``queries`` those of the files if the candidates were given. ``candidates``: in the order in which they were
    found."""

    query_id: str
    reference: str
    original_target: str
    captions: tuple[str, ...]
    text: str
    sentences: tuple[str, ...]
    queries: Mapping[str, str]
    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...] = ()

    def of_group(self, group: Group) -> list[tuple[str, FoundIn]]:
        """The group's images by rank."""
        found = [(one.image, place) for one in self.candidates for place in one.found if place.group == group]
        return sorted(found, key=lambda one: one[1].rank)

    def targets(self, threshold: float) -> dict[str, float]:
        """Images with at least that confidence, in the order in which they were found."""
        known = ((one.image, one.confidence) for one in self.candidates)
        return {image: confidence for image, confidence in known if confidence is not None and confidence >= threshold}

    @property
    def original_confidence(self) -> float | None:
        """Of the data set's own target: SoFT's Figure 4."""
        return next((one.confidence for one in self.candidates if one.image == self.original_target), None)

    def as_json(self) -> dict[str, Any]:
        candidates = [{"image": one.image, "confidence": one.confidence, "found": [asdict(each) for each in one.found]}
                      for one in self.candidates]
        return {**asdict(self), "candidates": candidates}


@dataclass(frozen=True)
class TargetCounts:
    """What a threshold makes of ``queries``. ``by_targets``: number of targets to number of queries.
    ``without_original``: those whose targets lack the data set's own; ``with_reference``: that have the reference, if
    that is counted."""

    queries: int
    by_targets: Mapping[int, int]
    without_original: int
    with_reference: int = 0

    @property
    def kept(self) -> int:
        """Queries that have a target."""
        return sum(count for number, count in self.by_targets.items() if number)

    @property
    def targets(self) -> int:
        return sum(number * count for number, count in self.by_targets.items())

    @property
    def mean(self) -> float | None:
        """Of the queries with targets, as SoFT counts them; None if there are none."""
        return self.targets / self.kept if self.kept else None

    @property
    def most(self) -> int:
        return max(self.by_targets, default=0)

    @property
    def rewritable(self) -> int:
        """Queries of three targets and more: those of stage 2."""
        return sum(count for number, count in self.by_targets.items() if number >= LEAST_TARGETS)


MOST_LINE = 4 * 2**20
"""Bytes of a query with its candidates, which are some hundred: read into objects it takes many times as much."""
_ADAPTER = TypeAdapter(QueryCandidates)


def from_json(record: Mapping[str, Any]) -> QueryCandidates:
    """What UTF-8 cannot hold is replaced, as in the files. Raises ``ValidationError``."""
    return _ADAPTER.validate_json(json.dumps(record, ensure_ascii=False).encode("utf-8", "replace"))


def from_line(line: bytes) -> QueryCandidates:
    """Of a file of provenance. Raises ``ValidationError``."""
    return _ADAPTER.validate_json(line)


def write_provenance(path: Path, records: Iterable[QueryCandidates]) -> None:
    write_atomically(path, (json.dumps(one.as_json(), ensure_ascii=False, allow_nan=False,
                                       separators=(",", ":")).encode("utf-8", "replace") + b"\n"
                            for one in records))


def read_provenance(path: Path, faults: ValidationIssues = RAISE) -> Iterator[QueryCandidates]:
    """The queries in the order of the file, one at a time. Raises ``DatasetError``, or collects lines that are no
    queries into ``faults``."""
    try:
        with open_regular(path) as lines:
            for number, (_, line) in enumerate(bounded_lines(lines, MOST_LINE), start=1):
                try:
                    found = from_line(line or b"")
                except ValidationError as error:
                    first = error.errors()[0]
                    why = ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))
                    if line is None:
                        why = f"it has more than {MOST_LINE >> 20} MB"
                    faults.add(path, f"line {number}", f"it is not a query with candidates ({why})",
                               "Construct the file again")
                    continue
                yield found
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror or error}. Check the path.") from error
