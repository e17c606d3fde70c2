"""Answers to the preference study: from shown to stored terms, and what is refused."""

from dataclasses import replace

import pytest

from annotation.kinds.preference.answers import Preference, as_shown, contradicts, shown_sets
from annotation.kinds.preference.survey.texts import REWORDED, SETTINGS, load_survey, parse_survey
from cir_core.errors import IncompleteJudgement, NeedsConfirmation, StudyError
from tests.fakes.preferences import a_study, an_item

KIND = Preference()
ITEM = an_item()


def given(**changes):
    """Set A, which stands first, is better."""
    return {"ratings": {"A": 4, "B": 2}, "preferred": "A", "irrelevant": {"either": False}, "reason": "",
            "confirmed": False} | changes


def reworded(**settings):
    return replace(a_study(**settings), protocol=REWORDED)


def normalize(answer, study=None, **extra):
    return KIND.normalize(answer, ITEM, study or a_study(), extra={"first": 1, "form": 1,
                                                                   "reason": False} | extra).answer


def test_what_stands_first_may_be_stored_as_either_set():
    assert normalize(given(), first=1) == {
        "ratings": [4, 2], "preferred": 1, "irrelevant": {"either": False}, "reason": "", "first": 1,
        "contradiction_confirmed": False}
    turned = normalize(given(irrelevant={"either": True}), first=2)
    assert turned == {
        "ratings": [2, 4], "preferred": 2, "irrelevant": {"either": True}, "reason": "", "first": 2,
        "contradiction_confirmed": False}


def test_studies_of_earlier_versions_ask_for_image_and_text():
    assert normalize(given(irrelevant={"image": True}), reworded())["irrelevant"] == {"image": True, "text": False}
    with pytest.raises(IncompleteJudgement, match=r"“irrelevant” has no field “either”\. Its fields are image, text"):
        normalize(given(), reworded())
    with pytest.raises(IncompleteJudgement, match=r"“irrelevant” has no field “image”\. Its fields are either"):
        normalize(given(irrelevant={"image": True}))
    kept = KIND.draft({"irrelevant": {"text": True, "image": 1}}, ITEM, reworded(), extra={"first": 2})
    assert kept["irrelevant"] == {"image": False, "text": True}


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
    ({"preferred": None}, "Which system's results do you prefer? Choose Mall 1 or Mall 2."),
    ({"preferred": "tie"}, "This study asks for one of the two"),
    ({"preferred": 1}, "“preferred” must be “A”, “B”."),
    ({"preferred": ["A"]}, "“preferred” must be “A”, “B”."),
    ({"irrelevant": {"either": 1}}, "“irrelevant”: “either” must be true or false"),
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
    assert (minimal["irrelevant"], minimal["reason"]) == ({"either": False}, "")


def test_a_contradiction_is_asked_about_once_and_kept_either_way():
    against = given(ratings={"A": 2, "B": 4})
    with pytest.raises(NeedsConfirmation) as doubt:
        normalize(against, first=2)
    assert str(doubt.value).startswith("You prefer Shopping Mall 1, but gave it 2 and Shopping Mall 2 4. Is that")
    assert str(doubt.value).endswith("save again to keep it as it is.")
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
    empty = {"ratings": {"A": None, "B": None}, "preferred": None, "irrelevant": {"either": False},
             "reason": "", "confirmed": False}
    for nothing in (None, [], "x", {}, {"ratings": 3, "preferred": [], "irrelevant": "no", "reason": 4}):
        assert KIND.draft(nothing, ITEM, study, extra={"first": 2}) == empty
    begun = {"ratings": {"A": 4, "B": 9, "x": 1}, "preferred": "B", "irrelevant": {"either": True, "image": 1},
             "reason": "so\x07 far " + "x" * 200_000, "confirmed": True, "other": 1}
    kept = KIND.draft(begun, ITEM, study, extra={"first": 2})
    assert kept == {"ratings": {"A": 4, "B": None}, "preferred": "B", "irrelevant": {"either": True},
                    "reason": ("so far " + "x" * 200_000)[:99_999], "confirmed": False}


def test_a_reason_with_nul_is_refused_in_answers_and_drafts():
    with pytest.raises(IncompleteJudgement, match=r"The reason contains an invisible character .*NUL.*behind “so”"):
        KIND.normalize(given() | {"reason": "so\0 far"}, ITEM, a_study(), extra={"first": 2})
    with pytest.raises(IncompleteJudgement, match="NUL"):
        KIND.draft({"reason": "so\0 far"}, ITEM, a_study(), extra={"first": 2})


def test_the_page_has_the_words_of_the_paper():
    """Figures 10 and 11 of CIRQRS."""
    page = KIND.page(a_study())
    assert page["set_names"] == ["Shopping Mall 1", "Shopping Mall 2"]
    assert ", ".join(f"{point['value']}: {point['name']}" for point in page["scale"]) == (
        "1: Does not match at all, 2: Does not match, 3: Matches to an average degree, 4: Matches, "
        "5: Matches very well")
    assert page["questions"]["ratings"] == ["Score for Shopping Mall 1", "Score for Shopping Mall 2"]
    assert page["questions"]["preferred"] == "Which shopping mall's results do you prefer?"
    assert page["questions"]["marks"] == [
        {"to": "either", "text": "Two set of search results are irrelevant to original image or user text"}]
    assert "Each set contains 5 images searched through two different shopping malls." in page["intro"]
    assert page["labels"] == {"image": "Original Image", "text": "User Text"}
    assert (page["allow_tie"], page["consent"], page["check"], page["reason_limit"]) == (False, "", "sum", 20_000)
    lines = " ".join(page["guidelines"])
    for fact in ("on a PC rather than a mobile device", "order of the 5 images", "not generated images", "typos or",
                 "explain the reason for your score", "simple math problems", "equally"):
        assert fact in lines, fact
    assert "there is a choice" not in lines and not any(name in str(page) for name in ("{set}", "{first}", "{noun}"))


def test_studies_of_earlier_versions_keep_their_words():
    page = KIND.page(reworded())
    assert page["set_names"] == ["Set A", "Set B"] and page["labels"] is None
    assert [point["name"] for point in page["scale"]] == [
        "does not fit at all", "hardly fits", "fits in part", "fits well", "fits very well"]
    assert page["questions"]["ratings"][1] == "How well does Set B fit the reference image and the text?"
    assert page["questions"]["preferred"] == "Which set is better?"
    assert [mark["to"] for mark in page["questions"]["marks"]] == ["image", "text"]
    assert page["questions"]["irrelevant_text"] == "The results have nothing to do with the text"
    lines = " ".join(page["guidelines"])
    for fact in ("as a whole", "order", "equal weight", "not made", "typing errors", "decided it", "Between pages",
                 "large screen", "rather go on with"):
        assert fact in lines, fact
    assert "there is a choice for it" not in lines and "{set}" not in str(page) and "{first}" not in str(page)


def test_guidelines_follow_the_settings():
    page = KIND.page(reworded(allow_tie=True, check="none", reason_every=0, set_names=["Mall 1", "Mall 2"]))
    lines = " ".join(page["guidelines"])
    assert "there is a choice for it" in lines
    assert not any(fact in lines for fact in ("rather go on with", "decided it", "Between pages"))
    assert "Mall 1 and Mall 2" in page["intro"]
    named = KIND.page(a_study(check="instruction", reason_every=0, allow_tie=True, set_names=["Mall 1", "Mall 2"]))
    lines = " ".join(named["guidelines"])
    assert "simple instructions" in lines and "there is a choice for it" in lines
    assert "math" not in lines and "explain the reason" not in lines
    assert named["questions"]["preferred"] == "Which system's results do you prefer?"
    assert "two different systems" in named["intro"]
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
    with pytest.raises(StudyError, match=r"own\.toml, set_names: this field is missing"):
        parse_survey('protocol = "own/1"', "own.toml")
    with pytest.raises(StudyError, match=r"ask either irrelevant, or irrelevant_image and irrelevant_text"):
        parse_survey(TWICE, "own.toml")


TWICE = """
protocol = "own/1"
set_names = ["A", "B"]
intro = "Read this."
scale = ["1", "2", "3", "4", "5"]
guidelines = [{ text = "Read." }]
[questions]
rating = "Rate {set}."
preferred = "Which?"
tie = "None"
irrelevant = "Irrelevant?"
irrelevant_text = "Irrelevant to the text?"
reason = "Why?"
"""
