"""Reports of target studies: agreement of people, and thresholds on the confidence, by hand and against libraries."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import jsonschema
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, f1_score, precision_score, recall_score

from annotation.analysis.records import ModelAnswer, ModelAnswers, Options, Selection, StudyAnswers
from annotation.kinds.marks.report import thresholds
from annotation.kinds.marks.report.agreement import Marks, mark_agreement
from annotation.kinds.marks.report.report import target_report
from annotation.kinds.reports import compose, report_file, report_files, report_schema
from annotation.records import Assignment, Item, Judgement, Seat, Study, StudyPlan
from cir_core.errors import StudyError

NOW = datetime(2026, 11, 1, tzinfo=UTC)
PEOPLE = ("Ada", "Ben", "Cleo")


def answers(queries: list[tuple[list[float | None], dict[str, str]]], kind="targets") -> StudyAnswers:
    """``queries``: confidences of the candidates, and by person their marks, as in "ynu"."""
    study = Study("s", "Fit", kind, "soft-targets/1", StudyPlan(3, 3, 0, 1), True, {}, {"threshold": 0.85}, "local",
                  NOW)
    names = {"y": "yes", "n": "no", "u": "unsure"}
    items = tuple(Item(f"i{n}", "s", n, f"dress::q{n}", "dress", False, {
        "text": "", "reference": "r", "candidates": [f"t{n}-{place}" for place in range(len(given))]}, {
        "dataset": "dress", "query_id": f"q{n}", "original_target": f"c{len(given) - 1}", "reference": "r",
        "candidates": [{"image": f"c{place}", "confidence": one, "found": []} for place, one in enumerate(given)]})
        for n, (given, _) in enumerate(queries))
    judgements = tuple(Judgement(f"j{n}{who}", "s", f"i{n}", who, 1, f"token{n}{who}", study.protocol, {
        "marks": {f"t{n}-{place}": names[mark] for place, mark in enumerate(marks)}, "note": ""}, 3.0, NOW)
        for n, (_, said) in enumerate(queries) for who, marks in said.items())
    return StudyAnswers(
        study, items, tuple(Seat("s", n, who, NOW, NOW) for n, who in enumerate(PEOPLE, 1)),
        tuple(Assignment(item.item_id, seat, item.number, "done", None) for item in items for seat in (1, 2, 3)),
        judgements)


QUERIES = [
    ([0.9, 0.7, 0.2, None], {"Ada": "yyny", "Ben": "ynny", "Cleo": "yynu"}),
    ([0.95, 0.6, 0.5], {"Ada": "ynn", "Ben": "yyn", "Cleo": "ynn"}),
    ([0.8, 0.86, 0.1], {"Ada": "yun", "Ben": "ynn"}),
]


def test_agreement_by_hand():
    report = target_report(answers(QUERIES), options=Options(0))
    assert (report.n_queries, report.marked, report.shared, report.answers) == (3, 3, 3, 8)
    # Majorities: y y n y | y n n | y n n; the own target of query 0 has no confidence.
    assert (report.decided, report.targets, report.undecided, report.without_confidence) == (10, 5, 0, 1)
    pairs = {(one.a, one.b): one for one in report.pairs}
    # Ada, Ben: yyny ynn y-n against ynny yyn y-n: of 9 images 7 the same; Ada yes 5 of 9, Ben 5 of 9:
    # p_e = (5 * 5 + 4 * 4) / 81, kappa = (7 / 9 - 41 / 81) / (40 / 81).
    assert pairs["Ada", "Ben"].n == 9 and pairs["Ada", "Ben"].agreement.value == pytest.approx(7 / 9)
    assert pairs["Ada", "Ben"].kappa.value == pytest.approx((63 - 41) / 40)
    # Ada, Cleo: the same 6 times, both kinds: 1. Ben, Cleo: yyn ynn against ynn yyn, 4 of 6; p_e 1/2: 1/3.
    assert pairs["Ada", "Cleo"].kappa.value == pytest.approx(1) and pairs["Ada", "Cleo"].n == 6
    assert pairs["Ben", "Cleo"].kappa.value == pytest.approx(1 / 3)
    assert report.agreement.kappa.value == pytest.approx((22 / 40 + 1 + 1 / 3) / 3)
    assert report.agreement.agreement.value == pytest.approx((7 / 9 + 1 + 4 / 6) / 3)
    # On the nine images with two answers or more, two are disputed.
    assert report.agreement.unanimous.value == pytest.approx(7 / 9) and report.agreement.unanimous.n == 9
    # 2 of 4 * 3 + 3 * 3 + 3 * 2 marks.
    assert report.agreement.unsure.value == pytest.approx(2 / 27) and report.agreement.unsure.n == 27
    ben = report.people[1]
    assert (ben.name, ben.answers, dict(ben.marks)) == ("Ben", 3, {"yes": 5, "no": 5, "unsure": 0})
    assert ben.kappa == pytest.approx((22 / 40 + 1 / 3) / 2)


def test_answers_over_time_by_hand():
    times = target_report(answers(QUERIES), options=Options(0)).times
    assert (times.timed, times.answers, times.ordered) == (8, 8, True)
    assert [(one.name, one.answers, one.median_seconds) for one in times.people] == [
        ("Ada", 3, 3.0), ("Ben", 3, 3.0), ("Cleo", 2, 3.0)]
    first = times.stretches[0]
    # Position 1 is the first query for all: yes on 3 of 4, 2 of 4 and 2 of 4 images.
    assert first.answers == 3 and first.value.value == pytest.approx((3 / 4 + 2 / 4 + 2 / 4) / 3)
    # Images 0 to 3 are y y y, y n y, n n n, y y u. A majority of the others exists where both say the same: Ada on
    # images 0 and 2 and, with Ben alone, on 3; Ben on 0 to 3, with "no" on 1 beside two "yes"; Cleo on 0 and 2.
    assert first.same.value == pytest.approx((1 + 3 / 4 + 1) / 3)
    assert target_report(answers([])).times is None


def test_the_json_is_as_the_schema_says():
    for given in (QUERIES, []):
        content = json.loads(report_file(compose(answers(given), options=Options(20)), "json"))
        check = jsonschema.Draft202012Validator(report_schema())
        assert [error.message for error in check.iter_errors(content)] == []
        assert not check.is_valid(content | {"curve": [{"threshold": 0.5}]})


def test_the_curve_is_that_of_scikit_learn():
    report = target_report(answers(QUERIES), options=Options(0))
    confidences = np.array([0.9, 0.7, 0.2, 0.95, 0.6, 0.5, 0.8, 0.86, 0.1])
    people = np.array([1, 1, 0, 1, 0, 0, 1, 0, 0])
    assert [one.threshold for one in report.curve] == [round(step / 20, 2) for step in range(21)]
    for one in report.curve:
        model = (confidences >= one.threshold).astype(int)
        assert one.both + one.model_only + one.people_only + one.neither == 9
        assert one.both == (model & people).sum() and one.model_only == (model & (1 - people)).sum()
        assert one.agreement == pytest.approx((model == people).mean())
        assert one.recall == pytest.approx(recall_score(people, model))
        assert one.f1 == pytest.approx(f1_score(people, model))
        assert one.kappa == pytest.approx(cohen_kappa_score(people, model))
        assert (one.precision is None) == (not model.any())
        if one.precision is not None:
            assert one.precision == pytest.approx(precision_score(people, model))
    used = next(one for one in report.curve if one.threshold == 0.85)
    assert (used.both, used.model_only, used.people_only, used.neither) == (2, 1, 2, 4)
    assert report.choice.used.kappa.value == pytest.approx(used.kappa)
    # 0.65 and 0.7 are equally good over all: 4 both, 1 only the model. The nearest to 0.85 is chosen.
    assert report.choice.best.value == 0.7


def test_the_best_threshold_is_measured_on_other_queries():
    """Each query's own best threshold is useless for the others: held out, it does no better than chance."""
    rng = np.random.default_rng(4)
    queries, confidences, people = np.repeat(np.arange(40), 10), rng.random(400), rng.random(400) < 0.4
    of = thresholds.decided(list(queries), list(confidences), list(people))
    found = thresholds.choice(of, 0.85, Options(200))
    inside = max(one.kappa for one in thresholds.curve(of, 0.85) if one.kappa is not None)
    assert 0 < inside > found.held_out.kappa.value and abs(found.held_out.kappa.value) < 0.12
    assert found.held_out.kappa.low < found.held_out.kappa.value < found.held_out.kappa.high
    # By hand, one query after the other.
    cells = []
    for query in range(40):
        rest = thresholds.decided(*([list(each[queries != query]) for each in (queries, confidences, people)]))
        kappas = [(round(one.kappa, 9), -abs(one.threshold - 0.85), one.threshold)
                  for one in thresholds.curve(rest, 0.85) if one.kappa is not None]
        mine = queries == query
        cells.append((people[mine], confidences[mine] >= max(kappas)[2]))
    truth, model = (np.concatenate([cell[place] for cell in cells]) for place in (0, 1))
    assert found.held_out.kappa.value == pytest.approx(cohen_kappa_score(truth, model))
    assert found.difference.value == pytest.approx(found.held_out.kappa.value - found.used.kappa.value)


@pytest.mark.parametrize(("confidences", "says", "best", "others"), [
    ([0.9] * 5, True, 0.85, (0.95, 1.0)),                       # all yes at 0.9 and below
    ([0.9, 0.95, 0.9, 0.3, 0.86], True, 0.3, (0.35, 0.85)),     # at more than 0.3 the fourth is missed
    ([0.9, 0.95, 0.9, 0.3, 0.86], False, 1.0, (0.9, 0.95)),
    ([0.1, 0.2, 0.3, 0.3, 0.4], False, 0.85, (0.4,)),
])
def test_where_both_say_the_same_of_all_images_nothing_agrees_better(confidences, says, best, others):
    """Cohen's kappa is 0 / 0 there, and 0 at every other threshold, where the model alone differs."""
    of = thresholds.decided([0, 0, 1, 1, 2], confidences, [says] * 5)
    found = thresholds.choice(of, 0.85, Options(50))
    assert found.best.value == best and found.best.reason.startswith(
        "κ is undefined there: model and people give all images the same answer")
    by_threshold = {one.threshold: one for one in thresholds.curve(of, 0.85)}
    assert by_threshold[best].kappa is None and by_threshold[best].agreement == 1
    assert [by_threshold[other].kappa for other in others] == pytest.approx([0.0] * len(others))
    one = thresholds.choice(of, 0.85, Options(50, undefined="one"))
    assert one.best == found.best and thresholds.curve(of, 0.85, "one")[0].kappa == (1 if says else 0)
    if best == 0.85:    # in use, too; and held out no other is chosen
        assert found.used.kappa.value is None and one.used.kappa.value == one.held_out.kappa.value == 1
        assert found.used.kappa.reason == one.used.kappa.reason.split(";")[0] == thresholds.SAME
        assert found.held_out.agreement.value == 1 and found.difference.value is None and one.difference.value == 0


def test_kappa_is_undefined_only_where_both_are_constant_and_equal():
    counts = np.array([[a, b, c, d] for a in range(4) for b in range(4) for c in range(4) for d in range(4)
                       if a + b + c + d], dtype=float)
    found = thresholds.measures(counts)
    constant = (counts[:, 1] == 0) & (counts[:, 2] == 0) & ((counts[:, 0] == 0) | (counts[:, 3] == 0))
    assert (np.isnan(found[:, 0]) == constant).all() and (found[constant, 1] == 1).all()
    # One image of a million apart is no constant.
    assert thresholds.measures(np.array([10.0**6, 1, 0, 0]))[0] == pytest.approx(0, abs=1e-9)


def test_a_threshold_that_is_there_is_found():
    rng = np.random.default_rng(5)
    queries, confidences = np.repeat(np.arange(60), 8), np.round(rng.random(480), 3)
    people = (confidences >= 0.6) ^ (rng.random(480) < 0.05)
    of = thresholds.decided(list(queries), list(confidences), list(people))
    found = thresholds.choice(of, 0.85, Options(300))
    assert found.best.value == 0.6 and found.best.n == 480
    assert found.held_out.kappa.value > 0.8 > found.used.kappa.value and found.difference.low > 0


def test_intervals_draw_queries_not_images():
    """Ten copies of each image say nothing new: the interval stays as wide, as it would not if images were drawn."""
    rng = np.random.default_rng(6)
    rows = [["yes" if rng.random() < 0.5 else "no"] * 2 if rng.random() < 0.7 else ["yes", "no"] for _ in range(40)]
    once = mark_agreement(Marks(rows, range(40), 2), Options(500)).kappa
    many = mark_agreement(Marks([row for row in rows for _ in range(10)], np.repeat(range(40), 10), 2),
                          Options(500)).kappa
    assert many.value == pytest.approx(once.value) and many.n == 10 * once.n
    assert (many.low, many.high) == pytest.approx((once.low, once.high))


@pytest.mark.parametrize(("queries", "says"), [
    ([], "These filters leave no query"), ([([0.9, 0.2], {})], "No answers yet to this 1 query"),
    ([([0.9, 0.2], {"Ada": "yn"})], "No query was marked by two people"),
    ([([0.9, 0.2], {"Ada": "uu", "Ben": "yn", "Cleo": "ny"})], ""),
])
def test_small_studies_have_reasons_instead_of_numbers(queries, says):
    report = target_report(answers(queries), options=Options(50))
    assert says in " ".join(report.about.notes)
    assert report.choice.best.value is None and report.choice.best.reason
    assert report.agreement.kappa.value is not None or report.agreement.kappa.reason
    whole = compose(answers(queries), options=Options(50))
    assert json.loads(json.dumps(whole.json, allow_nan=False))["n_queries"] == len(queries)


def test_the_whole_report_and_its_files():
    whole = compose(answers(QUERIES), options=Options(100))
    assert [section.key for section in whole.sections] == ["glance", "agreement", "thresholds", "people", "times",
                                                           "method"]
    files = report_files(whole)
    assert {"report.md", "report.html", "tables/thresholds.csv", "tables/choice.csv",
            "figures/thresholds.json"} <= files.keys()
    assert b"Target report" in files["report.html"]
    figure = json.loads(files["figures/thresholds.json"])
    assert [one["name"] for one in figure["data"]] == ["Cohen’s κ", "Agreement", "Precision", "Recall", "F1"]
    assert figure["layout"]["shapes"][0]["x0"] == 0.85 and "type" not in figure["layout"]["xaxis"]
    found = whole.json
    assert found["threshold"] == 0.85 and len(found["curve"]) == 21 and found["plan"] == []
    assert found["choice"]["best"]["value"] == 0.7 and found["agreement"]["unsure"]["n"] == 27
    hidden = compose(answers(QUERIES), options=Options(0, hide_names=True))
    assert "Ada" not in json.dumps(hidden.json) and "P01" in json.dumps(hidden.json)


def test_what_cannot_be_reported_is_refused():
    with pytest.raises(StudyError, match="is a validity study, which has no marks"):
        target_report(answers([], kind="validity"))
    with pytest.raises(StudyError, match="resample queries"):
        target_report(answers(QUERIES), options=Options(10, resample="people"))
    one = target_report(answers(QUERIES), Selection(people=(1,)), Options(0))
    assert [rater.name for rater in one.raters] == ["Ada"] and one.pairs == ()


def test_bias_by_place_of_a_model_and_of_people():
    """The model prefers what comes first. The last query, which only the model has answered, is left out."""
    given = answers([([None] * 6, {"Ada": "ynyuny", "Ben": "ynyyny"}), ([None] * 3, {"Ada": "nyn"}), ([None] * 3, {})])
    marks = {"i0": "yyynnn", "i1": "yun", "i2": "nnn"}
    names = {"y": "yes", "n": "no", "u": "unsure"}
    model = ModelAnswers("m@host", tuple(ModelAnswer(item.item_id, False, {"marks": {
        token: names[mark] for token, mark in zip(item.shown["candidates"], marks[item.item_id], strict=True)}}, "")
        for item in given.items), 0)
    whole = compose(replace(given, models=(model,)), options=Options(draws=0))
    [found] = whole.json["model_answers"]
    assert [(one["place"], *((one[who]["value"], one[who]["n"]) for who in ("model", "people")))
            for one in found["places"]] == [
        ("first third", (1.0, 3), (pytest.approx(2 / 5), 5)),    # of i0 two images of each, of i1 one
        ("second third", (0.5, 2), (1.0, 4)),                     # "unsure" is left out
        ("last third", (0.0, 3), (pytest.approx(2 / 5), 5))]
    section = next(one for one in whole.sections if one.key == "judge")
    table = next(one for one in section.tables if one.key == "judge-places")
    assert [row[0] for row in table.rows] == ["first third", "second third", "last third"]
    assert [figure.key for figure in section.figures] == ["judge-pairs"]
