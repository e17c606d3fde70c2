"""The audit log: filters, and export as CSV or JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Literal, Protocol, get_args

from annotation.records import AUDIT_ACTIONS, AUDIT_GROUPS, AuditEvent, AuditFilter, LoggedEvent
from cir_core.errors import LogError
from cir_core.support.tables import csv_file
from cir_core.support.texts import quoted

LogForm = Literal["csv", "jsonl"]
LOG_FORMS: tuple[LogForm, ...] = get_args(LogForm)
LOG_COLUMNS = ("number", "at", "kind", "by", "about", "study_id", "details")
ASKED_FOR: tuple[str, ...] = (*AUDIT_GROUPS, *AUDIT_ACTIONS)
"""Values of the filter ``kind``: groups of actions, then each action."""
_CHUNK = 1000


class AuditLog(Protocol):
    """Append-only log of events. Raises ``StorageError``."""

    def note(self, event: AuditEvent) -> None:
        """Durable when this returns."""

    def acts(
        self, which: AuditFilter = AuditFilter(), *, before: int | None = None, limit: int = 100,
    ) -> Sequence[LoggedEvent]:
        """Events, newest first; with ``before`` those with a smaller number."""


def read_filter(person: str = "", kind: str = "", since: str = "", until: str = "") -> AuditFilter:
    """Parse a filter from user input. ``until`` a day includes that day. Raises ``LogError``."""
    kind, begin, end = kind.strip(), read_moment(since), read_moment(until, whole_day=True)
    if kind and kind not in ASKED_FOR:
        raise LogError(f"The log has no kind {quoted(kind)}. Choose one of: {', '.join(ASKED_FOR)}.")
    if begin is not None and end is not None and begin >= end:
        raise LogError(f"The start {since.strip()} is not before the end {until.strip()} (UTC). Swap the two, or "
                       "choose a later end.")
    return AuditFilter(person.strip()[:200], kind, begin, end)


def every_act(log: AuditLog, which: AuditFilter) -> Iterator[LoggedEvent]:
    """All events, newest first, without those added meanwhile."""
    before = None
    while page := log.acts(which, before=before, limit=_CHUNK):
        yield from page
        before = page[-1].number


def log_file(acts: Iterable[LoggedEvent], form: LogForm) -> bytes:
    """CSV for spreadsheets, with formulas escaped, or one JSON object per line."""
    if form == "csv":
        return csv_file(LOG_COLUMNS, (
            [row[name] if name != "details" else json.dumps(row[name], ensure_ascii=False) for name in LOG_COLUMNS]
            for row in map(act_json, acts)))
    return "".join(json.dumps(act_json(one), ensure_ascii=False) + "\n" for one in acts).encode()


def act_json(logged: LoggedEvent) -> dict[str, Any]:
    event = logged.act
    return {"number": logged.number, "at": logged.at.isoformat(timespec="seconds"), "kind": event.kind, "by": event.by,
            "about": event.about, "study_id": event.study_id, "details": dict(event.details)}


def read_moment(text: str, *, whole_day: bool = False) -> datetime | None:
    """A day or a time in UTC as a person writes it, None for "". ``whole_day``: the end of a day. Raises
    ``LogError``."""
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
        raise LogError(f"{quoted(text)} is not a time. Write a day, 2026-05-01, or a time in UTC, 2026-05-01T14:30."
                          ) from None
