"""Export of preference studies: tables, and preference pairs for training reward models."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.kinds.preference.answers import contradicts
from annotation.kinds.preference.quality import flagged
from annotation.records import Assignment, Item, Judgement, Study, name_key
from annotation.tables.columns import DATASET, QUERY_ID, REFERENCE_ID, STUDY, TEXT, Column, Table, filled_text, in_utc

Excluded = Mapping[str, Sequence[str]]
"""Judgement id to the rules that exclude it (:mod:`annotation.kinds.preference.exclusion`)."""

_ITEM = (
    STUDY,
    Column("item", "text", "the question's key in its source, unique in the study"),
    DATASET,
    Column("category", "text", "category of the query in the data set"),
    QUERY_ID,
    TEXT,
    REFERENCE_ID,
    Column("target_ids", "texts", "image ids of the targets"),
)
_PERSON = (
    Column("annotator", "text", "who answered"),
    Column("form", "integer", "which of the person's forms, from 1"),
    Column("position", "integer", "place among the person's questions, from 1"),
    Column("protocol", "text", "survey and version"),
)
_TIMES = (
    Column("seconds", "number", "how long the question was looked at; empty if not measured"),
    Column("answered_at", "time", "when the answer was saved; empty where it is not known"),
    Column("excluded", "texts", "rules of the study that take the answer out"),
)
_JUDGEMENT = (
    *_ITEM,
    Column("method_1", "text", "method that found set 1; empty where it is not known"),
    Column("method_2", "text", "method that found set 2"),
    Column("set_1", "texts", "image ids of set 1, the best first; of released files in their order"),
    Column("set_2", "texts", "image ids of set 2, likewise"),
    Column("target_in_1", "flag", "whether set 1 holds a target; empty where no target is known"),
    Column("target_in_2", "flag", "whether set 2 holds a target; empty likewise"),
    *_PERSON,
    Column("revision", "integer", "how many answers this person gave to the question; the last one is here"),
    Column("first", "integer", "which set was shown first; empty if not recorded"),
    Column("rating_1", "integer", "rating of set 1, 1 to 5"),
    Column("rating_2", "integer", "rating of set 2, 1 to 5"),
    Column("preferred", "integer", "the better set, 1 or 2; 0 for a tie"),
    Column("preferred_method", "text", "method that found the better set"),
    Column("contradicts", "flag", "whether the better set has the lower rating"),
    Column("irrelevant", "flag", "flagged: the results are irrelevant to the reference image or the text; empty if not "
           "recorded"),
    Column("irrelevant_to_image", "flag", "flagged as irrelevant to the image; empty if the survey does not ask for "
           "each"),
    Column("irrelevant_to_text", "flag", "flagged as irrelevant to the text; empty likewise"),
    Column("reason_asked", "flag", "whether a reason was asked for"),
    Column("reason", "text", "what decided it, in the person's words"),
    *_TIMES,
)
_SET = (
    *_ITEM,
    *_PERSON,
    Column("set", "integer", "1 or 2, as in judgements"),
    Column("method", "text", "method that found the set; empty where it is not known"),
    Column("images", "texts", "image ids, the best first; of released files in their order"),
    Column("has_target", "flag", "whether a target is among them; empty where none is known"),
    Column("stood_first", "flag", "whether it was shown first; empty if not recorded"),
    Column("rating", "integer", "1 to 5"),
    Column("preferred", "flag", "whether it is the better one; false for both in a tie"),
    *_TIMES,
)
SET_COLUMNS = tuple(column.name for column in _SET)
"""Columns of :func:`set_table`."""
NOT_EXCLUDED: Excluded = {}


def judgement_table(
    study: Study, items: Iterable[Item], assignments: Iterable[Assignment], judgements: Iterable[Judgement],
    excluded: Excluded = NOT_EXCLUDED,
) -> Table:
    """One row for each judgement, in the order given."""
    rows = []
    for item, place, judgement in _with_assignments(items, assignments, judgements):
        answer, (one, two) = judgement.answer, item.hidden["set_ids"]
        methods, preferred = item.hidden["methods"], answer["preferred"]
        rows.append((
            *_of_item(study, item), *methods, list(one), list(two), _has_target(item, one), _has_target(item, two),
            *_of_person(judgement, place), judgement.revision, answer["first"], *answer["ratings"], preferred,
            methods[preferred - 1] if preferred else None, contradicts(answer["ratings"], preferred),
            flagged(answer), answer["irrelevant"].get("image"), answer["irrelevant"].get("text"),
            bool(place and place.extra.get("reason")), answer["reason"], *_times(judgement, excluded)))
    return Table(study, _JUDGEMENT, tuple(rows))


def set_table(
    study: Study, items: Iterable[Item], assignments: Iterable[Assignment], judgements: Iterable[Judgement],
    excluded: Excluded = NOT_EXCLUDED,
) -> Table:
    """Two rows for each judgement, one per rated set."""
    rows = []
    for item, place, judgement in _with_assignments(items, assignments, judgements):
        answer = judgement.answer
        for index, ids in enumerate(item.hidden["set_ids"]):
            rows.append((
                *_of_item(study, item), *_of_person(judgement, place), index + 1, item.hidden["methods"][index],
                list(ids), _has_target(item, ids), None if answer["first"] is None else answer["first"] == index + 1,
                answer["ratings"][index], answer["preferred"] == index + 1, *_times(judgement, excluded)))
    return Table(study, _SET, tuple(rows))


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


def _with_assignments(
    items: Iterable[Item], assignments: Iterable[Assignment], judgements: Iterable[Judgement]
) -> Iterator[tuple[Item, Assignment | None, Judgement]]:
    by_id = {item.item_id: item for item in items}
    places = {(name_key(one.annotator), one.item_id): one for one in assignments if one.annotator is not None}
    for judgement in judgements:
        yield by_id[judgement.item_id], places.get((name_key(judgement.annotator), judgement.item_id)), judgement


def _of_item(study: Study, item: Item) -> tuple[Any, ...]:
    hidden = item.hidden
    category, query_id = (filled_text(hidden.get(name)) for name in ("category", "query_id"))
    return (study.name, item.key, hidden["dataset"], category, query_id,
            item.shown["text"], hidden["reference_id"], list(hidden["target_ids"]))


def _of_person(judgement: Judgement, place: Assignment | None) -> tuple[Any, ...]:
    form, position = (place.extra.get("form"), place.position + 1) if place else (None, None)
    return judgement.annotator, form, position, judgement.protocol


def _times(judgement: Judgement, excluded: Excluded) -> tuple[Any, ...]:
    at, rules = judgement.created_at, list(excluded.get(judgement.judgement_id, ()))
    if judgement.extra.get("imported"):
        return None, None, rules
    return judgement.seconds or None, in_utc(at), rules


def _has_target(item: Item, image_ids: Iterable[str]) -> bool | None:
    targets = set(item.hidden["target_ids"])
    return not targets.isdisjoint(image_ids) if targets else None
