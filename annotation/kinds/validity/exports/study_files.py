"""Export files of a validity study, in all formats."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from annotation.kinds.validity.circus import circus_files
from annotation.kinds.validity.exports.columns import item_table, judgement_table
from annotation.kinds.validity.exports.mbeir import validated_files
from annotation.kinds.validity.exports.results import results_json
from annotation.kinds.validity.labels import LabelRule, final_labels
from annotation.kinds.validity.rubric import load_rubric
from annotation.records import Study
from annotation.studies.store import StudyStore
from annotation.tables.files import json_files, table_files

FORMS = ("circus", "mbeir", "csv", "parquet", "results")
TABLES = ("judgements", "items")
"""Tables of the forms "csv" and "parquet"."""


def study_files(
    store: StudyStore, study: Study, form: str, rule: LabelRule = "majority", *, tables: Collection[str] = TABLES
) -> tuple[Mapping[str, bytes], tuple[str, ...]]:
    """Contents by file name in one of :data:`FORMS`, and notes on omissions.

    Args:
        rule: for the labels of items that several people judged.
        tables: those of :data:`TABLES` that are wanted.

    Raises ``StudyError`` for a study with nothing to export: without participants ("circus"), or without valid queries
    ("mbeir").
    """
    if form == "circus":
        return circus_files(store, study), ()
    items, judgements = store.items(study.study_id), store.judgements(study.study_id)
    decisions = store.decisions(study.study_id)
    labels = final_labels(items, judgements, decisions, rule, rubric=load_rubric(study.protocol))
    if form == "results":
        return json_files("results", results_json(study, store.counts(study.study_id), items, labels, rule)), ()
    if form == "mbeir":
        found = validated_files(study, items, judgements, decisions, labels)
        return found.files, found.notes
    return table_files(form, {
        "judgements": lambda: judgement_table(study, items, store.images(study.study_id), judgements),
        "items": lambda: item_table(study, items, decisions, labels)}, tables), ()
