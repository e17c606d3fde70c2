"""A session report as sections and JSON."""

from __future__ import annotations

import json

import pytest

from annotation.analysis.records import Options
from annotation.kinds.documents import report_file, report_files
from annotation.kinds.reports import compose
from tests.fakes.session_ratings import QUESTIONS, a_model, a_session, session_answers


@pytest.fixture
def whole():
    items = [a_session(n, "built" if n % 2 else "own", 2 + n % 3) for n in range(24)]
    answers = session_answers(items, {who: {n: 1 + (n * shift + n // 3) % 5 for n in range(24)}
                                      for shift, who in enumerate(("Ann", "Bob", "Cid"), 1)})
    models = [a_model({n: 1 + n % 5 for n in range(20)}), a_model(dict.fromkeys(range(3), 3), "mini | 2")]
    return compose(answers, options=Options(draws=50), scores=models, width=0.3)


def test_sections_hold_people_models_and_sources(whole):
    keys = [section.key for section in whole.sections]
    assert keys == ["glance", "ratings", "agreement", "model-1", "model-2", "sources", "people", "precision", "method"]
    tables = {table.key: table for section in whole.sections for table in section.tables}
    assert [row[0] for row in tables["ratings"].rows] == ["Naturalness", "Coherence", "Progress", "Low redundancy",
                                                          "Overall"]
    for table in tables.values():
        assert all(len(row) == len(table.columns) for row in table.rows), table.key
        assert len({column.key for column in table.columns}) == len(table.columns), table.key
    assert {(row[0], row[3]) for row in tables["sources"].rows} == {
        (source, who) for source in ("built", "own") for who in ("people", "gpt-x", "mini | 2")}
    people = {row[0]: row for row in tables["people"].rows}
    assert people["Ann"][1] == 24 and people["Ann"][3] == 24


def test_json_has_the_numbers_of_the_tables(whole):
    found = json.loads(report_file(whole, "json"))
    assert set(found["questions"]) == set(QUESTIONS) and set(found["models"]) == {"gpt-x", "mini | 2"}
    overall = found["questions"]["overall"]
    tables = {table.key: table for section in whole.sections for table in section.tables}
    row = next(row for row in tables["ratings"].rows if row[0] == "Overall")
    assert overall["mean"]["value"] == row[1] and overall["mean"]["ci95"] == [row[2], row[3]]
    assert sum(overall["ratings"].values()) == 72 == found["n_answers"] * 1
    assert found["models"]["gpt-x"]["sessions"] == 20 and found["about"]["kind"] == "sessions"
    assert [one["what"] for one in found["plan"]] == ["Mean of “Overall”"]


def test_files_in_every_form(whole):
    files = report_files(whole)
    assert b"session report" in files["report.md"] and b"Low redundancy" in files["report.html"]
    assert "tables/model-2.tex" in files and "figures/model-1.json" in files


def test_an_empty_study_has_a_report():
    found = compose(session_answers([a_session(1)], {}), options=Options(draws=20), scores=[a_model({1: 2})], width=0.2)
    assert "No answers yet to this 1 session." in found.report.about.notes
    assert report_files(found)
