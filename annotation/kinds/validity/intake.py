"""Validity studies from a table: a row for each query."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.kinds.intake import Intake, NewStudy, plan_of
from annotation.kinds.validity.create import create_validity_study
from annotation.sources.queries import UNKNOWN, StudyQuery
from annotation.sources.tables.columns import CATEGORY, DATASET, ID, REFERENCE, TARGET, TEXT, Field
from annotation.sources.tables.rows import TableRows, unique_ids
from annotation.studies.creation import Created

PANEL = Field("panel", "Retrieved images", ("retrieved", "retrieved_images", "alternatives", "results", "hits"),
              required=False, pictures=True, many=True)


def read(rows: TableRows) -> list[StudyQuery]:
    """Queries in the order of the rows; the panel as in the table, best first."""
    found = []
    for row, key in unique_ids(rows):
        dataset, category = row["dataset"] or "table", row["category"] or UNKNOWN
        trace = {"dataset": dataset, "hidden_category": category, "query_idx": row.number, "query_id": key,
                 "query_text": row["text"], "full_text": row["text"], "query_image_path": row["reference"],
                 "target_image_path": row["target"], "target_ids": [row["target"]]}
        found.append(StudyQuery(f"{dataset}::{key}", dataset, row.number, key, category, row["text"], row["reference"],
                                row["target"], (row["target"],), row.all_of("panel"), trace, "single"))
    return found


def create(new: NewStudy, queries: Sequence[StudyQuery]) -> Created:
    return create_validity_study(
        new.store, new.home, new.name, queries, new.pictures, plan_of(new.design), created_by=new.created_by,
        source=new.source, settings=new.settings, max_megapixels=new.max_megapixels,
        skip_missing=new.skip_missing, progress=new.progress, questions=new.questions)


INTAKE = Intake(
    "A row for each query: its text, its reference image and its target image.",
    (ID, TEXT, REFERENCE, TARGET, CATEGORY, DATASET, PANEL), read, create, lambda query: query.stratum)
