"""Per-query files: CIRCUS's traces and query-index files, and the queries validated by annotators.

``query_idx`` is a query's position in its file, from 0: the line of a query file in M-BEIR's format, the
record of an annotation file, and for FashionIQ the position over the concatenated files of the
categories. ``benchmark`` is always the whole one, even if only its first queries were audited.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import NonNegativeInt

from cir_core.audit.circus.aggregate_files import labelled
from cir_core.audit.circus.circus_form import as_json, full_text, image_path
from cir_core.audit.circus.circus_samples import Asked, QueryFinder, Strict, names_of
from cir_core.audit.panel import DEPTH, in_turn, panel
from cir_core.audit.records import VARIANTS, Aggregate, QueryLabel, RetrieverRun, Rule
from cir_core.datasets.content import Content, Source
from cir_core.datasets.files.issues import RAISE, ValidationIssues
from cir_core.datasets.files.json_files import read_lines, read_object, validated
from cir_core.datasets.records import Benchmark
from cir_core.errors import DatasetError
from cir_core.support.files import write_atomically
from cir_core.support.tables import as_text
from cir_core.support.texts import quoted


def write_queries(
    path: Path, benchmark: Benchmark, runs: Sequence[RetrieverRun], aggregate: Aggregate, *,
    accepted: Collection[str] | None = None, depth: int = DEPTH,
) -> None:
    """One line per labelled query: CIRCUS's trace with the panel, and with all results interleaved (ids and paths).

    ``accepted``: query ids validated by annotators. CIRCUS's annotation fields are null
    without annotations, and for queries outside ``accepted``.
    """
    instruction = next((run.card.instruction for run in runs if run.card.instruction is not None), None)
    places = {answer.query_id: place for run in runs[:1] for place, answer in enumerate(run.queries)}
    lines = []
    for position, label in _positioned(benchmark, aggregate):
        query = benchmark.queries[position]
        shown = panel(runs, places[query.query_id], depth) if runs else ()
        found = in_turn(runs, places[query.query_id]) if runs else ()
        lines.append({
            "dataset": benchmark.dataset or benchmark.name, "hidden_category": label.label,
            "query_idx": benchmark.line_of(position),
            "query_id": query.query_id, "validated": True if label.query_id in (accepted or ()) else None,
            "annotator_kept": None, "reasons": {}, "other": "",
            "query_text": query.modification_text, "full_text": full_text(query.modification_text, instruction),
            "reference_id": query.reference_id, "query_image_path": image_path(benchmark, query.reference_id),
            "target_image_path": image_path(benchmark, query.target_ids[0]),
            "target_ids": list(query.target_ids), "aggregation": labelled(label),
            "ranks": dict(label.ranks), "hits_at_k": {v: rank <= aggregate.k for v, rank in label.ranks.items()},
            "panel": list(shown), "panel_paths": [image_path(benchmark, image_id) for image_id in shown],
            "in_turn": list(found), "in_turn_paths": [image_path(benchmark, image_id) for image_id in found],
        })
    write_atomically(path, _jsonl(lines))


def write_shortcut_free(path: Path, benchmark: Benchmark, aggregate: Aggregate) -> tuple[Path, Path]:
    """The shortcut-free queries as JSONL at ``path`` and, beside it, as CSV. Returns both.

    The CSV has a column for each rank, best retriever and support ("ranks.multimodal", …), and an apostrophe in front
    of a text that a spreadsheet would run as a formula; texts in the JSONL are unchanged.
    """
    records = []
    for position, label in _positioned(benchmark, aggregate):
        if label.shortcut_free:
            query, found = benchmark.queries[position], labelled(label)
            records.append({
                "query_idx": benchmark.line_of(position), "query_id": query.query_id,
                "selection_field": "aggregation.label", "selection_value": "shortcut_free",
                "aggregate_label": label.label, "aggregate_detail_label": label.detail, "legacy_category": label.legacy,
                "query_text": query.modification_text,
                "query_img_path": image_path(benchmark, query.reference_id),
                "primary_pos_cand_id": query.target_ids[0],
                "ranks": dict(label.ranks),
                "best_retriever_by_modality": found["best_retriever_by_modality"],
                "retriever_support_at_k": found["retriever_support_at_k"],
            })
    table = path.with_suffix(".csv")
    write_atomically(path, _jsonl(records))
    write_atomically(table, _csv(records))
    return path, table


def write_query_index(path: Path, benchmark: Benchmark, field: str, value: str, query_ids: Collection[str]) -> None:
    """CIRCUS's list of the lines of a subset. Raises ``DatasetError`` for an empty subset, which
    an evaluation would silently ignore."""
    wanted = frozenset(query_ids)
    found = [benchmark.line_of(place) for place, query in enumerate(benchmark.queries) if query.query_id in wanted]
    if not found or len(found) < len(wanted):
        raise DatasetError(f"{len(found)} of the {len(wanted)} queries for {path.name} are in {benchmark.name}."
                           " Take them from an audit of this data set.")
    write_atomically(path, (as_json({
        "dataset": benchmark.dataset or benchmark.name, "hidden_category": value,
        "selection_field": field, "selection_value": value,
        "deduplication_policy": "one entry for each query", "query_indices": found,
    }) + "\n").encode())


_DECISIONS = {True: "valid", False: "not valid", None: "not decided"}


class _Trace(Asked):
    dataset: str | None = None
    validated: bool | None = None


class _Counted(Strict):
    query_idx: NonNegativeInt
    dataset: str = ""
    hidden_category: str | None = None
    aggregate_label: str | None = None
    validated: bool | None = None


class _Index(Strict):
    dataset: str | None = None
    query_indices: list[NonNegativeInt]


def content(source: Source) -> Content:
    """Of lines of validated or shortcut-free queries. A repeated query is a fault."""
    datasets, labels, decisions = Counter[str](), Counter[str](), Counter[str]()
    first: dict[tuple[str, int], int] = {}
    for line, record in read_lines(source.path, source.faults):
        if (trace := validated(_Counted, record, source.path, f"line {line}", source.faults)) is None:
            continue
        if (seen := first.setdefault((trace.dataset, trace.query_idx), line)) != line:
            problem = f"query {trace.query_idx} of {trace.dataset or 'the data set'} is on line {seen} already"
            source.faults.add(source.path, f"line {line}", problem, "Keep one of the two")
            continue
        datasets[trace.dataset] += 1
        labels[trace.hidden_category or trace.aggregate_label or "no label"] += 1
        if "validated" in record:
            decisions[_DECISIONS[trace.validated]] += 1
    named = datasets if set(datasets) - {""} else {}
    return Content({
        "queries": len(first), **{f"queries, {name or 'no data set'}": count for name, count in sorted(named.items())},
        **dict(sorted(labels.items())), **decisions,
    })


def read_validated(
    path: Path, benchmark: Benchmark, *, dataset: str | None = None, rule: Rule = "majority",
    faults: ValidationIssues = RAISE,
) -> frozenset[str]:
    """Ids of the queries that annotators found well-formed.

    Args:
        path: traces (JSONL; ``all_validated_queries.jsonl`` is one) or a query-index file (JSON).
        dataset: the benchmark's name in the file, if it is not its name, kind or own name.
        rule: for a query on several lines; votes that are null do not count.

    Raises ``DatasetError`` with file and record: for a file or a query of another data set, and for
    a file without valid queries.
    """
    if path.suffix == ".jsonl":
        votes = _votes(path, benchmark, dataset, faults)
        kept = [query_id for query_id, of in votes.items() if _decided(of, rule)]
    else:
        kept = _indexed(path, benchmark, dataset, faults)
    if not kept:
        raise DatasetError(f"{path}: no query in it is valid. Check that it is the file of validated queries.")
    return frozenset(kept)


def _votes(path: Path, benchmark: Benchmark, dataset: str | None, faults: ValidationIssues) -> dict[str, list[bool]]:
    records = list(read_lines(path, faults))
    names = sorted({str(record.get("dataset")) for _, record in records if record.get("dataset")})
    called = _called(path, names, benchmark, dataset)
    queries = QueryFinder(benchmark)
    votes: dict[str, list[bool]] = {}
    for number, record in records:
        where = f"line {number}"
        one = validated(_Trace, record, path, where, faults)
        if one is None or (one.dataset and one.dataset.casefold() != called):
            continue
        query_id = queries.find(path, where, one, faults)
        if query_id is not None and one.validated is not None:
            votes.setdefault(query_id, []).append(one.validated)
    return votes


def _called(path: Path, names: Sequence[str], benchmark: Benchmark, dataset: str | None) -> str | None:
    """Which of the names in a file is the benchmark's, case-folded; None if the file has none.

    Positions in a file of another data set would otherwise be taken for these queries."""
    if not names:
        return None
    there = {name.casefold() for name in names}
    fitting = there & ({dataset.casefold()} if dataset else names_of(benchmark))
    if len(fitting) == 1:
        return fitting.pop()
    listed = ", ".join(names)
    if dataset:
        raise DatasetError(f"{path} has no query of {quoted(dataset)}, only of {listed}. Name one of these with "
                           "--validated-dataset.")
    what = f"is of several data sets ({listed})" if len(names) > 1 else f"is of {listed}"
    how_many = "more than one" if fitting else "none"
    raise DatasetError(f"{path} {what}, and {how_many} of the names is that of {benchmark.name}. If the file is of its "
                       "queries, say with --validated-dataset what it calls them.")


def _decided(votes: Sequence[bool], rule: Rule) -> bool:
    return votes[0] if rule == "single-kept" else sum(votes) > len(votes) / 2


def _indexed(path: Path, benchmark: Benchmark, dataset: str | None, faults: ValidationIssues) -> list[str]:
    index = validated(_Index, read_object(path, faults), path, "", faults)
    if index and index.dataset:
        _called(path, [index.dataset], benchmark, dataset)
    queries = QueryFinder(benchmark)
    kept = []
    for number, line in enumerate(index.query_indices if index else ()):
        if (query := queries.at(line)) is not None:
            kept.append(query.query_id)
        else:
            faults.add(path, f"query_indices {number}", f"{benchmark.name} has no query on line {line}, of"
                       f" {len(benchmark.queries)} queries", "Read the data set from the file the index was made for")
    return kept


def _positioned(benchmark: Benchmark, aggregate: Aggregate) -> Iterator[tuple[int, QueryLabel]]:
    position = {query.query_id: place for place, query in enumerate(benchmark.queries)}
    for label in aggregate.labels:
        if label.query_id not in position:
            raise DatasetError(f"{benchmark.name} has no query {quoted(label.query_id)}. Use the data set that was "
                               "audited.")
        yield position[label.query_id], label


def _jsonl(records: Iterable[dict[str, Any]]) -> bytes:
    return "".join(as_json(record) + "\n" for record in records).encode()


def _csv(records: Sequence[dict[str, Any]]) -> bytes:
    nested = ("ranks", "best_retriever_by_modality", "retriever_support_at_k")
    plain = ("query_idx", "query_id", "selection_field", "selection_value", "aggregate_label",
             "aggregate_detail_label", "legacy_category", "query_text", "query_img_path", "primary_pos_cand_id")
    columns = [f"{name}.{key}" for name in nested
               for key in (*VARIANTS, *(("either_unimodal",) if name == nested[2] else ()))]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*plain, *columns])
    for record in records:
        cells = [record[name].get(key, "") for name, _, key in (column.partition(".") for column in columns)]
        texts = (as_text(one) if isinstance(one := record[name], str) else one for name in plain)
        writer.writerow([*texts, *cells])
    return text.getvalue().encode()
