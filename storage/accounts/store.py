"""SQL store of accounts, sign-ins and invitations."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Engine, Row, bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from annotation.records import (
    HANDLE,
    LOCAL,
    AuditAction,
    AuditEvent,
    Changed,
    CountFailure,
    FailedLogins,
    Invitation,
    Person,
    Role,
    SignIn,
    came_from,
    lookalike,
    name_key,
)
from cir_core.errors import AccessError, StorageError
from cir_core.support.texts import quoted
from storage.accounts import failed_logins, invitations
from storage.accounts.audit_log import log_event, signed_in_from
from storage.engine.database import reading, writing
from storage.engine.home_record import HomeRecord, database_name
from storage.mapping import tables
from storage.mapping.records import record_from, records_from
from storage.opening import accounts_are_gone, has_accounts

_person, _sign_in, _invited, _failed = tables.people.c, tables.sign_ins.c, tables.invitations.c, tables.failed_logins.c


class SqlPeopleStore:
    """``annotation.accounts.store.PeopleStore`` over an engine of ``open_database``. Thread-safe. ``record`` notes that
    accounts exist, so that a later loss of all of them is detected."""

    def __init__(self, engine: Engine, record: HomeRecord | None = None) -> None:
        self.engine, self._record = engine, record

    def any(self) -> bool:
        found = has_accounts(self.engine)
        if self._record is not None and not found and self._record.had_accounts():
            raise accounts_are_gone(self.engine, self._record)
        if found:   # perhaps made by a process with another home folder
            with suppress(StorageError):
                self._remember()
        return found

    def add(self, person: Person, *, by: str = LOCAL) -> None:
        _check_name(person.name)
        try:
            with writing(self.engine) as connection:
                _add(connection, person)
                log_event(connection, AuditEvent("account.made", by, person.name, details={"role": person.role}))
        except StorageError as error:
            if self._is_taken_meanwhile(error, person):
                raise _name_taken(person.name) from error
            raise
        self._remember()   # on disk before the account is used

    def person(self, name: str) -> Person | None:
        with reading(self.engine) as connection:
            row = connection.execute(select(tables.people).where(_person.name_key == name_key(name))).first()
        return None if row is None else record_from(Person, row)

    def people(self) -> Sequence[Person]:
        with reading(self.engine) as connection:
            return records_from(Person, connection.execute(select(tables.people).order_by(_person.name_key)))

    def change(
        self, name: str, *, role: Role | None = None, password_hash: str | None = None, active: bool | None = None,
        by: str | None = LOCAL, at: datetime | None = None,
    ) -> Changed:
        changes = {"role": role, "password_hash": password_hash, "active": active}
        values = {column: value for column, value in changes.items() if value is not None}
        key = name_key(name)
        with writing(self.engine) as connection:
            admins = set(connection.execute(select(_person.name_key).where(
                _person.role == "admin", _person.active).with_for_update()).scalars())
            row = connection.execute(select(tables.people).where(_person.name_key == key).with_for_update()).first()
            if row is None:
                raise AccessError(f"There is no account named {quoted(name)}. Check the name in the list of people.")
            if admins == {key} and (active is False or role not in (None, "admin")):
                raise AccessError(f"{row.name} is the only admin who can sign in. Make another person an admin first.")
            if values:
                connection.execute(update(tables.people).where(_person.name_key == key).values(**values))
            if password_hash is not None or active is False:
                connection.execute(delete(tables.sign_ins).where(_sign_in.name_key == key))
            if by is not None:
                for event in _changes(row, by, role, password_hash, active):
                    log_event(connection, event)
            person = record_from(Person, connection.execute(select(tables.people).where(_person.name_key == key)).one())
            withdrawn = 0
            if not (key in admins and person.active and person.role == "admin"):
                withdrawn = invitations.withdraw_all(connection, row.name, by or LOCAL, at or datetime.now(UTC))
            return Changed(person, withdrawn)

    def begin(self, sign_in: SignIn, address: str = "") -> None:
        """Raises ``AccessError`` for an unknown or inactive account."""
        key = name_key(sign_in.name)
        with writing(self.engine) as connection:
            connection.execute(delete(tables.sign_ins).where(
                _sign_in.expires_at <= sign_in.created_at - invitations.KEPT))
            active = connection.execute(
                select(_person.active).where(_person.name_key == key).with_for_update()).scalar_one_or_none()
            if not active:
                raise AccessError(f"{sign_in.name} can no longer sign in. Ask an admin.")
            connection.execute(insert(tables.sign_ins).values(
                digest=sign_in.digest, name_key=key, created_at=sign_in.created_at, expires_at=sign_in.expires_at))
            log_event(connection, AuditEvent("sign-in", sign_in.name, details=came_from(address)))

    def visitor(self, digest: str, now: datetime) -> tuple[Person, SignIn] | None:
        with reading(self.engine) as connection:
            row = connection.execute(_VISITOR, {"of_digest": digest, "now": now}).first()
        if row is None:
            return None
        return record_from(Person, row), SignIn(row.digest, row.name, row.begun_at, row.expires_at)

    def extend(self, digest: str, expires_at: datetime) -> None:
        with writing(self.engine) as connection:
            connection.execute(update(tables.sign_ins).where(_sign_in.digest == digest).values(expires_at=expires_at))

    def end(self, digest: str) -> None:
        with writing(self.engine) as connection:
            name = connection.execute(select(_person.name).join(tables.sign_ins, _sign_in.name_key == _person.name_key)
                                      .where(_sign_in.digest == digest)).scalar_one_or_none()
            if name is not None and connection.execute(
                    delete(tables.sign_ins).where(_sign_in.digest == digest)).rowcount:
                log_event(connection, AuditEvent("sign-out", name))

    def note(self, event: AuditEvent) -> None:
        with writing(self.engine) as connection:
            log_event(connection, event)

    def invite(self, invitation: Invitation) -> None:
        with writing(self.engine) as connection:
            invitations.save(connection, invitation)

    def invitation(self, digest: str, now: datetime) -> Invitation | None:
        with reading(self.engine) as connection:
            row = connection.execute(invitations.usable(now).where(_invited.digest == digest)).first()
        return None if row is None else record_from(Invitation, row)

    def invitations(self, now: datetime) -> Sequence[Invitation]:
        """Usable ones, newest first."""
        with reading(self.engine) as connection:
            return records_from(Invitation, connection.execute(
                invitations.usable(now).order_by(_invited.created_at.desc(), _invited.digest)))

    def withdraw(self, digest: str, *, by: str = LOCAL) -> bool:
        with writing(self.engine) as connection:
            return invitations.withdraw(connection, digest, by)

    def accept(self, digest: str, person: Person, now: datetime) -> None:
        _check_name(person.name)
        try:
            with writing(self.engine) as connection:
                if connection.execute(
                        invitations.usable(now).where(_invited.digest == digest).with_for_update()).first() is None:
                    raise AccessError("This invitation can no longer be used. Ask for a new one.")
                _add(connection, person)
                connection.execute(update(tables.invitations).where(_invited.digest == digest)
                                   .values(uses_left=_invited.uses_left - 1))
                log_event(connection, AuditEvent("invitation.used", person.name, digest[:HANDLE], details={
                    "role": person.role}))
        except StorageError as error:
            if self._is_taken_meanwhile(error, person):
                raise _name_taken(person.name) from error
            raise

    def failed_logins(self, keys: Collection[str]) -> Mapping[str, FailedLogins]:
        with reading(self.engine) as connection:
            return {row.key: FailedLogins(row.tries, row.last_at)
                    for row in connection.execute(select(tables.failed_logins).where(_failed.key.in_(keys)))}

    def add_failed_login(self, counts: Mapping[str, CountFailure], at: datetime, forget_before: datetime) -> None:
        with writing(self.engine) as connection:
            failed_logins.add(connection, counts, at, forget_before)

    def clear_failed_logins(self, key: str, others: Collection[str]) -> None:
        with writing(self.engine) as connection:
            failed_logins.clear(connection, key, others)

    def signed_in_from(self, name: str, since: datetime) -> Collection[str]:
        with reading(self.engine) as connection:
            return signed_in_from(connection, name, since)

    def _remember(self) -> None:
        if self._record is not None:
            self._record.note_accounts(database_name(self.engine.url, self._record.home))

    def _is_taken_meanwhile(self, error: StorageError, person: Person) -> bool:
        """On PostgreSQL the name may be taken between the check and the insert."""
        return isinstance(error.__cause__, IntegrityError) and self.person(person.name) is not None


_VISITOR = select(
    tables.people, _sign_in.digest, _sign_in.created_at.label("begun_at"), _sign_in.expires_at,
).join(tables.sign_ins, _sign_in.name_key == _person.name_key).where(
    _sign_in.digest == bindparam("of_digest"), _sign_in.expires_at > bindparam("now"), _person.active)


def _add(connection: Connection, person: Person) -> None:
    key = name_key(person.name)
    names = {row.name_key: row.name for row in connection.execute(select(_person.name_key, _person.name))}
    if key in names:
        raise _name_taken(person.name)
    if like := lookalike(person.name, names.values()):
        raise AccessError(f"{quoted(person.name)} looks like {quoted(like)}, which is already taken. "
                          "Choose another name.")
    connection.execute(insert(tables.people).values(vars(person) | {"name_key": key}))


def _changes(
    before: Row[Any], by: str, role: Role | None, password_hash: str | None, active: bool | None,
) -> Iterator[AuditEvent]:
    """Audit events of a change; also where the value stays the same, because it was set on purpose."""
    if role is not None:
        yield AuditEvent("account.role", by, before.name, details={"from": before.role, "to": role})
    if password_hash is not None:
        yield AuditEvent("account.password", by, before.name)
    if active is not None:
        kind: AuditAction = "account.activated" if active else "account.deactivated"
        yield AuditEvent(kind, by, before.name)


def _name_taken(name: str) -> AccessError:
    return AccessError(f"The name {quoted(name)} is already taken. Choose another name.")


def _check_name(name: str) -> None:
    if not name_key(name):
        raise AccessError("The name is empty or contains characters that cannot be stored. Choose another name.")
