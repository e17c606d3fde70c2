"""What a study says of an item in the end, and which items go to the adjudicator."""

import pytest

from annotation.adjudication.needs import Case, cases
from annotation.kinds.validity.answers import Validity
from annotation.kinds.validity.labels import Votes, final_labels
from annotation.kinds.validity.rubric import load_rubric
from annotation.records import Item
from tests.fakes.judged import BROAD, IMAGE, TARGET, TEXT, answer_of, decision_of, item_of, judgement_of, study_of

ITEM, RUBRIC = item_of(), load_rubric("circus/1")
VALID, BAD, UNSURE = answer_of(), answer_of(validated=False), answer_of(unsure=True)


def judged(*answers, item=ITEM):
    """By annotators a, b, c, … in order of their seats."""
    return [judgement_of(item, name, answer) for name, answer in zip("abcdefgh", answers, strict=False)]


def label(*answers, decisions=(), rule="majority"):
    return final_labels([ITEM], judged(*answers), decisions, rule, rubric=RUBRIC)[ITEM.item_id]


@pytest.mark.parametrize(("answers", "validated", "by"), [
    ([VALID], True, "majority"), ([BAD], False, "majority"),
    ([VALID, BAD], None, "undecided"), ([VALID, VALID, BAD], True, "majority"), ([VALID, BAD, BAD], False, "majority"),
    ([VALID, UNSURE], True, "majority"),                   # the unsure one is no vote: 1 of 1
    ([VALID, BAD, answer_of(validated=None)], None, "undecided"),   # 1 of 2 is not more than half
    ([VALID, VALID, BAD, BAD], None, "undecided"),
    ([], None, "none"), ([UNSURE], None, "none"), ([answer_of(BROAD, unsure=True)], None, "none"),
])
def test_majority_is_more_than_half_of_the_votes(answers, validated, by):
    found = label(*answers)
    assert (found.validated, found.by) == (validated, by)
    votes = found.votes
    assert votes == Votes(answers.count(VALID), answers.count(BAD), len(answers) - answers.count(VALID)
                          - answers.count(BAD))


@pytest.mark.parametrize(("answers", "validated", "kept"), [
    ([VALID, BAD, BAD], True, "a"), ([BAD, VALID, VALID], False, "a"),
    ([UNSURE, VALID, BAD], True, "b"),                     # the first with a verdict
    ([answer_of(validated=None), answer_of(BROAD)], False, "b"),
])
def test_single_kept_takes_the_first_vote_in_order_of_seats(answers, validated, kept):
    found = label(*answers, rule="single_kept")
    assert (found.validated, found.by, found.kept) == (validated, "single", kept)
    assert label(UNSURE, rule="single_kept").by == "none"


def test_both_rules_agree_where_each_item_has_one_judge():
    items = [item_of(n) for n in range(6)]
    answers = [VALID, BAD, answer_of(TARGET, BROAD, reasons=["3a"]), UNSURE, answer_of(BROAD), VALID]
    judgements = [judgement_of(item, "a", answer) for item, answer in zip(items, answers, strict=True)]
    both = [final_labels(items, judgements, (), rule, rubric=RUBRIC) for rule in ("majority", "single_kept")]
    for of in zip(*(found.values() for found in both), strict=True):
        assert len({(one.validated, one.flags, one.reasons, one.primary, one.votes, one.kept) for one in of}) == 1


def test_flags_are_those_of_more_than_half_of_the_invalid_votes():
    # Three invalid votes: BROAD in all of them, TARGET in two, TEXT in one. The valid vote does not count here.
    found = label(answer_of(BROAD, TARGET, reasons=["3a"]), answer_of(BROAD, TARGET, reasons=["3a", "3b"]),
                  answer_of(BROAD, TEXT, reasons=["1a"]), VALID)
    assert (found.validated, found.flags, found.reasons, found.primary) == (False, (TARGET, BROAD), ("3a",), TARGET)
    assert found.kept is None
    # Two invalid votes for different flags: each has one of two, which is not more than half.
    found = label(answer_of(BROAD), answer_of(IMAGE, reasons=["2a"]))
    assert (found.validated, found.flags, found.primary) == (False, (), "INVALID_REASONS_DIFFER")
    # Nobody says why; and one who does not is no reason that differs from none.
    unsaid = answer_of(validated=False)
    assert label(unsaid, unsaid).primary == label(unsaid).primary == "INVALID_UNSPECIFIED"
    assert label(unsaid, answer_of(BROAD)).primary == "INVALID_REASONS_DIFFER"
    # An adjudicator's decision, and the one answer that is kept, are not several reasons.
    assert label(answer_of(BROAD), answer_of(IMAGE, reasons=["2a"]), rule="single_kept").primary == BROAD


def test_reasons_of_a_flag_that_has_no_majority_fall_with_it():
    # 1a is given twice in four, 3c by three; the flag TEXT has two of four.
    found = label(*[answer_of(TARGET, TEXT, reasons=["1a", "3c"])] * 2, answer_of(TARGET, reasons=["3c"]),
                  answer_of(TARGET, reasons=["3a"]))
    assert (found.flags, found.reasons) == ((TARGET,), ("3c",))


def test_released_answers_with_flags_and_valid_count_as_valid_without_them():
    found = label(answer_of(TEXT, validated=True))
    assert (found.validated, found.flags, found.primary) == (True, (), "VALIDATED")


@pytest.mark.parametrize("rule", ["majority", "single_kept"])
def test_a_decision_comes_before_every_rule(rule):
    decisions = [decision_of(ITEM, answer_of(IMAGE, reasons=["2b"]), revision=2), decision_of(ITEM, VALID, revision=1)]
    found = label(VALID, VALID, decisions=decisions, rule=rule)
    assert (found.validated, found.flags, found.reasons, found.by) == (False, (IMAGE,), ("2b",), "adjudicated")
    assert (found.votes, found.kept) == (Votes(2, 0, 0), None)
    assert label(VALID, decisions=[decision_of(ITEM, UNSURE)], rule=rule).validated is True   # no verdict, no decision


def test_every_item_has_a_label_in_order_and_judgements_of_others_do_not_count():
    items = [item_of(2), item_of(0)]
    found = final_labels(items, judged(VALID, item=item_of(7)) + judged(BAD, item=item_of(0)), rubric=RUBRIC)
    assert [(item_id, one.validated) for item_id, one in found.items()] == [("i2", None), ("i0", False)]


@pytest.mark.parametrize(("answers", "why"), [
    ([VALID, VALID], None), ([BAD], None), ([], None), ([answer_of(validated=None)], None),
    ([answer_of(BROAD), answer_of(BROAD)], None),
    ([answer_of(TEXT, reasons=["1a"]), answer_of(TEXT, reasons=["1b"])], None),   # the same flags
    ([UNSURE], "unsure"), ([VALID, VALID, UNSURE], "unsure"), ([VALID, BAD, UNSURE], "unsure"),
    ([VALID, BAD], "tie"), ([VALID, answer_of(BROAD), answer_of(validated=None)], "tie"),
    ([VALID, BAD, VALID], "split"), ([VALID, answer_of(BROAD), answer_of(TEXT)], "split"),
    ([answer_of(BROAD), answer_of(TEXT)], "flags"), ([answer_of(BROAD), answer_of(BROAD, TEXT)], "flags"),
    ([BAD, answer_of(BROAD)], "flags"),
])
def test_why_an_item_needs_a_decision(answers, why):
    found = cases([ITEM], judged(*answers), (), study_of(), Validity())
    assert found == ([Case(ITEM.item_id, why, False)] if why else [])


def test_decided_items_stay_cases_and_an_undecided_one_has_its_most_urgent_reason():
    answers = {0: [answer_of(BROAD), answer_of(TEXT)], 1: [VALID, VALID, BAD], 2: [VALID, BAD], 3: [UNSURE],
               4: [VALID, VALID], 5: [VALID, BAD], 6: [UNSURE, VALID]}
    items: list[Item] = [item_of(number) for number in answers]
    judgements = [one for item in items for one in judged(*answers[item.number], item=item)]
    decisions = [decision_of(items[3], VALID), decision_of(items[4], VALID)]
    found = cases(items, judgements, decisions, study_of(), Validity())
    assert [(case.item_id, case.why, case.decided) for case in found] == [
        ("i0", "flags", False), ("i1", "split", False), ("i2", "tie", False), ("i3", "unsure", True),
        ("i4", None, True), ("i5", "tie", False), ("i6", "unsure", False)]
