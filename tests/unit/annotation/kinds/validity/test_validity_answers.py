"""Answers of the validity study: one canonical form, and a sentence for each way to be incomplete."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.kinds.validity.answers import Validity, primary, signature
from annotation.kinds.validity.rubric import load_rubric
from annotation.studies.input_limits import NOTE_LIMIT
from cir_core.errors import IncompleteJudgement, StudyError
from cir_core.support.texts import tidy
from tests.fakes.judged import BROAD, IMAGE, TARGET, TEXT, answer_of, item_of, study_of

KIND, ITEM, STUDY = Validity(), item_of(), study_of()


def normalize(**answer):
    return KIND.normalize(answer, ITEM, STUDY)


def test_the_canonical_form():
    settled = normalize(validated=False, flags=[BROAD, TEXT, TARGET, TEXT], reasons=["3c", "1a", "3c"],
                        note="ein Hund ",
                     alternatives=["t3", "t1", "t3"], panel_opened=True)
    assert settled.answer == {
        "validated": False, "flags": [TARGET, TEXT, BROAD], "reasons": ["1a", "3c"], "note": "ein Hund",
        "alternatives": ["t1", "t3"], "unsure": False, "panel_opened": True,
    }
    assert not settled.unsure


def test_what_is_left_out_is_empty_and_flags_say_that_it_is_invalid():
    assert normalize(flags=[BROAD]).answer == answer_of(BROAD)
    assert normalize(validated=True).answer == answer_of()
    assert normalize(validated=True, flags=None, note=None, unsure=None).answer == answer_of()


def test_settling_a_settled_answer_changes_nothing():
    for answer in (answer_of(), answer_of(TARGET, BROAD, reasons=["3a"], note="x\ny"), answer_of(TEXT, unsure=True)):
        assert KIND.normalize(answer, ITEM, STUDY).answer == answer


def test_somebody_unsure_owes_nothing_but_what_they_set_is_kept():
    settled = normalize(validated=None, unsure=True, flags=[IMAGE], note="a hand?", alternatives=["t2"])
    assert settled.unsure
    assert settled.answer == answer_of(IMAGE, unsure=True, note="a hand?", alternatives=["t2"])
    assert normalize(unsure=True, reasons=["2c"], flags=[IMAGE]).answer["note"] == ""
    with pytest.raises(IncompleteJudgement, match="belongs to"):
        normalize(unsure=True, reasons=["2c"])


@pytest.mark.parametrize(("answer", "said"), [
    ({}, "Nothing is chosen yet. Set a flag or “Valid”"),
    ({"validated": None, "note": "hm"}, "Nothing is chosen yet"),
    ({"validated": False}, "no flag says why"),
    ({"validated": True, "flags": [BROAD, TARGET]}, r"valid and flagged as “Wrong target” \(INVALID_TARGET_IMAGE\)"),
    ({"unsure": True, "validated": True}, "marked as valid and left to an adjudicator as well. Remove “unsure”"),
    ({"unsure": True, "validated": False, "flags": [BROAD]}, "marked as not valid and left to an adjudicator as well"),
    ({"validated": True, "reasons": ["1a"]}, "The reason 1a “Makes no sense” belongs to “Unclear text”"),
    ({"flags": [TEXT]}, r"“Unclear text” \(INVALID_TEXT_QUERY\) needs a reason.*1a Makes no sense; 1b .*; 1c"),
    ({"flags": [TEXT, IMAGE], "reasons": ["1b"]}, "“Unusable reference” .* needs a reason"),
    ({"flags": [TEXT], "reasons": ["1c"]}, "1c “Something else” needs a note"),
    ({"flags": [TEXT], "reasons": ["1a", "1c"], "note": " \n\u200b"}, "1c “Something else” needs a note"),
    ({"flags": [BROAD], "reasons": ["2a"]}, "belongs to “Unusable reference” .*, which is not set"),
    ({"flags": ["VALIDATED"]}, "“VALIDATED” is not one of the rubric's flags"),
    ({"flags": ["invalid_text_query"]}, "is not one of the rubric's flags: INVALID_IMAGE_QUERY, "),
    ({"flags": [BROAD], "reasons": ["4a"]}, "“4a” is not one of the rubric's reasons: 1a, "),
    ({"flags": [BROAD], "alternatives": ["t1", "t9"]}, "“t9”, marked as equally good, is not in this item's panel"),
    ({"flags": [BROAD], "colour": 1}, "no field “colour”. Its fields are validated, flags"),
    ({"validated": True, "note": "x" * 100_000}, "The note has 100,000 characters; the limit is 20,000"),
])
def test_what_is_incomplete_or_contradicts_itself_is_said(answer, said):
    with pytest.raises(IncompleteJudgement, match=said):
        KIND.normalize(answer, ITEM, STUDY)


@pytest.mark.parametrize(("answer", "said"), [
    (None, "not nothing"), ([], "not a list"), ("yes", "not a text"), (3, "not a number"),
    ({"validated": 1}, "“validated” must be true, false or null, not a number"),
    ({"validated": "true"}, "“validated” must be true, false or null, not a text"),
    ({"flags": BROAD}, "“flags” must be a list of texts, not a text"),
    ({"flags": {BROAD: True}}, "“flags” must be a list of texts, not an object"),
    ({"reasons": [1]}, "“reasons” must be a list of texts"),
    ({"alternatives": [["t1"]]}, "“alternatives” must be a list"),
    ({"note": 5}, "“note” must be a text, not a number"),
    ({"unsure": 1}, "“unsure” must be true or false"), ({"panel_opened": "no"}, "“panel_opened” must be"),
])
def test_wrong_types_are_a_sentence(answer, said):
    with pytest.raises(IncompleteJudgement, match=said):
        KIND.normalize(answer, ITEM, STUDY)


@pytest.mark.parametrize(("typed", "kept"), [
    ("שלום 👩‍👩‍👧 a\u0301", "שלום 👩‍👩‍👧 a\u0301"),                  # as it was typed, not composed
    ("a\r\nb\rc\x0bd\te \n ", "a\nb\nc\nd\te"),
    ("bell\x07 c1\x9f \x1b[31m", "bell c1 [31m"),
    ("half \ud83d of a pair", "half ? of a pair"),
    ("\u200f\u200d \n", ""), ("   ", ""),
])
def test_notes_are_kept_as_typed_but_for_what_cannot_be_stored(typed, kept):
    assert normalize(validated=True, note=typed).answer["note"] == kept == tidy(kept)


@pytest.mark.parametrize(("note", "where"), [
    ("so far\0 and on", "behind “so far”"), ("\0", "at its character 1"), ("a\nb" * 40 + "\0", "a ba ba ba ba ba b"),
])
def test_a_note_with_nul_is_refused_and_not_changed(note, where):
    """PostgreSQL cannot keep it, and what is left out silently is not what somebody wrote."""
    with pytest.raises(IncompleteJudgement, match=r"The note contains .*NUL.*stays on the page") as refused:
        normalize(validated=True, note=note)
    assert where in str(refused.value) and str(refused.value).isprintable()
    with pytest.raises(IncompleteJudgement, match="NUL"):
        KIND.draft({"note": note}, ITEM, STUDY)


def test_a_note_of_the_greatest_length_is_kept():
    assert len(normalize(validated=True, note="😀" * NOTE_LIMIT + "  ").answer["note"]) == NOTE_LIMIT


def test_a_draft_keeps_what_can_be_kept():
    given_ = {"validated": True, "flags": [BROAD, "WRONG", 3], "reasons": ["1c", "9z"], "note": "being typed \x07",
              "alternatives": ["t9", "t2"], "unsure": "yes", "panel_opened": True, "colour": "red"}
    assert KIND.draft(given_, ITEM, STUDY) == {
        "validated": True, "flags": [BROAD], "reasons": ["1c"], "note": "being typed ", "alternatives": ["t2"],
        "unsure": False, "panel_opened": True,
    }
    assert len(KIND.draft({"note": "x" * 1_000_000}, ITEM, STUDY)["note"]) == 100_000
    assert KIND.draft([1], ITEM, STUDY) == answer_of(validated=None)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    | st.sampled_from([TEXT, BROAD, "1a", "t1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["validated", "flags", "reasons", "note", "alternatives", "unsure", "panel_opened", "x"]),
        inner, max_size=7),
    max_leaves=12)


@given(_JSON)
def test_whatever_comes_is_settled_or_refused_in_words(answer):
    draft = KIND.draft(answer, ITEM, STUDY)
    assert KIND.draft(draft, ITEM, STUDY) == draft
    try:
        settled = KIND.normalize(answer, ITEM, STUDY)
    except IncompleteJudgement as error:
        assert str(error).endswith(".")
    else:
        assert KIND.normalize(settled.answer, ITEM, STUDY) == settled


def test_the_page_shows_the_rubric_and_no_more():
    page = KIND.page(study_of(settings={"unsure_after": 5, "broad_at": 3, "secret": 1}))
    assert (page["unsure_after"], page["broad_at"], page["note_limit"]) == (5, 3, 20_000)
    assert "secret" not in page


def test_a_study_of_another_rubric_says_so():
    with pytest.raises(StudyError, match="circus/9"):
        KIND.normalize(answer_of(), ITEM, study_of(protocol="circus/9"))


@pytest.mark.parametrize(("answer", "category", "all_of_it"), [
    (answer_of(), "VALIDATED", ("VALIDATED",)),
    (answer_of(TARGET, BROAD), TARGET, (TARGET, BROAD)),
    (answer_of(BROAD, TARGET), TARGET, (TARGET, BROAD)),             # the order of an imported file does not count
    (answer_of(validated=False), "INVALID_UNSPECIFIED", ("INVALID_UNSPECIFIED",)),
    (answer_of(validated=None), "UNLABELLED", None),
    (answer_of(TEXT, unsure=True), "UNLABELLED", None),
    (answer_of(TEXT, validated=True), "VALIDATED", ("VALIDATED",)),  # released files ask for "validated is true" only
    ({}, "UNLABELLED", None),
])
def test_category_and_signature(answer, category, all_of_it):
    rubric = load_rubric("circus/1")
    assert (primary(answer, rubric), signature(answer, rubric)) == (category, all_of_it)
