"""Guidelines, consent, checks and the code of a survey: all of it follows from what was noted."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest

from annotation.kinds.preference.survey.flow import (
    SECRET,
    check_due,
    completion_code,
    draw_check,
    gate,
    pass_gate,
    standing_check,
)
from annotation.kinds.preference.survey.texts import SETTINGS
from annotation.records import Study, StudyEvent, StudyPlan
from annotation.studies.completion import new_secret
from annotation.studies.overview import WorkProgress
from cir_core.errors import IncompleteJudgement, StudyError
from tests.fakes.study_records import START

STUDY = Study(
    "s1", "Shirts", "preference", "hs-fashioniq/1", StudyPlan(2, 1, 0, 7), True,
    {**SETTINGS, SECRET: "5" * 64, "consent": "I take part of my own will."}, {}, "local", START,
)
CHECKS_ONLY = replace(STUDY, settings={**SETTINGS, SECRET: "5" * 64})


def at(done, total=50):
    return WorkProgress(done, total, 0, None, None)


class Person:
    """Somebody in the survey; what they did is noted as the service does."""

    def __init__(self, study=STUDY, name="Ann", *kinds):
        self.study, self.name, self.events = study, name, []
        for kind in kinds:
            self.give(kind, answer=True)

    def gate(self, done=0, total=50):
        return gate(self.study, self.name, at(done, total), self.events)

    def give(self, kind, done=0, total=50, token=None, **given):
        token = token or f"token-{len(self.events)}"
        passage = pass_gate(self.study, self.name, at(done, total), self.events, kind, token, **given)
        if all(event.token != token for event in self.events):
            self.events.append(StudyEvent(token, "s1", self.name, passage.kind, token, passage.payload, START))
        return passage

    def check(self, done, wrong=False, total=50, **given):
        standing = self.gate(done, total)
        answer = solved(standing) + wrong
        return self.give("check", done, total, answer=answer,
                         **{"number": standing["number"], "attempt": standing["attempt"], **given})


def solved(shown):
    """What the person reads, done by hand."""
    return sum(map(int, re.findall(r"\d+", shown.get("question") or shown["instruction"])))


def ready(study=CHECKS_ONLY, name="Ann"):
    return Person(study, name, "guidelines")


# --- guidelines and consent ---------------------------------------------------------------


def test_guidelines_then_consent_then_the_questions():
    ann = Person()
    assert ann.gate() == {"kind": "guidelines"}
    assert ann.give("guidelines").passed
    assert ann.gate() == {"kind": "consent", "text": "I take part of my own will."}
    passage = ann.give("consent", answer=True)
    assert (passage.kind, passage.payload, passage.passed) == ("consent", {"text": "I take part of my own will."}, True)
    assert ann.gate() is None


def test_no_consent_is_asked_where_there_is_no_text():
    assert ready().gate() is None


@pytest.mark.parametrize("answer", [None, False, "yes", 1])
def test_consent_is_given_or_it_is_not(answer):
    ann = Person(STUDY, "Ann", "guidelines")
    with pytest.raises(IncompleteJudgement, match="Tick that you agree"):
        ann.give("consent", answer=answer)
    assert ann.gate()["kind"] == "consent"


def test_another_text_of_consent_asks_again():
    ann = Person(STUDY, "Ann", "guidelines", "consent")
    ann.study = replace(STUDY, settings={**STUDY.settings, "consent": "And my answers may be published."})
    assert ann.gate(3) == {"kind": "consent", "text": "And my answers may be published."}


def test_a_step_cannot_be_skipped():
    ann = Person()
    for kind in ("consent", "check", "finish"):
        with pytest.raises(IncompleteJudgement, match="Reload it to see the current step"):
            ann.give(kind, answer=True)


# --- when checks stand --------------------------------------------------------------------


def points(total, every, form_size):
    """Where somebody who answers one question after the other meets a check."""
    return sorted({check_due(done, total, every=every, form_size=form_size) for done in range(total + 1)} - {0})


@pytest.mark.parametrize(("total", "every", "form_size", "expected"), [
    (50, 5, 25, [5, 10, 15, 20, 25, 30, 35, 40, 45, 50]),
    (24, 5, 12, [5, 10, 12, 17, 22, 24]),        # counted anew in each form, and one at its end
    (13, 5, 25, [5, 10, 13]),                    # a form that is not full ends too
    (50, 30, 25, [25, 50]),                      # at the ends of forms only
    (12, 5, 0, [5, 10, 12]),                     # one form
    (12, 0, 5, []),                              # no checks
])
def test_where_checks_stand(total, every, form_size, expected):
    assert points(total, every, form_size) == expected


def test_nothing_stands_between_two_checks():
    ann = ready()
    assert [ann.gate(done) for done in range(5)] == [None] * 5
    assert ann.gate(5)["number"] == 5
    assert ann.check(5).passed
    assert [ann.gate(done) for done in range(5, 10)] == [None] * 5
    assert ann.gate(10)["number"] == 10


def test_who_went_past_checks_passes_the_latest():
    ann = ready()
    assert ann.gate(17)["number"] == 15          # those after 5 and 10 were gone past, with a script
    ann.check(17)
    assert ann.gate(17) is None and ann.gate(19) is None


def test_more_questions_after_the_last_one_bring_more_checks():
    ann = ready()
    ann.check(13, total=13)                      # the end as it was then
    assert ann.gate(13, total=20) is None        # seven more were taken over
    assert ann.gate(15, total=20)["number"] == 15


def test_a_study_without_checks():
    for settings in ({"check": "none"}, {"check_every": 0}):
        ann = ready(replace(CHECKS_ONLY, settings={**SETTINGS, **settings}))
        assert [ann.gate(done) for done in range(50)] == [None] * 50
        assert ann.gate(50)["kind"] == "finished"


def test_a_form_of_check_that_there_is_not():
    with pytest.raises(StudyError, match=r"form 'capital'. Set check to sum, instruction or none"):
        ready(replace(CHECKS_ONLY, settings={**SETTINGS, "check": "capital"})).gate(5)


# --- what checks ask ----------------------------------------------------------------------


def test_a_sum_is_the_same_after_a_reload_and_another_for_others():
    shown = ready().gate(5)
    assert set(shown) == {"kind", "number", "attempt", "check", "question"}  # and no result
    assert ready().gate(5) == shown == ready(name=" ANN ").gate(6)
    people = {ready(name=f"person {number}").gate(5)["question"] for number in range(20)}
    numbers = {ready().gate(number)["question"] for number in range(5, 50, 5)}
    seeds = {ready(replace(CHECKS_ONLY, plan=StudyPlan(2, 1, 0, seed))).gate(5)["question"] for seed in range(20)}
    assert min(len(people), len(seeds)) > 10 and len(numbers) > 4


def test_sums_of_two_numbers_from_2_to_9():
    questions = [draw_check("sum", f"seed {seed}", 5, attempt) for seed in range(200) for attempt in range(10)]
    for check in questions:
        first, second = map(int, re.fullmatch(r"(\d+) \+ (\d+)", check.task).groups())
        assert 2 <= first <= 9 and 2 <= second <= 9 and check.expected == first + second
    # Every total from 2 + 2 to 9 + 9, and every addend, comes up.
    assert {check.expected for check in questions} == set(range(4, 19))
    assert {check.task[0] for check in questions} == set("23456789")


@pytest.mark.parametrize(("form", "distinct"), [("sum", 15), ("instruction", 5)])
def test_right_answers_of_attempts_in_a_row_differ(form, distinct):
    answers = [draw_check(form, "seed", 5, attempt).expected for attempt in range(3 * distinct)]
    assert set(Counter(answers).values()) == {3} and len(set(answers)) == distinct
    assert all(one != other for one, other in zip(answers, answers[1:], strict=False))


def test_an_instruction():
    study = replace(CHECKS_ONLY, settings={**SETTINGS, "check": "instruction"})
    ann = ready(study)
    shown = ann.gate(5)
    assert re.fullmatch(r"Please choose [1-5]\.", shown["instruction"]) and shown["options"] == [1, 2, 3, 4, 5]
    asked = {ready(study, f"person {number}").gate(5)["instruction"] for number in range(50)}
    assert len(asked) == 5
    with pytest.raises(IncompleteJudgement, match="Choose one of 1 to 5"):
        ann.give("check", 5, number=5, attempt=0, answer=6)
    right = ann.check(5)
    assert right.passed and right.payload == {
        "number": 5, "attempt": 0, "check": "instruction", "instruction": shown["instruction"],
        "answer": solved(shown), "right": True}


# --- answering them -----------------------------------------------------------------------


def test_a_wrong_answer_is_counted_and_another_sum_stands_at_the_same_place():
    ann = ready()
    first = ann.gate(5)
    passage = ann.check(5, wrong=True)
    assert not passage.passed and passage.payload == {
        "number": 5, "attempt": 0, "check": "sum", "question": first["question"],
        "answer": solved(first) + 1, "right": False}
    second = ann.gate(5)
    assert (second["number"], second["attempt"]) == (5, 1) and solved(second) != solved(first)
    ann.check(5, wrong=True)
    assert ann.gate(5)["attempt"] == 2
    assert ann.check(5).passed and ann.gate(5) is None
    assert [event.payload["right"] for event in ann.events if event.kind == "check"] == [False, False, True]
    assert ann.gate(10)["attempt"] == 0          # each place counts for itself


def test_an_answer_as_text():
    for change in (str, " {} ".format, float, "{:03}".format, lambda n: "".join(chr(0x660 + int(d)) for d in str(n))):
        ann = ready()
        standing = ann.gate(5)
        passage = ann.give("check", 5, number=5, attempt=0, answer=change(solved(standing)))
        assert passage.passed and passage.payload["answer"] == solved(standing)


@pytest.mark.parametrize("answer", [None, "", "  ", "twelve", "1_2", "-", True, 12.5, float("nan"), float("inf"), [12],
                                    {"12": 12}, "9" * 5000, 10**400, "½", "²"])
def test_what_is_no_number_is_not_counted_as_wrong(answer):
    ann = ready()
    with pytest.raises(IncompleteJudgement, match=r"Type the sum of \d \+ \d in digits"):
        ann.give("check", 5, number=5, attempt=0, answer=answer)
    assert ann.gate(5)["attempt"] == 0


def test_a_call_that_is_repeated_gives_what_was_noted():
    ann = ready()
    wrong = ann.check(5, wrong=True, token="press-one")
    again = ann.give("check", 5, token="press-one", number=5, attempt=0, answer=999)
    assert again == wrong and len(ann.events) == 2
    right = ann.check(5, token="press-two")
    assert ann.give("check", 5, token="press-two", number=5, attempt=1, answer=1) == right and right.passed
    consent = Person(STUDY, "Ann", "guidelines", "consent")
    assert consent.give("consent", token="token-1", answer=None).passed


def test_two_windows():
    """Both show the first sum. One answers wrongly, so the other's sum no longer stands: it is not counted."""
    ann = ready()
    shown = ann.gate(5)
    ann.check(5, wrong=True)
    with pytest.raises(IncompleteJudgement, match=r"perhaps in another window. Reload it"):
        ann.give("check", 5, number=5, attempt=0, answer=solved(shown))
    ann.check(5)
    with pytest.raises(IncompleteJudgement, match="perhaps in another window"):
        ann.give("check", 5, number=5, attempt=1, answer=1)
    assert len([event for event in ann.events if event.kind == "check"]) == 2


def test_an_answer_that_names_no_check():
    with pytest.raises(IncompleteJudgement, match="not counted"):
        ready().give("check", 5, answer=12)


# --- the end ------------------------------------------------------------------------------


def test_the_code_comes_behind_the_last_check():
    ann = ready(replace(CHECKS_ONLY, settings={**CHECKS_ONLY.settings, "completion_prefix": "LAB-"}))
    assert ann.gate(50)["kind"] == "check"
    with pytest.raises(IncompleteJudgement):
        ann.give("finish", 50)
    ann.check(50)
    finished = ann.gate(50)
    assert finished["kind"] == "finished" and re.fullmatch(r"LAB-[0-9A-F]{8}", finished["code"])
    assert ann.give("finish", 50).payload == {"code": finished["code"]}
    assert ann.gate(50) == finished              # after a reload too


def test_codes_are_one_per_person_and_study():
    codes = {completion_code(CHECKS_ONLY, f"person {number}") for number in range(1000)}
    assert len(codes) == 1000
    assert completion_code(CHECKS_ONLY, "Ann") == completion_code(STUDY, " aNN")
    others = [replace(STUDY, study_id="s2"), replace(STUDY, settings={**STUDY.settings, SECRET: "6" * 64})]
    assert len({completion_code(study, "Ann") for study in (STUDY, *others)}) == 3


def test_nothing_that_is_public_makes_a_code():
    """Not the seed, nor the id: studies that differ in nothing else have other codes."""
    made = [replace(STUDY, settings={**STUDY.settings, SECRET: new_secret()}) for _ in range(100)]
    assert len({completion_code(study, "Ann") for study in made}) == 100
    assert completion_code(replace(STUDY, plan=StudyPlan(2, 1, 0, 8)), "Ann") == completion_code(STUDY, "Ann")


def test_a_study_without_a_secret_has_no_code():
    ann = ready(replace(CHECKS_ONLY, settings={**SETTINGS}))
    ann.check(50)
    assert ann.gate(50) == {"kind": "finished", "code": None}
    assert ann.give("finish", 50).payload == {"code": None}


def test_the_code_that_was_given_stays():
    ann = ready()
    ann.check(50)
    code = ann.give("finish", 50).payload["code"]
    ann.study = replace(CHECKS_ONLY, settings={**SETTINGS})
    assert ann.gate(50) == {"kind": "finished", "code": code}


def test_somebody_who_got_nothing_has_not_finished():
    assert ready().gate(0, total=0) is None


def test_a_closed_study_still_leads_to_the_code():
    ann = ready()
    ann.study = replace(CHECKS_ONLY, accepting=False)
    assert ann.gate(5) is None                   # there is nothing more to answer
    assert ann.gate(50)["kind"] == "check"
    ann.check(50)
    assert ann.gate(50)["kind"] == "finished"


def test_a_closed_study_asks_nothing_of_those_who_only_look():
    closed = replace(STUDY, accepting=False)
    assert Person(closed).gate(0) is None
    assert Person(closed).gate(50) is None       # imported: answered elsewhere


def test_settings_that_are_not_there_are_those_of_the_survey():
    bare = replace(STUDY, settings={})
    ann = ready(bare)
    assert ann.gate(0) is None and ann.gate(5) == ready().gate(5)
    assert standing_check(bare, "Ann", at(4), ann.events) is None
