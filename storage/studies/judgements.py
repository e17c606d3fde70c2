"""Save a judgement or draft (hot path: few, prebuilt statements)."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Select, and_, bindparam, delete, insert, select, update

from annotation.records import Admit, AnswerContext, Draft, Judgement, Saved, name_key
from cir_core.errors import StudyClosed, UsedToken
from storage.checks import check_study_texts
from storage.engine.database import waits_for_rows
from storage.mapping import tables
from storage.mapping.records import judgement_values, record_from, study_from
from storage.studies.events import own_events
from storage.studies.lookups import find_study, not_joined, own_assignments, unknown_item
from storage.studies.seats import closed

_study, _seat, _assigned = tables.studies.c, tables.study_seats.c, tables.assignments.c
_judged, _draft = tables.judgements.c, tables.drafts.c
_ANSWERED = ("done", "unsure")

_SEAT = (_seat.study_id == bindparam("study_id"), _seat.annotator_key == bindparam("key"))
_LOCK = select(_seat.number).where(*_SEAT).with_for_update()
_MINE, _WITH_CONTEXT = (
    select(*columns, _seat.number, _seat.annotator, _assigned.state, _assigned.lasting)
    .join(tables.study_seats, _seat.study_id == _study.study_id).outerjoin(
        tables.assignments, and_(_assigned.item_id == bindparam("item_id"), _assigned.study_id == _seat.study_id,
                                 _assigned.seat == _seat.number),
    ).where(*_SEAT)
    for columns in ((_study.name, _study.accepting), (tables.studies, _seat.total, _seat.done, _assigned.extra)))
_REVISIONS = select(tables.judgements).where(
    _judged.item_id == bindparam("item_id"), _judged.seat == bindparam("seat"),
    (_judged.token == bindparam("token")) | _judged.current,
).order_by(_judged.revision)
_NOT_CURRENT = update(tables.judgements).where(_judged.judgement_id == bindparam("of_id")).values(current=False)
_ADD = insert(tables.judgements)
_SET_STATE = update(tables.assignments).where(
    _assigned.item_id == bindparam("of_item"), _assigned.seat == bindparam("of_seat")).values(state=bindparam("now"))
_SET_STICKY = update(tables.assignments).where(
    _assigned.item_id == bindparam("of_item"), _assigned.seat == bindparam("of_seat")).values(lasting=bindparam("true"))
_SEEN = update(tables.study_seats).where(
    _seat.study_id == bindparam("of_study"), _seat.number == bindparam("of_seat"),
).values(
    seen_at=bindparam("at"), released=False, total=_seat.total + bindparam("more_total"),
    done=_seat.done + bindparam("more_done"), unsure=_seat.unsure + bindparam("more_unsure"))
_DROP_DRAFT = delete(tables.drafts).where(_draft.item_id == bindparam("of_item"), _draft.seat == bindparam("of_seat"))


def save_judgement(
    connection: Connection, judgement: Judgement, *, unsure: bool, seen_revision: int | None,
    sticky_fields: Collection[str], admit: Admit | None,
) -> Saved:
    """Save an answer, idempotent by its token. In a write transaction. Raises ``UnknownStudy``, ``UnknownItem``,
    ``StudyClosed``, ``UsedToken``, and the errors of ``admit``."""
    mine = _own(connection, judgement.study_id, judgement.item_id, judgement.annotator,
                _MINE if admit is None else _WITH_CONTEXT)
    rows = connection.execute(_REVISIONS, {
        "item_id": judgement.item_id, "seat": mine.number, "token": judgement.token}).all()
    before = record_from(Judgement, rows[-1]) if rows else None
    if admit is not None:
        answer, unsure = admit(_answer_context(connection, mine, judgement, None if before is None else before.token))
        judgement = replace(judgement, answer=answer)
        check_study_texts(judgement)
    if before is not None and (same_token := next((row for row in rows if row.token == judgement.token), None)):
        if not _same(same_token.answer, judgement.answer, sticky_fields):
            raise UsedToken("This token was used for another answer to this item. Send a new token with every new "
                            "answer.")
        return Saved(before, repeated=True)
    if not mine.accepting:
        raise closed(mine.name)
    if mine.state == "handed_on" and _has_ended(connection, judgement.study_id, mine.number):
        raise StudyClosed(f"{mine.name} has ended for you and accepts no further answers. Your earlier answers "
                          "are saved.")
    saved_answer = _with_sticky_fields(connection, judgement.item_id, mine, judgement.answer, sticky_fields)
    repeated = before is not None and _same(before.answer, saved_answer, sticky_fields)
    if before is None or not repeated:
        revision = 1 if before is None else before.revision + 1
        saved = replace(judgement, answer=saved_answer, annotator=mine.annotator, revision=revision)
        if before is not None:
            connection.execute(_NOT_CURRENT, {"of_id": before.judgement_id})
        connection.execute(_ADD, judgement_values(saved, mine.number))
    else:
        saved = before
    of_item = {"of_item": judgement.item_id, "of_seat": mine.number}
    now = "unsure" if unsure else "done"
    if now != mine.state:
        connection.execute(_SET_STATE, of_item | {"now": now})
    connection.execute(_SEEN, {
        "of_study": judgement.study_id, "of_seat": mine.number, "at": judgement.created_at,
        "more_total": int(mine.state == "handed_on"), "more_done": int(mine.state not in _ANSWERED),
        "more_unsure": int(unsure) - int(mine.state == "unsure")})
    connection.execute(_DROP_DRAFT, of_item)
    overtook = not repeated and before is not None and seen_revision is not None and seen_revision < before.revision
    return Saved(saved, repeated, overtook)


def _has_ended(connection: Connection, study_id: str, seat: int) -> bool:
    """Whether the study has ended for the person of this seat, whose gold score was below the mark."""
    return any(one.ends_study for one in own_events(connection, {"study_id": study_id, "seat": seat}))


def put_draft(connection: Connection, study_id: str, draft: Draft, sticky_fields: Collection[str]) -> None:
    """Save a draft, also while the study is closed."""
    mine = _own(connection, study_id, draft.item_id, draft.annotator)
    answer = _with_sticky_fields(connection, draft.item_id, mine, draft.answer, sticky_fields)
    connection.execute(_DROP_DRAFT, {"of_item": draft.item_id, "of_seat": mine.number})
    connection.execute(insert(tables.drafts).values(
        item_id=draft.item_id, seat=mine.number, study_id=study_id, annotator=mine.annotator,
        answer=answer, seconds=float(draft.seconds), updated_at=draft.updated_at))


def remove_draft(connection: Connection, study_id: str, item_id: str, annotator: str) -> None:
    mine = _own(connection, study_id, item_id, annotator)
    connection.execute(_DROP_DRAFT, {"of_item": item_id, "of_seat": mine.number})


def read_drafts(connection: Connection, study_id: str, seat: int) -> list[tuple[Draft, Mapping[str, Any] | None]]:
    """A seat's drafts, each with the current answer."""
    found = connection.execute(
        select(tables.drafts, _judged.answer.label("answered")).outerjoin(
            tables.judgements, and_(_judged.item_id == _draft.item_id, _judged.seat == _draft.seat, _judged.current),
        ).where(_draft.study_id == study_id, _draft.seat == seat)).all()
    return [(record_from(Draft, row), row.answered) for row in found]


def _answer_context(connection: Connection, mine: Any, judgement: Judgement, token: str | None) -> AnswerContext:
    return AnswerContext(
        study_from(mine), mine.total, mine.done, judgement.item_id, mine.state, mine.extra or {}, token,
        own_events(connection, {"study_id": judgement.study_id, "seat": mine.number}),
        lambda: own_assignments(connection, judgement.study_id, judgement.annotator))


def _own(connection: Connection, study_id: str, item_id: str, annotator: str, query: Select[Any] = _MINE) -> Any:
    """The study, the person's seat, and the item's state for this seat. Locks the seat: saves of one person are
    serialised, also with reassignments."""
    seat = {"study_id": study_id, "key": name_key(annotator)}
    if waits_for_rows(connection):
        connection.execute(_LOCK, seat)
    mine = connection.execute(query, seat | {"item_id": item_id}).first()
    if mine is None:
        raise not_joined(find_study(connection, study_id).name)
    if mine.state is None:
        raise unknown_item(mine.name)
    return mine


def _with_sticky_fields(
    connection: Connection, item_id: str, mine: Any, answer: Mapping[str, Any], sticky_fields: Collection[str],
) -> dict[str, Any]:
    """``answer`` with all sticky fields that were ever true, which are stored with the assignment."""
    known = frozenset(mine.lasting or ())
    true = known | {name for name in sticky_fields if answer.get(name) is True}
    if true != known:
        connection.execute(_SET_STICKY, {"of_item": item_id, "of_seat": mine.number, "true": sorted(true)})
    return {**answer, **dict.fromkeys(true, True)}


def _same(one: Mapping[str, Any], other: Mapping[str, Any], sticky_fields: Collection[str]) -> bool:
    """Equality as JSON: 1 and true are equal in Python, and a tuple is read back as a list."""
    return _plain(one, sticky_fields) == _plain(other, sticky_fields)


def _plain(answer: Mapping[str, Any], sticky_fields: Collection[str]) -> str:
    return json.dumps({name: value for name, value in answer.items() if name not in sticky_fields}, sort_keys=True)
