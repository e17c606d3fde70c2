"""A preference study with a survey of its own: what is shown, stored, reported, put to a model and refused."""

from __future__ import annotations

import pytest

from annotation.analysis.records import Options
from annotation.kinds.preference.answers import Preference
from annotation.kinds.preference.report.report import preference_report
from annotation.kinds.preference.report.sections import preference_sections
from annotation.kinds.preference.survey.position import settings_shown
from annotation.kinds.preference.survey.texts import parse_survey
from annotation.kinds.reports import load_answers
from annotation.kinds.table import KINDS, Export
from annotation.studies.copying import duplicate_study
from annotation.studies.protocols import OwnFile
from cir_core.errors import IncompleteJudgement, StudyError
from tests.fakes.databases import study_store as study_store
from tests.fakes.preferences import OWN_SURVEY
from tests.unit.annotation.kinds.preference.test_preference_creation import QUERIES, made
from tests.unit.annotation.studies.test_study_creation import pictures as pictures


@pytest.fixture
def study(store, tmp_path, pictures):
    return made(store, tmp_path, pictures, QUERIES[:2], questions=OwnFile("mine.toml", OWN_SURVEY)).study


def test_the_file_is_stored_with_the_study_and_names_its_sets(store, tmp_path, study):
    assert (study.protocol, study.settings["questions"]) == ("my-lab/1", OWN_SURVEY)
    assert study.settings["set_names"] == ["Shelf A", "Shelf B"] == settings_shown(study)["set_names"]
    copy = duplicate_study(store, tmp_path, study, "Copy")
    page = Preference().page(copy)
    assert page["questions"]["ratings"] == ["How good is Shelf A?", "How good is Shelf B?"]
    assert [one["name"] for one in page["scale"]] == ["awful", "poor", "fair", "good", "splendid"]
    assert page["questions"]["preferred"] == "Which shelf would you walk to?"
    assert page["help"] == {"rating": "All five together.", "preferred": "", "irrelevant": "", "reason": ""}
    with pytest.raises(IncompleteJudgement, match="Shelf A has no rating yet"):
        Preference().normalize({}, store.items(study.study_id)[0], study, extra={"first": 1})
    assert KINDS["preference"].export(store, study, Export("csv"))[0]["questions.toml"].decode() == OWN_SURVEY


def test_a_language_model_is_asked_the_same(store, study):
    fields = {one.name: one.about for one in KINDS["preference"].asking.asked(
        store.items(study.study_id)[0], study, {"first": 1}).form.fields}
    scale = "(1: awful; 2: poor; 3: fair; 4: good; 5: splendid)"
    assert fields["rating_A"] == f"How good is Shelf A? {scale} All five together."
    assert fields["preferred"] == 'Which shelf would you walk to? "A" is Shelf A, "B" is Shelf B.'
    assert fields["irrelevant_either"] == "Both are useless"


def test_reports_have_the_words_of_the_file(store, tmp_path, pictures, study):
    def words(of):
        return repr(preference_sections(preference_report(load_answers(store, of), options=Options(draws=0))))

    said = "“How good is Shelf A?”, from 1, “awful”, to 5, “splendid”; “Which shelf would you walk to?”."
    assert f"The survey is my-lab/1: {said}" in words(study)
    plain = made(store, tmp_path, pictures, QUERIES[:2], name="Plain").study
    assert "questions" not in plain.settings and "The survey is" not in words(plain)


@pytest.mark.parametrize(("old", "new", "said"), [
    ('"poor", ', "", r"line 5, scale: it has 4 points, and sets are rated from 1 to 5, as reports .* each of the five"),
    ('"Shelf B"', '"Shelf\\nB"', r"line 2, set_names: write each name on one line"),
    ('noun = "shelf"', "points = 7", r"line 3, points: there is no field of this name"),
    ('reason = "Why?"\n', "", r"line 10, questions\.reason: this field is missing"),
    ('irrelevant = "Both are useless"\n', "", r"line 10, questions: ask either irrelevant, or irrelevant_image"),
    ("[help]", "[helps]", r"line 17, helps: there is no field of this name"),
])
def test_a_fault_is_named_with_its_line(old, new, said):
    assert old in OWN_SURVEY
    with pytest.raises(StudyError, match=rf"^mine\.toml, {said}"):
        parse_survey(OWN_SURVEY.replace(old, new, 1), "mine.toml")


def test_sets_with_one_name_are_refused_and_nothing_is_created(store, tmp_path, pictures):
    same = OwnFile("mine.toml", OWN_SURVEY.replace("Shelf B", "shelf a"))
    with pytest.raises(StudyError, match="Both sets are called 'Shelf A'"):
        made(store, tmp_path, pictures, QUERIES[:2], questions=same)
    assert not store.studies()
