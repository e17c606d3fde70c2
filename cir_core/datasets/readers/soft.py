"""SoFT's files: candidates, multi-target queries, and single-target queries with a rewritten text.

Records retain the file's content, so that writing restores it. Confidence scores are
a language model's, between 0 and 1; uncalibrated, comparable within a query only.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from cir_core.datasets.files.issues import RAISE, ValidationIssues
from cir_core.datasets.files.json_files import read_records
from cir_core.support.files import write_atomically
from cir_core.support.texts import quoted

Confidence = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1)]


@dataclass(frozen=True)
class MultiTarget:
    """A query and the images found to satisfy it. ``captions`` has CIRR's one text or FashionIQ's two, of which one may
    be empty. The original target need not be in ``scores``, the reference may be (both occur in released files)."""

    reference_id: str
    original_target_id: str
    captions: tuple[str, ...]
    threshold: float
    scores: Mapping[str, float]     # image id to confidence, in the file's order

    @property
    def target_ids(self) -> tuple[str, ...]:
        """Images at or above the threshold: the most confident first, ties by name."""
        chosen = [name for name, score in self.scores.items() if name and score >= self.threshold]
        return tuple(sorted(chosen, key=lambda name: (-self.scores[name], name)))


@dataclass(frozen=True)
class SingleTarget:
    """A query rewritten to match only one of its targets; ``distractor_ids`` are the
    two others it was written against."""

    reference_id: str
    target_id: str
    original_target_id: str
    original_captions: tuple[str, ...]
    refined_caption: str
    distractor_ids: tuple[str, ...]
    target_confidence: float
    scores: Mapping[str, float]

    @property
    def spelled_out(self) -> bool:
        return is_spelled_out(self.refined_caption)


@dataclass(frozen=True)
class FoundCandidates:
    """Images one encoder retrieved for a query, with similarities. ``query`` is the search
    text, None if the original target was the query."""

    reference_id: str
    captions: tuple[str, ...]
    target_id: str
    query: str | None
    image_ids: tuple[str, ...]
    scores: tuple[float, ...]


def is_spelled_out(text: str) -> bool:
    """Whether ``text`` is split into letters, as one in the release is: code that joins captions treated a string as a
    list of them. It marks texts that it could not rewrite by "(refined)"."""
    words = text.replace(",", " ").split()
    letters = sum(len(word) == 1 for word in words)
    return text.rstrip(" .,;:!?\"'").casefold().endswith("(refined)") or (len(words) >= 8 and 2 * letters > len(words))


def read_multi_target(path: Path, faults: ValidationIssues = RAISE) -> tuple[MultiTarget, ...]:
    """Records in file order. Raises ``DatasetError``, or collects into ``faults``."""
    return tuple(record for _, record in numbered_multi_target(path, faults))


def numbered_multi_target(path: Path, faults: ValidationIssues = RAISE) -> list[tuple[int, MultiTarget]]:
    """:func:`read_multi_target`, each with its position in the file: with collected faults, some are missing."""
    return _numbered(path, faults, _MultiTarget, lambda row: MultiTarget(
        row.reference_image_name, row.target_image_name, _captions(row.relative_captions), row.threshold,
        row.confidence_scores,
    ))


def write_multi_target(path: Path, records: Iterable[MultiTarget]) -> None:
    write_atomically(path, multi_target_bytes(records))


def multi_target_bytes(records: Iterable[MultiTarget]) -> bytes:
    """The file's content."""
    return _bytes(2, [{
        "reference_image_name": record.reference_id, "threshold": record.threshold,
        "target_image_name": record.original_target_id, "relative_captions": _released(record.captions),
        "confidence_scores": dict(record.scores),
    } for record in records])


def read_single_target(path: Path, faults: ValidationIssues = RAISE) -> tuple[SingleTarget, ...]:
    """Records in file order. Raises ``DatasetError``, or collects into ``faults``."""
    return tuple(record for _, record in numbered_single_target(path, faults))


def numbered_single_target(path: Path, faults: ValidationIssues = RAISE) -> list[tuple[int, SingleTarget]]:
    found = _numbered(path, faults, _SingleTarget, lambda row: SingleTarget(
        row.reference_image_name, row.target_image_name, row.original_target, _captions(row.original_captions),
        row.refined_caption, tuple(row.comparison_images), row.target_confidence, row.original_confidence_scores,
    ))
    kept = []
    for number, record in found:
        shown = (record.target_id, *record.distractor_ids)
        if len(set(shown)) < len(shown):
            twice = next(name for name, count in Counter(shown).items() if count > 1)
            faults.add(path, number, f"{quoted(twice)} occurs twice among target and comparison images",
                       "Keep one of them")
            continue
        kept.append((number, record))
    return kept


def write_single_target(path: Path, records: Iterable[SingleTarget]) -> None:
    _write(path, 4, [{
        "reference_image_name": record.reference_id, "target_image_name": record.target_id,
        "original_target": record.original_target_id, "original_captions": _released(record.original_captions),
        "refined_caption": record.refined_caption, "comparison_images": list(record.distractor_ids),
        "target_confidence": record.target_confidence, "original_confidence_scores": dict(record.scores),
    } for record in records])


def read_candidates(path: Path, faults: ValidationIssues = RAISE) -> tuple[FoundCandidates, ...]:
    """Records in file order. Raises ``DatasetError``, or collects into ``faults``."""
    kept = []
    for number, record in _numbered(path, faults, _Candidates, lambda row: FoundCandidates(
        row.ref_image_name, _captions(row.relative_captions), row.target_image_name, row.query,
        tuple(row.top_k_names), tuple(row.top_k_scores),
    )):
        names, scores = record.image_ids, record.scores
        if len(names) != len(scores):
            problem = f"it has {len(names)} top_k_names and {len(scores)} top_k_scores"
            faults.add(path, number, problem, "Give each name its score")
        elif len(set(names)) < len(names):
            twice = next(name for name, count in Counter(names).items() if count > 1)
            faults.add(path, number, f"{quoted(twice)} occurs twice in top_k_names", "Keep each image once")
        else:
            kept.append(record)
    return tuple(kept)


def write_candidates(path: Path, records: Iterable[FoundCandidates]) -> None:
    _write(path, 2, [{
        "ref_image_name": record.reference_id, "relative_captions": _released(record.captions),
        "target_image_name": record.target_id, **({} if record.query is None else {"query": record.query}),
        "top_k_names": list(record.image_ids), "top_k_scores": list(record.scores),
    } for record in records])


class _Row(BaseModel):
    model_config = ConfigDict(strict=True)


class _MultiTarget(_Row):
    reference_image_name: Name
    threshold: Confidence
    target_image_name: Name
    relative_captions: str | list[str]
    confidence_scores: dict[str, Confidence]


class _SingleTarget(_Row):
    reference_image_name: Name
    target_image_name: Name
    original_target: Name
    original_captions: str | list[str]
    refined_caption: Name
    comparison_images: list[Name]
    target_confidence: Confidence
    original_confidence_scores: dict[str, Confidence]


class _Candidates(_Row):
    ref_image_name: Name
    relative_captions: str | list[str]
    target_image_name: Name
    query: str | None = None
    top_k_names: list[Name]
    top_k_scores: list[Finite]


_RowType = TypeVar("_RowType", bound=_Row)
_Record = TypeVar("_Record")


def _numbered(
    path: Path, faults: ValidationIssues, model: type[_RowType], made: Callable[[_RowType], _Record]
) -> list[tuple[int, _Record]]:
    return [(number, made(row)) for number, row in read_records(path, model, faults)]


def _captions(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _released(captions: tuple[str, ...]) -> str | list[str]:
    """CIRR's only caption is stored as a string, not a list of one."""
    return captions[0] if len(captions) == 1 else list(captions)


def _write(path: Path, indent: int, records: list[dict[str, Any]]) -> None:
    write_atomically(path, _bytes(indent, records))


def _bytes(indent: int, records: list[dict[str, Any]]) -> bytes:
    return json.dumps(records, indent=indent, allow_nan=False).encode()
