"""Records of the audit log: who did what. They never contain what people wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

AuditAction = Literal[
    "sign-in", "sign-in.failed", "sign-in.throttled", "sign-out", "account.made", "account.role", "account.password",
    "account.deactivated", "account.activated", "invitation.made", "invitation.used", "invitation.withdrawn",
    "study.made", "study.imported", "study.opened", "study.closed", "study.released", "study.renamed", "study.removed",
    "study.settings", "study.exported", "scores.added", "scores.removed", "item.decided", "report.downloaded",
    "session.exported", "benchmark.started", "benchmark.stopped", "benchmark.downloaded", "log.exported",
    "database.backed-up", "database.restored",
]
AUDIT_ACTIONS: tuple[AuditAction, ...] = get_args(AuditAction)
_FIRST_WORDS = Counter(kind.partition(".")[0] for kind in AUDIT_ACTIONS)
AUDIT_GROUPS: Mapping[str, tuple[AuditAction, ...]] = {
    f"{first}.all": tuple(kind for kind in AUDIT_ACTIONS if kind.partition(".")[0] == first)
    for first, kinds in _FIRST_WORDS.items() if kinds > 1}
"""Groups of actions, for filters. No group has the name of an action: ``sign-in`` is not ``sign-in.all``."""


@dataclass(frozen=True)
class AuditEvent:
    """One event. ``by`` is empty if the person is unknown, as with a wrong password."""

    kind: AuditAction
    by: str
    about: str = ""                  # name of the person or the study, handle of the invitation
    study_id: str | None = None      # because names change
    details: Mapping[str, Any] = field(default_factory=dict)   # plain JSON


def came_from(address: str) -> dict[str, str]:
    """Details of a sign-in; empty without a known address."""
    return {"address": address} if address else {}


@dataclass(frozen=True)
class LoggedEvent:
    """A stored event. ``number`` increases with every event."""

    number: int
    at: datetime
    act: AuditEvent


@dataclass(frozen=True)
class AuditFilter:
    """Filter of events. ``person``: who acted, or who was affected. ``kind``: an action or a group. ``until`` is
    exclusive."""

    person: str = ""
    kind: str = ""
    since: datetime | None = None
    until: datetime | None = None
