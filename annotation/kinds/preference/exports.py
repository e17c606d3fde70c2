"""Export of preference studies: tables, and preference pairs for training reward models."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotation import tables
from annotation.kinds.preference.answers import contradicts
from annotation.kinds.preference.quality import flagged
from annotation.records import Assignment, Item, Judgement, Study, name_key
from annotation.tables import Column, JudgementRow, Table, Type

Excluded = Mapping[str, Sequence[str]]
"""Judgement id to the rules that exclude it (:mod:`annotation.quality.rules`)."""

NOT_EXCLUDED: Excluded = {}


@dataclass(frozen=True)
class _AnswerRow(JudgementRow):
    assignment: Assignment | None
    excluded: Sequence[str]
    number: int = 0   # of the set, in rows of sets

    def has_target(self, number: int) -> bool | None:
        """Whether a target is in set 1 or 2. None where no target is known."""
        targets = set(self.item.hidden["target_ids"])
        return not targets.isdisjoint(self.item.hidden["set_ids"][number - 1]) if targets else None

    @property
    def imported(self) -> bool:
        return bool(self.judgement.extra.get("imported"))


def _of_sets(
    name: str, kind: Type, first: str, second: str, value: Callable[[_AnswerRow, int], Any]
) -> tuple[Column, Column]:
    def of_set(number: int, meaning: str) -> Column:
        return Column(f"{name}_{number}", kind, meaning, lambda row: value(row, number))

    return of_set(1, first), of_set(2, second)


_ITEM = (
    Column("item", "text", "the question's key in its source, unique in the study", lambda row: row.item.key),
    tables.DATASET,
    Column("category", "text", "category of the query in the data set",
           lambda row: tables.filled_text(row.item.hidden.get("category"))),
    tables.QUERY_ID,
    tables.TEXT,
    tables.REFERENCE_ID,
    Column("target_ids", "texts", "image ids of the targets", lambda row: list(row.item.hidden["target_ids"])),
)
_ANNOTATOR, _REVISION, _PROTOCOL = tables.answered_by("answered", "question", "survey")
_PERSON = (
    _ANNOTATOR,
    Column("form", "integer", "which of the person's forms, from 1",
           lambda row: row.assignment and row.assignment.extra.get("form")),
    Column("position", "integer", "place among the person's questions, from 1",
           lambda row: row.assignment and row.assignment.position + 1),
    _PROTOCOL,
)
_TIMES = (
    Column("seconds", "number", "how long the question was looked at; empty if not measured",
           lambda row: None if row.imported else row.judgement.seconds or None),
    Column("answered_at", "time", "when the answer was saved; empty where it is not known",
           lambda row: None if row.imported else tables.in_utc(row.judgement.created_at)),
    Column("excluded", "texts", "rules of the study that exclude the answer", lambda row: list(row.excluded)),
)
_JUDGEMENT = (
    *_ITEM,
    *_of_sets("method", "text", "method that found set 1; empty where it is not known", "method that found set 2",
              lambda row, number: row.item.hidden["methods"][number - 1]),
    *_of_sets("set", "texts", "image ids of set 1, the best first; those of released files, in the order of the file",
              "image ids of set 2, in that order", lambda row, number: list(row.item.hidden["set_ids"][number - 1])),
    *_of_sets("target_in", "flag", "whether set 1 contains a target; empty where no target is known",
              "whether set 2 contains a target; empty where none is known", lambda row, number: row.has_target(number)),
    *_PERSON,
    _REVISION,
    Column("first", "integer", "which set was shown first; empty if not recorded", lambda row: row.answer["first"]),
    *_of_sets("rating", "integer", "rating of set 1, 1 to 5", "rating of set 2, 1 to 5",
              lambda row, number: row.answer["ratings"][number - 1]),
    Column("preferred", "integer", "the better set, 1 or 2; 0 for a tie", lambda row: row.answer["preferred"]),
    Column("preferred_method", "text", "method that found the better set",
           lambda row: row.item.hidden["methods"][place - 1] if (place := row.answer["preferred"]) else None),
    Column("contradicts", "flag", "whether the better set has the lower rating",
           lambda row: contradicts(row.answer["ratings"], row.answer["preferred"])),
    Column("irrelevant", "flag", "flagged: the results are irrelevant to the reference image or the text; empty if not "
           "recorded", lambda row: flagged(row.answer)),
    Column("irrelevant_to_image", "flag", "flagged as irrelevant to the image; empty if the survey does not ask for "
           "each", lambda row: row.answer["irrelevant"].get("image")),
    Column("irrelevant_to_text", "flag", "flagged as irrelevant to the text; empty if the survey does not ask for each",
           lambda row: row.answer["irrelevant"].get("text")),
    Column("reason_asked", "flag", "whether a reason was asked for",
           lambda row: bool(row.assignment and row.assignment.extra.get("reason"))),
    Column("reason", "text", "the reason, in the person's words", lambda row: row.answer["reason"]),
    *_TIMES,
)
_SET = (
    *_ITEM,
    *_PERSON,
    Column("set", "integer", "1 or 2, as in judgements", lambda row: row.number),
    Column("method", "text", "method that found the set; empty where it is not known",
           lambda row: row.item.hidden["methods"][row.number - 1]),
    Column("images", "texts", "image ids, the best first; those of released files, in the order of the file",
           lambda row: list(row.item.hidden["set_ids"][row.number - 1])),
    Column("has_target", "flag", "whether a target is among them; empty where none is known",
           lambda row: row.has_target(row.number)),
    Column("stood_first", "flag", "whether it was shown first; empty if not recorded",
           lambda row: None if row.answer["first"] is None else row.answer["first"] == row.number),
    Column("rating", "integer", "1 to 5", lambda row: row.answer["ratings"][row.number - 1]),
    Column("preferred", "flag", "whether it is the better one; false for both in a tie",
           lambda row: row.answer["preferred"] == row.number),
    *_TIMES,
)
SET_COLUMNS = ("study", *(column.name for column in _SET))
"""Columns of :func:`set_table`."""


def judgement_table(
    study: Study, items: Iterable[Item], assignments: Iterable[Assignment], judgements: Iterable[Judgement],
    excluded: Excluded = NOT_EXCLUDED,
) -> Table:
    """One row for each judgement, in the order given."""
    return Table.of(study, _JUDGEMENT, _rows(items, assignments, judgements, excluded))


def set_table(
    study: Study, items: Iterable[Item], assignments: Iterable[Assignment], judgements: Iterable[Judgement],
    excluded: Excluded = NOT_EXCLUDED,
) -> Table:
    """Two rows for each judgement, one per rated set."""
    return Table.of(study, _SET, (
        replace(row, number=number) for row in _rows(items, assignments, judgements, excluded)
        for number in (1, 2)))


def _rows(
    items: Iterable[Item], assignments: Iterable[Assignment], judgements: Iterable[Judgement], excluded: Excluded,
) -> Iterator[_AnswerRow]:
    places = {(name_key(one.annotator), one.item_id): one for one in assignments if one.annotator is not None}
    for row in tables.judgement_rows(items, judgements):
        one = row.judgement
        yield _AnswerRow(row.item, one, places.get((name_key(one.annotator), one.item_id)),
                         excluded.get(one.judgement_id, ()))


@dataclass(frozen=True)
class PreferencePairs:
    """Preference pairs as JSON lines ``{"query_id", "reference", "text", "chosen": [image ids], "rejected": […],
    "chosen_score", "rejected_score", "annotator", "margin"}``; ``margin`` is chosen minus rejected score, negative if
    the preferred set has the lower rating. ``ties`` and preferences between sets of the same images (``identical``) are
    left out."""

    content: bytes = field(repr=False)
    pairs: int
    ties: int
    identical: int


def preference_pairs(items: Iterable[Item], judgements: Iterable[Judgement]) -> PreferencePairs:
    """One pair per preference, in the given order."""
    by_id = {item.item_id: item for item in items}
    lines, ties, identical = [], 0, 0
    for judgement in judgements:
        item, answer = by_id[judgement.item_id], judgement.answer
        if answer["preferred"] == 0:
            ties += 1
            continue
        if len(set(map(frozenset, item.hidden["set_ids"]))) == 1:
            identical += 1
            continue
        chosen = answer["preferred"] - 1
        scores = answer["ratings"][chosen], answer["ratings"][1 - chosen]
        lines.append(json.dumps({
            "query_id": item.hidden["query_id"], "reference": item.hidden["reference_id"], "text": item.shown["text"],
            "chosen": list(item.hidden["set_ids"][chosen]), "rejected": list(item.hidden["set_ids"][1 - chosen]),
            "chosen_score": scores[0], "rejected_score": scores[1], "annotator": judgement.annotator,
            "margin": scores[0] - scores[1],
        }, ensure_ascii=False))
    return PreferencePairs("".join(line + "\n" for line in lines).encode(), len(lines), ties, identical)
