"""The analysis screen's calls: who may, what is in the answers, who is hidden, what it costs, files to download."""

from __future__ import annotations

import gc
import io
import json
import weakref
import zipfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import ANY

import numpy as np
import pytest
from fastapi import FastAPI
from sqlalchemy import event
from starlette.testclient import TestClient

from annotation.accounts.roles import Capability, may
from annotation.analysis.records import Options, Selection
from annotation.kinds.preference.answers import Preference
from annotation.kinds.reports import compose, load_answers
from annotation.kinds.table import KINDS
from annotation.kinds.validity.answers import Validity
from annotation.kinds.validity.report.records import Disputed
from annotation.quality.rules import Rules
from annotation.records import PlannedAssignment, Role, Study, StudyImage
from annotation.studies.service import StudyService
from cir_core.errors import CirqueError
from cir_core.reports.formats import FORMS
from cir_core.reports.paper import figure_files
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import engine_of
from tests.fakes.preferences import a_judgement, a_study, an_answer, an_item, keep, seats_of
from tests.fakes.studies import flagged, make_study, valid
from web.analysis import report_cache, routes
from web.analysis.query import ReportParams, read_query
from web.analysis.report_cache import OFTEN, RARELY, PollingInterval, ReportCache
from web.analysis.report_json import disputed, plain
from web.analysis.routes import FILES, analysis_routes
from web.http.json_api import Deferred
from web.http.long_actions import Runs
from web.http.visitor import Visitor

PEOPLE = ("Adalgisa", "Bérénice", "Cem Öz")
ANALYST = "Anneliese"
BROAD, TARGET = flagged("QUERY_TOO_BROAD"), flagged("INVALID_TARGET_IMAGE", reasons=("3a",))
TABLE, FIGURE = "counts", "flag-rates"
READS = ("report", "table", "figure", "file", "disputed")
Open = Callable[..., TestClient]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlStudyStore]:
    """With ``study`` and ``survey``, to be read alone. What a test changes is its ``own``."""
    engine = engine_of(tmp_path_factory.mktemp("home"))
    yield SqlStudyStore(engine)
    engine.dispose()


@pytest.fixture(scope="module")
def study(store: SqlStudyStore, tmp_path_factory: pytest.TempPathFactory) -> Study:
    return a_validity_study(store, tmp_path_factory.mktemp("study"))


def a_validity_study(store: SqlStudyStore, home: Path) -> Study:
    """Six items for three people; the first two agree on all but the items 1 and 4, the third has done two."""
    made = make_study(store, home, name="Größe: a/b", items=6, seats=3, overlap=3, pictures=6, panel=2)
    answers = ([valid(), valid(), BROAD, valid(), TARGET, BROAD], [valid(), BROAD, BROAD, valid(), BROAD, BROAD],
               [valid(), valid()])
    service = StudyService(store, {"validity": Validity(), "preference": Preference()})
    for who, given in zip(PEOPLE, answers, strict=True):
        service.join(made.study_id, who)
        for item, answer in zip(store.items(made.study_id), given, strict=False):
            service.save(made.study_id, who, item.item_id, answer, f"token-{item.item_id}", seconds=9)
    return made


@pytest.fixture(scope="module")
def survey(store: SqlStudyStore) -> Study:
    made = a_study(per_person=4)
    items = [an_item(number) for number in range(6)]
    places = [PlannedAssignment(f"i{number}", seat, number, {"first": 1 + number % 2, "form": 1, "reason": False})
              for seat in (1, 2) for number in range(6)]
    ratings = [(4, 2, 1), (2, 5, 2), (3, 3, 1), (1, 4, 2), (5, 4, 1), (2, 3, 2)]
    judgements = [
        a_judgement(number, who, an_answer(*ratings[(number + shift) % 6], first=1 + number % 2))
        for shift, who in enumerate(PEOPLE[:2]) for number in range(6)]
    keep(store, made, items, places, seats_of(*PEOPLE[:2]), judgements)
    return made


@pytest.fixture
def now() -> list[float]:
    return [0.0]


@pytest.fixture
def visit(store: SqlStudyStore, tmp_path: Path, now: list[float]) -> Open:
    return opened(store, tmp_path, now)


@pytest.fixture
def own(tmp_path: Path, now: list[float]) -> Iterator[tuple[SqlStudyStore, Study, TestClient]]:
    store = SqlStudyStore(engine_of(tmp_path))
    yield store, a_validity_study(store, tmp_path), opened(store, tmp_path, now)("analyst")
    store.engine.dispose()


def opened(store: SqlStudyStore, home: Path, now: list[float]) -> Open:
    settings = SimpleNamespace(home=home, domain="garment", seed=4711, relevance="off")
    services: Any = SimpleNamespace(study_store=store, settings=settings, runs=Runs(), methods={},
                                    search=SimpleNamespace(galleries=list))
    app = FastAPI()
    app.include_router(analysis_routes(services, ReportCache(store, clock=lambda: now[0])))

    def open_as(role: Role | frozenset[Capability] | None, name: str = ANALYST) -> TestClient:
        async def with_visitor(scope: Any, receive: Any, send: Any) -> None:
            if role is not None and scope["type"] == "http":
                visitor = (Visitor(name, "researcher", role, open=False) if isinstance(role, frozenset)
                           else Visitor(name, role, may(role), open=False))
                scope["state"] = {"visitor": visitor}
            await app(scope, receive, send)

        return TestClient(with_visitor)

    return open_as


def asked(of: Study, select: Mapping[str, Any] | None = None, **more: Any) -> dict[str, str]:
    sent = {"study": of.name, "draws": "20"} | {name: str(value) for name, value in more.items()}
    return sent if select is None else sent | {"select": json.dumps(select)}


def strict(text: str) -> Any:
    """JSON without NaN and Infinity, which it does not have."""
    def refuse(word: str) -> Any:
        raise AssertionError(word)
    return json.loads(text, parse_constant=refuse)


def fetch(client: TestClient, call: str, of: Study, select: Mapping[str, Any] | None = None, **more: Any) -> Any:
    answer = client.get(f"analysis/{call}", params=asked(of, select, **more))
    assert answer.status_code == 200, answer.text
    return strict(answer.text)


# --- who may ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("role", "reads", "changes"), [
    ("admin", 200, 404), ("researcher", 200, 404), ("analyst", 200, 403), ("annotator", 403, 403), (None, 401, 401),
])
def test_who_may_do_what(
    visit: Open, study: Study, survey: Study, role: Role | None, reads: int, changes: int,
) -> None:
    client = visit(role)
    assert client.get("analysis/studies").status_code == reads
    for call in READS:
        more = {"table": {"table": TABLE}, "figure": {"figure": FIGURE}, "file": {"form": "md"}}.get(call, {})
        answer = client.get(f"analysis/{call}", params={**asked(study, draws=0), **more})
        assert answer.status_code == reads, call
        if reads != 200:
            assert answer.status_code == reads and not any(one in answer.text for one in (*PEOPLE, "kappa"))
    assert client.get("analysis/scores/choices", params={"study": survey.name}).status_code == reads
    # Nothing of that name is there to be dropped, if somebody may.
    dropped = client.post("analysis/scores/drop", json={"study": survey.name, "name": "nosuch"})
    assert dropped.status_code == changes
    if role == "analyst":
        assert "analysts may not run studies. Ask an admin" in dropped.json()["problem"]
    for path, sent in (("scores", {"content": "x"}), ("scores/compute", {"gallery": "x", "method": "x"})):
        refused = client.post(f"analysis/{path}", json={"study": survey.name, **sent})
        assert refused.status_code == (changes if changes != 404 else 400), path


# --- reports ------------------------------------------------------------------------------------


def test_the_list_says_how_much_there_is(visit: Open, study: Study, survey: Study) -> None:
    rows = {row["id"]: row for row in visit("analyst").get("analysis/studies").json()["studies"]}
    assert rows[study.study_id] == {
        "id": study.study_id, "name": study.name, "kind": "validity", "words": ANY, "accepting": True, "items": 6,
        "answered": 14, "planned": 18, "people": 3, "you_judge": False}
    assert (rows[survey.study_id]["kind"], rows[survey.study_id]["answered"]) == ("preference", 12)


def test_who_judges_in_a_study_is_told_so_before_its_report(visit: Open, study: Study, survey: Study) -> None:
    """By the list, and by the report, which is made once for all who look at it."""
    for name, mine in ((ANALYST, []), ("BÉRÉNICE", [study, survey]), (PEOPLE[2], [study])):
        client = visit("analyst", name)
        rows = client.get("analysis/studies").json()["studies"]
        assert {row["id"] for row in rows if row["you_judge"]} == {one.study_id for one in mine}
        for of in (study, survey):
            found = fetch(client, "report", of, names="hidden")
            assert found["you_judge"] is (of in mine)
            assert found["report"]["about"]["study_id"] == of.study_id


def test_the_usual_seed_is_that_of_the_settings(visit: Open, study: Study) -> None:
    client = visit("analyst")
    assert fetch(client, "report", study)["about"]["options"]["seed"] == 4711
    assert fetch(client, "report", study, seed=3)["about"]["options"]["seed"] == 3


def test_managing_alone_shows_no_results(visit: Open, study: Study, survey: Study) -> None:
    """As the access table has it for all that begins with /analysis."""
    client = visit(frozenset({"manage"}))
    assert client.get("analysis/studies").status_code == 403
    for call in READS:
        assert client.get(f"analysis/{call}", params=asked(study)).status_code == 403, call
    assert client.get("analysis/scores/choices", params={"study": survey.name}).status_code == 403
    assert client.get("analysis/scores/run", params={"id": "x"}).status_code == 403


def test_points_first_then_intervals(visit: Open, study: Study) -> None:
    client = visit("analyst")
    points = fetch(client, "report", study, draws=0)
    full = fetch(client, "report", study, draws=20)
    assert (points["kind"], points["accepting"], points["stamp"]) == ("validity", True, full["stamp"])
    # Ada and Bé share six items: yes/yes 2, yes/no 1, no/no 3. p_o = 5/6; p_e = (3 · 2 + 3 · 4) / 36 = 1/2.
    for found in (points, full):
        pair = found["report"]["binary"]["pairs"][0]
        assert (pair["a"], pair["b"], pair["n"]) == (*PEOPLE[:2], 6)
        assert pair["kappa"] == pytest.approx((5 / 6 - 1 / 2) / (1 - 1 / 2), abs=1e-12)
    assert points["report"]["binary"]["ci95"]["krippendorff_alpha"] is None
    low, high = full["report"]["binary"]["ci95"]["krippendorff_alpha"]
    assert low <= full["report"]["binary"]["krippendorff_alpha"] <= high
    assert full["about"]["options"]["draws"] == 20 and full["about"]["answered"] == 14
    assert full["choices"] == {
        "datasets": [["sample", 6]], "categories": [["shortcut_free", 3], ["shortcut_image_only", 3]],
        "people": [{"seat": seat, "name": name, "judgements": count}
                   for seat, name, count in zip((1, 2, 3), PEOPLE, (6, 6, 2), strict=True)], "block": 0}
    assert full["scores"] == []
    sections = full["sections"]
    assert len({section["key"] for section in sections}) == len(sections) > 3
    assert {name for section in sections for figure in section["figures"] for name in figure} == {
        "key", "title", "alt", "spec", "cells", "note"}
    assert {name for section in sections for one in section["headlines"] for name in one} == {
        "label", "value", "low", "high", "n", "reason", "kind", "unit", "note"}
    for table in (table for section in sections for table in section["tables"]):
        assert len(table["rows"]) == len(table["shown"]) and table["title"]
        assert all(len(row) == len(shown) == len(table["columns"])
                   for row, shown in zip(table["rows"], table["shown"], strict=True))


def test_a_selection_is_what_the_report_is_of(visit: Open, study: Study) -> None:
    client = visit("analyst")
    two = fetch(client, "report", study, {"people": [1, 3], "categories": ["shortcut_free"]})
    # Of the category's items 0, 2, 4 the third person has answered the first alone.
    assert [(one["seat"], one["judgements"]) for one in two["report"]["raters"]] == [(1, 3), (3, 1)]
    assert two["report"]["n_items"] == 1
    assert two["about"]["selection"] == {"datasets": [], "categories": ["shortcut_free"], "people": [1, 3],
                                         "block_only": False}
    # What there is to choose from stays.
    assert [one["seat"] for one in two["choices"]["people"]] == [1, 2, 3]


def test_a_preference_study_with_its_rules_and_cutoffs(visit: Open, survey: Study) -> None:
    client = visit("analyst")
    found = fetch(client, "report", survey, k="5,1", resample="people", plan=0.2)
    assert found["kind"] == "preference" and found["choices"]["categories"] == [["shirt", 6]]
    assert set(found["report"]["metrics"]) == {"recall@5", "recall@1"}
    assert (found["report"]["n_people"], found["report"]["n_questions"], found["report"]["n_valid"]) == (2, 6, 12)
    # Ada and Bé chose what stood first in different shares; a rule about sides takes somebody's answers out.
    fewer = fetch(client, "report", survey, rules="one-side=0.51")
    assert fewer["report"]["n_valid"] < 12
    planned = {section["key"] for section in found["sections"]} - {section["key"] for section in fewer["sections"]}
    # Without a second metric there are no tests between metrics, no two methods are compared, and nobody is left whose
    # answers count: no empty sections.
    assert planned - {"people", "times"} == {"precision", "metric-tests", "methods"}


def test_empty_and_unfinished_studies_say_what_is_missing(
    own: tuple[SqlStudyStore, Study, TestClient], tmp_path: Path,
) -> None:
    store, _, client = own
    empty = make_study(store, tmp_path, name="Empty", items=2, pictures=4, panel=1)
    found = fetch(client, "report", empty, plan=0.1)
    assert found["report"]["n_raters"] == 0 and found["report"]["binary"]["fleiss_kappa"] is None
    assert found["about"]["notes"] and found["choices"]["people"] == []
    assert fetch(client, "disputed", empty) == {"total": 0, "study": empty.study_id, "items": []}
    none = a_study()
    keep(store, none, [an_item(0)], [PlannedAssignment("i0", 1, 0, {"first": 1, "form": 1, "reason": False})], [], [])
    found = fetch(client, "report", none, plan=0.1)
    assert found["report"]["n_valid"] == 0 and found["about"]["notes"]
    for form in FILES:
        assert client.get("analysis/file", params=asked(none, form=form)).status_code == 200, form


# --- hidden names -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["validity", "preference"])
def test_hidden_names_are_in_no_byte_of_any_answer(visit: Open, study: Study, survey: Study, kind: str) -> None:
    client, of = visit("analyst"), study if kind == "validity" else survey
    hidden = asked(of, names="hidden", plan=0.2)
    report = client.get("analysis/report", params=hidden)
    answers = [report, client.get("analysis/report", params={**hidden, "select": '{"people": [1, 2]}'})]
    if kind == "validity":   # what was made for a reader with names is not taken for one without
        assert PEOPLE[0] in client.get("analysis/disputed", params=asked(of)).text
    for table in (table for section in report.json()["sections"] for table in section["tables"]):
        answers += [client.get("analysis/table", params={**hidden, "table": table["key"], "form": form})
                    for form in FORMS]
    answers += [client.get("analysis/file", params={**hidden, "form": form}) for form in FILES]
    figures = [figure for section in report.json()["sections"] for figure in section["figures"]]
    answers += [client.get("analysis/figure", params={**hidden, "figure": figure["key"]}) for figure in figures[:1]]
    if kind == "validity":
        answers += [client.get("analysis/disputed", params={**hidden, **pair})
                    for pair in ({}, {"a": "1", "b": "2"}, {"a": "1", "b": "2", "key": "QUERY_TOO_BROAD"})]
    assert {answer.status_code for answer in answers} == {200}
    answers += [client.get("analysis/report", params={**hidden, "select": '{"people": [9]}'}),
                client.get("analysis/disputed", params={**hidden, "a": "1", "b": "9"})]
    assert [answer.status_code for answer in answers[-2:]] == [400, 400]
    for answer in answers:
        for content in _contents(answer):
            assert not any(spelled in content for name in PEOPLE for spelled in _spelled(name)), answer.url
        assert not any(name in str(answer.headers) for name in PEOPLE)
    assert "P01" in report.text and PEOPLE[0] in client.get("analysis/report", params=asked(of)).text


def _spelled(name: str) -> set[bytes]:
    return {name.encode(), name.split()[0].encode(), json.dumps(name)[1:-1].encode()}


def _contents(answer: Any) -> Iterator[bytes]:
    if answer.headers["content-type"] != "application/zip":
        yield answer.content
        return
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        for name in archive.namelist():
            yield name.encode()
            yield archive.read(name)


# --- disputed items -----------------------------------------------------------------------------


def test_disputed_items_page_by_page(visit: Open, study: Study, store: SqlStudyStore) -> None:
    client = visit("analyst")
    found = fetch(client, "disputed", study, a=1, b=2)
    assert (found["total"], found["study"]) == (2, study.study_id)
    assert {one["key"] for one in found["items"]} == {"sample::1", "sample::4"}
    one = next(one for one in found["items"] if one["key"] == "sample::1")
    item = store.items(study.study_id)[1]
    assert (one["item"], one["text"]) == (item.item_id, item.shown["text"])
    assert (one["reference"], one["target"]) == (item.shown["reference"], item.shown["target"])
    assert [name for name, _ in one["answers"]] == list(PEOPLE) and one["answers"][1][1] == "QUERY_TOO_BROAD"
    pages = [fetch(client, "disputed", study, a=1, b=2, offset=offset, limit=1)["items"] for offset in range(3)]
    assert [*pages[0], *pages[1]] == found["items"] and pages[2] == []
    # The flag is on item 1 by one of them, on item 4 by the other.
    assert fetch(client, "disputed", study, a=1, b=2, key="binary")["total"] == 1
    for wrong in ({"a": 1}, {"a": 1, "b": 1}, {"a": 0, "b": 1}, {"a": 1, "b": "x"}, {"limit": 51}, {"limit": 0},
                  {"offset": -1}, {"key": "LOUD"}, {"form": "csv"}):
        answer = client.get("analysis/disputed", params=asked(study, **wrong))
        assert answer.status_code == 400 and answer.json()["problem"].endswith("."), wrong


def test_pictures_that_are_not_at_hand_have_no_token() -> None:
    said = (("P01", "A"), ("P02", "A+B"))
    item = Disputed("i0", "cirr::0", "cirr", "unresolved", "in red", "here", "gone", said, "A")
    images = {"here": StudyImage("here", "a.jpg", 30, 40), "gone": StudyImage("gone", "b.jpg", 0, 0)}
    (shown,) = disputed("s1", [item], 1, images)["items"]
    assert (shown["reference"], shown["target"]) == ("here", "")
    assert shown["answers"] == [["P01", "A"], ["P02", "A+B"]]


def test_preferences_are_not_disputed(visit: Open, survey: Study) -> None:
    answer = visit("analyst").get("analysis/disputed", params=asked(survey))
    assert answer.status_code == 400 and "listed of validity studies" in answer.json()["problem"]


def test_what_json_does_not_have_becomes_null() -> None:
    numbers = (np.float64("inf"), np.int64(3), np.array([1.5, np.nan]))
    found = plain({"a": float("nan"), 1: numbers, "b": Options(draws=7), "c": [True, None, "x"]})
    assert found == {"a": None, "1": [None, 3, [1.5, None]], "b": plain(Options(draws=7)), "c": [True, None, "x"]}
    assert found["b"]["draws"] == 7 and type(found["1"][1]) is int


# --- parameters ---------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [
    {"draws": "many"}, {"select": "{"}, {"select": '{"datasets": ["nosuch"]}'}, {"select": '{"people": [77]}'},
    {"select": '{"block_only": true}'}, {"names": "some"}, {"colour": "red"}, {"resample": "people"},
    {"table": "pairs"},
])
def test_what_cannot_be_reported_is_said_in_a_sentence(visit: Open, study: Study, wrong: dict[str, str]) -> None:
    for draws in ("0", "20"):
        answer = visit("analyst").get("analysis/report", params=asked(study) | {"draws": draws} | wrong)
        assert answer.status_code == 400 and answer.json()["problem"].endswith("."), answer.text


def test_unknown_studies_tables_and_forms(visit: Open, study: Study) -> None:
    client = visit("analyst")
    for name in ("nosuch", "", "x" * 300):
        for call in READS:
            answer = client.get(f"analysis/{call}", params={"study": name})
            assert (answer.status_code, answer.json()["kind"]) == (404, "unknown"), call
    for what in ("table", "figure"):
        none = client.get(f"analysis/{what}", params=asked(study, **{what: "nosuch"}))
        assert none.status_code == 400 and f"This report has no {what} 'nosuch'. It has: " in none.json()["problem"]
    for call, form in (("table", "xlsx"), ("figure", "eps"), ("file", "pdf")):
        answer = client.get(f"analysis/{call}", params=asked(study, form=form))
        assert answer.status_code == 400, call


# --- what it costs ------------------------------------------------------------------------------


def test_an_unchanged_poll_costs_no_more_than_the_stamp(
    visit: Open, study: Study, store: SqlStudyStore, now: list[float],
) -> None:
    client = visit("analyst")
    stamp = fetch(client, "report", study)["stamp"]
    statements: list[str] = []

    def note(_connection: Any, _cursor: Any, said: str, *_: Any) -> None:
        statements.append(said)

    event.listen(store.engine, "before_cursor_execute", note)
    store.stamp(study.study_id)
    of_stamp = len(statements)
    statements.clear()
    for of in (study.name, study.name.upper(), study.study_id):
        assert client.get("analysis/report", params={**asked(study), "study": of}).status_code == 200
    statements.clear()
    polls = [client.get("analysis/report", params={**asked(study), "study": of, "since": stamp})
             for of in (study.name, study.name.upper(), study.study_id) for _ in range(5)]
    assert statements == [] and all(poll.json() == {"stamp": stamp, "unchanged": True} for poll in polls)
    now[0] += 2.0
    for _ in range(5):
        assert fetch(client, "report", study, since=stamp)["unchanged"]
    assert 0 < len(statements) <= of_stamp
    statements.clear()
    assert fetch(client, "report", study)["stamp"] == stamp and statements == []   # the report is kept


def test_a_new_answer_is_seen(own: tuple[SqlStudyStore, Study, TestClient], now: list[float]) -> None:
    store, study, client = own
    before = fetch(client, "report", study)
    item = store.items(study.study_id)[2]
    StudyService(store, {"validity": Validity()}).save(
        study.study_id, PEOPLE[2], item.item_id, valid(), "token-new", seconds=3)
    assert fetch(client, "report", study, since=before["stamp"])["unchanged"]   # nobody has looked again yet
    now[0] += 2.0
    after = fetch(client, "report", study, since=before["stamp"])
    assert after["stamp"] != before["stamp"] and after["about"]["answered"] == 15
    store.set_accepting(study.study_id, False)
    now[0] += 2.0
    assert fetch(client, "report", study, since=after["stamp"])["accepting"] is False


def test_names_of_studies_that_move_lead_to_the_right_one(
    own: tuple[SqlStudyStore, Study, TestClient], tmp_path: Path, now: list[float],
) -> None:
    store, study, client = own
    fetch(client, "report", study, draws=0)
    store.rename(study.study_id, "Other")
    now[0] += 2.0
    assert client.get("analysis/report", params=asked(study)).status_code == 404
    new = make_study(store, tmp_path, name=study.name, items=1, pictures=4, panel=1)
    assert fetch(client, "report", study, draws=0)["about"]["study_id"] == new.study_id
    store.remove(study.study_id)
    now[0] += 2.0
    assert client.get("analysis/report", params={"study": "Other"}).status_code == 404


def test_sixteen_who_look_cost_one_computation(
    visit: Open, study: Study, monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = []
    whole = KINDS["validity"].report

    def counted(*args: Any) -> Any:
        made.append(args)
        return whole(*args)

    monkeypatch.setitem(KINDS, "validity", replace(KINDS["validity"], report=counted))
    client = visit("analyst")
    with ThreadPoolExecutor(16) as pool:
        texts = {answer.text for answer in pool.map(
            lambda _: client.get("analysis/report", params=asked(study, draws=200)), range(16))}
    assert len(made) == 1 and len(texts) == 1 and '"stamp"' in texts.pop()


def test_a_report_that_is_there_waits_for_no_other(
    visit: Open, study: Study, monkeypatch: pytest.MonkeyPatch,
) -> None:
    client, put_off = visit("analyst"), []

    def counted(work: Callable[[], object]) -> Deferred:
        put_off.append(work)
        return Deferred(work)

    monkeypatch.setattr(routes, "Deferred", counted)
    fetch(client, "report", study, draws=0)
    assert len(put_off) == 0
    for _ in range(3):
        fetch(client, "report", study, draws=20)
        client.get("analysis/file", params=asked(study, form="md"))
    assert len(put_off) == 1


def test_the_answers_of_a_large_study_are_not_read_at_once(
    visit: Open, study: Study, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Six items and 14 answers are more than 19."""
    client, put_off = visit("analyst"), []

    def counted(work: Callable[[], object]) -> Deferred:
        put_off.append(work)
        return Deferred(work)

    monkeypatch.setattr(routes, "Deferred", counted)
    monkeypatch.setattr(report_cache, "_LARGE", 19)
    fetch(client, "disputed", study)
    assert len(put_off) == 1
    fetch(client, "disputed", study, a=1, b=2)
    fetch(client, "report", study, draws=0)
    fetch(client, "report", study, {"people": [1, 2]}, draws=0)
    assert len(put_off) == 1     # it is read by now


class Busy:
    """A store whose study has news at every look, and takes 4 seconds to be read."""

    def __init__(self, store: SqlStudyStore, now: list[float]) -> None:
        self._store, self._now = store, now
        self.stamps = self.loads = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def stamp(self, study_id: str) -> str:
        self.stamps += 1
        return f"stamp {self.stamps}"

    def judgements(self, study_id: str) -> Any:
        self.loads += 1
        self._now[0] += 4.0
        return self._store.judgements(study_id)


def test_a_busy_study_with_followers_is_read_seldom(store: SqlStudyStore, study: Study, now: list[float]) -> None:
    """Reading takes 4 s, so a look counts 20 s: in four minutes no more than 240 / 20 times, and not 60 times."""
    busy = Busy(store, now)
    analyses, views = ReportCache(busy, clock=lambda: now[0]), [  # type: ignore[arg-type]
        read_query({"draws": "0", "seed": str(page)}) for page in range(5)]
    numbers = set()
    while now[0] < 240.0:
        for view in views:
            numbers.add(analyses.made(study.study_id, view).looked.number)
        now[0] += 1.0
    assert busy.loads == busy.stamps == len(numbers) and 10 <= busy.loads <= 13


def test_one_copy_of_a_study_and_no_report_of_an_older_stamp_is_kept(
    store: SqlStudyStore, study: Study, now: list[float], monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept: list[Any] = []
    load, busy = report_cache.load_answers, Busy(store, now)

    def remembered(*of: Any) -> Any:
        answers = load(*of)
        kept.append(weakref.ref(answers))
        return answers

    monkeypatch.setattr(report_cache, "load_answers", remembered)
    analyses = ReportCache(busy, clock=lambda: now[0])  # type: ignore[arg-type]
    reports = []
    for _ in range(4):
        for draws in ("0", "20"):
            reports.append(weakref.ref(analyses.made(study.study_id, read_query({"draws": draws}))))
        reports.append(weakref.ref(analyses.disputed(study.study_id, read_query({}), None, None, "binary")[1][0]))
        now[0] += 30.0
    gc.collect()
    assert [one() is not None for one in kept] == [False, False, False, True]
    assert [one() is not None for one in reports] == [False] * 9 + [True] * 3


# --- files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["validity", "preference"])
def test_every_table_in_every_form(visit: Open, study: Study, survey: Study, kind: str) -> None:
    client, of = visit("analyst"), study if kind == "validity" else survey
    tables = [table for section in fetch(client, "report", of, plan=0.2)["sections"] for table in section["tables"]]
    assert len({table["key"] for table in tables}) == len(tables) > 4
    begins = {"csv": b"\xef\xbb\xbf", "json": b"{", "md": b"**", "tex": b"%"}
    for table in tables:
        for form in FORMS:
            answer = client.get("analysis/table", params=asked(of, plan=0.2, table=table["key"], form=form))
            assert answer.status_code == 200 and answer.content.startswith(begins[form]), (table["key"], form)
            assert answer.headers["content-disposition"].endswith(f"{table['key']}.{form}")
            assert answer.headers["cache-control"] == "no-store"
        as_json = client.get("analysis/table", params=asked(of, plan=0.2, table=table["key"], form="json")).json()
        keys = [column["key"] for column in table["columns"]]       # without codes, and counts that are all the same
        assert [[row[key] for key in keys] for row in as_json["rows"]] == table["rows"]


def test_a_figure_as_the_file_of_a_written_report(visit: Open, study: Study, store: SqlStudyStore) -> None:
    client = visit("analyst")
    usual = compose(load_answers(store, study), options=Options(draws=20, seed=4711))
    drawn = next(one for section in usual.sections for one in section.figures if one.key == FIGURE)
    for form, kind in (("svg", "image/svg+xml"), ("pdf", "application/pdf"), ("png", "image/png")):
        answer = client.get("analysis/figure", params=asked(study, figure=FIGURE, form=form))
        assert (answer.status_code, answer.headers["content-type"]) == (200, kind)
        assert answer.headers["content-disposition"].endswith(f"{FIGURE}.{form}")
        assert answer.content == figure_files([drawn])[f"figures/{FIGURE}.{form}"]


def test_the_whole_report_as_files(visit: Open, study: Study) -> None:
    client = visit("analyst")
    found = {form: client.get("analysis/file", params=asked(study, form=form)) for form in FILES}
    for form, answer in found.items():
        assert answer.status_code == 200
        assert "filename*=UTF-8''Gr%C3%B6%C3%9Fe%20a%20b%20report." + form in answer.headers["content-disposition"]
    assert found["html"].text.startswith("<!doctype html") and found["md"].text.startswith("#")
    with zipfile.ZipFile(io.BytesIO(found["zip"].content)) as archive:
        names = archive.namelist()
        assert names == sorted(names) and {"report.md", "report.html", "report.json"} < set(names)
        assert archive.read("report.json") == found["json"].content
    again = client.get("analysis/file", params=asked(study, form="zip"))
    assert again.content == found["zip"].content
    assert strict(found["json"].text)["n_items"] == fetch(client, "report", study)["report"]["n_items"]


# --- the parameters of a report as an address carries them -----------------------------------

def test_what_goes_without_saying():
    assert read_query({"study": "x"}) == ReportParams(Selection(), Options(), None, (5,), None)
    usual = Options(draws=7, seed=99)
    assert read_query({}, usual=usual).options == usual
    assert read_query({"seed": "1"}, usual=usual).options == Options(draws=7, seed=1)


def test_all_of_it():
    select = {"datasets": ["cirr", "circo", "cirr"], "categories": ["a"], "people": [3, 1, 3], "block_only": True}
    found = read_query({
        "select": json.dumps(select), "draws": "0", "seed": "7", "undefined": "one", "resample": "people",
        "names": "hidden", "rules": "irrelevant,failed-checks=2", "k": "5,1", "plan": "0.1", "since": "x"}, ["since"])
    assert found.selection == Selection(("circo", "cirr"), ("a",), (1, 3), True)
    assert found.options == Options(0, 7, "one", "people", True)
    assert (found.rules, found.ks, found.plan) == (Rules(irrelevant=True, failed_checks=2), (5, 1), 0.1)
    assert hash(found) == hash(found)
    assert read_query({"rules": "none"}).rules == Rules() and read_query({"rules": ""}).rules == Rules()


@pytest.mark.parametrize(("query", "said"), [
    ({"colour": "red"}, "Unknown in this call: colour"),
    ({"since": "x"}, "Unknown in this call: since"),
    ({"draws": "10001"}, "“draws” must be a whole number from 0 to 10,000, not '10001'"),
    ({"draws": "-1"}, "draws"), ({"draws": "1e3"}, "draws"), ({"draws": ""}, "draws"), ({"draws": "٣"}, "draws"),
    ({"seed": "nan"}, "seed"), ({"seed": "9" * 17}, "seed"),
    ({"undefined": "zero"}, "one of null, one"),
    ({"resample": "pairs"}, "one of items, people"),
    ({"names": "no"}, "one of shown, hidden"),
    ({"k": "6"}, "from 1 to 5"), ({"k": "0"}, "from 1 to 5"), ({"k": "5;1"}, "from 1 to 5"), ({"k": ""}, "from 1 to 5"),
    ({"k": "²"}, "from 1 to 5"),
    ({"plan": "0"}, "interval width"), ({"plan": "nan"}, "width"), ({"plan": "wide"}, "width"),
    ({"plan": "inf"}, "width"),
    ({"rules": "loudest"}, "no rule 'loudest'"),
    ({"select": "{"}, "not valid JSON"), ({"select": "[]"}, "it is not an object"),
    ({"select": '{"who": 1}'}, "it has who"),
    ({"select": '{"people": ["1"]}'}, "seat numbers"), ({"select": '{"people": [true]}'}, "seat numbers"),
    ({"select": '{"people": [1.0]}'}, "seat numbers"),
    ({"select": '{"datasets": "cirr"}'}, "list of at most 500 texts"),
    ({"select": json.dumps({"datasets": ["x"] * 501})}, "at most 500"),
    ({"select": json.dumps({"datasets": ["x" * 201]})}, "more than 200 characters"),
    ({"select": '{"block_only": 1}'}, "true or false"),
    ({"select": " " * 100_001}, "the limit is 100,000"),
])
def test_what_is_wrong_is_said_in_a_sentence(query, said):
    with pytest.raises(CirqueError) as problem:
        read_query(query)
    assert said in str(problem.value) and str(problem.value).endswith(".")


# --- how far apart looks at a running study are ----------------------------------------------

@pytest.fixture
def moment():
    return [0.0]


@pytest.fixture
def pace(moment):
    return PollingInterval(lambda: moment[0])


def spend(pace, moment, work, seconds, study="s"):
    with pace.spending(study, work):
        moment[0] += seconds


def test_five_times_what_was_spent_within_bounds(pace, moment):
    assert pace.seconds("s") == OFTEN == 2.0
    pace.news("s")
    spend(pace, moment, "reading", 0.1)
    assert pace.seconds("s") == 2.0                  # 5 * 0.1 is less
    spend(pace, moment, "reading", 3)
    spend(pace, moment, "making", 1)
    spend(pace, moment, "making", 2)
    spend(pace, moment, "making", 1.5)                  # the one that took longest counts
    assert pace.seconds("s") == 5 * (3 + 2)
    assert pace.seconds("other") == 2.0
    spend(pace, moment, "making", 100)
    assert pace.seconds("s") == RARELY == 60.0


def test_what_the_last_news_cost_is_remembered_once(pace, moment):
    spend(pace, moment, "reading", 3)
    spend(pace, moment, "making", 1)
    pace.news("s")
    assert pace.seconds("s") == 20.0                 # nothing is spent yet on what is new
    spend(pace, moment, "reading", 1)
    assert pace.seconds("s") == 20.0
    pace.news("s")
    assert pace.seconds("s") == 5.0
    pace.news("s")
    assert pace.seconds("s") == 2.0


def test_a_look_counts_while_work_is_under_way(pace, moment):
    with pace.spending("s", "reading"):
        for moment[0] in (1.0, 2.0, 7.0):
            assert pace.seconds("s") >= min(5 * moment[0], 60)
    with pytest.raises(ZeroDivisionError), pace.spending("s", "making"):
        moment[0] += 2.0
        raise ZeroDivisionError
    assert pace.seconds("s") == 5 * (7 + 2)          # failures cost too
