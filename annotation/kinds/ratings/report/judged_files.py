"""A language model's scores of sessions, from the file ``judged.json`` that ``cirque construct judge`` writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PureWindowsPath
from typing import Any

import orjson

from annotation.kinds.ratings.answers import KEYS, check_comparable
from annotation.records import Item, MetricScores, Study
from annotation.records.studies import NAME_LIMIT
from cir_core.errors import DatasetError
from cir_core.support.texts import counted, quoted, shortened

_REMEDY = "Choose the file judged.json that cirque construct judge wrote"
_LISTED = 5


def study_scores(study: Study, content: bytes | str, items: Sequence[Item], where: str) -> tuple[MetricScores]:
    """:func:`read_judged`. Raises ``StudyError`` for a study of other questions, too."""
    check_comparable(study)
    return (read_judged(content, items, where=where or "judged.json"),)


def read_judged(content: bytes | str, items: Sequence[Item], *, where: str) -> MetricScores:
    """Scores of the study's sessions; those of others are skipped. ``scores[item_id, n]`` answers question n of
    :data:`~annotation.kinds.ratings.answers.KEYS`, from 1; named after the model.

    A session is recognized by its content: files number their sessions anew whenever they are filtered.

    Args:
        where: the file's name, for errors and the description.

    Raises ``DatasetError`` for a file of another form, and for one without any session of the study.
    """
    where = PureWindowsPath(where).name or where     # reports are published and must not contain local paths
    card, rows = _parts(content, where)
    by_content: dict[str, list[Item]] = {}      # the same session may come from two sources
    for item in items:
        by_content.setdefault(str(item.hidden.get("content")), []).append(item)
    scores: dict[tuple[str, int], float] = {}
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise DatasetError(f"{where}, session {number}: this is not an object. {_REMEDY}.")
        digest = row.get("content")
        if not isinstance(digest, str) or not digest:
            raise DatasetError(f"{where}, session {number}: it does not say what was judged. An earlier version of "
                               "cirque wrote this file: run cirque construct judge with another --out; answers that "
                               "are cached cost nothing.")
        for place, key in enumerate(KEYS, 1):
            score = row.get(key)
            if not isinstance(score, int) or isinstance(score, bool) or not 1 <= score <= 5:
                raise DatasetError(f"{where}, session {number}: {key} is {quoted(str(score))}, not a whole "
                                   f"number from 1 to 5. {_REMEDY}.")
            for item in by_content.get(digest, ()):
                scores[item.item_id, place] = score
    matched = len(scores) // len(KEYS)
    if not matched:
        raise DatasetError(f"{where} has scores of none of this study’s sessions: it is of {_sources(rows)}, and the "
                           f"study of {_sources([_names(item) for item in items])}. Judge the files of sessions that "
                           "the study was made of, with its sample and seed.")
    model = shortened(_one_line(str(card.get("language_model") or "")), NAME_LIMIT) or "language model"
    saw = {"images": ", which saw the images", "captions": ", which read captions of the images"}.get(
        str(card.get("shown")), "")
    notes = () if matched == len(items) else (
        f"It judged {matched:,} of {counted(len(items), 'session')} of the study.",)
    return MetricScores(model, f"Scores by {model}{saw}, from {shortened(where)}.", scores, notes)


def _parts(content: bytes | str, where: str) -> tuple[Mapping[str, Any], Sequence[Any]]:
    try:
        found = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise DatasetError(f"{where} is not valid JSON. {_REMEDY}.") from error
    card, rows = (found.get("card"), found.get("sessions")) if isinstance(found, Mapping) else (None, None)
    if not isinstance(card, Mapping) or not isinstance(rows, list):
        raise DatasetError(f"{where} contains no scores of sessions. {_REMEDY}.")
    return card, rows


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in shortened(text, 1000)).split())


def _names(item: Item) -> Mapping[str, Any]:
    return {"source": item.hidden.get("source"), "subset": item.hidden.get("subset")}


def _sources(rows: Sequence[Any]) -> str:
    """ "kept (sample_dress_test), loose (sample_dress_test)"."""
    found = list(dict.fromkeys(f"{row.get('source')} ({row.get('subset')})" for row in rows
                               if isinstance(row, Mapping)))
    more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    return shortened(_one_line(", ".join(found[:_LISTED])), 300) + more if found else "no sessions"
