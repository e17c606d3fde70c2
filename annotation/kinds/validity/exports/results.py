"""Results of a validity study: CIRCUS's Table 2, categories and reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from annotation.adjudication.needs import cases, queue_json
from annotation.kinds.validity.answers import Validity
from annotation.kinds.validity.labels import (
    FinalLabel,
    LabelRule,
    Subset,
    SubsetRow,
    count_subset,
    final_labels,
)
from annotation.kinds.validity.rubric import INVALID_REASONS_DIFFER, INVALID_UNSPECIFIED, Flag, Rubric, rubric_of
from annotation.records import Item, Study
from annotation.studies.overview import Results, study_json
from annotation.studies.protocols import own_text
from annotation.studies.store import StudyStore


def results_json(
    study: Study, counts: Mapping[str, int], items: Sequence[Item], labels: Mapping[str, FinalLabel], rule: LabelRule
) -> dict[str, Any]:
    """CIRCUS's Table 2, and the label of each item by its key. ``labels`` by item id, of the label rule ``rule``."""
    subset = count_subset(items, labels, rubric=rubric_of(study))
    return {
        **study_json(study, counts), "rule": rule, **({} if (own := own_text(study)) is None else {"questions": own}),
        "rows": [_row_json(row) for row in subset.rows], "total": _row_json(subset.total),
        "labels": {item.key: {key: value for key, value in asdict(labels[item.item_id]).items() if key != "item_id"}
                   for item in items},
    }


def validity_results(store: StudyStore, study: Study, rule: LabelRule) -> Results:
    """By the label rule ``rule``."""
    rubric, items = rubric_of(study), store.items(study.study_id)
    judgements, decisions = store.judgements(study.study_id), store.decisions(study.study_id)
    labels = final_labels(items, judgements, decisions, rule, rubric=rubric)
    queue = queue_json(cases(items, judgements, decisions, study, Validity()))
    subset = count_subset(items, labels, rubric=rubric)
    return Results(tuple(_tables(subset, rubric)), f"Rule: {rule}. An adjudicator's decision takes precedence.",
                   {**subset_json(subset, rubric, rule), "queue": queue}, "Valid of audited queries")


def subset_json(subset: Subset, rubric: Rubric, rule: str) -> dict[str, Any]:
    """CIRCUS's Table 2 by category of the rubric, with names."""
    names = {rubric.valid.code: rubric.valid.name, **{flag.code: flag.name for flag in rubric.flags},
             INVALID_REASONS_DIFFER: "Not valid, for different reasons", INVALID_UNSPECIFIED: "Not valid, no flag"}
    rare = (INVALID_REASONS_DIFFER, INVALID_UNSPECIFIED)
    total = subset.total
    return {
        "rule": rule, "rows": [_row_json(row) for row in subset.rows], "total": _row_json(total),
        "categories": [{"code": code, "name": names[code]} for code in (rubric.valid.code, *rubric.severity, *rare)
                       if code not in rare or total.primary[code]],
        "reasons": [reason for flag in rubric.flags for reason in _reasons(flag, total)],
        "flags": [{"code": flag.code, "name": flag.name, "count": total.flags[flag.code]} for flag in rubric.flags],
    }


def _tables(subset: Subset, rubric: Rubric) -> Iterator[Sequence[Sequence[str]]]:
    """Table 2, the progress of each data set, and counts of categories and reasons."""
    total = subset.total
    rows = (*subset.rows, *((total,) if len(subset.rows) != 1 else ()))
    parts = [("required", "validated_solved", "audited_required"),
             ("unresolved", "validated_unsolved", "audited_unresolved"),
             *([("other", "validated_other", "audited_other")] if total.audited_other else []),
             ("all", "validated", "audited")]
    yield [("data set", *(name for name, _, _ in parts)), *(
        (row.dataset, *(f"{getattr(row, valid):,} of {getattr(row, audited):,}" for _, valid, audited in parts))
        for row in rows)]
    if any(row.unlabelled or row.undecided or row.adjudicated for row in rows):
        yield [("data set", "not judged", "undecided", "adjudicated"), *(
            (row.dataset, *(f"{count:,}" for count in (row.unlabelled, row.undecided, row.adjudicated)))
            for row in rows)]
    reasons = [(f"{reason.code} {reason.name}", total.reasons[reason.code])
               for flag in rubric.flags for reason in flag.reasons]
    reasons += [(f"{code}: reasons differ", count) for code, count in total.reasons_differ.items()]
    for head, counts in (("category", total.primary.items()), ("reason", reasons)):
        if given := [(name, f"{count:,}") for name, count in counts if count]:
            yield [(head, "items"), *given]


def _reasons(flag: Flag, total: SubsetRow) -> list[dict[str, Any]]:
    of = [{"code": reason.code, "name": reason.name, "flag": flag.name, "count": total.reasons[reason.code]}
          for reason in flag.reasons]
    if count := total.reasons_differ.get(flag.code):
        of.append({"code": "", "name": "Reasons differ", "flag": flag.name, "count": count})
    return of


def _row_json(row: SubsetRow) -> dict[str, Any]:
    return {**asdict(row), "audited": row.audited, "validated": row.validated}
