"""Query an annotator's current item, draft and progress, by a few indexed reads.

The statements are prebuilt: building one costs as much as running it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, select

from annotation.records import WITH_EVENTS, Draft, Item, Judgement, StudyImage, Upcoming, Workspace, name_key
from storage.mapping import tables
from storage.mapping.records import record_from, study_from
from storage.studies.events import own_events
from storage.studies.lookups import find_study, not_joined, unknown_item

_LATEST = 20  # answers from which a person's pace is estimated
_TOKEN_LENGTH = 64  # of the column; longer texts cannot be tokens
_study, _seat, _assigned, _item = tables.studies.c, tables.study_seats.c, tables.assignments.c, tables.study_items.c
_judged, _draft, _image = tables.judgements.c, tables.drafts.c, tables.study_images.c
_STATES = ("open", "done", "unsure", "handed_on")

_STUDY_AND_SEAT = select(
    tables.studies, _seat.number, _seat.total, _seat.done, _seat.unsure, _seat.seen_at,
).join(tables.study_seats, _seat.study_id == _study.study_id).where(
    _study.study_id == bindparam("study_id"), _seat.annotator_key == bindparam("key"))

_MINE: Select[Any] = select(
    tables.study_items, _assigned.position, _assigned.state, _assigned.extra, _assigned.dealt, _draft.annotator,
    _draft.answer.label("begun"), _draft.seconds, _draft.updated_at,
).select_from(tables.assignments).join(tables.study_items, _item.item_id == _assigned.item_id).outerjoin(
    tables.drafts, (_draft.item_id == _assigned.item_id) & (_draft.seat == _assigned.seat))
_OF_SEAT = (_assigned.study_id == bindparam("study_id"), _assigned.seat == bindparam("seat"))
_BY_ITEM = _MINE.where(_assigned.item_id == bindparam("item_id"), *_OF_SEAT)
_BY_POSITION = _MINE.where(  # all states, so that the index can be used up to the position
    *_OF_SEAT, _assigned.state.in_(_STATES),
    _assigned.position == bindparam("position")).order_by(_assigned.item_id).limit(1)
_AFTER, _UP_TO = (
    _MINE.where(*_OF_SEAT, _assigned.state == bindparam("state"), where)
    .order_by(_assigned.position, _assigned.item_id).limit(bindparam("limit"))
    for where in (_assigned.position > bindparam("position"), _assigned.position <= bindparam("position")))
_POSITION = select(_assigned.position).where(_assigned.item_id == bindparam("item_id"), *_OF_SEAT)

_JUDGEMENT = select(tables.judgements).where(
    _judged.item_id == bindparam("item_id"),
    _judged.seat == bindparam("seat")).order_by(_judged.revision.desc()).limit(1)
_SECONDS = select(_judged.seconds).where(
    _judged.study_id == bindparam("study_id"), _judged.seat == bindparam("seat"), _judged.current,
).order_by(_judged.created_at.desc()).limit(_LATEST)
# In the order of StudyImage's fields.
_IMAGES = select(_image.token, _image.image_id, _image.width, _image.height).where(
    _image.study_id == bindparam("study_id"), _image.token.in_(bindparam("tokens", expanding=True)))


def read_workspace(
    connection: Connection, study_id: str, annotator: str, *, item_id: str | None, position: int | None,
    after: str | None, ahead: int,
) -> tuple[Workspace, Row[Any]]:
    """The workspace, and the row of the person's seat. Raises ``UnknownStudy``, ``UnknownItem``."""
    mine = connection.execute(_STUDY_AND_SEAT, {"study_id": study_id, "key": name_key(annotator)}).first()
    if mine is None:
        raise not_joined(find_study(connection, study_id).name)
    study, seat = study_from(mine), {"study_id": study_id, "seat": mine.number}
    if item_id is not None or position is not None:
        wanted = {"item_id": item_id} if item_id is not None else {"position": position}
        row = connection.execute(_BY_ITEM if item_id is not None else _BY_POSITION, seat | wanted).first()
        if row is None:
            raise unknown_item(study.name)
        following = _open_after(connection, seat, row.position, ahead + 1)
    else:
        start = -1
        if after is not None:
            previous = connection.execute(_POSITION, seat | {"item_id": after}).first()
            if previous is None:
                raise unknown_item(study.name)
            start = previous.position
        following = _open_after(connection, seat, start, ahead + 1)
        row = following[0] if following else None
    item = None if row is None else record_from(Item, row)
    next_rows = [one for one in following if row is not None and one.item_id != row.item_id][:ahead]
    later = tuple(record_from(Item, one) for one in next_rows)
    judgement = None
    if row is not None and row.state in ("done", "unsure"):
        judgement = connection.execute(_JUDGEMENT, {"item_id": row.item_id, "seat": mine.number}).first()
    return Workspace(
        study=study, seat=mine.number, total=mine.total, done=mine.done, unsure=mine.unsure, item=item,
        position=None if row is None else row.position,
        judgement=None if judgement is None else record_from(Judgement, judgement),
        draft=None if row is None else _draft_of(row), ahead=later,
        images=_images_of(connection, study_id, (item, *later) if item else later),
        seconds=tuple(connection.execute(_SECONDS, seat).scalars()), extra={} if row is None else row.extra or {},
        dealt=None if row is None else row.dealt,
        events=own_events(connection, seat) if study.kind in WITH_EVENTS else (),
        upcoming=tuple(Upcoming(one.position, one.extra or {}, _draft_of(one), one.dealt) for one in next_rows),
    ), mine


def _draft_of(row: Row[Any]) -> Draft | None:
    return None if row.begun is None else record_from(Draft, row, answer=row.begun)


def _open_after(connection: Connection, seat: Mapping[str, Any], position: int, limit: int) -> list[Row[Any]]:
    """Open items after ``position``, then from the start up to it. Reassigned items are not offered again: a late
    answer would give the item more annotators than planned."""
    found: list[Row[Any]] = []
    for query in (_AFTER, _UP_TO) if position >= 0 else (_AFTER,):
        if len(found) < limit:
            found += connection.execute(
                query, {**seat, "state": "open", "position": position, "limit": limit - len(found)})
    return found


def _images_of(connection: Connection, study_id: str, items: Sequence[Item]) -> dict[str, StudyImage]:
    tokens = {text for item in items for text in _texts_of(item.shown) if len(text) <= _TOKEN_LENGTH}
    if not tokens:
        return {}
    rows = connection.execute(_IMAGES, {"study_id": study_id, "tokens": sorted(tokens)})
    return {row[0]: StudyImage(*row) for row in rows}  # dozens per workspace, so by position: faster


def _texts_of(shown: object) -> Iterator[str]:
    if isinstance(shown, str):
        yield shown
    elif isinstance(shown, Mapping):
        for part in shown.values():
            yield from _texts_of(part)
    elif isinstance(shown, list):
        for part in shown:
            yield from _texts_of(part)
