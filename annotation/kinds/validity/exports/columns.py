"""Export tables of a validity study: columns and rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from annotation.kinds.validity.answers import primary
from annotation.kinds.validity.labels import FinalLabel
from annotation.kinds.validity.rubric import Rubric, load_rubric
from annotation.records import Decision, Item, Judgement, Study, StudyImage, category_of, dataset_of
from annotation.tables.columns import DATASET, QUERY_ID, REFERENCE_ID, STUDY, TEXT, Column, Table, filled_text, in_utc

_ITEM = (
    STUDY,
    Column("item", "text", "the item's key in its source, unique in the study"),
    DATASET,
    Column("query_idx", "integer", "the query's line in the data set's query file, from 0"),
    QUERY_ID,
    Column("hidden_category", "text", "the audit's label, which judges do not see"),
    Column("in_block", "flag", "whether everybody judges it, for agreement"),
    TEXT,
    REFERENCE_ID,
    Column("target_id", "text", "image id of the target shown"),
)
_JUDGEMENT = (
    Column("annotator", "text", "who judged"),
    Column("revision", "integer", "how many answers this person gave to the item; the last one is here"),
    Column("protocol", "text", "rubric and version"),
    Column("validated", "flag", "valid or not; empty without a verdict"),
    Column("primary", "text", "the most severe flag, VALIDATED, INVALID_UNSPECIFIED or UNLABELLED"),
)
_ANSWER = (
    Column("reasons", "texts", "sub-reasons"),
    Column("note", "text", "what the person wrote"),
    Column("alternatives", "texts", "image ids of the panel marked as equally good"),
    Column("panel_opened", "flag", "whether the panel was looked at"),
    Column("unsure", "flag", "left to an adjudicator"),
    Column("seconds", "number", "how long the item was looked at"),
    Column("answered_at", "time", "when this answer was saved"),
)
_LABEL = (
    Column("judgements", "integer", "people who answered"),
    Column("votes_valid", "integer", "votes for valid"),
    Column("votes_invalid", "integer", "votes for invalid"),
    Column("unlabelled", "integer", "answers without a verdict"),
    Column("validated", "flag", "the final label; empty for a tie, and without votes"),
    Column("primary", "text", "category of the final label: as in judgements, or INVALID_REASONS_DIFFER where most "
           "call it invalid and no flag has a majority"),
    Column("by", "text", "what the label rests on: adjudicated, majority, single, undecided or none"),
    Column("kept", "text", "the annotator, where the label is one person's"),
)
_DECISION = (
    Column("reasons", "texts", "sub-reasons of the final label"),
    Column("adjudicator", "text", "who decided"),
    Column("decision_reason", "text", "why, in the adjudicator's words"),
    Column("decision_note", "text", "the note in the adjudicator's answer"),
    Column("decided_at", "time", "when the decision was saved"),
)


def judgement_table(
    study: Study, items: Iterable[Item], images: Mapping[str, StudyImage], judgements: Iterable[Judgement],
) -> Table:
    """One row for each judgement, in the order given. ``images`` by token."""
    rubric = load_rubric(study.protocol)
    by_id = {item.item_id: item for item in items}
    rows = []
    for judgement in judgements:
        answer = judgement.answer
        marked = [images[token].image_id if token in images else token for token in answer.get("alternatives", ())]
        rows.append((
            *_of_item(study, by_id[judgement.item_id]), judgement.annotator, judgement.revision, judgement.protocol,
            answer.get("validated"), primary(answer, rubric), *_flags(rubric, answer.get("flags", ())),
            list(answer.get("reasons", ())), answer.get("note", ""), sorted(marked), bool(answer.get("panel_opened")),
            bool(answer.get("unsure")), judgement.seconds, in_utc(judgement.created_at)))
    return Table(study, (*_ITEM, *_JUDGEMENT, *_flag_columns(rubric), *_ANSWER), tuple(rows))


def item_table(
    study: Study, items: Iterable[Item], decisions: Iterable[Decision], labels: Mapping[str, FinalLabel],
) -> Table:
    """One row for each item with its final label (:func:`annotation.kinds.validity.labels.final_labels`)."""
    rubric = load_rubric(study.protocol)
    decided = {decision.item_id: decision for decision in sorted(decisions, key=lambda one: one.revision)}
    rows = []
    for item in items:
        label, decision = labels[item.item_id], decided.get(item.item_id)
        votes = label.votes
        rows.append((
            *_of_item(study, item), votes.valid + votes.invalid + votes.unlabelled,
            votes.valid, votes.invalid, votes.unlabelled, label.validated, label.primary, label.by, label.kept,
            *_flags(rubric, label.flags), list(label.reasons),
            *((decision.adjudicator, decision.reason, decision.answer.get("note", ""), in_utc(decision.created_at))
              if decision else (None,) * 4)))
    return Table(study, (*_ITEM, *_LABEL, *_flag_columns(rubric), *_DECISION), tuple(rows))


def _of_item(study: Study, item: Item) -> tuple[Any, ...]:
    line = item.hidden.get("query_idx")
    query, reference, target = (
        filled_text(item.hidden.get(name)) for name in ("query_id", "reference_id", "target_id"))
    return (
        study.name, item.key, dataset_of(item), line if isinstance(line, int) else None, query,
        category_of(item), item.in_block, item.shown.get("text") or None, reference, target,
    )


def _flag_columns(rubric: Rubric) -> tuple[Column, ...]:
    return tuple(Column(flag.code, "flag", f"the flag “{flag.name}” is set") for flag in rubric.flags)


def _flags(rubric: Rubric, given: Iterable[str]) -> list[bool]:
    there = frozenset(given)
    return [flag.code in there for flag in rubric.flags]
