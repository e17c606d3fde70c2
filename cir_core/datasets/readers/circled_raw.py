"""CIRCLED's raw format, as its construction and its filters write it: one object a subset, streamed.

Records are kept as they are in the file, so that what this module does not know comes back too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from cir_core.datasets.files.issues import RAISE, ValidationIssues
from cir_core.datasets.files.json_files import first_byte, first_value, read_array, validated
from cir_core.datasets.readers.circled import subset_of_raw
from cir_core.errors import DatasetError
from cir_core.support.files import write_atomically
from cir_core.support.texts import quoted

_LONGEST_NAME = 200     # bytes; with a suffix it fits every file system
MOST_RECORD = 4 * 2**20
"""Bytes of a session with all its turns. Thirty turns with a hundred hits each have a tenth of that; read into objects,
it takes up to twenty times as much memory."""
_BEFORE, _AFTER = ("dataset_name", "config", "data_completeness"), ("filtering_info",)


class RawTurn(BaseModel):
    """Turn 0 is the query itself. ``gt_rankings``: target to rank from 1, -1 where it is not in the gallery."""

    turn: int
    query_text: str | None = None
    search_results: list[tuple[str | int, float]] = []
    selected_image: str | int | None = None
    selected_image_caption: str | None = None
    relative_caption: str | None = None
    gt_rankings: dict[str, int] = {}
    best_gt_rank: int = -1
    # Not in the release: what filters need, so that they load neither an encoder nor the gallery.
    text_similarity: float | None = None
    similar_turn: int | None = None
    image_sha256: str | None = None


class RawResult(BaseModel):
    """``success_turn`` is that of the first hit, from 0; -1 if there is none."""

    query_id: str | int
    reference_image_id: str | int
    target_image_id: str | int | None = None
    ground_truth_ids: list[str | int] = []
    original_query: str = ""
    success: bool
    success_turn: int = -1
    turns: list[RawTurn] = []


@dataclass(frozen=True)
class RawFile:
    """A raw file: ``head`` has its members other than ``results``, which :meth:`results` reads one by one."""

    path: Path
    head: Mapping[str, Any]

    @property
    def subset(self) -> str:
        return subset_of_raw(self.head["dataset_name"])

    @property
    def images(self) -> int | None:
        """Images in the subset's gallery, as far as the file says."""
        counts = self.head.get("data_completeness")
        found = counts.get("images") if isinstance(counts, Mapping) else None
        return found if type(found) is int else None

    def results(self, faults: ValidationIssues = RAISE) -> Iterator[tuple[int, dict[str, Any], RawResult]]:
        """Each record's place from 0, the record as it is in the file, and what it says. Raises ``DatasetError``."""
        for number, record in read_array(self.path, faults, key="results", most=MOST_RECORD):
            found = validated(RawResult, record, self.path, number, faults)
            if found is not None:
                yield number, record, found


def open_raw(path: Path, *, to_results: bool = False) -> RawFile:
    """``to_results``: read no further than to them, without ``filtering_info``. Raises ``DatasetError`` unless it is a
    raw file of CIRCLED's format."""
    if first_byte(path) != b"{":
        raise DatasetError(f"{path} is not a raw file of sessions: it contains no JSON object. Give the file that a "
                           "construction wrote (raw/SUBSET.json).")
    most = MOST_RECORD if to_results else None
    head = {key: first_value(path, key, most=most) for key in (_BEFORE if to_results else (*_BEFORE, *_AFTER))}
    if not isinstance(head["dataset_name"], str) or not head["dataset_name"]:
        raise DatasetError(f"{path} is not a raw file of sessions: it has no dataset_name. Check the file.")
    if not _names_a_file(head["dataset_name"]):
        raise DatasetError(f"{path}: dataset_name {quoted(head['dataset_name'])} cannot name a file. Rename it: "
                           "letters, digits, dashes and underscores.")
    return RawFile(path, {key: value for key, value in head.items() if value is not None})


def _names_a_file(name: str) -> bool:
    """Whether files written of it stay in their folder, on every system."""
    try:
        size = len(os.fsencode(name))
    except UnicodeEncodeError:
        return False
    return size <= _LONGEST_NAME and name.isprintable() and not name.startswith(".") and not set(name) & set("/\\:")


def write_raw(
    path: Path, head: Mapping[str, Any], results: Iterable[Mapping[str, Any]],
    after: Callable[[], Mapping[str, Any]] = dict,
) -> None:
    """Write a raw file, one record a line, as the records come. ``after`` is called behind the last one, for members
    that are known only then."""
    def lines() -> Iterator[bytes]:
        yield b"{\n"
        for key, value in head.items():
            if key not in _AFTER:
                yield _member(key, value) + b",\n"
        between = b'"results": [\n'
        for result in results:
            yield between + _json(result)
            between = b",\n"
        yield b'"results": []' if between.endswith(b"[\n") else b"\n]"
        for key, value in {**{key: head[key] for key in _AFTER if key in head}, **after()}.items():
            yield b",\n" + _member(key, value)
        yield b"\n}\n"

    write_atomically(path, lines())


def _member(key: str, value: Any) -> bytes:
    return _json(key) + b": " + _json(value)


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def text_in(head: Mapping[str, Any], *keys: str) -> str:
    """The text at ``keys`` of a head or a card, "" if it is anything else: they come from a file."""
    found: Any = head
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, str) else ""
