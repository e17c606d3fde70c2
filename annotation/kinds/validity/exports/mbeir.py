"""Export of the validated queries: M-BEIR query files, and CIRCUS's trace and query-index files.

    DATASET_validated.jsonl                          the valid queries of a data set, in M-BEIR's format
    DATASET_validated_solved_query_indices.json      their line numbers in the data set's query file:
    DATASET_validated_unsolved_query_indices.json    composition_required and unresolved ones
    all_validated_queries.jsonl                      one trace per valid query, all data sets

:func:`cir_core.audit.circus.traces.read_validated` reads the trace and index files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.kinds.validity.labels import SOLVED, UNSOLVED, FinalLabel
from annotation.kinds.validity.rubric import rubric_of
from annotation.records import Decision, Item, Judgement, Study, category_of, dataset_of
from annotation.sources.mbeir import NATIVE
from cir_core.audit.circus.circus_form import as_json
from cir_core.datasets.mbeir_writing import query_record
from cir_core.datasets.readers.mbeir import usual_mode
from cir_core.datasets.records import Benchmark, BenchmarkQuery, CaptionMode
from cir_core.errors import StudyError
from cir_core.support.texts import quoted

TRACES = "all_validated_queries.jsonl"
_PARTS = {"solved": SOLVED, "unsolved": UNSOLVED}


@dataclass(frozen=True)
class ValidatedFiles:
    """Contents by file name, and notes on omissions."""

    files: Mapping[str, bytes]
    notes: tuple[str, ...]


def validated_files(
    study: Study, items: Iterable[Item], judgements: Iterable[Judgement], decisions: Iterable[Decision],
    labels: Mapping[str, FinalLabel],
) -> ValidatedFiles:
    """The files of all items with a valid label, in the order of ``items``.

    A trace has the source's fields of its query, and CIRCUS's fields of its label: ``annotator_kept`` is the one
    person whose answer is the label, null if several voted or an adjudicator decided; ``other`` has their notes.
    Votes are under the key ``cirque``.

    An item without text or reference (of an imported annotator file) has a trace, but no query line, and a note.
    Raises ``StudyError`` if no query is valid, because an empty subset could go unnoticed.
    """
    valid = [item for item in items if labels[item.item_id].validated]
    if not valid:
        raise StudyError(f"No query of {quoted(study.name)} is valid so far, so there is no validated subset to write.")
    notes_of = _notes_of(valid, judgements, decisions, labels)
    flags = [flag.code for flag in rubric_of(study).flags]
    files: dict[str, bytes] = {}
    left_out = 0
    for dataset, of in _by_dataset(valid).items():
        stem = _stem(dataset, files)
        known = [item for item in of if item.shown.get("text") and item.hidden.get("reference_id")
                 and item.hidden.get("target_id")]
        left_out += len(of) - len(known)
        if known:
            files[f"{stem}_validated.jsonl"] = _jsonl(_queries(dataset, known))
        for part, category in _PARTS.items():
            if lines := [_line_of(item) for item in of if category_of(item) == category]:
                files[f"{stem}_validated_{part}_query_indices.json"] = _jsonl([_index(dataset, category, lines)])
    files[TRACES] = _jsonl(
        _trace(study, item, labels[item.item_id], notes_of.get(item.item_id, ""), flags) for item in valid)
    notes = (f"{left_out:,} of {len(valid):,} valid queries have no text or no images in this study, so they are in"
             " the trace and index files only.",) if left_out else ()
    return ValidatedFiles(files, notes)


def _queries(dataset: str, items: Sequence[Item]) -> Iterable[dict[str, Any]]:
    paths = {str(item.hidden["reference_id"]): _path(item, "query_image_path", "reference_id") for item in items}
    benchmark = Benchmark("mbeir", "test", (), {dataset: None}, lambda image_id: (paths[image_id],), dataset=dataset)
    seen: dict[str, int] = {}
    for item in items:
        query_id, target = str(item.hidden.get("query_id") or item.key), str(item.hidden["target_id"])
        targets = dict.fromkeys((target, *map(str, item.hidden.get("target_ids") or ())))
        if seen.setdefault(query_id, item.number) != item.number:   # a duplicate id in the source
            query_id = item.key
        mode: CaptionMode = item.hidden.get("caption_mode") or usual_mode(query_id)   # None: unknown
        query = BenchmarkQuery(query_id, str(item.hidden["reference_id"]), str(item.shown["text"]), tuple(targets),
                               mode, dataset)
        yield _native(query_record(benchmark, query, {}), query, (item.hidden.get("trace") or {}).get("mbeir"))


def _native(record: Mapping[str, Any], query: BenchmarkQuery, source: object) -> dict[str, Any]:
    """``record`` with the fields of its source record; if that had a ``qid``, under M-BEIR's names."""
    native = {name: source[name] for name in NATIVE if name in source} if isinstance(source, Mapping) else {}
    if "qid" not in native:
        return {**record, **native}
    ours = {"query_id", "query_text", "query_img_path", "pos_cand_list", "gt_cand_list"}
    return {
        **native, "qid": query.query_id, "query_txt": query.modification_text,
        "query_img_path": record["query_img_path"], "pos_cand_list": list(query.target_ids),
        **{name: value for name, value in record.items() if name not in ours},
    }


def _trace(study: Study, item: Item, label: FinalLabel, note: str, flags: Iterable[str]) -> dict[str, Any]:
    trace: dict[str, Any] = dict(item.hidden.get("trace") or {})
    trace.setdefault("query_image_path", item.hidden.get("reference_id") or None)
    trace.setdefault("target_image_path", item.hidden.get("target_id") or None)
    if text := item.shown.get("text"):
        trace["query_text"] = text
    return trace | {
        "dataset": dataset_of(item), "hidden_category": category_of(item), "query_idx": _line_of(item),
        "query_id": item.hidden.get("query_id"), "validated": True, "annotator_kept": label.kept,
        "reasons": dict.fromkeys(flags, False), "other": note,
        "cirque": {"study": study.name, "protocol": study.protocol, "item": item.key, "label_by": label.by,
                   "votes": {"valid": label.votes.valid, "invalid": label.votes.invalid,
                             "unlabelled": label.votes.unlabelled}},
    }


def _index(dataset: str, category: str, lines: Sequence[int]) -> dict[str, Any]:
    return {
        "dataset": dataset, "hidden_category": category, "selection_field": "hidden_category",
        "selection_value": category, "deduplication_policy": "one entry for each query", "query_indices": list(lines),
    }


def _notes_of(
    items: Iterable[Item], judgements: Iterable[Judgement], decisions: Iterable[Decision],
    labels: Mapping[str, FinalLabel],
) -> dict[str, str]:
    """Notes behind each label: of the adjudicator, of the kept annotator, or of all who voted valid."""
    notes: dict[str, list[str]] = {item.item_id: [] for item in items}
    for judgement in judgements:
        if judgement.item_id in notes and judgement.answer.get("validated"):
            label = labels[judgement.item_id]
            if label.by != "adjudicated" and label.kept in (None, judgement.annotator):
                notes[judgement.item_id].append(str(judgement.answer.get("note") or ""))
    for decision in decisions:
        if decision.item_id in notes and labels[decision.item_id].by == "adjudicated":
            notes[decision.item_id] = [str(decision.answer.get("note") or "")]
    return {item_id: "\n".join(filter(None, of)) for item_id, of in notes.items()}


def _by_dataset(items: Iterable[Item]) -> dict[str, list[Item]]:
    found: dict[str, list[Item]] = {}
    for item in items:
        found.setdefault(dataset_of(item), []).append(item)
    return found


def _stem(dataset: str, files: Iterable[str]) -> str:
    """A unique file name for the data set, ignoring case."""
    stem = wanted = re.sub(r"[^\w-]+", "-", dataset).strip("-") or "queries"
    taken = [name.casefold() for name in files]
    number = 2
    while any(name.startswith(f"{stem}_validated".casefold()) for name in taken):
        stem, number = f"{wanted}-{number}", number + 1
    return stem


def _path(item: Item, field: str, otherwise: str) -> str:
    return str((item.hidden.get("trace") or {}).get(field) or item.hidden[otherwise])


def _line_of(item: Item) -> int:
    line = item.hidden.get("query_idx")
    return line if isinstance(line, int) else item.number


def _jsonl(records: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(as_json(record) + "\n" for record in records).encode()
