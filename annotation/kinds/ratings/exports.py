"""Export files of a session study: tables and results."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from annotation import tables
from annotation.kinds.ratings.answers import Question, questions_of
from annotation.kinds.ratings.results import mean_ratings, results_json
from annotation.records import Decision, Item, Judgement, Study, by_item, decided
from annotation.studies.store import StudyStore
from annotation.tables import Column, Table, Type, json_files, table_files

FORMS = ("csv", "parquet", "results")
TABLES = ("judgements", "items")
"""Tables of the forms "csv" and "parquet"."""


def _hidden(name: str, kind: Type, meaning: str, key: str = "") -> Column:
    return Column(name, kind, meaning, lambda row: row.item.hidden[key or name])


_ITEM = (
    Column("item", "text", "the session's key, unique in the study: source, subset and id", lambda row: row.item.key),
    _hidden("source", "text", "source of the session, which people do not see"),
    _hidden("subset", "text", "its subset"),
    _hidden("session_id", "text", "its id in the file", "session"),
    _hidden("turns", "integer", "number of turns"),
    Column("in_block", "flag", "whether everybody rates it, for agreement", lambda row: row.item.in_block),
    _hidden("gallery", "text", "gallery of the images"),
    _hidden("reference_ids", "texts", "image ids of the turns", "references"),
    Column("texts", "texts", "texts of the turns",
           lambda row: [turn["text"] for turn in row.item.shown["turns"]]),
    _hidden("target_id", "text", "image id of the target shown"),
)


@dataclass(frozen=True)
class _RatedSession:
    item: Item
    judgements: Sequence[Judgement]
    means: Mapping[str, float | None]


def session_files(
    store: StudyStore, study: Study, form: str, *, tables: Collection[str] = TABLES
) -> tuple[Mapping[str, bytes], tuple[str, ...]]:
    """Contents by file name in one of :data:`FORMS`, and notes on omissions (none). ``tables``: of :data:`TABLES`."""
    items, judgements = store.items(study.study_id), store.judgements(study.study_id)
    decisions = store.decisions(study.study_id)
    if form == "results":
        counts = store.counts(study.study_id)
        return json_files("results", results_json(study, counts, items, judgements, decisions)), ()
    return table_files(form, {"judgements": lambda: judgement_table(study, items, judgements),
                              "items": lambda: item_table(study, items, judgements, decisions)}, tables), ()


def judgement_table(study: Study, items: Sequence[Item], judgements: Sequence[Judgement]) -> Table:
    """One row for each judgement, in the order given."""
    asked = questions_of(study)

    def rating(one: Question) -> Column:
        missing = "; empty where it was not asked" if one.show_if else ""
        return Column(one.key, "integer", f"{one.text} 1 ({one.low}) to {asked.points} ({one.high}){missing}",
                      lambda row: row.answer["ratings"].get(one.key))

    return Table.of(study, (
        *_ITEM, *tables.answered_by("rated", "session", "questions"),
        *map(rating, asked.questions),
        Column("reason", "text", "what the person wrote", lambda row: row.answer["reason"]),
    Column("seconds", "number", "how long the session was looked at", lambda row: row.judgement.seconds or None),
        tables.ANSWERED_AT), tables.judgement_rows(items, judgements))


def item_table(
    study: Study, items: Sequence[Item], judgements: Sequence[Judgement], decisions: Sequence[Decision] = (),
) -> Table:
    """One row for each session, with the mean of its ratings, or an adjudicator's."""
    questions, given, settled = questions_of(study).questions, by_item(judgements), decided(decisions)
    keys = [one.key for one in questions]

    def mean(one: Question) -> Column:
        return Column(one.key, "number", "mean of the ratings, or the adjudicator's; empty if there are none. "
                                         f"{one.text}",
                      lambda row: row.means[one.key])

    return Table.of(study, (
        *_ITEM, Column("judgements", "integer", "people who rated it", lambda row: len(row.judgements)),
        Column("decided", "flag", "whether the ratings are an adjudicator's", lambda row: row.item.item_id in settled),
        *map(mean, questions)), (_RatedSession(item, of, mean_ratings(of, keys, settled.get(item.item_id)))
                                 for item in items for of in (given.get(item.item_id, ()),)))
