"""A session study that asks questions of its own: what is asked, stored, counted, exported and refused."""

from __future__ import annotations

import csv
import io
import json

import pytest

from annotation.analysis.records import Options, StudyAnswers
from annotation.kinds.ratings.answers import RESERVED, Sessions, choose_questions, parse_questions, questions_of
from annotation.kinds.ratings.exports import session_files
from annotation.kinds.ratings.report.report import session_precision, session_report
from annotation.kinds.ratings.report.sections import session_sections
from annotation.kinds.reports import compose, load_answers, report_file
from annotation.kinds.table import KINDS
from annotation.studies.copying import duplicate_study
from annotation.studies.protocols import OwnFile
from annotation.studies.service import StudyService
from cir_core.errors import IncompleteJudgement, StudyError
from tests.fakes.databases import study_store as study_store
from tests.fakes.session_studies import OWN_QUESTIONS, make_session_study

NO_DRAWS = Options(draws=0)
FILE = OwnFile("mine.toml", OWN_QUESTIONS)


@pytest.fixture
def study(store, tmp_path, gallery):
    return make_session_study(store, tmp_path, gallery, seats=2, overlap=2, questions=FILE)


def complete(study, **ratings):
    return Sessions().normalize({"ratings": ratings}, None, study).answer["ratings"]


def answered(store, study) -> StudyAnswers:
    """Ann and Ben rate two sessions: (helpful, repair, again) is 2, 5, 3 and 6, -, 7; then both 1, 1, 1."""
    service = StudyService(store, {"sessions": Sessions()})
    for who, first in (("Ann", {"helpful": 2, "repair": 5, "again": 3}), ("Ben", {"helpful": 6, "again": 7})):
        service.join(study.name, who)
        items = sorted(place.item_id for place in service.overview(study.name, who))[:2]
        for item, ratings in zip(items, (first, dict.fromkeys(("helpful", "repair", "again"), 1)), strict=True):
            service.save(study.name, who, item, {"ratings": ratings, "reason": ""}, f"token-{who}-{item}")
    return load_answers(store, study)


def test_the_file_is_stored_with_the_study_and_goes_along(store, tmp_path, study):
    assert (study.protocol, store.study("Dialogues").settings["questions"]) == ("my-lab/1", OWN_QUESTIONS)
    copy = duplicate_study(store, tmp_path, study, "Copy")
    assert questions_of(copy).keys == ("helpful", "repair", "again")
    results = json.loads(session_files(store, copy, "results")[0]["results.json"])
    assert parse_questions(results["questions"], "again.toml") == questions_of(study)
    page = Sessions().page(study)
    assert page["title"] == "How did the search go?" and page["points"] == [1, 2, 3, 4, 5, 6, 7]
    assert page["questions"][1]["show_if"] == {"helpful": [1, 2, 3]} and len(page["impossible"]) == 1


def test_a_question_that_is_not_asked_has_no_answer(study):
    assert complete(study, helpful=2, repair=5, again=3) == {"helpful": 2, "repair": 5, "again": 3}
    assert complete(study, helpful=6, repair=5, again=7) == {"helpful": 6, "repair": None, "again": 7}
    told = Sessions().told({"ratings": {"helpful": 6, "repair": None, "again": 7}}, None, study)
    assert told == "Helpful: 6; Again: 7"
    draft = Sessions().draft({"ratings": {"helpful": 7, "again": 8}}, None, study)
    assert draft["ratings"] == {"helpful": 7, "repair": None, "again": None}


@pytest.mark.parametrize(("ratings", "says"), [
    ({"helpful": 2, "again": 3}, "“Repair” has no answer yet. Choose 1 to 7"),
    ({"helpful": 8, "again": 3}, "“Helpful” must be a whole number from 1 to 7"),
    ({"helpful": 1, "repair": 1, "again": 6}, "Nothing helped, and you would search so again"),
    ({"overall": 1}, "no field “overall”"),
])
def test_what_is_missing_or_excluded_is_said(study, ratings, says):
    with pytest.raises(IncompleteJudgement, match=says):
        complete(study, **ratings)


def test_gold_contradictions_and_disputes_follow_the_file(study):
    kind = Sessions()
    high, low = ({"ratings": {"helpful": a, "repair": b, "again": c}} for a, b, c in ((6, None, 7), (2, 5, 3)))
    # Within one point of 6, -, 7: all of itself; of the other none, for "repair" is asked in one of them alone.
    assert (kind.score(high, high), kind.score(low, high)) == (1, 0)
    assert kind.score({"ratings": {"helpful": 5, "repair": None, "again": 4}}, high) == pytest.approx(2 / 3)
    # The whole is the last question that everybody is asked: 3 is not beyond 2 and 5, 7 would be.
    assert questions_of(study).whole.key == "again"
    assert kind.contradicts(low, study) is False
    assert kind.contradicts({"ratings": {"helpful": 2, "repair": 5, "again": 7}}, study) is True
    assert kind.disputes([high, low], study) == ["split"] and kind.disputes([low, low], study) == []


def test_the_report_counts_what_was_asked(store, study):
    answers = answered(store, study)
    report = session_report(answers, options=NO_DRAWS)
    helpful, repair, again = report.questions
    assert (helpful.counts, repair.counts, again.counts) == (
        (2, 1, 0, 0, 0, 1, 0), (2, 0, 0, 0, 1, 0, 0), (2, 0, 1, 0, 0, 0, 1))
    # Of two sessions: (2 + 6) / 2 and 1; of "repair" 5 and 1; of "again" (3 + 7) / 2 and 1.
    assert [one.mean.value for one in report.questions] == [2.5, 3, 3]
    assert (helpful.apart.value, repair.apart.value, again.apart.value) == (2, 0, 2)
    ann, ben = report.people
    # Beside Ben: helpful 2 - 6, again 3 - 7, then three times 1 - 1; "repair" is no pair in the first session.
    assert (ann.mean, ann.lenient, ben.lenient) == (2, -8 / 5, 8 / 5)
    told = report_file(compose(answers, options=NO_DRAWS), "json").decode()
    assert set(json.loads(told)["questions"]) == {"helpful", "repair", "again"}
    words = repr(tuple(session_sections(report)))
    assert "The questions of my-lab/1." in words and "1 to 7: number of ratings" in words and "“Again”" in words
    assert "CIRCLED" not in words and "overall" not in words.lower()
    planned, = session_precision(answers, 0.5, NO_DRAWS)
    assert planned.what == "Mean of “Again”"


def test_tables_have_a_column_for_each_question(store, study):
    answered(store, study)
    files, _ = session_files(store, study, "csv")
    rows = list(csv.DictReader(io.StringIO(files["judgements.csv"].decode("utf-8-sig"))))
    assert sorted((row["helpful"], row["repair"], row["again"]) for row in rows) == [
        ("1", "1", "1"), ("1", "1", "1"), ("2", "5", "3"), ("6", "", "7")]
    names = {name for file in files.values() for name in file.decode("utf-8-sig").splitlines()[0].split(",")}
    assert names - {"helpful", "repair", "again"} == RESERVED


def test_scores_of_a_language_model_are_refused(store, study):
    items = store.items(study.study_id)
    with pytest.raises(StudyError, match=r"questions of its own .my-lab/1., .*CIRCLED's five"):
        KINDS["sessions"].read_scores(study, "{}", items, "judged.json")


def test_a_name_never_means_two_files(store, tmp_path, gallery, study):
    def choose(text):
        return choose_questions(OwnFile("mine.toml", text), store.studies)

    assert choose(OWN_QUESTIONS)[1] == {"questions": OWN_QUESTIONS}, "the same file again"
    with pytest.raises(StudyError, match=r"'Dialogues' uses a different my-lab/1\. Raise .* this one: my-lab/2"):
        choose(OWN_QUESTIONS.replace("Would you", "Would you really"))
    assert choose(OWN_QUESTIONS.replace("my-lab/1", "my-lab/2"))[0].protocol == "my-lab/2"
    with pytest.raises(StudyError, match="circled/1 is a file of cirque, and this one differs"):
        choose(OWN_QUESTIONS.replace("my-lab/1", "circled/1"))
    with pytest.raises(StudyError, match=r"mine\.toml is not valid TOML"):
        make_session_study(store, tmp_path, gallery, name="Two", questions=OwnFile("mine.toml", "protocol ="))
    assert [one.name for one in store.studies()] == ["Dialogues"]


@pytest.mark.parametrize(("old", "new", "said"), [
    ("points = 7", "points = 10", r"line 4, points: .*less than or equal to 9"),
    ("points = 7", "colour = 7", r"line 4, colour: there is no field of this name"),
    ('high = "yes"\n', "", r"line 21, questions\.2\.high: this field is missing"),
    ('key = "again"', 'key = "Again!"', r"line 22, questions\.2\.key: "),
    ('key = "again"', 'key = "repair"', r"line 22, questions\.2\.key: repair occurs twice"),
    ('key = "again"', 'key = "reason"', r"line 22, questions\.2\.key: reason is another column"),
    ("{ helpful = [1, 2, 3] }", "{ again = [1] }", r"line 19, questions\.1\.show_if: again is no earlier question"),
    ("{ helpful = [1, 2, 3] }", "{ helpful = [] }", r"line 19, questions\.1\.show_if\.helpful: "),
    ("[6, 7]", "[8]", r"line 29, impossible\.0\.when: again is rated from 1 to 7"),
    ("helpful = [1],", "other = [1],", r"line 29, impossible\.0\.when: other is no question"),
])
def test_a_fault_is_named_with_its_line(old, new, said):
    assert old in OWN_QUESTIONS
    with pytest.raises(StudyError, match=rf"^mine\.toml, {said}"):
        parse_questions(OWN_QUESTIONS.replace(old, new, 1), "mine.toml")


def test_something_is_always_asked():
    one = OWN_QUESTIONS[:OWN_QUESTIONS.index("[[impossible]]")].replace(
        'high = "always"', 'high = "always"\nshow_if = {}')
    assert parse_questions(one, "mine.toml").whole.key == "again"




def test_a_language_model_is_asked_the_same(store, study):
    asking, item = KINDS["sessions"].asking, store.items(study.study_id)[0]
    asked = asking.asked(item, study, {})
    assert [(one.name, one.options) for one in asked.form.fields] == [
        (key, tuple(range(1, 8))) for key in ("helpful", "repair", "again")]
    given = asking.answer({"helpful": 6, "repair": 5, "again": 7}, "It helped.", item, False)
    made = Sessions().normalize(given, item, study).answer
    assert {one.key: one.codes(made, study) for one in asking.questions(study)} == {
        "helpful": {"": 5}, "repair": {}, "again": {"": 6}}      # a rating of six shows no question on repair
    assert asking.questions(study)[0].categories(study) == tuple("1234567")
