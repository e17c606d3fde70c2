"""Answers to the preference study: from shown to stored terms, and what is refused."""

import pytest

from annotation.preference.answers import Preference, as_shown, contradicts, shown_sets
from annotation.preference.survey.texts import SETTINGS, load_survey, parse_survey
from cir_core.errors import IncompleteJudgement, NeedsConfirmation, StudyError
from tests.fakes.preferences import a_study, an_item

KIND = Preference()
ITEM = an_item()


def given(**changes):
    """Set A, which stands first, is better."""
    return {"ratings": {"A": 4, "B": 2}, "preferred": "A", "irrelevant": {"image": False, "text": False}, "reason": "",
            "confirmed": False} | changes


def normalize(answer, study=None, **extra):
    return KIND.normalize(answer, ITEM, study or a_study(), extra={"first": 1, "form": 1,
                                                                   "reason": False} | extra).answer


def test_what_stands_first_may_be_stored_as_either_set():
    assert normalize(given(), first=1) == {
        "ratings": [4, 2], "preferred": 1, "irrelevant": {"image": False, "text": False}, "reason": "", "first": 1,
        "contradiction_confirmed": False}
    turned = normalize(given(irrelevant={"image": True}), first=2)
    assert turned == {
        "ratings": [2, 4], "preferred": 2, "irrelevant": {"image": True, "text": False}, "reason": "", "first": 2,
        "contradiction_confirmed": False}


@pytest.mark.parametrize("first", [1, 2])
@pytest.mark.parametrize("preferred", ["A", "B", "tie"])
def test_an_answer_comes_back_as_it_was_given(first, preferred):
    ratings = {"A": 3, "B": 3} if preferred == "tie" else {"A": 1, "B": 5}
    answer = given(ratings=ratings, preferred=preferred, reason="its colour", confirmed=preferred == "A")
    kept = normalize(answer, a_study(allow_tie=True), first=first)
    assert as_shown(kept, {"first": first}) == answer
    assert kept["preferred"] == {"tie": 0, "A": first, "B": 3 - first}[preferred]


def test_sets_stand_as_they_were_drawn():
    one, two = ITEM.shown["sets"]
    assert shown_sets(ITEM, {"first": 1}) == (one, two)
    assert shown_sets(ITEM, {"first": 2}) == (two, one)


@pytest.mark.parametrize(("changes", "told"), [
    ({"ratings": None}, "Mall 1 has no rating yet"),
    ({"ratings": {"A": 3}}, "Mall 2 has no rating yet"),
    ({"ratings": {"A": 0, "B": 1}}, "The rating of Mall 1 must be a whole number from 1 to 5"),
    ({"ratings": {"A": 1, "B": 4.0}}, "The rating of Mall 2"),
    ({"ratings": {"A": True, "B": 4}}, "The rating of Mall 1"),
    ({"ratings": {"A": 1, "B": "4"}}, "The rating of Mall 2"),
    ({"ratings": {"A": 1, "B": 4, "C": 2}}, "“ratings” has no field “C”"),
    ({"ratings": [4, 2]}, "“ratings” is an object"),
    ({"preferred": None}, "Which set is better? Choose Mall 1 or Mall 2."),
    ({"preferred": "tie"}, "This study asks for one of the two"),
    ({"preferred": 1}, "“preferred” must be “A”, “B”."),
    ({"preferred": ["A"]}, "“preferred” must be “A”, “B”."),
    ({"irrelevant": {"image": 1}}, "“irrelevant”: “image” must be true or false"),
    ({"irrelevant": True}, "“irrelevant” is an object"),
    ({"reason": 3}, "“reason” must be a text"),
    ({"reason": "x" * 20_001}, "The reason has 20,001 characters"),
    ({"confirmed": "yes"}, "“confirmed” must be true or false"),
    ({"method": "slerp"}, "A rating has no field “method”"),
])
def test_what_is_missing_or_wrong_is_named(changes, told):
    with pytest.raises(IncompleteJudgement) as problem:
        normalize(given(**changes), a_study(set_names=["Mall 1", "Mall 2"]))
    assert told in str(problem.value)
    assert not isinstance(problem.value, NeedsConfirmation)


def test_an_answer_that_is_no_object_is_refused():
    with pytest.raises(IncompleteJudgement, match="A rating is an object"):
        normalize(None)


def test_nothing_has_a_default_but_the_marks_and_the_reason():
    minimal = normalize({"ratings": {"A": 1, "B": 1}, "preferred": "B"})
    assert (minimal["irrelevant"], minimal["reason"]) == ({"image": False, "text": False}, "")


def test_a_contradiction_is_asked_about_once_and_kept_either_way():
    against = given(ratings={"A": 2, "B": 4})
    with pytest.raises(NeedsConfirmation) as doubt:
        normalize(against, first=2)
    assert str(doubt.value).startswith("You prefer Set A, but gave it 2 and Set B 4. Is that what you meant?")
    kept = normalize(against | {"confirmed": True}, first=2)
    assert (kept["ratings"], kept["preferred"], kept["contradiction_confirmed"]) == ([4, 2], 2, True)
    # Confirmed without need says nothing: equal answers are equal.
    assert normalize(given(confirmed=True)) == normalize(given())


def test_what_contradicts():
    assert contradicts([2, 4], 1) and contradicts([4, 2], 2)
    assert not any((contradicts([4, 2], 1), contradicts([3, 3], 1), contradicts([3, 3], 2), contradicts([1, 5], 0)))


def test_a_reason_is_owed_where_it_is_asked_for():
    with pytest.raises(IncompleteJudgement, match="asks for a reason"):
        normalize(given(reason=" \u200b\n"), reason=True)
    assert normalize(given(reason="colour\r\nand form "), reason=True)["reason"] == "colour\nand form"
    assert normalize(given(reason="colour"))["reason"] == "colour"


def test_where_nobody_recorded_the_sides_nothing_can_be_answered():
    with pytest.raises(StudyError, match="The order of the two sets was not recorded"):
        KIND.normalize(given(), ITEM, a_study())
    with pytest.raises(StudyError, match="not recorded"):
        shown_sets(ITEM, {"first": None})


def test_a_draft_keeps_what_there_is():
    study = a_study()
    empty = {"ratings": {"A": None, "B": None}, "preferred": None, "irrelevant": {"image": False, "text": False},
             "reason": "", "confirmed": False}
    for nothing in (None, [], "x", {}, {"ratings": 3, "preferred": [], "irrelevant": "no", "reason": 4}):
        assert KIND.draft(nothing, ITEM, study, extra={"first": 2}) == empty
    begun = {"ratings": {"A": 4, "B": 9, "x": 1}, "preferred": "B", "irrelevant": {"text": True, "image": 1},
             "reason": "so\x07 far " + "x" * 200_000, "confirmed": True, "other": 1}
    kept = KIND.draft(begun, ITEM, study, extra={"first": 2})
    assert kept == {"ratings": {"A": 4, "B": None}, "preferred": "B", "irrelevant": {"image": False, "text": True},
                    "reason": ("so far " + "x" * 200_000)[:99_999], "confirmed": False}


def test_a_reason_with_nul_is_refused_in_answers_and_drafts():
    with pytest.raises(IncompleteJudgement, match=r"The reason contains an invisible character .*NUL.*behind “so”"):
        KIND.normalize(given() | {"reason": "so\0 far"}, ITEM, a_study(), extra={"first": 2})
    with pytest.raises(IncompleteJudgement, match="NUL"):
        KIND.draft({"reason": "so\0 far"}, ITEM, a_study(), extra={"first": 2})


def test_the_page_says_what_the_study_has_set():
    page = KIND.page(a_study())
    assert page["set_names"] == ["Set A", "Set B"]
    assert [point["value"] for point in page["scale"]] == [1, 2, 3, 4, 5]
    assert page["scale"][0]["name"] == "does not fit at all"
    assert page["questions"]["ratings"][1] == "How well does Set B fit the reference image and the text?"
    assert (page["allow_tie"], page["consent"], page["check"], page["reason_limit"]) == (False, "", "sum", 20_000)
    lines = " ".join(page["guidelines"])
    for fact in ("as a whole", "order", "equal weight", "not made", "typing errors", "decided it", "Between pages",
                 "large screen", "rather go on with"):
        assert fact in lines, fact
    assert "there is a choice for it" not in lines and "{set}" not in str(page) and "{first}" not in str(page)


def test_guidelines_follow_the_settings():
    page = KIND.page(a_study(allow_tie=True, check="none", reason_every=0, set_names=["Mall 1", "Mall 2"]))
    lines = " ".join(page["guidelines"])
    assert "there is a choice for it" in lines
    assert not any(fact in lines for fact in ("rather go on with", "decided it", "Between pages"))
    assert "Mall 1 and Mall 2" in page["intro"]
    own = KIND.page(a_study(guidelines="First.\r\n\r\n Second\nline. \n\n\n"))
    assert own["guidelines"] == ["First.", "Second\nline."]


def test_the_page_of_a_study_without_settings_has_those_that_hold():
    study = a_study()
    bare = KIND.page(type(study)(**{**study.__dict__, "settings": {}}))
    assert bare == KIND.page(study)
    assert set(SETTINGS) >= {"set_names", "allow_tie", "exclude"}


def test_surveys_are_checked():
    with pytest.raises(StudyError, match="There is no survey 'other/1'"):
        load_survey("other/1")
    with pytest.raises(StudyError, match=r"There is no survey '\.\./secret/1'"):
        load_survey("../secret/1")
    with pytest.raises(StudyError, match=r"There is no survey 'hs-fashioniq/9' here, only .*'hs-fashioniq/1'"):
        load_survey("hs-fashioniq/9")
    with pytest.raises(StudyError, match=r"own\.toml is not valid TOML"):
        parse_survey("x = ", "own.toml")
    with pytest.raises(StudyError, match=r"own\.toml, intro: Field required"):
        parse_survey('protocol = "own/1"', "own.toml")
