"""Export files of a validity study, in all formats. Export tables of a validity study: columns and rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from annotation import tables
from annotation.kinds.validity.answers import primary
from annotation.kinds.validity.circus import circus_files
from annotation.kinds.validity.exports.mbeir import validated_files
from annotation.kinds.validity.exports.results import results_json
from annotation.kinds.validity.labels import FinalLabel, LabelRule, final_labels
from annotation.kinds.validity.rubric import Flag, rubric_of
from annotation.records import Decision, Item, Judgement, Study, StudyImage, category_of
from annotation.studies.store import StudyStore
from annotation.tables import Column, JudgementRow, Table, Type, json_files, table_files

_ITEM = (
    Column("item", "text", "the item's key in its source, unique in the study", lambda row: row.item.key),
    tables.DATASET,
    Column("query_idx", "integer", "the query's line in the data set's query file, from 0",
           lambda row: line if isinstance(line := row.item.hidden.get("query_idx"), int) else None),
    tables.QUERY_ID,
    Column("hidden_category", "text", "the audit's label, which judges do not see", lambda row: category_of(row.item)),
    Column("in_block", "flag", "whether everybody judges it, for agreement", lambda row: row.item.in_block),
    tables.TEXT,
    tables.REFERENCE_ID,
    Column("target_id", "text", "image id of the target shown",
           lambda row: tables.filled_text(row.item.hidden.get("target_id"))),
)
_LABEL = (
    Column("judgements", "integer", "people who answered",
           lambda row: row.label.votes.valid + row.label.votes.invalid + row.label.votes.unlabelled),
    Column("votes_valid", "integer", "votes for valid", lambda row: row.label.votes.valid),
    Column("votes_invalid", "integer", "votes for invalid", lambda row: row.label.votes.invalid),
    Column("unlabelled", "integer", "answers without a verdict", lambda row: row.label.votes.unlabelled),
    Column("validated", "flag", "the final label; empty for a tie, and without votes", lambda row: row.label.validated),
    Column("primary", "text", "category of the final label: as in judgements, or INVALID_REASONS_DIFFER where most "
           "call it invalid and no flag has a majority", lambda row: row.label.primary),
    Column("by", "text", "basis of the label: adjudicated, majority, single, undecided or none",
           lambda row: row.label.by),
    Column("kept", "text", "the annotator, if the label is one person's", lambda row: row.label.kept),
)


def _decision(name: str, kind: Type, meaning: str, value: Callable[[Decision], Any]) -> Column:
    """Empty for an item without a decision."""
    return Column(name, kind, meaning, lambda row: value(row.decision) if row.decision else None)


_DECISION = (
    Column("reasons", "texts", "sub-reasons of the final label", lambda row: list(row.label.reasons)),
    _decision("adjudicator", "text", "who decided", lambda decision: decision.adjudicator),
    _decision("decision_reason", "text", "why, in the adjudicator's words", lambda decision: decision.reason),
    _decision("decision_note", "text", "the note in the adjudicator's answer",
              lambda decision: decision.answer.get("note", "")),
    _decision("decided_at", "time", "when the decision was saved",
              lambda decision: tables.in_utc(decision.created_at)),
)


@dataclass(frozen=True)
class _LabelledItem:
    item: Item
    label: FinalLabel
    decision: Decision | None


def judgement_table(
    study: Study, items: Iterable[Item], images: Mapping[str, StudyImage], judgements: Iterable[Judgement],
) -> Table:
    """One row for each judgement, in the order given. ``images`` by token."""
    rubric = rubric_of(study)

    def flag(one: Flag) -> Column:
        return _flag(one, lambda row: one.code in row.answer.get("flags", ()))

    def marked(row: JudgementRow) -> list[str]:
        tokens = row.answer.get("alternatives", ())
        return sorted(images[token].image_id if token in images else token for token in tokens)

    return Table.of(study, (
        *_ITEM,
        *tables.answered_by("judged", "item", "rubric"),
        Column("validated", "flag", "valid or not; empty without a verdict", lambda row: row.answer.get("validated")),
        Column("primary", "text", "the most severe flag, VALIDATED, INVALID_UNSPECIFIED or UNLABELLED",
               lambda row: primary(row.answer, rubric)),
        *map(flag, rubric.flags),
        Column("reasons", "texts", "sub-reasons", lambda row: list(row.answer.get("reasons", ()))),
        Column("note", "text", "what the person wrote", lambda row: row.answer.get("note", "")),
        Column("alternatives", "texts", "image ids of the panel marked as equally good", marked),
        Column("panel_opened", "flag", "whether the panel was viewed",
               lambda row: bool(row.answer.get("panel_opened"))),
        Column("unsure", "flag", "left to an adjudicator", lambda row: bool(row.answer.get("unsure"))),
        Column("seconds", "number", "how long the item was looked at", lambda row: row.judgement.seconds),
        tables.ANSWERED_AT,
    ), tables.judgement_rows(items, judgements))


def item_table(
    study: Study, items: Iterable[Item], decisions: Iterable[Decision], labels: Mapping[str, FinalLabel],
) -> Table:
    """One row for each item with its final label (:func:`annotation.kinds.validity.labels.final_labels`)."""
    decided = {decision.item_id: decision for decision in sorted(decisions, key=lambda one: one.revision)}

    def flag(one: Flag) -> Column:
        return _flag(one, lambda row: one.code in row.label.flags)

    return Table.of(study, (*_ITEM, *_LABEL, *map(flag, rubric_of(study).flags), *_DECISION), (
        _LabelledItem(item, labels[item.item_id], decided.get(item.item_id)) for item in items))


def _flag(flag: Flag, value: Callable[[Any], bool]) -> Column:
    return Column(flag.code, "flag", f"the flag “{flag.name}” is set", value)


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
    labels = final_labels(items, judgements, decisions, rule, rubric=rubric_of(study))
    if form == "results":
        return json_files("results", results_json(study, store.counts(study.study_id), items, labels, rule)), ()
    if form == "mbeir":
        found = validated_files(study, items, judgements, decisions, labels)
        return found.files, found.notes
    return table_files(form, {
        "judgements": lambda: judgement_table(study, items, store.images(study.study_id), judgements),
        "items": lambda: item_table(study, items, decisions, labels)}, tables), ()
