"""Cheap version stamp (ETag) of a study's report inputs."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from sqlalchemy import Connection, Select, bindparam, func, select

from storage.mapping import tables
from storage.studies.lookups import unknown_study

_study, _seat, _score = tables.studies.c, tables.study_seats.c, tables.study_scores.c


def _of(query: Select[Any]) -> Any:
    return query.scalar_subquery()


# Judgements, decisions and events are append-only, so their count is enough; unlike the latest time, it is exact even
# if a clock was set back. Each is counted in an index.
_COUNTS = [
    _of(select(func.count()).where(table.c.study_id == bindparam("study_id"))).label(table.name)
    for table in (tables.judgements, tables.decisions, tables.study_events)]
# Sums of the seats' counts; the number of people and the latest time of joining reflect who has a seat.
_SEATS = [
    _of(select(value).where(_seat.study_id == bindparam("study_id"))).label(name)
    for name, value in (("seats", func.count()), ("total", func.sum(_seat.total)), ("done", func.sum(_seat.done)),
                        ("unsure", func.sum(_seat.unsure)), ("people", func.count(_seat.annotator_key)),
                        ("joined", func.max(_seat.joined_at)))]
_STATE: Select[Any] = select(_study.name, _study.accepting, _study.settings, *_COUNTS, *_SEATS).where(
    _study.study_id == bindparam("study_id"))
_SCORES = select(_score.score_id).where(_score.study_id == bindparam("study_id")).order_by(_score.score_id)


def read_stamp(connection: Connection, study_id: str) -> str:
    """The stamp, by two statements. Raises ``UnknownStudy``."""
    of_study = {"study_id": study_id}
    state = connection.execute(_STATE, of_study).first()
    if state is None:
        raise unknown_study(study_id)
    scores = connection.execute(_SCORES, of_study).scalars().all()
    content = json.dumps([*state, *scores], sort_keys=True, default=str)
    return hashlib.sha256(content.encode()).hexdigest()[:24]
