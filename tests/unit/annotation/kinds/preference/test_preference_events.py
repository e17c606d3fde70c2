"""What people did between the questions, in the files of a study and in the list of its people."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from annotation.kinds.preference.answers import Preference
from annotation.kinds.preference.exports import judgement_table, preference_pairs, set_table
from annotation.kinds.preference.review import FORMS, event_table, people_table, preference_files
from annotation.kinds.preference.survey.flow import SECRET
from annotation.records import Seat, Study, StudyEvent
from annotation.studies.creation import HP_ANSWERS
from annotation.studies.overview import seat_progress
from annotation.tables import Table, to_csv, to_parquet
from cli.main import app
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import engine_of
from tests.fakes.preferences import START, a_check, a_judgement, a_study, an_answer, an_assignment, an_item, seats_of
from tests.fakes.preferences import keep as keep_study
from tests.integration.homes import command_home  # noqa: F401
from web.studies import manage

MINUTE = timedelta(minutes=1)
SEATS = [*seats_of("Ada", "Ben"), Seat("p1", 3, None, None, None)]
ANSWERS = [a_judgement(0, "Ada", an_answer()), a_judgement(1, "ADA", an_answer())]


def an_event(who: str, kind: Any, minute: int, **payload: Any) -> StudyEvent:
    return StudyEvent(f"{kind}-{who}-{minute}", "p1", who, kind, f"{kind}-{minute}", payload, START + minute * MINUTE)


EVENTS = [
    an_event("Ada", "guidelines", 0), an_event("Ada", "consent", 1, text="I take part."), a_check("Ada", 2, False),
    a_check("Ada", 3, True), an_event("Ada", "finish", 9, code="LAB-12345678"), an_event("Ben", "guidelines", 10),
]


def rows(table: Table) -> list[dict[str, Any]]:
    return [dict(zip([column.name for column in table.columns], row, strict=True)) for row in table.rows]


def test_a_row_for_each_event() -> None:
    found = rows(event_table(a_study(), EVENTS))
    assert [(one["annotator"], one["kind"], one["at"]) for one in found] == [
        (event.annotator, event.kind, event.created_at) for event in EVENTS]
    assert json.loads(found[1]["payload"]) == {"text": "I take part."}
    assert json.loads(found[2]["payload"]) == {"number": 2, "right": False}


def test_a_row_for_each_person() -> None:
    ada, ben = rows(people_table(a_study(), SEATS, ANSWERS, EVENTS))
    assert ada == {
        "study": "Shops", "seat": 1, "annotator": "Ada", "joined_at": START, "consented_at": START + MINUTE,
        "answers": 2, "checks": 2, "checks_failed": 1, "finished": True, "finished_at": START + 9 * MINUTE,
        "code": "LAB-12345678"}
    assert {name: ben[name] for name in list(ben)[4:]} == {
        "consented_at": None, "answers": 0, "checks": 0, "checks_failed": 0, "finished": False, "finished_at": None,
        "code": None}


def test_what_an_imported_file_does_not_hold_is_empty() -> None:
    ada, _ = rows(people_table(replace(a_study(), source={"form": HP_ANSWERS}), SEATS, ANSWERS, ()))
    assert ada["answers"] == 2
    assert [ada[name] for name in ("joined_at", "checks", "checks_failed", "finished", "code")] == [None] * 5


@pytest.fixture
def study(home: Path) -> Study:
    study = a_study(**{SECRET: "never-to-be-seen"})
    store = store_of(home)
    keep_study(store, study, [an_item(0), an_item(1)], [], SEATS, [
        a_judgement(number, "Ada", an_answer()) for number in (0, 1)])
    for event in EVENTS:
        store.note(event)
    store.engine.dispose()
    return study


def store_of(home: Path) -> SqlStudyStore:
    return SqlStudyStore(engine_of(home))


def test_both_tables_are_exported(home: Path, study: Study) -> None:
    store = store_of(home)
    for form in ("csv", "parquet"):
        files, _ = preference_files(store, study, form)
        people, events = (parsed(files[f"{name}.{form}"], form) for name in ("people", "events"))
        assert [one["code"] or None for one in people] == ["LAB-12345678", None]
        assert [one["kind"] for one in events] == [event.kind for event in EVENTS]
    store.engine.dispose()


def parsed(content: bytes, form: str) -> list[Mapping[str, Any]]:
    if form == "csv":
        return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    found: list[Mapping[str, Any]] = pq.read_table(io.BytesIO(content)).to_pylist()
    return found


def test_who_has_finished_with_which_code(home: Path, study: Study) -> None:
    places = [an_assignment(0, 1, "Ada"), an_assignment(1, 1, "Ada")]
    ends = [event for event in EVENTS if event.kind == "finish"]
    progress = seat_progress(study, SEATS, places, ANSWERS, START, ends)
    assert [(one["finished_at"], one["code"]) for one in manage.people_rows(progress)] == [
        ((START + 9 * MINUTE).isoformat(), "LAB-12345678"), (None, None), (None, None)]
    shown = CliRunner().invoke(app, ["study", "show", "Shops"]).output
    assert "finished, code" in shown and "LAB-12345678" in shown
    told = json.loads(CliRunner().invoke(app, ["study", "show", "Shops", "--json"]).output)["people"]
    assert [(one["finished_at"], one["code"]) for one in told] == [
        ((START + 9 * MINUTE).isoformat(), "LAB-12345678"), (None, None), (None, None)]


def test_the_secret_of_codes_never_leaves(home: Path, study: Study) -> None:
    store = store_of(home)
    told = [json.dumps(Preference().page(study)), json.dumps(manage.study_row(study, store.counts("p1")))]
    for form in FORMS:
        told += [repr(content) for content in preference_files(store, study, form)[0].values()]
    store.engine.dispose()
    for command in (["list"], ["show", "Shops"], ["quality", "Shops"]):
        result = CliRunner().invoke(app, ["study", *command, "--json"])
        assert result.exit_code == 0, result.output
        told.append(result.output)
    assert not any(study.settings[SECRET] in text or SECRET in text for text in told)


# --- tables and training pairs ---------------------------------------------------------------

STUDY = a_study()
ITEMS = [an_item(0, text="=SUM(A1) is red"), an_item(1, category=""),
         an_item(2, methods=[None, None], target_id="", target_ids=[])]
PLACES = [an_assignment(0, 1, "Ada", reason=True), an_assignment(1, 1, "Ada", first=2, form=2),
          an_assignment(2, 2, "Ben", first=None)]
JUDGEMENTS = [
    a_judgement(0, "Ada", an_answer(2, 4, 2, reason="its collar", irrelevant={"image": True, "text": False})),
    a_judgement(1, "Ada", an_answer(3, 5, 1, first=2, contradiction_confirmed=True), revision=3),
    a_judgement(2, "Ben", an_answer(3, 3, 0, first=None, irrelevant={"image": None, "text": None}), seconds=0.0,
                extra={"imported": "hp-fashioniq"}),
]
EXCLUDED = {"j-0-Ada": ("irrelevant", "one_side")}


def rows_of(table):
    names = [column.name for column in table.columns]
    return [dict(zip(names, row, strict=True)) for row in table.rows]


def test_a_row_for_each_judgement():
    one, two, three = rows_of(judgement_table(STUDY, ITEMS, PLACES, JUDGEMENTS, EXCLUDED))
    assert one == {
        "study": "Shops", "item": "q0", "dataset": "fashioniq", "category": "shirt", "query_id": "query-0",
        "text": "=SUM(A1) is red", "reference_id": "0-ref", "target_ids": ["0-b0"], "method_1": "slerp",
        "method_2": "text", "set_1": ["0-a0", "0-a1", "0-a2", "0-a3", "0-a4"],
        "set_2": ["0-b0", "0-b1", "0-b2", "0-b3", "0-b4"], "target_in_1": False, "target_in_2": True,
        "annotator": "Ada", "form": 1, "position": 1, "protocol": "hs-fashioniq/1", "revision": 1, "first": 1,
        "rating_1": 2, "rating_2": 4, "preferred": 2, "preferred_method": "text", "contradicts": False,
        "irrelevant": True, "irrelevant_to_image": True, "irrelevant_to_text": False, "reason_asked": True,
        "reason": "its collar",
        "seconds": 10.0, "answered_at": datetime(2026, 3, 1, 9, tzinfo=UTC), "excluded": ["irrelevant", "one_side"],
    }
    assert (two["category"], two["form"], two["position"], two["revision"], two["first"]) == (None, 2, 2, 3, 2)
    assert (two["preferred_method"], two["contradicts"], two["reason_asked"], two["excluded"]) == (
        "slerp", True, False, [])
    unknown = ("method_1", "method_2", "preferred_method", "first", "irrelevant_to_image", "seconds", "answered_at")
    assert [three[name] for name in unknown] == [None] * len(unknown)
    assert (three["preferred"], three["contradicts"]) == (0, False)


def test_two_rows_for_each_judgement_one_for_a_set():
    table = rows_of(set_table(STUDY, ITEMS, PLACES, JUDGEMENTS))
    told = [(row["item"], row["set"], row["method"], row["has_target"], row["stood_first"], row["rating"],
             row["preferred"]) for row in table]
    assert told == [
        ("q0", 1, "slerp", False, True, 2, False), ("q0", 2, "text", True, False, 4, True),
        ("q1", 1, "slerp", False, False, 3, True), ("q1", 2, "text", True, True, 5, False),
        ("q2", 1, None, None, None, 3, False), ("q2", 2, None, None, None, 3, False),
    ]
    assert table[1]["images"] == ["0-b0", "0-b1", "0-b2", "0-b3", "0-b4"]


def test_somebody_without_a_place_is_there_all_the_same():
    (row,) = rows_of(judgement_table(STUDY, ITEMS, [], JUDGEMENTS[:1]))
    assert (row["form"], row["position"], row["reason_asked"]) == (None, None, False)


def test_tables_as_csv_and_parquet():
    for table in (judgement_table(STUDY, ITEMS, PLACES, JUDGEMENTS), set_table(STUDY, ITEMS, PLACES, JUDGEMENTS)):
        names = [column.name for column in table.columns]
        assert len(set(names)) == len(names)
        written = list(csv.DictReader(io.StringIO(to_csv(table).decode("utf-8-sig"), newline="")))
        assert list(written[0]) == names and len(written) == len(table.rows)
        # What a spreadsheet would run gets an apostrophe; a program reads it as it was typed.
        assert written[0]["text"] == "'=SUM(A1) is red"
        assert pq.read_table(io.BytesIO(to_parquet(table))).to_pylist() == rows_of(table)


def test_pairs_for_training():
    found = preference_pairs(ITEMS, JUDGEMENTS)
    assert (found.pairs, found.ties) == (2, 1)
    one, two = map(json.loads, found.content.decode().splitlines())
    assert one == {
        "query_id": "query-0", "reference": "0-ref", "text": "=SUM(A1) is red",
        "chosen": ["0-b0", "0-b1", "0-b2", "0-b3", "0-b4"], "rejected": ["0-a0", "0-a1", "0-a2", "0-a3", "0-a4"],
        "chosen_score": 4, "rejected_score": 2, "annotator": "Ada", "margin": 2,
    }
    # Preferred against the ratings: the margin says so.
    assert (two["chosen"][0], two["chosen_score"], two["rejected_score"], two["margin"]) == ("1-a0", 3, 5, -2)
    assert preference_pairs(ITEMS, []).content == b""


def test_two_sets_of_the_same_images_teach_nothing():
    same = [["x", "y", "z"], ["z", "x", "y"]]
    items = [ITEMS[0], an_item(1, set_ids=same)]
    judgements = [JUDGEMENTS[0], a_judgement(1, "Ada", an_answer()), a_judgement(1, "Ben", an_answer(preferred=0))]
    found = preference_pairs(items, judgements)
    assert (found.pairs, found.identical, found.ties) == (1, 1, 1)
    assert json.loads(found.content)["query_id"] == "query-0"
