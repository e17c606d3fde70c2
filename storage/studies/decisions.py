"""Decisions of adjudicators."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection, insert, select, update

from annotation.records import AuditEvent, Decision
from cir_core.errors import UnknownItem, UsedToken
from storage.accounts.audit_log import log_event
from storage.mapping import tables
from storage.mapping.records import decision_values, records_from
from storage.studies.lookups import find_study

_decided, _item = tables.decisions.c, tables.study_items.c


def read_decisions(connection: Connection, study_id: str, *, history: bool) -> Sequence[Decision]:
    """By item number; with ``history`` every revision, oldest first within an item."""
    query = select(tables.decisions).join(tables.study_items, _item.item_id == _decided.item_id).where(
        _decided.study_id == study_id).order_by(_item.number, _decided.revision)
    return records_from(Decision, connection.execute(query if history else query.where(_decided.current)))


def save_decision(connection: Connection, decision: Decision) -> Decision:
    """Save a decision. Returns the current one: with a new revision, or the previous one if nothing has changed."""
    study = find_study(connection, decision.study_id, lock=True)
    if connection.execute(select(_item.item_id).where(
            _item.item_id == decision.item_id, _item.study_id == study.study_id)).first() is None:
        raise UnknownItem(f"No such item in {study.name}. Reload the page.")
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


def _same(one: Decision, other: Decision) -> bool:
    return _plain(one) == _plain(other)


def _plain(decision: Decision) -> str:
    return json.dumps([dict(decision.answer), decision.reason, decision.adjudicator], sort_keys=True)
