"""Invitations in the database, inside the transactions of ``SqlPeopleStore``."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, delete, exists, insert, select

from annotation.records import LOCAL, AuditEvent, Invitation, name_key
from cir_core.errors import AccessError
from storage.accounts.audit_log import log_event
from storage.mapping import tables
from storage.mapping.records import record_from

KEPT = timedelta(days=7)
"""How long expired rows stay in the database, unusable: so a clock that was temporarily ahead deletes nothing."""

_person, _invited = tables.people.c, tables.invitations.c
# Asked at every use and not only when somebody leaves, so that it holds whatever a database went through before.
_MAKER_MAY = (_invited.created_by == LOCAL) | exists().where(
    _person.name == _invited.created_by, _person.role == "admin", _person.active)   # names never change


def usable(now: datetime) -> Any:
    return select(tables.invitations).where(_invited.uses_left > 0, _invited.expires_at > now, _MAKER_MAY)


def save(connection: Connection, invitation: Invitation) -> None:
    """Store an invitation, and delete those that are used up or expired more than ``KEPT`` ago."""
    by = _maker(connection, invitation.created_by)
    connection.execute(delete(tables.invitations).where(
        (_invited.expires_at <= invitation.created_at - KEPT) | (_invited.uses_left <= 0)))
    connection.execute(insert(tables.invitations).values(vars(invitation) | {"created_by": by}))
    log_event(connection, AuditEvent("invitation.made", by, invitation.handle, details={
        "role": invitation.role, "uses": invitation.uses_left,
        "until": invitation.expires_at.isoformat(timespec="minutes")}))


def withdraw(connection: Connection, digest: str, by: str) -> bool:
    found = connection.execute(select(tables.invitations).where(_invited.digest == digest).with_for_update()).first()
    if found is None:
        return False
    connection.execute(delete(tables.invitations).where(_invited.digest == digest))
    invitation = record_from(Invitation, found)
    log_event(connection, AuditEvent("invitation.withdrawn", by, invitation.handle, details={"role": invitation.role}))
    return True


def withdraw_all(connection: Connection, maker: str, by: str, at: datetime) -> int:
    """Withdraw all invitations of ``maker``, whose row is locked, so that none is added meanwhile. Returns how many
    were still usable; these are logged."""
    found = connection.execute(select(tables.invitations).where(
        _invited.created_by == maker).order_by(_invited.digest).with_for_update()).all()
    connection.execute(delete(tables.invitations).where(_invited.created_by == maker))
    still_open = [row for row in found if row.uses_left > 0 and row.expires_at > at]
    for row in still_open:
        invitation = record_from(Invitation, row)
        log_event(connection, AuditEvent("invitation.withdrawn", by, invitation.handle, details={
            "role": invitation.role, "made_by": maker}))
    return len(still_open)


def _maker(connection: Connection, name: str) -> str:
    """The name as the account has it. Locks the row: a concurrent deactivation takes effect before or after."""
    if name == LOCAL:
        return name
    row = connection.execute(select(tables.people).where(_person.name_key == name_key(name)).with_for_update()).first()
    if row is None or not row.active or row.role != "admin":
        raise AccessError("Only admins can invite people. Ask one for an invitation.")
    return str(row.name)
