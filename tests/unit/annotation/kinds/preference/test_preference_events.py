"""What people did between the questions, in the files of a study and in the list of its people."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from annotation.kinds.preference.answers import Preference
from annotation.kinds.preference.events import event_table, people_table
from annotation.kinds.preference.review import FORMS, preference_files
from annotation.kinds.preference.survey.flow import SECRET
from annotation.records import Seat, Study, StudyEvent
from annotation.studies.imports import HP_ANSWERS
from annotation.studies.overview import seat_progress
from annotation.tables.columns import Table
from cir_core.settings import get_settings
from cli.main import app
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import engine_of, use_home
from tests.fakes.preferences import START, a_check, a_judgement, a_study, an_answer, an_assignment, an_item, seats_of
from tests.fakes.preferences import keep as keep_study
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
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    use_home(monkeypatch, tmp_path)
    get_settings.cache_clear()
    yield tmp_path
    get_settings.cache_clear()


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
