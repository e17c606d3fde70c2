"""How carefully people answered, and what rules leave out. Expected numbers are derived in comments."""

import pytest

from annotation.analysis.statistics.shares import share
from annotation.kinds.preference.quality import people_quality, side_bias
from annotation.quality.rules import Rules, apply_rules, parse_rules, rules_of
from cir_core.errors import StudyError
from tests.fakes.preferences import a_check, a_judgement, an_answer, an_assignment, seats_of

ADA, BEN, CLEO = "Ada", "Ben", "Cleo"


def quality(judgements, people=(ADA, BEN, CLEO), assignments=(), events=()):
    return {one.annotator: one for one in people_quality(seats_of(*people), assignments, judgements, events)}


def test_wilson_s_interval_and_the_exact_p():
    # Wilson, z = 1.959964, n = 10, p = 0.8: centre (0.8 + 3.841459 / 20) / 1.3841459 = 0.716742; half width
    # 1.959964 / 1.3841459 * sqrt(0.16 / 10 + 3.841459 / 400) = 1.416010 * 0.160011 = 0.226578.
    # p = 2 * (C(10, 8) + C(10, 9) + C(10, 10)) / 2**10 = 2 * 56 / 1024 = 0.109375.
    found = share(8, 10)
    assert (found.count, found.n, found.value) == (8, 10, 0.8)
    assert (found.low, found.high) == pytest.approx((0.490162, 0.943318), abs=2e-6)
    assert found.p == pytest.approx(0.109375)


def test_a_share_of_nothing_is_no_number():
    # Of none and of all Wilson's interval ends at 0 and at 1, without what rounding leaves.
    for n in range(1, 60):
        assert (share(0, n).low, share(n, n).high) == (0.0, 1.0) and share(0, n).high < 1 and share(n, n).low > 0
    nothing = share(0, 0)
    assert (nothing.value, nothing.low, nothing.high, nothing.p) == (None,) * 4


def test_straight_lining_is_counted_as_the_sets_were_shown():
    # Shown as 4, 2 throughout: the person pressed the same keys, though stored ratings alternate.
    answers = [an_answer(4, 2, first=1), an_answer(2, 4, 2, first=2), an_answer(4, 2, first=1), an_answer(5, 1)]
    one = quality([a_judgement(n, ADA, answer) for n, answer in enumerate(answers)])[ADA]
    assert (one.longest_run, one.run_share) == (3, 0.75)
    # Where nobody recorded sides they count as stored: 4 2, 2 4, 4 2, 5 1.
    unknown = quality([a_judgement(n, ADA, answer | {"first": None}) for n, answer in enumerate(answers)])[ADA]
    assert (unknown.longest_run, unknown.run_share) == (1, 0.25)


def test_questions_are_in_the_person_s_own_order():
    ratings = [(4, 2), (5, 1), (4, 2)]
    judgements = [a_judgement(n, ADA, an_answer(*pair)) for n, pair in enumerate(ratings)]
    # The person saw question 0, then 2, then 1: 4 2, 4 2, 5 1.
    places = [an_assignment(0, 1, ADA, position=0), an_assignment(2, 1, ADA, position=1),
              an_assignment(1, 1, "ada", position=2)]
    assert quality(judgements, assignments=places)[ADA].longest_run == 2
    assert quality(judgements, assignments=[an_assignment(n, 1, ADA) for n in range(3)])[ADA].longest_run == 1


def test_contradictions_are_counted_where_there_can_be_one():
    answers = [
        an_answer(4, 2, 1), an_answer(4, 2, 2), an_answer(1, 5, 1), an_answer(3, 3, 2), an_answer(4, 2, 0)]
    one = quality([a_judgement(n, ADA, answer) for n, answer in enumerate(answers)])[ADA]
    # Equal ratings and the tie cannot contradict: 2 of 3.
    assert (one.contradictions, one.contradictable) == (2, 3)
    assert one.contradiction_rate == pytest.approx(2 / 3)


def test_the_side_that_is_chosen():
    # Preferred and first: 1 1, 2 1, 2 2, 1 1; a tie and an unknown side do not count: 3 of 4 for what stood first.
    answers = [an_answer(4, 2, 1), an_answer(2, 4, 2), an_answer(2, 4, 2, first=2), an_answer(3, 3, 1),
               an_answer(3, 3, 0), an_answer(4, 2, 1, first=None)]
    judgements = [a_judgement(n, ADA, answer) for n, answer in enumerate(answers)]
    one = quality(judgements)[ADA]
    assert (one.first_side.count, one.first_side.n, one.one_side) == (3, 4, 0.75)
    bias = side_bias(judgements)
    assert (bias.first.count, bias.first.n) == (3, 4)
    assert (bias.first_when_equal.count, bias.first_when_equal.n) == (1, 1)
    assert (bias.stored.count, bias.stored.n) == (3, 5)      # preferred 1, 2, 2, 1, 1
    assert (bias.stored_when_equal.count, bias.stored_when_equal.n) == (1, 1)


def test_who_always_takes_the_second_is_as_one_sided():
    judgements = [a_judgement(n, ADA, an_answer(3, 3, 2)) for n in range(4)]
    assert quality(judgements)[ADA].one_side == 1.0


def test_agreement_is_over_shared_questions():
    judgements = [
        a_judgement(0, ADA, an_answer(preferred=1)), a_judgement(0, BEN, an_answer(preferred=1)),
        a_judgement(0, CLEO, an_answer(preferred=2)),
        a_judgement(1, ADA, an_answer(preferred=2)), a_judgement(1, BEN, an_answer(preferred=2)),
        a_judgement(2, ADA, an_answer(preferred=1)),
    ]
    people = quality(judgements)
    # Ada: on 0 one of two others agrees, on 1 the only other: (1/2 + 1) / 2. Cleo: nobody of two.
    assert (people[ADA].agreement, people[ADA].shared) == (0.75, 2)
    assert (people[BEN].agreement, people[BEN].shared) == (0.75, 2)
    assert (people[CLEO].agreement, people[CLEO].shared) == (0.0, 1)


def test_checks_seconds_and_flags():
    flagged = {"irrelevant": {"image": True, "text": True}}
    judgements = [a_judgement(0, ADA, an_answer(), seconds=4), a_judgement(1, ADA, an_answer(**flagged), seconds=9),
                  a_judgement(2, ADA, an_answer(irrelevant={"image": None, "text": None}), seconds=0)]
    events = [a_check("ada", 5, False), a_check(ADA, 5, True), a_check(ADA, 10, False), a_check(BEN, 5, True)]
    people = quality(judgements, events=events)
    ada = people[ADA]
    assert (ada.checks, ada.failed_checks, ada.median_seconds, ada.flagged) == (3, 2, 6.5, 1)
    # Who has not answered yet is there too.
    ben = people[BEN]
    assert (ben.answers, ben.checks, ben.failed_checks) == (0, 1, 0)
    assert (ben.median_seconds, ben.longest_run, ben.run_share, ben.agreement, ben.one_side) == (None, 0, None, None,
                                                                                                None)


# Ada: two wrong checks, a flagged answer. Ben: fast, and four times the same. Cleo: always what stands first.
JUDGEMENTS = [
    a_judgement(0, ADA, an_answer(4, 2, 1)), a_judgement(1, ADA, an_answer(2, 4, 2)),
    a_judgement(2, ADA, an_answer(5, 1, 1, irrelevant={"image": False, "text": True})),
    *(a_judgement(n, BEN, an_answer(3, 3, 1 + n % 2), seconds=1.5) for n in range(4)),
    *(a_judgement(n, CLEO, an_answer(1 + n, 1, 1)) for n in range(3)),
]
EVENTS = [a_check(ADA, 1, False), a_check(ADA, 2, False), a_check(BEN, 1, False)]


def removed(*rules):
    people = people_quality(seats_of(ADA, BEN, CLEO), (), JUDGEMENTS, EVENTS)
    return apply_rules(parse_rules(rules), JUDGEMENTS, people)


def test_without_a_rule_nothing_is_left_out():
    nothing = removed()
    assert nothing.kept == tuple(JUDGEMENTS)
    assert (nothing.by_rule, nothing.excluded, nothing.together.people) == ({}, {}, ())


@pytest.mark.parametrize(("rule", "answers", "people"), [
    ("irrelevant", 1, ()),
    ("failed-checks=0", 7, (ADA, BEN)),
    ("failed-checks=1", 3, (ADA,)),
    ("failed-checks=2", 0, ()),
    ("median-seconds=1.5", 0, ()),
    ("median-seconds=1.6", 4, (BEN,)),
    ("straight-lining=4", 4, (BEN,)),
    ("straight-lining=5", 0, ()),
    ("one-side=1", 3, (CLEO,)),
    ("one-side=0.66", 6, (ADA, CLEO)),       # Ada's: 2 of 3 for what stood first
])
def test_what_a_rule_removes_alone(rule, answers, people):
    found = removed(rule)
    (one,) = found.by_rule.values()
    assert (len(one.judgements), one.people) == (answers, people)
    assert found.together == one and len(found.kept) == len(JUDGEMENTS) - answers


def test_what_rules_remove_together():
    found = removed("irrelevant", "failed-checks=1", "straight-lining=4")
    alone = {name: len(one.judgements) for name, one in found.by_rule.items()}
    assert alone == {"irrelevant": 1, "failed_checks": 3, "straight_lining": 4}
    # Ada's flagged answer is hers: 3 + 4, not 8.
    assert (len(found.together.judgements), found.together.people) == (7, (ADA, BEN))
    assert {one.annotator for one in found.kept} == {CLEO}
    assert found.excluded["j-2-Ada"] == ("irrelevant", "failed_checks")
    assert found.excluded["j-0-Ben"] == ("straight_lining",)


def test_a_person_is_gone_when_no_answer_is_left():
    both = [a_judgement(n, ADA, an_answer(irrelevant={"image": True, "text": False})) for n in range(2)]
    found = apply_rules(Rules(irrelevant=True), both, [])
    assert found.together.people == (ADA,)


def test_what_is_not_known_is_held_against_nobody():
    imported = [a_judgement(n, ADA, an_answer(3, 3, 1, first=None, irrelevant={"image": None, "text": None}),
                            seconds=0) for n in range(5)]
    people = people_quality(seats_of(ADA), (), imported)
    found = apply_rules(parse_rules(["irrelevant", "median-seconds=99", "one-side=0.6"]), imported, people)
    assert len(found.kept) == 5


def test_what_a_released_file_lacks_is_not_nought():
    unknown = {"irrelevant": {"image": None, "text": None}}
    imported = [a_judgement(n, ADA, an_answer(3, 3, 1, first=None, **unknown), seconds=0, extra={"imported": "hp"})
                for n in range(5)]
    people = people_quality(seats_of(ADA), (), imported)
    (one,) = people
    assert (one.flagged, one.checks, one.failed_checks) == (None, None, None)
    rules = parse_rules(["irrelevant", "failed-checks=0", "straight-lining=6"])
    found = apply_rules(rules, imported, people)
    assert {name: one.recorded for name, one in found.by_rule.items()} == {
        "irrelevant": False, "failed_checks": False, "straight_lining": True}
    assert len(found.kept) == 5 and found.together.recorded
    # A mark of one answer, and one person's checks, are something to look at; so is a study that nobody has answered.
    mixed = [*imported, a_judgement(9, BEN, an_answer())]
    people = people_quality(seats_of(ADA, BEN), (), mixed)
    assert [(one.flagged, one.checks) for one in people] == [(None, None), (0, 0)]
    assert all(one.recorded for one in apply_rules(rules, mixed, people).by_rule.values())
    assert all(one.recorded for one in apply_rules(rules, [], people_quality(seats_of(ADA), (), [])).by_rule.values())


def test_rules_go_into_a_study_and_come_back():
    rules = parse_rules(["failed-checks=0", "one-side=0.9", "irrelevant"])
    assert rules.as_settings() == {"irrelevant": True, "failed_checks": 0, "one_side": 0.9}
    assert rules_of({"exclude": rules.as_settings()}) == rules
    assert rules_of({}) == rules_of({"exclude": {}}) == parse_rules(["none"]) == Rules()


@pytest.mark.parametrize(("rule", "told"), [
    ("fast", "There is no rule 'fast'. There are: irrelevant, failed-checks, median-seconds"),
    ("irrelevant=1", "Write the rule as irrelevant"),
    ("one-side", "Write the rule as one-side=NUMBER"),
    ("one-side=0.5", "a share above 0.5"),
    ("one-side=x", "The rule one-side takes a number, not 'x'"),
    ("failed-checks=1.5", "takes a number"),
    ("failed-checks=-1", "a whole number from 0"),
    ("straight-lining=1", "a whole number from 2"),
    ("median-seconds=nan", "a number above 0"),
    ("median-seconds=inf", "a number above 0"),
    ("none", None),
])
def test_a_rule_that_cannot_be_is_refused(rule, told):
    if told is None:   # beside another one
        with pytest.raises(StudyError, match="no rule 'none'"):
            parse_rules([rule, "irrelevant"])
        return
    with pytest.raises(StudyError) as problem:
        parse_rules([rule])
    assert told in str(problem.value)


def test_a_rule_that_stands_twice_or_was_kept_wrong_is_refused():
    with pytest.raises(StudyError, match="straight-lining is given twice"):
        parse_rules(["straight-lining=5", "straight-lining=6"])
    for kept, told in (([1], "not an object"), ({"x": 1}, "no rule 'x'"), ({"irrelevant": "yes"}, "on or off"),
                       ({"failed_checks": True}, "a whole number")):
        with pytest.raises(StudyError, match=told):
            rules_of({"exclude": kept})
