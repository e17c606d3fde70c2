"""Ids in links, settings, quotas, endings: pure rules of recruitment."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from annotation.records import Participant
from annotation.recruitment.ids import MOST_ID, Arrival, NoId, arrival
from annotation.recruitment.settings import (
    checked_answers,
    has_place,
    is_accepted,
    settings_from,
    settings_from_toml,
)
from cir_core.errors import StudyError

ONE = Participant("st", "a", "P-A", {}, "new", {}, "", datetime(2026, 1, 2, tzinfo=UTC))


@pytest.mark.parametrize(("query", "own", "found"), [
    ([("PROLIFIC_PID", "5f3a"), ("STUDY_ID", "st"), ("SESSION_ID", "se"), ("utm", "x")], "",
     Arrival("5f3a", {"STUDY_ID": "st", "SESSION_ID": "se"})),
    ([("workerId", "A1B2"), ("assignmentId", "3X"), ("hitId", "9Y")], "",
     Arrival("A1B2", {"assignmentId": "3X", "hitId": "9Y"})),
    ([("participantId", "c0ffee"), ("projectId", "p")], "", Arrival("c0ffee", {"projectId": "p"})),
    ([("prolific_pid", "5f3a")], "", Arrival("5f3a")),
    ([("panel", "x-1"), ("PROLIFIC_PID", "5f3a")], "panel", Arrival("x-1")),
    ([("PROLIFIC_PID", " 5f3a ")], "", Arrival("5f3a")),
    ([("PROLIFIC_PID", "5f3a"), ("PROLIFIC_PID", "5f3a")], "", Arrival("5f3a")),
    ([("PROLIFIC_PID", "5f3a"), ("SESSION_ID", "a\x00b")], "", Arrival("5f3a")),
    ([("utm_source", "mail")], "", None), ([], "panel", None),
])
def test_the_id_is_taken_from_any_sites_parameter(query, own, found):
    assert arrival(query, own) == found


@pytest.mark.parametrize(("value", "says"), [
    ("", "no participant id"), ("   ", "no participant id"), ("a" * (MOST_ID + 1), "101 characters"),
    ("a b", "without spaces"), ("a\x00b", "without spaces"), ("a\nb", "without spaces"), ("ä", "without spaces"),
    ("-x", "without spaces"), ("{{%PROLIFIC_PID%}}", "did not fill it in"), ("${workerId}", "did not fill it in"),
    ("<script>", "without spaces"), ("../x", "without spaces"),
])
def test_an_id_that_cannot_be_used_is_refused_with_what_to_do(value, says):
    with pytest.raises(NoId, match=says):
        arrival([("PROLIFIC_PID", value)])


def test_two_ids_and_previews_are_refused():
    with pytest.raises(NoId, match="2 different ids"):
        arrival([("PROLIFIC_PID", "a"), ("PROLIFIC_PID", "b")])
    with pytest.raises(NoId, match="preview"):
        arrival([("workerId", "a"), ("assignmentId", "ASSIGNMENT_ID_NOT_AVAILABLE")])


@pytest.mark.parametrize("url", [
    "ftp://x.org/a", "javascript:alert(1)", "x.org", "https://", "https://a b.org", "https://x.org/\n", "//x.org",
    "https://user:pw@x.org", "http://[::1", "https://x.org/" + "a" * 2000, 'https://x.org/"><script>', "https://x.org:99999/",
])
def test_a_redirect_address_has_to_be_one(url):
    with pytest.raises(StudyError, match=r"complete\.url"):
        settings_from({"complete": {"url": url}})


def test_an_address_gets_id_and_code():
    ending = settings_from({"complete": {"url": "https://x.org/?cc={code}&p={id}"}}).complete
    assert ending.address("a@b.org", "A B") == "https://x.org/?cc=A%20B&p=a%40b.org"
    assert settings_from({}).complete.address("a", "b") == ""


TOML = """
open = true
consent = "I agree."
minutes = 60
[[questions]]
key = "age"
text = "How old are you?"
answers = ["under 18", "18 to 40", "over 40"]
accepts = ["18 to 40", "over 40"]
[[questions]]
key = "gender"
text = "Your gender?"
answers = ["woman", "man", "other"]
[[quotas]]
where = {gender = "woman"}
most = 2
[[quotas]]
where = {gender = "man", age = "over 40"}
most = 1
[complete]
code = "C1"
url = "https://app.prolific.com/submissions/complete?cc=C1"
"""


def test_settings_from_toml_and_what_is_wrong_in_them():
    found = settings_from_toml(TOML, "study.toml")
    assert (found.minutes, found.questions[0].accepts, found.complete.code) == (60, ("18 to 40", "over 40"), "C1")
    assert settings_from(found.model_dump(mode="json")) == found
    for wrong, says in (
        ('most = 2\n', 'most = -1\n'), ('answers = ["woman", "man", "other"]', 'answers = ["woman"]'),
        ('accepts = ["18 to 40", "over 40"]', 'accepts = ["40"]'), ('key = "gender"', 'key = "age"'),
        ('where = {gender = "woman"}', 'where = {gender = "boy"}'), ("minutes", "minuets"), ("open = true", "open = ]"),
    ):
        with pytest.raises(StudyError, match=r"study\.toml"):
            settings_from_toml(TOML.replace(wrong, says, 1), "study.toml")


@pytest.mark.parametrize(("wrong", "says", "message"), [
    ("minutes = 60", "minuets = 60", "minuets: there is no field of this name. Correct the name, or remove the field."),
    ('key = "gender"', "", "questions.1.key: this field is missing. Add it."),
    ('key = "gender"', 'kay = "gender"',
     "questions.1.key: this field is missing, and kay is not a field. Rename kay."),
    ("most = 2", "most = -1", "quotas.0.most: Input should be greater than or equal to 0. Correct the field."),
])
def test_a_field_that_is_wrong_or_missing_is_said_in_plain_words(wrong, says, message):
    with pytest.raises(StudyError) as refused:
        settings_from_toml(TOML.replace(wrong, says, 1), "study.toml")
    assert str(refused.value) == f"study.toml, {message} Nothing was changed."


def test_screening():
    settings = settings_from_toml(TOML, "x")
    assert checked_answers(settings, {"age": "over 40", "gender": "man", "more": "x"}) == {
        "age": "over 40", "gender": "man"}
    for given in ({}, {"age": "over 40"}, {"age": "12", "gender": "man"}):
        with pytest.raises(StudyError, match="Choose an answer"):
            checked_answers(settings, given)
    assert is_accepted(settings, {"age": "over 40", "gender": "man"})
    assert not is_accepted(settings, {"age": "under 18", "gender": "man"})


def people(*states_and_answers):
    return [replace(ONE, participant_id=f"p{number}", state=state, answers=answers)
            for number, (state, answers) in enumerate(states_and_answers)]


def test_quotas_count_who_holds_a_place_in_every_cell_of_theirs():
    settings = settings_from_toml(TOML, "x")
    woman, man = {"gender": "woman", "age": "18 to 40"}, {"gender": "man", "age": "over 40"}

    def fits(answers, *others, planned=10):
        return has_place(settings, planned, people(*others), replace(ONE, answers=answers))

    assert fits(woman, ("in", woman)) and not fits(woman, ("in", woman), ("finished", woman))
    # Who failed the screening, was away for too long, or found no place, holds none.
    assert fits(woman, ("in", woman), *((state, woman) for state in ("expired", "screened-out", "over-quota", "new")))
    assert not fits(man, ("in", man)) and fits({**man, "age": "18 to 40"}, ("in", man))
    # The number of people is a quota of all.
    assert fits({"gender": "other"}, ("in", man), planned=2) and not fits({"gender": "other"}, ("in", man), planned=1)
    few = settings.model_copy(update={"people": 1})
    assert not has_place(few, 10, people(("in", man)), replace(ONE, answers=woman))


def test_somebody_is_not_counted_against_themselves():
    settings = settings_from({"people": 1})
    assert has_place(settings, 10, [replace(ONE, state="in")], ONE)
