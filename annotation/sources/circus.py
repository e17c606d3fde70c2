"""Reader of an aggregate file, of CIRCUS or of ``cirque audit``. Images are identified by path."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, NonNegativeInt

from annotation.sources.pictures import Pictures, relative_paths
from annotation.sources.queries import Keys, QuerySource, StudyQuery, mode_of, of_categories, refuse
from cir_core.audit.circus.circus_files import circus_captions
from cir_core.audit.circus.circus_form import OURS
from cir_core.audit.circus.circus_samples import Strict
from cir_core.audit.panel import DEPTH
from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.files.json_files import Record, read_object, validated
from cir_core.datasets.records import CaptionMode
from cir_core.gallery.gallery import Gallery

_TRACE = ("query_idx", "query_id", "query_text", "full_text", "query_image_path", "target_image_path",
          "aggregation", "ranks", "hits_at_k", "positive_candidate_ids")


class _Aggregation(Strict):
    label: str = Field(min_length=1)


class _Sample(Strict):
    query_idx: NonNegativeInt
    query_id: str | None = None
    query_text: str
    query_image_path: str = Field(min_length=1)
    target_image_path: str = Field(min_length=1)
    positive_target_image_paths: list[str] = Field(default_factory=list)
    retrievals: dict[str, list[NonNegativeInt]] = Field(default_factory=dict)
    aggregation: _Aggregation


def read_circus(
    path: Path, *, images: Path | None = None, gallery: Gallery | None = None, categories: Collection[str] = (),
) -> QuerySource:
    """Read labelled samples; without ``categories`` the shortcut-free ones.

    The panel has the best retriever's results with both inputs, because an aggregate has no others; of the stored
    images (20 in CIRCUS's files) those that :func:`cir_core.audit.panel.panel` would choose. The others replace
    reference and target. Raises ``DatasetError`` with file and sample of all faults.
    """
    faults = ValidationIssues(collect=True)
    document = read_object(path, faults)
    dataset, gallery_paths = _dataset(document), document.get("gallery_paths", [])
    samples = document.get("samples")
    if not isinstance(samples, list) or not _is_texts(gallery_paths):
        if not faults.count:
            faults.add(path, "", "it has no list of samples, or malformed gallery_paths",
                       "Check that it is an audit's aggregate")
        samples, gallery_paths = [], []
    if samples and not dataset:
        faults.add(path, "metadata", "'dataset' is missing", "Check that it is an audit's aggregate")
    keys, mode = Keys(path, faults), _captions(document, dataset)
    found = [
        query for number, record in enumerate(samples)
        if (query := _query(record, path, f"sample {number}", dataset, mode, gallery_paths, keys, faults)) is not None
    ]
    refuse(faults, path.name)
    queries = of_categories(found, categories, free_only=True)
    source = {"form": "circus", "file": path.name, "dataset": dataset, "gallery": gallery.name if gallery else None,
              "retrievers": _retrievers(document)}
    notes = ("Panels of an aggregate file have only the best retriever's results; `cirque audit` over the files of "
             "all retrievers has the results of all.",)
    return QuerySource(queries, Pictures(relative_paths, folder=images, gallery=gallery), source, notes)


def _query(
    record: Any, path: Path, where: str, dataset: str, mode: CaptionMode | None, gallery_paths: Sequence[str],
    keys: Keys, faults: ValidationIssues,
) -> StudyQuery | None:
    one = validated(_Sample, record, path, where, faults)
    if one is None or not keys.new(key := f"{dataset}::{one.query_idx}", where):
        return None
    places = one.retrievals.get("multimodal", [])
    if places and max(places) >= len(gallery_paths):
        faults.add(path, where, f"its retrievals point beyond the {len(gallery_paths):,} images of gallery_paths",
                   "Take samples and gallery_paths from the same file")
        return None
    targets = tuple(dict.fromkeys((one.target_image_path, *one.positive_target_image_paths)))
    found = tuple(dict.fromkeys(gallery_paths[place] for place in places))
    panel = dict.fromkeys(gallery_paths[place] for place in places[:DEPTH])
    trace = {"dataset": dataset, "hidden_category": one.aggregation.label,
             **{name: record[name] for name in _TRACE if name in record}}
    return StudyQuery(
        key, dataset, one.query_idx, one.query_id, one.aggregation.label, one.query_text, one.query_image_path,
        one.target_image_path, targets, tuple(panel), trace, mode, found)


def _dataset(document: Record) -> str:
    metadata = document.get("metadata")
    name = metadata.get("dataset") if isinstance(metadata, Mapping) else None
    return name if isinstance(name, str) else ""


def _captions(document: Record, dataset: str) -> CaptionMode | None:
    """Caption mode: from the run cards in cirque's files, known in advance for CIRCUS's."""
    ours = document.get(OURS)
    return mode_of(ours.get("cards")) if isinstance(ours, Mapping) else circus_captions(dataset)


def _retrievers(document: Record) -> list[str]:
    metadata = document.get("metadata")
    found = metadata.get("aggregation") if isinstance(metadata, Mapping) else None
    names = found.get("retrievers") if isinstance(found, Mapping) else None
    return [str(name) for name in names] if isinstance(names, list) else []


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)
