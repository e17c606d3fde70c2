"""SoFT's confidences of one group of candidates, ``<data set>_by_<group>_20_scores.json``.

Its code writes this form between candidates and targets; no such file was released. Names carry the ending ".png"
there, which is taken off here; records of failed requests have no result and are left out, as its selection does with
the images they lack. Its selection looks for ``item_index`` inside ``result``, its scoring writes it beside: both are
written, and either is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from cir_core.datasets.content import Content, Source, mean
from cir_core.datasets.files.issues import RAISE, ValidationIssues
from cir_core.datasets.files.json_files import read_records
from cir_core.datasets.readers.soft import Confidence, Name
from cir_core.datasets.readers.soft_benchmark import soft_image_paths
from cir_core.support.files import write_atomically

_MOST = 3       # names in selected_top_3


@dataclass(frozen=True)
class GroupScores:
    """``index``: of the query in the candidates' file. ``scores``: image id to confidence, in the order of the
    candidates; empty for a query without candidates in this group."""

    index: int
    reference_id: str
    target_id: str
    captions: tuple[str, ...]
    scores: Mapping[str, float]

    @property
    def best(self) -> tuple[str, ...]:
        """The three most confident, ties in the order of the candidates."""
        return tuple(sorted(self.scores, key=lambda name: -self.scores[name])[:_MOST])


def read_scores(path: Path, faults: ValidationIssues = RAISE) -> tuple[GroupScores, ...]:
    """Records in file order. Raises ``DatasetError``, or collects into ``faults``."""
    found, seen = [], set()
    for number, row in read_records(path, _Row, faults):
        if not row.success or row.result is None:
            continue
        result = row.result
        index = row.item_index if result.item_index is None else result.item_index
        if index is None:
            faults.add(path, number, "'item_index' is missing", "Give the number of the query in the candidates' file")
        elif index in seen:
            faults.add(path, number, f"item_index {index} occurs twice", "Keep one of the two")
        else:
            seen.add(index)
            captions = result.relative_captions
            found.append(GroupScores(
                index, _id(result.reference_image_name), _id(result.target_image),
                (captions,) if isinstance(captions, str) else tuple(captions),
                {_id(name): score for name, score in result.confidence_scores.items()}))
    return tuple(found)


def content(source: Source) -> Content:
    records = read_scores(source.path, source.faults)
    scores = [score for one in records for score in one.scores.values()]
    ids = dict.fromkeys(name for one in records for name in (one.reference_id, one.target_id, *one.scores))
    return Content({
        "queries": len(records),
        "queries without candidates": sum(not one.scores for one in records),
        "confidences": len(scores),
        "confidence, mean": mean(scores),
        "queries whose target has a confidence": sum(one.target_id in one.scores for one in records),
    }, (), None, tuple(ids), soft_image_paths)


def write_scores(path: Path, records: Iterable[GroupScores]) -> None:
    rows: list[dict[str, Any]] = [{
        "success": True,
        "result": {
            "reference_image_name": one.reference_id,
            "relative_captions": one.captions[0] if len(one.captions) == 1 else list(one.captions),
            "confidence_scores": dict(one.scores), "selected_top_3": list(one.best), "target_image": one.target_id,
            "item_index": one.index,
        },
        "item_index": one.index,
    } for one in records]
    write_atomically(path, json.dumps(rows, indent=2, allow_nan=False).encode())


class _Result(BaseModel):
    model_config = ConfigDict(strict=True)

    reference_image_name: Name = Field(validation_alias=AliasChoices("reference_image_name", "ref_image_name"))
    relative_captions: str | list[str]
    confidence_scores: dict[str, Confidence]
    target_image: Name
    item_index: int | None = None


class _Row(BaseModel):
    model_config = ConfigDict(strict=True)

    success: bool
    result: _Result | None = None
    item_index: int | None = None


def _id(name: str) -> str:
    return name.removesuffix(".png")
