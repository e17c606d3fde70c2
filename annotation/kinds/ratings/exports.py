"""Export files of a session study: tables and results."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from annotation.kinds.ratings.questions import load_questions
from annotation.kinds.ratings.results import mean_ratings, results_json
from annotation.records import Item, Judgement, Study, by_item
from annotation.studies.store import StudyStore
from annotation.tables.columns import STUDY, Column, Table, in_utc
from annotation.tables.files import json_files, table_files

FORMS = ("csv", "parquet", "results")
TABLES = ("judgements", "items")
"""Tables of the forms "csv" and "parquet"."""

_ITEM = (
    STUDY,
    Column("item", "text", "the session's key, unique in the study: source, subset and id"),
    Column("source", "text", "source of the session, which people do not see"),
    Column("subset", "text", "its subset"),
    Column("session_id", "text", "its id in the file"),
    Column("turns", "integer", "number of turns"),
    Column("in_block", "flag", "whether everybody rates it, for agreement"),
    Column("gallery", "text", "gallery of the images"),
    Column("reference_ids", "texts", "image ids of the turns"),
    Column("texts", "texts", "what is said in the turns"),
    Column("target_id", "text", "image id of the target shown"),
)
_JUDGEMENT = (
    Column("annotator", "text", "who rated"),
    Column("revision", "integer", "how many answers this person gave to the session; the last one is here"),
    Column("protocol", "text", "questions and version"),
)
_ANSWER = (
    Column("reason", "text", "what the person wrote"),
    Column("seconds", "number", "how long the session was looked at"),
    Column("answered_at", "time", "when this answer was saved"),
)


def session_files(
    store: StudyStore, study: Study, form: str, *, tables: Collection[str] = TABLES
) -> tuple[Mapping[str, bytes], tuple[str, ...]]:
    """Contents by file name in one of :data:`FORMS`, and notes on omissions (none). ``tables``: of :data:`TABLES`."""
    items, judgements = store.items(study.study_id), store.judgements(study.study_id)
    if form == "results":
        return json_files("results", results_json(study, store.counts(study.study_id), items, judgements)), ()
    return table_files(form, {"judgements": lambda: judgement_table(study, items, judgements),
                              "items": lambda: item_table(study, items, judgements)}, tables), ()


def judgement_table(study: Study, items: Sequence[Item], judgements: Sequence[Judgement]) -> Table:
    """One row for each judgement, in the order given."""
    questions, known = load_questions(study.protocol).questions, {item.item_id: item for item in items}
    columns = (*_ITEM, *_JUDGEMENT, *(Column(one.key, "integer", f"{one.text} 1 ({one.low}) to 5 ({one.high})")
                                      for one in questions), *_ANSWER)
    return Table(study, columns, tuple(
        (*_of_item(study, known[one.item_id]), one.annotator, one.revision, one.protocol,
         *(one.answer["ratings"][question.key] for question in questions), one.answer["reason"], one.seconds or None,
         in_utc(one.created_at)) for one in judgements))


def item_table(study: Study, items: Sequence[Item], judgements: Sequence[Judgement]) -> Table:
    """One row for each session, with the mean of its ratings."""
    questions, given = load_questions(study.protocol).questions, by_item(judgements)
    columns = (*_ITEM, Column("judgements", "integer", "people who rated it"),
               *(Column(one.key, "number", f"mean of the ratings; empty without any. {one.text}") for one in questions))
    return Table(study, columns, tuple(
        (*_of_item(study, item), len(given.get(item.item_id, ())),
         *mean_ratings(given.get(item.item_id, ()), [one.key for one in questions]).values()) for item in items))


def _of_item(study: Study, item: Item) -> tuple[Any, ...]:
    hidden = item.hidden
    return (study.name, item.key, hidden["source"], hidden["subset"], hidden["session"], hidden["turns"], item.in_block,
            hidden["gallery"], list(hidden["references"]), [turn["text"] for turn in item.shown["turns"]],
            hidden["target_id"])
