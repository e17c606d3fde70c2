"""The audit log: reading what was asked for, and the log as files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Literal, Protocol, get_args

from annotation.records import AUDIT_ACTIONS, AUDIT_GROUPS, AuditEvent, AuditFilter, LoggedEvent
from annotation.tables.files import csv_file
from cir_core.errors import LogError
from cir_core.support.texts import quoted

LogForm = Literal["csv", "jsonl"]
LOG_FORMS: tuple[LogForm, ...] = get_args(LogForm)
LOG_COLUMNS = ("number", "at", "kind", "by", "about", "study_id", "details")
ASKED_FOR: tuple[str, ...] = (*AUDIT_GROUPS, *AUDIT_ACTIONS)
"""What the log can be asked for: groups of kinds, then each kind."""
_CHUNK = 1000


class AuditLog(Protocol):
    """Where acts are kept. Only ever added to. Raises ``StorageError``."""

    def note(self, act: AuditEvent) -> None:
        """Durable when this returns."""
        ...

    def acts(
        self, which: AuditFilter = AuditFilter(), *, before: int | None = None, limit: int = 100,
    ) -> Sequence[LoggedEvent]:
        """The latest first; with ``before`` those with a smaller number."""
        ...


def read_filter(person: str = "", kind: str = "", since: str = "", until: str = "") -> AuditFilter:
    """A filter of what a person typed. ``until`` a day includes that day. Raises ``LogError``."""
    kind, begin, end = kind.strip(), _moment(since), _moment(until, whole_day=True)
    if kind and kind not in ASKED_FOR:
        raise LogError(f"The log has no kind {quoted(kind)}. Take one of: {', '.join(ASKED_FOR)}.")
    if begin is not None and end is not None and begin >= end:
        raise LogError(f"No time is both from {since.strip()} on and up to {until.strip()} (UTC). Exchange the two, or "
                       "take a later end.")
    return AuditFilter(person.strip()[:200], kind, begin, end)


def every_act(log: AuditLog, which: AuditFilter) -> Iterator[LoggedEvent]:
    """All of them, the latest first; what is noted meanwhile is left out."""
    before = None
    while page := log.acts(which, before=before, limit=_CHUNK):
        yield from page
        before = page[-1].number


def log_file(acts: Iterable[LoggedEvent], form: LogForm) -> bytes:
    """A table for spreadsheets, in which no text is run as a formula, or one JSON object a line."""
    if form == "csv":
        return csv_file(LOG_COLUMNS, (
            [row[name] if name != "details" else json.dumps(row[name], ensure_ascii=False) for name in LOG_COLUMNS]
            for row in map(act_json, acts)))
    return "".join(json.dumps(act_json(one), ensure_ascii=False) + "\n" for one in acts).encode()


def act_json(noted: LoggedEvent) -> dict[str, Any]:
    act = noted.act
    return {"number": noted.number, "at": noted.at.isoformat(timespec="seconds"), "kind": act.kind, "by": act.by,
            "about": act.about, "study_id": act.study_id, "details": dict(act.details)}


def _moment(text: str, *, whole_day: bool = False) -> datetime | None:
    text = text.strip()
    if not text:
        return None
    try:
        if len(text) == len("2026-05-01"):
            day = date.fromisoformat(text) + timedelta(days=1 if whole_day else 0)
            return datetime.combine(day, time(), UTC)
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise LogError(f"{quoted(text)} is no time. Write a day, 2026-05-01, or a time in UTC, 2026-05-01T14:30."
                          ) from None
