"""Results of a validity study, as plain JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from annotation.kinds.validity.labels import FinalLabel, LabelRule
from annotation.kinds.validity.rubric import load_rubric
from annotation.kinds.validity.subset import SubsetRow, count_subset
from annotation.records import Item, Study
from annotation.studies.overview import study_json


def results_json(
    study: Study, counts: Mapping[str, int], items: Sequence[Item], labels: Mapping[str, FinalLabel], rule: LabelRule
) -> dict[str, Any]:
    """CIRCUS's Table 2, and the label of each item by its key. ``labels`` by item id, of the label rule ``rule``."""
    subset = count_subset(items, labels, rubric=load_rubric(study.protocol))
    return {
        **study_json(study, counts), "rule": rule,
        "rows": [_row_json(row) for row in subset.rows], "total": _row_json(subset.total),
        "labels": {item.key: {key: value for key, value in asdict(labels[item.item_id]).items() if key != "item_id"}
                   for item in items},
    }


def _row_json(row: SubsetRow) -> dict[str, Any]:
    return {**asdict(row), "audited": row.audited, "validated": row.validated}
