"""The payment table, and the files for recruiting sites."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta

import pytest

from annotation.records import Assignment, Participant, PaymentDecision, Seat, Study, StudyPlan
from annotation.recruitment.payment import decisions_from, payment_file, payment_rows
from cir_core.errors import StudyError

NOW = datetime(2026, 1, 2, 12, tzinfo=UTC)
STUDY = Study("st", "Shops", "validity", "circus/2", StudyPlan(2, 1, 0, 7), True, {}, {}, "local", NOW)
MTURK = {"hitId": "H1", "assignmentId": "A1"}
PEOPLE = [
    Participant("st", "w1", "P-1", MTURK, "finished", {}, "", NOW, NOW, NOW + timedelta(minutes=30), "C1", "approved"),
    Participant("st", "w2", "P-2", {}, "in", {}, "", NOW, NOW, None, "", "rejected", "=too fast, \"really\""),
    Participant("st", "w3", "P-3", {}, "screened-out", {}, "", NOW),
]
SEATS = [Seat("st", 1, "P-1", NOW, NOW), Seat("st", 2, "P-2", NOW, NOW + timedelta(minutes=5)),
         Seat("st", 3, None, None, None)]
WORK = [Assignment("a", 1, 0, "done", "P-1"), Assignment("b", 1, 1, "unsure", "P-1"),
        Assignment("c", 2, 0, "done", "P-2"), Assignment("d", 2, 1, "open", "P-2"),
        Assignment("e", 2, 2, "handed_on", "P-2")]
ROWS = payment_rows(PEOPLE, SEATS, WORK)


def read(content):
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))


def test_who_when_how_long_how_much():
    assert [(row.done, row.total, row.minutes) for row in ROWS] == [(2, 2, 30.0), (1, 2, 5.0), (0, 0, None)]
    name, content = payment_file(STUDY, ROWS, "table")
    head, *rows = read(content)
    assert name == "participants.csv"
    assert [dict(zip(head, row, strict=True))["participant_id"] for row in rows] == ["w1", "w2", "w3"]
    second = dict(zip(head, rows[1], strict=True))
    assert (second["payment"], second["minutes"], second["done"], second["items"]) == ("rejected", "5.0", "1", "2")
    assert second["reason"] == "'=too fast, \"really\""   # no formula for a spreadsheet


def test_files_for_sites():
    assert payment_file(STUDY, ROWS, "ids") == ("approved.csv", b"w1\n")
    assert read(payment_file(STUDY, ROWS, "mturk")[1]) == [
        ["HITId", "AssignmentId", "WorkerId", "Approve", "Reject"],
        ["H1", "A1", "w1", "x", ""], ["", "", "w2", "", "'=too fast, \"really\""]]
    with pytest.raises(StudyError, match="table, ids, mturk"):
        payment_file(STUDY, ROWS, "pdf")


def test_decisions_need_a_reason_to_reject():
    assert decisions_from(["a", "a", "b"], "approved", "") == [
        PaymentDecision("a", "approved"), PaymentDecision("b", "approved")]
    assert decisions_from(["a"], "rejected", " too\nfast ") == [PaymentDecision("a", "rejected", "too fast")]
    for ids, payment, reason, says in (
        (["a"], "rejected", " ", "Give a reason"), (["a"], "paid", "", "one of"), ([], "approved", "", "at least one"),
        (["a b"], "approved", "", "without spaces"), (["a"], "rejected", "x" * 501, "at most 500"),
    ):
        with pytest.raises(StudyError, match=says):
            decisions_from(ids, payment, reason)
