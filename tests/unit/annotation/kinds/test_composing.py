"""A whole report of either kind: numbers, sections and JSON that belong together."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import get_args

import jsonschema
import pytest

from annotation.analysis.records import MetricScores, Options, Selection
from annotation.analysis.statistics.agreement import statistics_of
from annotation.kinds.preference.report.precision import rate_precision
from annotation.kinds.preference.report.report import preference_json, preference_report
from annotation.kinds.reports import check_scale, compose, load_answers, report_file, report_schema
from annotation.kinds.table import KINDS
from annotation.kinds.validity.answers import Validity
from annotation.kinds.validity.report.precision import kappa_precision
from annotation.kinds.validity.report.report import validity_json, validity_report
from annotation.quality.rules import Rules
from annotation.records import WITH_EVENTS, PlannedAssignment, StudyKind
from annotation.records.studies import SCORED
from annotation.studies.service import StudyService
from cir_core.errors import StudyError
from tests.fakes.databases import study_store as study_store
from tests.fakes.preferences import a_judgement, a_study, an_answer, an_item, keep, seats_of
from tests.fakes.session_ratings import a_session, keep_sessions
from tests.fakes.studies import flagged, make_study, valid

OPTIONS = Options(draws=30, seed=5)
PEOPLE = ("Ada", "Bo", "Cy")


@pytest.fixture
def verdicts(store, tmp_path):
    study = make_study(store, tmp_path, items=8, seats=3, overlap=3, pictures=6, panel=2)
    service = StudyService(store, {"validity": Validity()})
    for shift, who in enumerate(PEOPLE):
        service.join(study.study_id, who)
        for number, item in enumerate(store.items(study.study_id)):
            answer = flagged("QUERY_TOO_BROAD") if (number + shift) % 3 == 0 else valid()
            service.save(study.study_id, who, item.item_id, answer, f"token-{item.item_id}", seconds=9)
    return load_answers(store, study)


@pytest.fixture
def preferences(store):
    study = a_study(per_person=6)
    places = [PlannedAssignment(f"i{number}", seat, number, {"first": 1, "form": 1, "reason": False})
              for seat in (1, 2, 3) for number in range(6)]
    ratings = [(4, 2, 1), (2, 5, 2), (3, 3, 1), (1, 4, 2), (5, 4, 1), (2, 3, 2)]
    judgements = [a_judgement(number, who, an_answer(*ratings[(number + shift) % 6]))
                  for shift, who in enumerate(PEOPLE) for number in range(6)]
    keep(store, study, [an_item(number) for number in range(6)], places, seats_of(*PEOPLE), judgements)
    return load_answers(store, study)


def test_a_validity_study(verdicts):
    chosen = Selection(people=(1, 2))
    whole = compose(verdicts, chosen, OPTIONS, width=0.3)
    report = validity_report(verdicts, chosen, OPTIONS)
    plan = kappa_precision(verdicts, 0.3, OPTIONS, chosen)
    assert whole.report == report
    assert {**whole.json, "plan": None} == {"schema_version": 2, **validity_json(report), "plan": None}
    assert [one["needed"] for one in whole.json["plan"]] == [one.needed for one in plan] and plan
    with_plan = {section.key for section in whole.sections}
    without = {section.key for section in compose(verdicts, chosen, OPTIONS).sections}
    assert without < with_plan and compose(verdicts, chosen, OPTIONS).json["plan"] == []


def test_a_preference_study(preferences):
    mine = MetricScores("mine", "Made up.", {(f"i{number}", which): number * which
                                             for number in range(6) for which in (1, 2)})
    given = {"rules": Rules(), "scores": [mine], "ks": (1, 5)}
    whole = compose(preferences, options=OPTIONS, width=0.4, **given)
    report = preference_report(preferences, Selection(), OPTIONS, **given)
    assert whole.report == report and [one.name for one in report.metrics] == ["recall@1", "recall@5", "mine"]
    assert {**whole.json, "plan": None} == {"schema_version": 2, **preference_json(report), "plan": None}
    # What is planned for is the rate of the first recall.
    plan = rate_precision(preferences, 0.4, OPTIONS, Selection(), rules=Rules(), scores=[mine], metric="recall@1")
    assert json.loads(json.dumps(whole.json["plan"]))[0]["width"] == plan[0].width


@pytest.mark.parametrize("kind", ["verdicts", "preferences"])
def test_without_draws_nothing_is_planned(kind, request, monkeypatch):
    for name, one in KINDS.items():
        monkeypatch.setitem(KINDS, name, replace(one, plan=lambda *_: pytest.fail("planned")))
    assert compose(request.getfixturevalue(kind), options=Options(draws=0), width=0.2).json["plan"] == []


def test_the_scale_comes_from_the_study():
    right = {"validity": "nominal", "preference": "ordinal", "sessions": "ordinal", "targets": "nominal"}
    for kind, scale in right.items():
        check_scale(kind, scale)


@pytest.mark.parametrize(("kind", "scale", "said"), [
    ("validity", "ordinal", "have no order: Krippendorff's alpha of a validity study is nominal. Ask for nominal"),
    ("preference", "nominal", "have an order: Krippendorff's alpha of a preference study is ordinal. Ask for ordinal"),
    ("validity", "interval", "There is no scale “interval”. Verdicts and flags have no order"),
])
def test_the_wrong_scale_is_refused(kind, scale, said):
    with pytest.raises(StudyError, match=said):
        check_scale(kind, scale)


def test_what_storage_knows_of_the_kinds_is_as_their_rows_say():
    """It has tables of its own in the records, since it may not know the kinds."""
    assert set(get_args(StudyKind)) == KINDS.keys()
    assert {name for name, kind in KINDS.items() if kind.read_scores} == SCORED.keys()
    assert {name for name, kind in KINDS.items() if kind.has_survey} == WITH_EVENTS


def test_every_row_of_the_table_of_statistics_is_in_the_report(verdicts):
    whole = compose(verdicts, options=OPTIONS)
    tables = {table.key: table for section in whole.sections for table in section.tables}
    figures = {figure.key: figure for section in whole.sections for figure in section.figures}
    headlines = {one.label for one in whole.sections[0].headlines}
    for one in statistics_of("nominal"):
        for of in (whole.json["binary"], *whole.json["flags"].values()):
            assert of["estimates"][one.key] == {
                "value": of[one.key], "n": of["n"][one.key], "ci95": of["ci95"][one.key],
                "reason": of["reasons"].get(one.key, "")}
        assert {one.column, "items"} <= {column.key for column in tables["flags"].columns}
        assert (one.name, one.method("item")) in tables["method"].rows
        assert one.name in figures["flag-agreement"].alt and f"{one.name}, valid or not" in headlines


def test_people_are_in_the_report_and_their_names_can_be_hidden(verdicts, preferences):
    for answers in (verdicts, preferences):
        for hide in (False, True):
            whole = compose(answers, options=replace(OPTIONS, hide_names=hide))
            tables = {table.key: table for section in whole.sections for table in section.tables}
            figures = {figure.key: figure for section in whole.sections for figure in section.figures}
            names = ["P01", "P02", "P03"] if hide else list(PEOPLE)
            assert [row[0] for row in tables["people-others"].rows] == names
            assert [one["name"] for one in whole.json["people"]] == names
            assert {*figures["people-clusters"].spec["layout"]["yaxis"]["ticktext"]} == {*names}
            assert any(one["alpha_without"]["n"] for one in whole.json["people"])
            assert all(one["confusion"] is None for one in whole.json["people"])     # of fewer than ten units
            assert not hide or not any(name in json.dumps(whole.json["people"]) for name in PEOPLE)
    assert [row[0] for row in tables["people-sides"].rows] == names


@pytest.fixture
def ratings(store):
    return load_answers(store, keep_sessions(store, [a_session(number, "own") for number in range(3)],
                                             {"Ann": {0: 1, 1: 2, 2: 3}, "Bob": {0: 1, 1: 4}}))


@pytest.mark.parametrize("answers", ["verdicts", "preferences", "ratings"])
def test_reports_are_as_their_schema_says(answers, request):
    schema, found = report_schema(), request.getfixturevalue(answers)
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    for given in (found, replace(found, judgements=())):
        content = json.loads(report_file(compose(given, options=OPTIONS, width=0.3), "json"))
        assert [error.message for error in check.iter_errors(content)] == []
        for key in ("about", "schema_version", *schema["$defs"][content["about"]["kind"]]["required"]):
            assert not check.is_valid({name: one for name, one in content.items() if name != key}), key
        assert not check.is_valid(content | {"schema_version": 1})


@pytest.mark.parametrize("answers", ["verdicts", "preferences"])
def test_every_estimate_has_one_shape(answers, request):
    whole = compose(request.getfixturevalue(answers), options=OPTIONS, scores=[], ks=(5,))
    found = list(_estimates(whole.json))
    assert len(found) > 10
    for one in found:
        assert {"value", "n", "ci95", "reason"} <= set(one)
        assert (one["ci95"] is None or one["ci95"][0] <= one["value"] <= one["ci95"][1]) and (
            one["value"] is not None or one["reason"])


def _estimates(value):
    if isinstance(value, dict):
        if "value" in value:
            yield value
        for one in value.values():
            yield from _estimates(one)
    elif isinstance(value, list):
        for one in value:
            yield from _estimates(one)
