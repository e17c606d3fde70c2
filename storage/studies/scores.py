"""Scores of the items of a study: metrics of sets, language models of sessions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select

from annotation.records import AuditEvent, MetricScores, Study, name_key
from annotation.records.studies import NAME_LIMIT, SCORED
from cir_core.errors import StorageError, StudyError, UnknownScores
from cir_core.support.texts import quoted
from cir_core.types.records import new_id
from storage.accounts.audit_log import log_event
from storage.checks import check_study_texts
from storage.mapping import tables
from storage.studies.lookups import find_study

_score, _item = tables.study_scores.c, tables.study_items.c


def save_scores(connection: Connection, study_id: str, scores: MetricScores, by: str, at: datetime) -> None:
    """Save or replace scores by name, in a write transaction. Raises ``UnknownStudy``, ``StudyError``."""
    check_study_texts(scores.name, scores.description, scores.notes, by)
    study = find_study(connection, study_id, lock=True)
    if study.kind not in SCORED:
        raise StudyError(f"{study.name} is a {study.kind} study: it has no result sets or sessions to score.")
    key = name_key(scores.name)
    if not key or len(scores.name) > NAME_LIMIT:
        raise StudyError(f"Scores need a name of 1 to {NAME_LIMIT} characters. Give them one.")
    ids = frozenset(connection.execute(select(_item.item_id).where(_item.study_id == study_id)).scalars())
    packed = _packed(scores, study, ids)
    connection.execute(delete(tables.study_scores).where(_score.study_id == study_id, _score.name_key == key))
    connection.execute(insert(tables.study_scores).values(
        score_id=new_id(), study_id=study_id, name_key=key, name=scores.name.strip(), description=scores.description,
        notes=list(scores.notes), scores=packed, created_by=by, created_at=at))
    log_event(connection, AuditEvent("scores.added", by, study.name, study_id, {"scores": scores.name.strip()}))


def read_scores(connection: Connection, study_id: str) -> Sequence[MetricScores]:
    """Scores, by name. Raises ``UnknownStudy``, ``StorageError`` for a damaged row."""
    study = find_study(connection, study_id)
    found = connection.execute(
        select(_score.score_id, _score.name).where(_score.study_id == study_id).order_by(_score.name_key)).all()
    return tuple(_read(connection, study, row.score_id, row.name) for row in found)


def drop_scores(connection: Connection, study_id: str, name: str, by: str) -> None:
    """Delete scores, in a write transaction. Raises ``UnknownStudy``, ``UnknownScores``."""
    study = find_study(connection, study_id, lock=True)
    here = (_score.study_id == study_id, _score.name_key == name_key(name))
    known = connection.execute(select(_score.name).where(*here)).scalar_one_or_none()
    connection.execute(delete(tables.study_scores).where(*here))
    if known is None:
        kept = connection.execute(
            select(_score.name).where(_score.study_id == study_id).order_by(_score.name_key)).scalars().all()
        there = f"It has {', '.join(kept)}." if kept else "It has none."
        raise UnknownScores(f"{study.name} has no scores {quoted(name)}. {there}")
    log_event(connection, AuditEvent("scores.removed", by, study.name, study_id, {"scores": known}))


def _packed(scores: MetricScores, study: Study, ids: frozenset[str]) -> dict[str, list[float | None]]:
    packed: dict[str, list[float | None]] = {}
    scored = SCORED[study.kind]
    what = scored.what
    for (item_id, which), value in scores.scores.items():
        if item_id not in ids or which not in range(1, scored.each + 1):
            raise StudyError(f"{study.name} has no {what} {which} of an item {quoted(item_id)}. Score what it has.")
        if not math.isfinite(value):
            raise StudyError(f"{scores.name} gives {what} {which} of the item {quoted(item_id)} {value}, which is not "
                             f"a number. Leave each {what} without a score out.")
        if scored.values is not None and value not in scored.values:
            raise StudyError(f"{scores.name} gives {what} {which} of the item {quoted(item_id)} {value:g}, not a "
                             "whole number from 1 to 5. Correct it.")
        packed.setdefault(item_id, [None] * scored.each)[which - 1] = float(value)
    return packed


def _read(connection: Connection, study: Study, score_id: str, name: str) -> MetricScores:
    try:
        row = connection.execute(select(tables.study_scores).where(_score.score_id == score_id)).one()
        return MetricScores(row.name, row.description, _unpacked(row.scores, study.kind), tuple(row.notes))
    except (ValueError, TypeError, AttributeError) as error:   # malformed JSON, or of the wrong shape
        raise StorageError(f"The scores {quoted(name)} of {study.name} are damaged in the database. Remove them and "
                           f"add them again: cirque report scores {study.name!r} --remove {name!r}",
                           f"The scores “{name}” are damaged in the database. Remove them and add them again, or tell "
                           "the administrator of this cirque.") from error


def _unpacked(packed: Mapping[str, Sequence[float | None]], kind: str) -> dict[tuple[str, int], float]:
    scored = SCORED[kind]
    found = {(item_id, which): float(value) for item_id, given in packed.items()
            for which, value in zip(range(1, scored.each + 1), given, strict=True) if value is not None}
    if scored.values is not None and not scored.values.issuperset(found.values()):
        raise ValueError("a value that is not allowed")
    return found
