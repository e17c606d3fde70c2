"""Accounts, sign-ins and invitations in dicts."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from annotation.records import (
    LOCAL,
    AuditEvent,
    Changed,
    CountFailure,
    FailedLogins,
    Invitation,
    Person,
    Role,
    SignIn,
    lookalike,
    name_key,
    same_person,
)
from cir_core.errors import AccessError


class InMemoryPeopleStore:
    def __init__(self) -> None:
        self._people: dict[str, Person] = {}
        self.sign_ins: dict[str, SignIn] = {}
        self._invitations: dict[str, Invitation] = {}
        self.wrong: dict[str, FailedLogins] = {}
        self._came_from: list[tuple[str, str, datetime]] = []
        self._lock = threading.RLock()
        self.noted: list[AuditEvent] = []   # what changes nothing else
        self.asked = 0   # how often somebody was looked up

    def any(self) -> bool:
        return bool(self._people)

    def add(self, person: Person, *, by: str = LOCAL) -> None:
        with self._lock:
            if name_key(person.name) in self._people:
                raise AccessError(f"The name {person.name!r} is taken.")
            if like := lookalike(person.name, (one.name for one in self._people.values())):
                raise AccessError(f"{person.name!r} looks like {like!r}.")
            self._people[name_key(person.name)] = person

    def person(self, name: str) -> Person | None:
        return self._people.get(name_key(name))

    def people(self) -> Sequence[Person]:
        return [self._people[name] for name in sorted(self._people)]

    def change(
        self, name: str, *, role: Role | None = None, password_hash: str | None = None, active: bool | None = None,
        by: str | None = LOCAL, at: datetime | None = None,
    ) -> Changed:
        with self._lock:
            before = self.person(name)
            if before is None:
                raise AccessError(f"Nobody is called {name!r}.")
            after = replace(before, role=role or before.role, password_hash=password_hash or before.password_hash,
                            active=before.active if active is None else active)
            others = [one for one in self._people.values() if one.name != before.name]
            if not any(one.active and one.role == "admin" for one in (after, *others)):
                raise AccessError("No active admin would be left.")
            self._people[name_key(name)] = after
            if password_hash is not None or active is False:
                self._end_all(after.name)
            if all(one.active and one.role == "admin" for one in (before, after)):
                return Changed(after)
            gone = [one for one in self._invitations.values() if one.created_by == after.name]
            for one in gone:
                del self._invitations[one.digest]
            now = at or datetime.now(UTC)
            return Changed(after, sum(one.uses_left > 0 and now < one.expires_at for one in gone))

    def begin(self, sign_in: SignIn, address: str = "") -> None:
        self._came_from.append((name_key(sign_in.name), address, sign_in.created_at))
        self.sign_ins[sign_in.digest] = sign_in

    def visitor(self, digest: str, now: datetime) -> tuple[Person, SignIn] | None:
        self.asked += 1
        sign_in = self.sign_ins.get(digest)
        if sign_in is None or sign_in.expires_at <= now:
            return None
        person = self._people[name_key(sign_in.name)]
        return (person, sign_in) if person.active else None

    def extend(self, digest: str, expires_at: datetime) -> None:
        self.sign_ins[digest] = replace(self.sign_ins[digest], expires_at=expires_at)

    def end(self, digest: str) -> None:
        self.sign_ins.pop(digest, None)

    def note(self, event: AuditEvent) -> None:
        self.noted.append(event)

    def invite(self, invitation: Invitation) -> None:
        with self._lock:
            if not self._may_invite(invitation.created_by):
                raise AccessError("Only admins can invite people.")
            self._invitations[invitation.digest] = invitation

    def invitation(self, digest: str, now: datetime) -> Invitation | None:
        found = self._invitations.get(digest)
        usable = found is not None and found.uses_left > 0 and now < found.expires_at
        return found if usable and found is not None and self._may_invite(found.created_by) else None

    def invitations(self, now: datetime) -> Sequence[Invitation]:
        return [one for one in self._invitations.values() if self.invitation(one.digest, now)]

    def withdraw(self, digest: str, *, by: str = LOCAL) -> bool:
        return self._invitations.pop(digest, None) is not None

    def accept(self, digest: str, person: Person, now: datetime) -> None:
        with self._lock:
            invitation = self.invitation(digest, now)
            if invitation is None:
                raise AccessError("This invitation cannot be used.")
            self.add(person)
            self._invitations[digest] = replace(invitation, uses_left=invitation.uses_left - 1)

    def failed_logins(self, keys: Collection[str]) -> Mapping[str, FailedLogins]:
        return {key: self.wrong[key] for key in keys if key in self.wrong}

    def add_failed_login(self, counts: Mapping[str, CountFailure], at: datetime, forget_before: datetime) -> None:
        with self._lock:
            self.wrong = {key: wrong for key, wrong in self.wrong.items() if wrong.last_at >= forget_before}
            for key, count in counts.items():
                self.wrong[key] = count(self.wrong.get(key))

    def clear_failed_logins(self, key: str, others: Collection[str]) -> None:
        with self._lock:
            made = self.wrong.pop(key, None)
            for one in others:
                if made is not None and (wrong := self.wrong.get(one)) is not None:
                    self.wrong[one] = replace(wrong, count=max(0, wrong.count - made.count))

    def signed_in_from(self, name: str, since: datetime) -> Collection[str]:
        return {address for key, address, at in self._came_from
                if key == name_key(name) and address and at >= since}

    def _may_invite(self, name: str) -> bool:
        person = self.person(name)
        return name == LOCAL or (person is not None and person.active and person.role == "admin")

    def _end_all(self, name: str) -> None:
        for digest in [d for d, one in self.sign_ins.items() if same_person(one.name, name)]:
            del self.sign_ins[digest]
