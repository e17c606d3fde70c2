"""Decisions of adjudicators, their own answers from before, and discussions on items."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection, func, insert, select, update

from annotation.records import AuditEvent, Decision, FirstAnswer, Message, Study, name_key
from cir_core.errors import UnknownItem, UsedToken
from storage.accounts.audit_log import log_event
from storage.mapping import tables
from storage.mapping.records import decision_values, record_from, records_from
from storage.studies.lookups import find_study

_decided, _item = tables.decisions.c, tables.study_items.c
_first, _said = tables.first_answers.c, tables.messages.c


def read_decisions(connection: Connection, study_id: str, *, history: bool) -> Sequence[Decision]:
    """By item number; with ``history`` every revision, oldest first within an item."""
    query = select(tables.decisions).join(tables.study_items, _item.item_id == _decided.item_id).where(
        _decided.study_id == study_id).order_by(_item.number, _decided.revision)
    return records_from(Decision, connection.execute(query if history else query.where(_decided.current)))


def save_decision(connection: Connection, decision: Decision) -> Decision:
    """Save a decision. Returns the current one: with a new revision, or the previous one if nothing has changed."""
    study = _study_of(connection, decision)
    found = records_from(Decision, connection.execute(select(tables.decisions).where(
        _decided.item_id == decision.item_id, (_decided.token == decision.token) | _decided.current,
    ).order_by(_decided.revision)))
    before = found[-1] if found else None
    same_token = next((one for one in found if one.token == decision.token), None)
    if same_token is not None and not _same(same_token, decision):
        raise UsedToken("This token was used for another decision on this item. Send a new token with every new "
                        "decision.")
    if before is not None and (same_token is not None or _same(before, decision)):
        return before
    saved = replace(decision, revision=1 if before is None else before.revision + 1)
    if before is not None:
        connection.execute(
            update(tables.decisions).where(_decided.decision_id == before.decision_id).values(current=False))
    connection.execute(insert(tables.decisions).values(decision_values(saved)))
    log_event(connection, AuditEvent("item.decided", saved.adjudicator, study.name, study.study_id, {
        "item": saved.item_id, "revision": saved.revision}))
    return saved


def read_first_answers(
    connection: Connection, study_id: str, adjudicator: str | None, item_id: str | None,
) -> tuple[FirstAnswer, ...]:
    """Of everybody, or one person; of all items, or one."""
    query = select(tables.first_answers).where(_first.study_id == study_id)
    if adjudicator is not None:
        query = query.where(_first.adjudicator_key == name_key(adjudicator))
    if item_id is not None:
        query = query.where(_first.item_id == item_id)
    return records_from(FirstAnswer, connection.execute(query.order_by(_first.created_at, _first.item_id)))


def save_first_answer(connection: Connection, given: FirstAnswer) -> FirstAnswer:
    """Save an adjudicator's own answer to an item, unless there is one; returns the one that is stored."""
    _study_of(connection, given)
    there = read_first_answers(connection, given.study_id, given.adjudicator, given.item_id)
    if there:
        return there[0]
    connection.execute(insert(tables.first_answers).values(
        vars(given) | {"adjudicator_key": name_key(given.adjudicator), "answer": dict(given.answer)}))
    return given


def read_messages(connection: Connection, study_id: str, item_id: str | None) -> tuple[Message, ...]:
    """On an item, or all of them, oldest first within an item."""
    query = select(tables.messages).where(_said.study_id == study_id)
    if item_id is not None:
        query = query.where(_said.item_id == item_id)
    return records_from(Message, connection.execute(query.order_by(_said.item_id, _said.number)))


def save_message(connection: Connection, message: Message) -> Message:
    """Add to a discussion, once for each token; returns what is stored."""
    _study_of(connection, message)
    there = connection.execute(select(tables.messages).where(
        _said.item_id == message.item_id, _said.token == message.token)).first()
    if there is not None:
        known = record_from(Message, there)
        if (known.text, known.author) != (message.text, message.author):
            raise UsedToken("This token was used for another message on this item. Send a new token with every new "
                            "message.")
        return known
    last = connection.execute(select(func.max(_said.number)).where(_said.item_id == message.item_id)).scalar_one()
    connection.execute(insert(tables.messages).values(vars(message) | {"number": (last or 0) + 1}))
    return message


def _study_of(connection: Connection, of: Decision | FirstAnswer | Message) -> Study:
    """The study of an item, locked. Raises ``UnknownItem``."""
    study = find_study(connection, of.study_id, lock=True)
    if connection.execute(select(_item.item_id).where(
            _item.item_id == of.item_id, _item.study_id == study.study_id)).first() is None:
        raise UnknownItem(f"No such item in {study.name}. Reload the page.")
    return study


def _same(one: Decision, other: Decision) -> bool:
    return _plain(one) == _plain(other)


def _plain(decision: Decision) -> str:
    return json.dumps([dict(decision.answer), decision.reason, decision.adjudicator], sort_keys=True)
