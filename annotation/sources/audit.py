"""Reader of the queries of a shortcut audit, from the output folder of ``cirque audit``."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, NonNegativeInt

from annotation.sources.pictures import Pictures, relative_paths
from annotation.sources.queries import Keys, QuerySource, StudyQuery, mode_of, of_categories, refuse
from cir_core.audit.circus.circus_samples import Strict
from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.files.json_files import Record, read_lines, validated
from cir_core.datasets.records import CaptionMode
from cir_core.errors import DatasetError
from cir_core.gallery.gallery import Gallery

_ENDING = "_queries.jsonl"
_NOT_TRACE = ("panel", "panel_paths", "in_turn", "in_turn_paths")


class _Line(Strict):
    dataset: str
    hidden_category: str
    query_idx: NonNegativeInt
    query_id: str | None = None
    query_text: str
    query_image_path: str
    reference_id: str | None = None  # None in files of earlier versions
    target_image_path: str
    target_ids: list[str]
    panel: list[str]
    panel_paths: list[str]
    in_turn: list[str] = Field(default_factory=list)   # both empty in files of earlier versions
    in_turn_paths: list[str] = Field(default_factory=list)


def audit_file(folder: Path) -> Path:
    """The query file in an audit's folder; a file is returned unchanged. Raises ``DatasetError``."""
    if folder.is_file():
        return folder
    if not folder.is_dir():
        raise DatasetError(f"{folder} is missing. Give the folder that `cirque audit` wrote.")
    found = sorted(path for path in folder.glob(f"*{_ENDING}") if path.is_file())
    if not found:
        raise DatasetError(f"{folder} has no file *{_ENDING}. Give the folder that `cirque audit` wrote.")
    if len(found) > 1:
        raise DatasetError(f"{folder} has the queries of several audits: {', '.join(path.name for path in found)}. "
                           "Give one of these files instead of the folder.")
    return found[0]


def audit_name(folder: Path) -> str:
    """Name of the audited data set, usually that of its gallery: "cirr-val"."""
    return audit_file(folder).name.removesuffix(_ENDING)


def usual_gallery(name: str) -> str:
    """The gallery that an audit of the data set ``name`` has unless another one was chosen."""
    return "atelier" if name.startswith("sample") else name


def read_audit(
    folder: Path, *, gallery: Gallery | None = None, images: Path | None = None, categories: Collection[str] = (),
) -> QuerySource:
    """Read labelled queries with their panels. Without ``categories`` the shortcut-free ones.

    Args:
        folder: an audit's folder, or its ``…_queries.jsonl``.
        gallery, images: sources of the images; the folder ``images`` is searched first.

    Raises ``DatasetError`` with file and line of all faults, ``StudyError`` for an unknown category.
    """
    faults, path = ValidationIssues(collect=True), audit_file(folder)
    keys, paths = Keys(path, faults), dict[str, str]()
    cards = _cards(path.parent)
    mode = mode_of(cards)
    found = [query for number, record in read_lines(path, faults)
             if (query := _query(record, path, f"line {number}", mode, keys, paths, faults)) is not None]
    refuse(faults, path.name)
    queries = of_categories(found, categories, free_only=True)
    pictures = Pictures(lambda image_id: relative_paths(paths.get(image_id, image_id)), folder=images, gallery=gallery)
    notes = ("This audit's files are from an earlier version: panels have only the first ten images of each retriever. "
             "Run the same `cirque audit` again for deeper ones; its stored rankings are reused.",
             ) if any(query.panel and not query.in_turn for query in queries) else ()
    source = {"form": "audit", "file": path.name, "dataset": queries[0].dataset,
              "gallery": gallery.name if gallery else None, **_settings(cards)}
    return QuerySource(queries, pictures, source, notes)


def _query(
    record: Record, path: Path, where: str, mode: CaptionMode | None, keys: Keys, paths: dict[str, str],
    faults: ValidationIssues
) -> StudyQuery | None:
    one = validated(_Line, record, path, where, faults)
    if one is None or not keys.new(key := f"{one.dataset}::{one.query_idx}", where):
        return None
    uneven = len(one.panel) != len(one.panel_paths) or len(one.in_turn) != len(one.in_turn_paths)
    if not one.target_ids or uneven:
        problem = "it has no target" if not one.target_ids else "its panel has different numbers of images and paths"
        faults.add(path, where, problem, "Write the audit's files again: run the same `cirque audit`")
        return None
    reference = one.reference_id or one.query_image_path
    for image_id, image_path in _placed(one, reference):
        paths.setdefault(image_id, image_path)
    trace = {name: value for name, value in record.items() if name not in _NOT_TRACE}
    return StudyQuery(
        key, one.dataset, one.query_idx, one.query_id, one.hidden_category, one.query_text, reference,
        one.target_ids[0], tuple(one.target_ids), tuple(one.panel), trace, mode, tuple(one.in_turn))


def _placed(one: _Line, reference: str) -> Iterator[tuple[str, str]]:
    yield reference, one.query_image_path
    yield one.target_ids[0], one.target_image_path
    yield from zip(one.panel, one.panel_paths, strict=True)
    yield from zip(one.in_turn, one.in_turn_paths, strict=True)


def _cards(folder: Path) -> list[Any]:
    """The retrievers' run cards in the audit's summary; none without a summary."""
    try:
        content = json.loads((folder / "summary.json").read_text("utf-8"))
        return list(content["retrievers"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []


def _settings(cards: Sequence[Any]) -> Mapping[str, Any]:
    """Settings on which the labels depend; empty if the cards do not have them."""
    try:
        return {"retrievers": [str(card["retriever"]) for card in cards],
                "audit": [str(card["digest"]) for card in cards]} if cards else {}
    except (KeyError, TypeError):
        return {}
