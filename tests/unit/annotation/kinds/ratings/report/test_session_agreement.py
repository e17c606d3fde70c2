"""Ratings of sessions as numbers, by hand and against the plain definition of Krippendorff's alpha."""

from __future__ import annotations

import json
import random

import pytest
from scipy.stats import spearmanr

from annotation.analysis.records import Options, Selection
from annotation.kinds.ratings.report.judged_files import read_judged
from annotation.kinds.ratings.report.report import session_precision, session_report
from annotation.kinds.reports import compose, report_file, report_files
from cir_core.construct.judging.scores import DIMENSIONS
from cir_core.errors import DatasetError, StudyError
from tests.fakes.preferences import a_study
from tests.fakes.session_ratings import QUESTIONS, a_model, a_session, judged_file, session_answers

NO_DRAWS = Options(draws=0)


def plain_alpha(units: list[list[float]]) -> float:
    """Krippendorff (2011), section D, with the coincidences written out."""
    units = [unit for unit in units if len(unit) > 1]
    values = sorted({value for unit in units for value in unit})
    uses = {value: sum(unit.count(value) for unit in units) for value in values}
    total = sum(uses.values())

    def apart(one: float, other: float) -> float:
        low, high = sorted((one, other))
        return (sum(uses[v] for v in values if low <= v <= high) - (uses[low] + uses[high]) / 2)**2

    observed = sum(apart(a, b) / (len(unit) - 1) for unit in units for i, a in enumerate(unit)
                   for j, b in enumerate(unit) if i != j) / total
    expected = sum(uses[a] * uses[b] * apart(a, b) for a in values for b in values if a != b) / (total * (total - 1))
    return 1 - observed / expected


def test_each_question_in_its_order_with_its_own_ratings():
    items = [a_session(n) for n in range(12)]
    scores = {(n, shift): [1 + (n * place + shift) % 5 for place in range(1, 6)] for n in range(12) for shift in (0, 1)}
    found = session_report(session_answers(items, {
        who: {n: scores[n, shift] for n in range(12)} for shift, who in enumerate(("Ann", "Bob"))}), options=NO_DRAWS)
    assert [one.question for one in found.questions] == list(DIMENSIONS)
    for place, one in enumerate(found.questions):
        units = [[scores[n, 0][place], scores[n, 1][place]] for n in range(12)]
        assert one.alpha.value == pytest.approx(plain_alpha(units)) and one.alpha.n == 12
        assert one.apart.value == pytest.approx(sum(abs(a - b) for a, b in units) / 12)
        assert one.counts == tuple(sum(unit.count(point) for unit in units) for point in (1, 2, 3, 4, 5))
    assert found.models == ()


def test_people_and_a_language_model():
    # 1: Ann 5, Bob 4, the model 4; 2: Ann 1, Bob 2, the model 2; 3: only Ann, 3, the model 3; 4: only Bob, no model;
    # 9: nobody, the model 1
    items = [a_session(n) for n in (1, 2, 3, 4, 9)]
    answers = session_answers(items, {"Ann": {1: 5, 2: 1, 3: 3}, "Bob": {1: 4, 2: 2, 4: 2}})
    report = session_report(answers, options=NO_DRAWS, scores=[a_model({1: 4, 2: 2, 3: 3, 9: 1})])
    people, model = report.questions[0], report.models[0].questions[0]
    assert (report.n_sessions, report.rated, report.shared, report.answers) == (5, 4, 2, 6)
    assert report.per_session == {0: 1, 1: 2, 2: 2}
    assert people.alpha.value == pytest.approx(plain_alpha([[5, 4], [1, 2]])) and people.alpha.n == 2
    assert (people.mean.value, people.mean.n) == (pytest.approx((4.5 + 1.5 + 3 + 2) / 4), 4)
    assert (people.apart.value, people.apart.n) == (1, 2)
    assert report.models[0].sessions == 3 and model.mean.value == 3
    assert model.alpha.value == pytest.approx(plain_alpha([[4.5, 4], [1.5, 2], [3, 3]])) and model.alpha.n == 3
    assert model.rho.value == pytest.approx(spearmanr([4, 2, 3], [4.5, 1.5, 3]).statistic)
    assert model.difference.value == pytest.approx(0) and model.apart.value == pytest.approx((0.5 + 0.5 + 0) / 3)
    assert any("gpt-x rated 3 of the 4 sessions" in note for note in report.about.notes)
    assert any("1 of 5 sessions has no rating" in note for note in report.about.notes)


def test_sources_and_numbers_of_turns():
    items = [a_session(1, "built", 2), a_session(2, "built", 4), a_session(3, "own", 2)]
    answers = session_answers(items, {"Ann": {1: 2, 2: 4, 3: 5}, "Bob": {1: 4}})
    report = session_report(answers, options=NO_DRAWS, scores=[a_model({1: 1, 3: 2})])
    found = {(one.source, one.turns): (one.sessions, one.mean_turns, one.people["overall"].value,
                                       one.models["gpt-x"]["overall"].value) for one in report.groups}
    assert found == {("built", None): (2, 3, 3.5, 1), ("built", 2): (1, 2, 3, 1), ("built", 4): (1, 4, 4, None),
                     ("own", None): (1, 2, 5, 2), ("own", 2): (1, 2, 5, 2)}
    only = session_report(answers, Selection(categories=("own",)), NO_DRAWS)
    assert (only.n_sessions, only.questions[0].mean.value) == (1, 5)
    with pytest.raises(StudyError, match="of the source “nothing”"):
        session_report(answers, Selection(categories=("nothing",)), NO_DRAWS)


def test_one_person_beside_the_others():
    items = [a_session(n) for n in (1, 2)]
    answers = session_answers(items, {"Ann": {1: 5, 2: 3}, "Bob": {1: 3}, "Cid": {1: 4}})
    ann, bob, cid = session_report(answers, options=NO_DRAWS).people
    assert (ann.mean, ann.answers, ann.shared, ann.apart, ann.lenient) == (4, 2, 1, 1.5, 1.5)
    assert (bob.apart, bob.lenient) == (1.5, -1.5) and (cid.apart, cid.lenient) == (1, 0)
    hidden = session_report(answers, options=Options(draws=0, hide_names=True))
    assert [one.name for one in hidden.people] == ["P01", "P02", "P03"] and "Ann" not in repr(hidden)


def test_what_cannot_be_known_says_why():
    items = [a_session(n) for n in range(5)]
    nothing = session_report(session_answers(items, {}), scores=[a_model({0: 3})])
    estimates = [nothing.questions[0].mean, nothing.questions[0].alpha, nothing.questions[0].apart,
                 nothing.models[0].questions[0].alpha, nothing.models[0].questions[0].rho]
    assert all(one.value is None and one.reason for one in estimates) and nothing.groups == ()
    alone = session_report(session_answers(items, {"Ann": {0: 3, 1: 4}}))
    assert alone.questions[0].alpha.value is None and "two people" in alone.questions[0].alpha.reason
    assert alone.questions[0].mean.value == 3.5 and alone.people[0].apart is None
    same = session_report(session_answers(items, {who: dict.fromkeys(range(5), 3) for who in "ab"}),
                          scores=[a_model(dict.fromkeys(range(4), 3))])
    assert same.questions[0].alpha.value is None and "single category" in same.questions[0].alpha.reason
    assert same.models[0].questions[0].difference.value == 0
    assert "rated all sessions the same" in same.models[0].questions[0].rho.reason


def test_other_studies_and_units_are_refused():
    answers = session_answers([a_session(1)], {"Ann": {1: 3}})
    with pytest.raises(StudyError, match="resample sessions"):
        session_report(answers, options=Options(resample="people"))
    with pytest.raises(StudyError, match="preference study, which rates no sessions"):
        session_report(type(answers)(a_study(), (), (), (), ()))


def drawn_study(sessions: int):
    draw = random.Random(7)
    truth = [draw.randint(1, 5) for _ in range(sessions)]
    given = {who: {n: min(5, max(1, truth[n] + draw.choice((-1, 0, 0, 1)))) for n in range(sessions)}
             for who in ("Ann", "Bob", "Cid")}
    return (session_answers([a_session(n) for n in range(sessions)], given),
            a_model({n: min(5, truth[n] + 1) for n in range(sessions)}))


def test_intervals_hold_the_value_and_shrink_with_sessions():
    few, many = (session_report(answers, options=Options(draws=400), scores=[model])
                 for answers, model in map(drawn_study, (30, 300)))
    for report in (few, many):
        people, model = report.questions[0], report.models[0].questions[0]
        for estimate in (people.mean, people.alpha, people.apart, model.alpha, model.rho, model.difference):
            assert estimate.low < estimate.value < estimate.high
    width = {report.rated: report.questions[0].alpha.high - report.questions[0].alpha.low for report in (few, many)}
    assert width[300] < width[30]
    assert many.models[0].questions[0].difference.low > 0 and many.questions[0].alpha.value > 0.5


def test_more_sessions_for_a_narrower_mean():
    answers, _ = drawn_study(100)
    found, = session_precision(answers, 0.2, Options(draws=100))
    assert found.have == 100 and found.width > 0.2
    # the width of a mean falls with the root of the number of sessions
    assert found.needed == pytest.approx(100 * (found.width / 0.2)**2, rel=0.15)
    none, = session_precision(session_answers([a_session(1)], {}), 0.2)
    assert none.needed is None and none.reason


# --- a language model's scores, from judged.json ---------------------------------------------

ITEMS = [a_session(n, "kept") for n in range(4)]


def read(content, where="judged.json"):
    return read_judged(json.dumps(content), ITEMS, where=where)


def test_scores_by_item_and_question():
    content = judged_file([*ITEMS, a_session(9, "kept")], {0: 2, 1: 5, 9: 1}, "gpt-5-mini")
    content["sessions"][0]["overall"] = 3
    found = read(content, r"C:\Users\ann\judged.json")
    assert found.name == "gpt-5-mini" and "Users" not in found.description and "saw the images" in found.description
    assert len(found.scores) == 10 and found.scores["n0", 5] == 3 and found.scores["n0", 1] == 2
    assert found.scores["n1", 5] == 5 and found.notes == ("It judged 2 of 4 sessions of the study.",)
    assert read(judged_file(ITEMS, dict.fromkeys(range(4), 1))).notes == ()


@pytest.mark.parametrize(("content", "problem"), [
    ([], "contains no scores of sessions"),
    ({"card": {}, "sessions": [3]}, "session 1: this is not an object"),
    ({"card": {}, "sessions": [{"source": "kept"}]}, "does not say what was judged. An earlier version"),
    ({"card": {}, "sessions": [{"source": "kept", "content": "c", "naturalness": 7}]},
     "naturalness is '7', not a whole"),
    ({"card": {}, "sessions": [{"content": "c", "naturalness": True}]}, "naturalness is 'True'"),
    ({"card": {}, "sessions": []}, "it is of no sessions, and the study of kept [(]dress[)]"),
    (judged_file([a_session(1, "loose")], {1: 3}), "it is of loose [(]dress[)], and the study of kept [(]dress[)]"),
])
def test_what_is_no_such_file_is_refused(content, problem):
    with pytest.raises(DatasetError, match=problem):
        read(content)


def test_no_json_is_refused():
    with pytest.raises(DatasetError, match="is not valid JSON"):
        read_judged("item,set,x\n", ITEMS, where="sets.csv")


def test_a_hostile_name_is_one_short_line():
    found = read(judged_file(ITEMS, {0: 1}, "a\u202e\n" + "x" * 500))
    assert len(found.name) <= 60 and found.name.isprintable()


def test_sessions_are_recognized_by_their_content():
    """Filtered again, the session called 1 is another one; under another source name, it is the same."""
    content = judged_file(ITEMS, {0: 2, 1: 5})
    content["sessions"][1] |= {"content": "another"}
    content["sessions"][0] |= {"source": "renamed", "session_id": "77"}
    assert {item for item, _ in read(content).scores} == {"n0"}


# --- sections and JSON -----------------------------------------------------------------------

@pytest.fixture
def whole():
    items = [a_session(n, "built" if n % 2 else "own", 2 + n % 3) for n in range(24)]
    answers = session_answers(items, {who: {n: 1 + (n * shift + n // 3) % 5 for n in range(24)}
                                      for shift, who in enumerate(("Ann", "Bob", "Cid"), 1)})
    models = [a_model({n: 1 + n % 5 for n in range(20)}), a_model(dict.fromkeys(range(3), 3), "mini | 2")]
    return compose(answers, options=Options(draws=50), scores=models, width=0.3)


def test_sections_hold_people_models_and_sources(whole):
    keys = [section.key for section in whole.sections]
    assert keys == ["glance", "ratings", "agreement", "model-1", "model-2", "sources", "people", "times",
                    "precision", "method"]
    tables = {table.key: table for section in whole.sections for table in section.tables}
    assert [row[0] for row in tables["ratings"].rows] == [
        "Session naturalness", "Coherence / consistency", "Goal-directed progress", "Redundancy (higher = better)",
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
    assert b"session report" in files["report.md"] and b"Redundancy (higher = better)" in files["report.html"]
    assert "tables/model-2.tex" in files and "figures/model-1.json" in files


def test_an_empty_study_has_a_report():
    found = compose(session_answers([a_session(1)], {}), options=Options(draws=20), scores=[a_model({1: 2})], width=0.2)
    assert "No answers yet to this 1 session." in found.report.about.notes
    assert report_files(found)
