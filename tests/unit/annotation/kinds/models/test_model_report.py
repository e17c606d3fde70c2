"""A report with a language model's answers: beside people's, and apart from them."""

from __future__ import annotations

import json
from dataclasses import replace

import jsonschema
import numpy as np
import pytest

from annotation.analysis.models.comparison import compare
from annotation.analysis.records import ModelAnswer, ModelAnswers, Options, Selection
from annotation.analysis.statistics.coefficients.krippendorff import ALPHA
from annotation.analysis.statistics.matrix import Ratings
from annotation.kinds.preference.answers import Preference
from annotation.kinds.reports import compose, load_answers, report_files, report_schema
from annotation.kinds.table import KINDS
from annotation.kinds.validity.answers import Validity
from annotation.records import PlannedAssignment
from annotation.studies.service import StudyService
from tests.fakes.databases import study_store as study_store
from tests.fakes.preferences import a_judgement, a_study, an_answer, an_item, keep, seats_of
from tests.fakes.studies import flagged, make_study, valid

OPTIONS = Options(draws=40, seed=5)
PEOPLE = ("Ada", "Bo", "Cy")


@pytest.fixture
def verdicts(store, tmp_path):
    """36 items; each person calls every third too broad, in another order. The model says as Ada, but of the first two
    items nothing, and of the third something of its own."""
    study = make_study(store, tmp_path, items=36, seats=3, overlap=3, pictures=6, panel=2)
    service = StudyService(store, {"validity": Validity()})
    answers = {}
    for shift, who in enumerate(PEOPLE):
        service.join(study.study_id, who)
        for number, item in enumerate(store.items(study.study_id)):
            broad = (number + shift // 2) % 3 == 0
            answers[shift, number] = flagged("QUERY_TOO_BROAD") if broad else valid()
            service.save(study.study_id, who, item.item_id, answers[shift, number], f"token-{item.item_id}", seconds=9)
    items = store.items(study.study_id)
    given = [ModelAnswer(item.item_id, False, answers[0, number], "As I see it.")
             for number, item in enumerate(items) if number > 2]
    own = ModelAnswer(items[2].item_id, False, flagged("INVALID_TEXT_QUERY", reasons=("1b",)), "Unclear.", True)
    return replace(load_answers(store, study), models=(ModelAnswers("m@host", (own, *given), 1),))


@pytest.fixture
def preferences(store):
    """Ada and Bo prefer set 1, Cy set 2. The model prefers what is shown first."""
    study = a_study(per_person=6)
    places = [PlannedAssignment(f"i{number}", seat, number, {"first": 1, "form": 1, "reason": False})
              for seat in (1, 2, 3) for number in range(6)]
    judgements = [a_judgement(number, who, an_answer(4, 2, 1) if who != "Cy" else an_answer(2, 4, 2))
                  for who in PEOPLE for number in range(6)]
    keep(store, study, [an_item(number) for number in range(6)], places, seats_of(*PEOPLE), judgements)

    def said(number, first):
        return an_answer(*((5, 3) if first == 1 else (3, 5)), first, first=first)

    model = ModelAnswers("m@host", tuple(
        ModelAnswer(f"i{number}", turned, said(number, 2 if turned else 1), "It is better.")
        for number in range(6) for turned in (False, True)), 0)
    return replace(load_answers(store, study), models=(model,))


def test_what_people_said_does_not_change(verdicts):
    alone, beside = (compose(one, options=OPTIONS) for one in (replace(verdicts, models=()), verdicts))
    assert beside.report == alone.report
    assert {key: value for key, value in beside.json.items() if key != "model_answers"} == alone.json
    kept = [one for one in beside.sections if one.key != "judge"]
    assert kept == list(alone.sections) and beside.sections[-1].key == "method"


def test_agreement_of_the_model_and_of_people(verdicts):
    """Ada and Bo say the same. Cy calls items 2, 5, 8… too broad; of the items 2 to 35, Ada 3, 6 … 33: 11 items. The
    model says as Ada, and of item 2 "unclear text", which Ada and Bo call valid and Cy too broad."""
    [model] = compose(verdicts, options=OPTIONS).json["model_answers"]
    assert (model["answered"], model["failed"], model["again"]) == (34, 1, 1)
    binary = model["questions"]["binary"]
    # Ada or Bo with Cy: they differ on Ada's 11 and on Cy's 12 of 34 items.
    assert binary["pairs_people"]["agreement"]["value"] == pytest.approx((1 + 2 * 11 / 34) / 3)
    # The model with Ada, with Bo: all but item 2; with Cy: as Ada, and item 2 is invalid for both.
    assert binary["pairs_model"]["agreement"]["value"] == pytest.approx((2 * 33 / 34 + 12 / 34) / 3)
    assert binary["majority"]["agreement"]["value"] == pytest.approx(33 / 34)
    category = model["questions"]["category"]
    assert category["confusion"]["Valid"]["Unclear text"] == 1 and category["hits"]["Valid"]["value"] == pytest.approx(
        22 / 23)
    assert category["with_model"]["krippendorff_alpha"]["n"] == 34


def test_the_alternative_annotator_test_is_in_it(verdicts):
    """Left out Ada: the others, Bo and Cy, are as close to the model as to Ada except on item 2."""
    test = compose(verdicts, options=OPTIONS).json["model_answers"][0]["questions"]["binary"]["alternative_annotator"]
    assert [one["name"] for one in test["people"]] == list(PEOPLE)
    ada = test["people"][0]
    # On item 2 Bo says valid and Cy invalid: the model and Ada each agree with one of them.
    assert (ada["advantage"]["value"], ada["person"], ada["p"]) == (1.0, 1.0, 0.0)
    assert test["epsilon"] == 0.2 and test["winning_rate"]["0.2"]["value"] == 1.0


def test_a_selection_holds_for_the_model_too(verdicts):
    chosen = compose(verdicts, Selection(people=(1, 3)), OPTIONS).json["model_answers"][0]["questions"]["binary"]
    assert [one["name"] for one in chosen["in_place"]] == ["Ada", "Cy"]
    reason = chosen["alternative_annotator"]["winning_rate"]["0.2"]["reason"]
    assert "needs 3 people with 30 items each" in reason


def test_hidden_names_stay_hidden(verdicts):
    whole = compose(verdicts, options=replace(OPTIONS, hide_names=True))
    assert not any(name in json.dumps(whole.json["model_answers"]) for name in PEOPLE)


def test_bias_by_side(preferences):
    [model] = compose(preferences, options=OPTIONS).json["model_answers"]
    sides = model["sides"]
    assert sides["first"]["value"] == 1.0 and sides["first_people"]["value"] == pytest.approx(12 / 18)
    assert (sides["both_ways_same"]["value"], sides["both_ways_first"]["value"]) == (0.0, 1.0)
    # Against the majority, set 1, of every question; ratings: 5 and 3 beside 4, 4, 2 and 2, 2, 4.
    assert model["questions"]["preferred"]["majority"]["agreement"]["value"] == 1.0
    assert model["questions"]["ratings"]["units"] == 12


def test_ratings_with_one_person_replaced():
    """Alpha with the model in a person's place is that of the replaced matrix."""
    rng = np.random.default_rng(4)
    codes = np.where(rng.random((50, 4)) < 0.3, -1, rng.integers(0, 5, (50, 4))).astype(np.int16)
    codes, model = codes[(codes >= 0).any(axis=1)], rng.integers(0, 5, int((codes >= 0).any(axis=1).sum()))
    ratings = Ratings(codes, tuple("12345"))
    found = compare(ratings, model, "ordinal", Options(draws=0))
    for person, one in enumerate(found.in_place):
        replaced = codes.copy()
        replaced[codes[:, person] >= 0, person] = model[codes[:, person] >= 0]
        alphas = [ALPHA.estimate(Ratings(of, ratings.categories), "ordinal", "null").value for of in (replaced, codes)]
        assert one.alpha.value == pytest.approx(alphas[0] - alphas[1], abs=1e-10)


@pytest.mark.parametrize("answers", ["verdicts", "preferences"])
def test_json_is_as_the_schema_says_and_files_are_written(answers, request):
    given = request.getfixturevalue(answers)
    check = jsonschema.Draft202012Validator(report_schema())
    for one in (given, replace(given, judgements=())):
        whole = compose(one, options=OPTIONS)
        assert [error.message for error in check.iter_errors(json.loads(json.dumps(whole.json)))] == []
        assert not check.is_valid({**whole.json, "model_answers": [{}]})
    files = report_files(compose(given, options=OPTIONS))
    assert b"Model against people: m\n" in files["report.md"]
    assert any("judge-winning" in name for name in files)


def test_every_kind_can_be_asked_and_ends_with_its_method(verdicts, preferences):
    assert all(kind.asking is not None for kind in KINDS.values())
    assert Preference().dealt_extra.__doc__     # what draws the sides
