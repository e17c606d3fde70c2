"""Export files of a validity study, in all formats."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

from annotation.kinds.validity.circus import circus_files
from annotation.kinds.validity.exports.columns import item_table, judgement_table
from annotation.kinds.validity.exports.mbeir import validated_files
from annotation.kinds.validity.exports.results import results_json
from annotation.kinds.validity.labels import LabelRule, final_labels
from annotation.kinds.validity.rubric import load_rubric
from annotation.records import Study
from annotation.studies.store import StudyStore
from annotation.tables.columns import Table
from annotation.tables.files import to_csv, to_parquet
from cir_core.errors import StudyError

FORMS = ("circus", "mbeir", "csv", "parquet", "results")
TABLES = ("judgements", "items")
"""Tables of the forms "csv" and "parquet"."""


def study_files(
    store: StudyStore, study: Study, form: str, rule: LabelRule = "majority", *, tables: Collection[str] = TABLES
) -> tuple[Mapping[str, bytes], tuple[str, ...]]:
    """Contents by file name, and notes on omissions.

    Args:
        form: one of :data:`FORMS`.
        rule: for the labels of items that several people judged.
        tables: those of :data:`TABLES` that are wanted.

    Raises ``StudyError`` for an unknown form or table, and for a study with nothing to export: without
    participants ("circus"), or without valid queries ("mbeir").
    """
    if form not in FORMS or not set(tables) <= set(TABLES):
        raise StudyError(f"{study.name} is a {study.kind} study. It is exported as {', '.join(FORMS)}; csv and parquet "
                         f"have the tables {' and '.join(TABLES)}.")
    if form == "circus":
        return circus_files(store, study), ()
    items, judgements = store.items(study.study_id), store.judgements(study.study_id)
    decisions = store.decisions(study.study_id)
    labels = final_labels(items, judgements, decisions, rule, rubric=load_rubric(study.protocol))
    if form == "results":
        content = results_json(study, store.counts(study.study_id), items, labels, rule)
        return {"results.json": (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()}, ()
    if form == "mbeir":
        found = validated_files(study, items, judgements, decisions, labels)
        return found.files, found.notes
    made: dict[str, Table] = {}
    if "judgements" in tables:
        made["judgements"] = judgement_table(study, items, store.images(study.study_id), judgements)
    if "items" in tables:
        made["items"] = item_table(study, items, decisions, labels)
    written = to_csv if form == "csv" else to_parquet
    return {f"{name}.{form}": written(table) for name, table in made.items()}, ()
