"""The payment table of a study's participants, and the files that recruiting sites take for bulk approval."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from annotation.records import Assignment, Participant, Payment, PaymentDecision, Seat, Study
from annotation.recruitment.ids import checked_id
from annotation.tables import Column, Table, in_utc, to_csv
from cir_core.errors import StudyError
from cir_core.support.tables import csv_file
from cir_core.support.texts import can_be_stored, quoted

PaymentForm = Literal["table", "ids", "mturk"]
FORMS: tuple[PaymentForm, ...] = get_args(PaymentForm)
PAYMENTS: tuple[Payment, ...] = get_args(Payment)
_REASON = 500


@dataclass(frozen=True)
class PaymentRow:
    """``minutes``: from the seat to the end, else to the last activity."""

    participant: Participant
    done: int
    total: int
    seen_at: datetime | None

    @property
    def minutes(self) -> float | None:
        begun, end = self.participant.seated_at, self.participant.finished_at or self.seen_at
        return None if begun is None or end is None else max(0.0, (end - begun).total_seconds() / 60)


def payment_rows(
    participants: Sequence[Participant], seats: Iterable[Seat], assignments: Iterable[Assignment],
) -> list[PaymentRow]:
    """In order of arrival."""
    seat_of = {seat.annotator: seat for seat in seats if seat.annotator}
    done: dict[int, int] = {}
    total: dict[int, int] = {}
    for one in assignments:
        if one.state != "handed_on":
            total[one.seat] = total.get(one.seat, 0) + 1
            done[one.seat] = done.get(one.seat, 0) + (one.state != "open")
    rows = []
    for participant in participants:
        seat = seat_of.get(participant.annotator)
        number = 0 if seat is None else seat.number
        rows.append(PaymentRow(participant, done.get(number, 0), total.get(number, 0),
                               None if seat is None else seat.seen_at))
    return rows


def payment_file(study: Study, rows: Sequence[PaymentRow], form: str) -> tuple[str, bytes]:
    """Name and content. ``table``: everything; ``ids``: approved participants, one id a line, for Prolific's bulk
    approval; ``mturk``: decided assignments, as MTurk and CloudResearch take them back. Raises ``StudyError``."""
    if form == "table":
        return "participants.csv", to_csv(Table.of(study, _COLUMNS, rows))
    if form == "ids":
        ids = [row.participant.participant_id for row in rows if row.participant.payment == "approved"]
        return "approved.csv", "".join(f"{one}\n" for one in ids).encode()
    if form == "mturk":
        decided = [row.participant for row in rows if row.participant.payment != "open"]
        return "batch.csv", csv_file(
            ["HITId", "AssignmentId", "WorkerId", "Approve", "Reject"],
            [(one.site.get("hitId", ""), one.site.get("assignmentId", ""), one.participant_id,
              "x" if one.payment == "approved" else "", one.reason if one.payment == "rejected" else "")
             for one in decided])
    raise StudyError(f"There is no payment file {quoted(form)}. Choose one of: {', '.join(FORMS)}.")


def decisions_from(ids: Iterable[str], payment: object, reason: object) -> list[PaymentDecision]:
    """One decision for each id. Raises ``StudyError`` for an unknown kind of payment, and for a rejection without a
    reason."""
    found = next((one for one in PAYMENTS if one == payment), None)
    if found is None:
        raise StudyError(f"A payment is one of: {', '.join(PAYMENTS)}.")
    if not isinstance(reason, str) or len(reason) > _REASON or not can_be_stored(reason):
        raise StudyError(f"A reason is a text of at most {_REASON} characters.")
    why = " ".join(reason.split())
    if found == "rejected" and not why:
        raise StudyError("Give a reason: the participants read it, and recruiting sites ask for one.")
    unique = dict.fromkeys(map(checked_id, ids))
    if not unique:
        raise StudyError("Choose at least one participant.")
    return [PaymentDecision(one, found, why if found == "rejected" else "") for one in unique]


def _site(row: Any) -> str | None:
    return "; ".join(f"{name}={value}" for name, value in row.participant.site.items()) or None


def _time(at: datetime | None) -> datetime | None:
    return None if at is None else in_utc(at)


_COLUMNS = (
    Column("participant_id", "text", "id that the recruiting site gave", lambda row: row.participant.participant_id),
    Column("annotator", "text", "name in judgements and exports", lambda row: row.participant.annotator),
    Column("site", "text", "other parameters of the link", _site),
    Column("state", "text", "how far the participant has come", lambda row: row.participant.state),
    Column("entered_at", "time", "when the link was opened first", lambda row: _time(row.participant.entered_at)),
    Column("seated_at", "time", "when the work began", lambda row: _time(row.participant.seated_at)),
    Column("finished_at", "time", "when the work was finished", lambda row: _time(row.participant.finished_at)),
    Column("minutes", "number", "from the beginning to the end, else to the last activity",
           lambda row: None if row.minutes is None else round(row.minutes, 1)),
    Column("done", "integer", "answered items", lambda row: row.done),
    Column("items", "integer", "assigned items", lambda row: row.total),
    Column("code", "text", "code shown at the end", lambda row: row.participant.code or None),
    Column("payment", "text", "open, approved or rejected", lambda row: row.participant.payment),
    Column("reason", "text", "why it was rejected", lambda row: row.participant.reason or None),
)
