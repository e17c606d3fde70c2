"""How many more it takes: intervals narrow with the root of what there is, and what cannot be had says why."""

import numpy as np
import pytest

from annotation.analysis.records import MetricScores, Options, Selection, StudyAnswers
from annotation.analysis.statistics.shares import share
from annotation.kinds.preference.report.precision import rate_precision
from annotation.kinds.preference.report.report import preference_report
from annotation.kinds.validity.report.precision import kappa_precision
from annotation.kinds.validity.report.report import validity_report
from annotation.records import Seat
from cir_core.errors import StudyError
from tests.fakes.judged import AT, answer_of, item_of, judgement_of, study_of
from tests.fakes.preference_answers import answers_of
from tests.fakes.preferences import a_judgement, an_answer, an_item

ALPHA, FLEISS = "krippendorff_alpha", "fleiss_kappa"


def validity(items=50, people=9, *, seed=3, say=None):
    """People judge items that each have a chance of their own of being valid (share 0.36, kappa 0.46)."""
    rng = np.random.default_rng(seed)
    made = [item_of(number) for number in range(items)]
    chances = rng.beta(0.36 * 1.17, 0.64 * 1.17, items)
    judgements = [
        judgement_of(item, f"p{person}", answer_of(*(() if (rng.random() < chance if say is None else say(item, person))
                                                      else ("INVALID_TEXT_QUERY",))))
        for item, chance in zip(made, chances, strict=True) for person in range(people)]
    seats = tuple(Seat("s1", person + 1, f"p{person}", AT, AT) for person in range(people))
    return StudyAnswers(study_of(), tuple(made), seats, (), tuple(judgements))


def preference(questions=200, people=10, *, seed=1):
    """Each question has its target in set 1, which is preferred in three of four; each person answers their own."""
    rng = np.random.default_rng(seed)
    items = [an_item(number, target_ids=[f"{number}-a0"]) for number in range(questions)]
    names = [f"p{number}" for number in range(people)]
    judgements = [a_judgement(number, names[number % people], an_answer(4, 2, 1 if rng.random() < 0.75 else 2))
                  for number in range(questions)]
    return answers_of(items, judgements, people=names)


def test_more_items_for_kappa():
    answers = validity()
    items, people = kappa_precision(answers, 0.1)
    assert (items.what, items.more_of, items.have, people.more_of, people.have) == (
        "Fleiss' kappa", "items", 50, "people", 9)
    kappa = validity_report(answers).binary.agreement[FLEISS]
    assert items.width == people.width == kappa.high - kappa.low, "the width that the report prints"
    for point in items.points:
        assert point.width == pytest.approx(items.width * (50 / point.size) ** 0.5, rel=0.08)
    assert items.needed == pytest.approx(50 * (items.width / 0.1) ** 2, rel=0.12)
    assert [point.size for point in items.points][::12] == [50, 1000]
    assert items.needed > 100 and items.needed % 10 == 0, "rounded up to two digits"


def test_as_narrow_already_is_said_of_the_printed_width_alone():
    answers = validity()
    kappa = validity_report(answers, options=Options(draws=300, seed=4)).binary.agreement[FLEISS]
    width = kappa.high - kappa.low
    enough, short = (kappa_precision(answers, width * part, Options(draws=300, seed=4)) for part in (1.0, 0.999))
    for plan in enough:
        assert plan.needed == plan.have and plan.reason == "it is already narrow enough"
    assert short[0].needed > 50 and short[1].needed > 9, "though by a hair"


def test_more_people_do_not_help_where_items_are_few():
    items, people = kappa_precision(validity(), 0.1)
    widths = [point.width for point in people.points]
    assert people.points[0].size == 9 and widths[0] == pytest.approx(items.width, rel=1e-12)
    assert widths[0] > widths[-1] > 0.7 * widths[0]
    assert people.needed is None and people.reason == f"with 180 people it is still {widths[-1]:.3f} wide"
    # Between two and four people they do.
    few = kappa_precision(validity(200, 2, seed=5), 0.21)[1]
    assert few.have == 2 and 2 < few.needed < 10


def thinned(answers, keep):
    """Those of the answers that ``keep`` says, by numbers of item and person."""
    return StudyAnswers(answers.study, answers.items, answers.seats, (), tuple(
        one for one in answers.judgements if keep(int(one.item_id[1:]), int(one.annotator[1:]))))


def test_answers_per_item_where_people_judge_different_items():
    # Each item is judged by two of six.
    spread = thinned(validity(60, 6), lambda item, person: (person - item) % 6 < 2)
    items, answers = kappa_precision(spread, 0.2)
    assert (items.what, items.have, answers.more_of, answers.have) == ("Fleiss' kappa", 60, "answers per item", 2)
    assert answers.needed > 2 and "now each has 2" in answers.assumption


def test_alpha_over_all_items_where_numbers_of_answers_differ():
    # Of 60 items 22 have three answers, 14 have two, 24 have one.
    def keep(item, person):
        return person < (3 if item < 22 else 2 if item < 36 else 1)

    uneven = thinned(validity(60, 3), keep)
    items, answers = kappa_precision(uneven, 0.2)
    assert (items.what, items.have, items.more_of) == ("Krippendorff's alpha", 36, "items")
    alpha = validity_report(uneven).binary.agreement[ALPHA]
    assert (alpha.n, items.width) == (36, alpha.high - alpha.low)
    assert items.needed > 36
    assert "the 36 with two answers or more" in items.assumption and "24 others" in items.assumption
    assert (answers.what, answers.more_of, answers.have) == ("Krippendorff's alpha", "answers per item", 2)
    assert "now they have 2 to 3" in answers.assumption
    widths = {point.size: point.width for point in answers.points}
    assert widths[2] > widths[4] > widths[40], "topping up what has fewer makes it narrower"


def test_a_plan_says_what_its_interval_is_worth():
    for wanted in (0.3, 1.5):
        for plan in kappa_precision(validity(12, 3), wanted, Options(draws=200)):
            assert "only 12 items: interval unreliable" in plan.reason


def test_kappa_that_cannot_be_planned_for():
    nobody = kappa_precision(validity(0, 0), 0.1)
    alike = kappa_precision(validity(5, 3, say=lambda item, person: True), 0.1)
    perfect = kappa_precision(validity(6, 3, say=lambda item, person: item.number % 2 == 0), 0.1)
    for plan in (*nobody, *alike, *perfect):
        assert plan.needed is None and plan.width is None and plan.points == () and plan.reason
    assert perfect[0].reason == "no interval: all draws give the same number"
    assert alike[0].reason == "all raters used a single category"
    # Nobody agrees beyond chance: that can be planned for.
    against = kappa_precision(validity(40, 2, say=lambda item, person: (item.number + person) % 3 == 0), 0.2)
    assert all(plan.width for plan in against)


def test_more_questions_for_a_rate():
    questions, people = rate_precision(preference(), 0.06)
    rate = preference_report(preference(), options=Options(draws=0)).metrics[0].rates["symmetric"].share
    assert (questions.what, questions.more_of, questions.have, people.more_of, people.have) == (
        "preference rate", "questions", 200, "people", 10)
    # One answer to a question: the spread is the binomial one.
    assert questions.width == pytest.approx(2 * 1.96 * (rate.value * (1 - rate.value) / 200) ** 0.5, rel=0.08)
    assert questions.needed == pytest.approx(200 * (questions.width / 0.06) ** 2, rel=0.1)
    assert people.needed is not None and "symmetric one of recall@5" in people.assumption


def test_people_who_differ_need_more_people():
    # Five always follow recall, five never do: questions look sure, people do not.
    answers = preference(200, 10)
    judgements = tuple(
        a_judgement(number, f"p{number % 10}", an_answer(4, 2, 1 + (number % 10) // 5)) for number in range(200))
    answers = StudyAnswers(answers.study, answers.items, answers.seats, answers.assignments, judgements)
    questions, people = rate_precision(answers, 0.1)
    # Of ten coins: sd 0.5 / √10.
    assert people.width == pytest.approx(2 * 1.96 * 0.5 / 10 ** 0.5, rel=0.1)
    assert people.needed == pytest.approx(10 * (people.width / 0.1) ** 2, rel=0.3) if people.needed else people.reason
    assert questions.width == pytest.approx(people.width / 20 ** 0.5, rel=0.1)


def test_few_people_give_no_plan_for_more():
    # Three people who answered much alike: three clusters would seem to know the rate to a hair.
    questions, people = rate_precision(preference(33, 3), 0.1)
    assert (people.have, people.width, people.needed, people.points) == (3, None, None, ())
    assert people.reason == "resampling people needs at least 10; answers with different scores come from 3"
    assert questions.needed > 33


def test_a_plan_is_never_narrower_than_what_is_printed():
    # All but one of 32 follow: draws end at 1, Wilson's interval of 31 of 32 goes further down.
    answers = preference(32, 16)
    judgements = tuple(a_judgement(number, f"p{number % 16}", an_answer(4, 2, 2 if number == 5 else 1))
                       for number in range(32))
    answers = StudyAnswers(answers.study, answers.items, answers.seats, answers.assignments, judgements)
    printed = preference_report(answers, options=Options(draws=0)).metrics[0].rates["symmetric"].share
    later = share(20 * 31, 20 * 32)
    for plan in rate_precision(answers, 0.05):
        assert plan.width == pytest.approx(printed.high - printed.low, abs=1e-12)
        assert plan.points[-1].size == 20 * plan.have
        assert plan.points[-1].width >= later.high - later.low - 1e-12
        assert "Wilson’s for as many answers if that is wider" in plan.assumption
        assert plan.needed % 10 == 0, "rounded up to two digits"


def test_what_is_narrow_already():
    plan = rate_precision(preference(), 0.5)[0]
    assert (plan.needed, plan.reason) == (200, "it is already narrow enough") and plan.width < 0.5


def test_a_rate_that_cannot_be_planned_for():
    for plan in rate_precision(answers_of([], [], people=()), 0.1):
        assert plan.needed is None and plan.reason == "no answer in which the two scores differ"
    one = answers_of([an_item(0)], [a_judgement(0, "Ada", an_answer())])
    assert [plan.reason for plan in rate_precision(one, 0.1)] == [
        "all answers with different scores belong to one question",
        "resampling people needs at least 10; answers with different scores come from 1"]
    always = answers_of([an_item(0), an_item(1)], [a_judgement(number, "Ada", an_answer(2, 4, 2)) for number in (0, 1)])
    assert "always gives the same value" in rate_precision(always, 0.1)[0].reason


def test_another_metric():
    scores = MetricScores("cosine", "By hand.", {(f"i{number}", which): float(which == 1 + number % 2)
                                                 for number in range(200) for which in (1, 2)})
    plan = rate_precision(preference(), 0.1, scores=[scores], metric="cosine")[0]
    assert plan.width and "cosine" in plan.assumption
    assert rate_precision(preference(), 0.1, metric="recall@1")[0].width
    with pytest.raises(StudyError, match="Available: cosine, recall@5"):
        rate_precision(preference(), 0.1, scores=[scores], metric="bleu")


@pytest.mark.parametrize("wanted", [0, -0.1, 2, float("nan"), float("inf")])
def test_widths_that_make_no_plan(wanted):
    for planned, answers in ((kappa_precision, validity(2, 2)), (rate_precision, preference(4, 2))):
        with pytest.raises(StudyError, match="width"):
            planned(answers, wanted)


def test_selections_and_the_other_kind():
    assert kappa_precision(validity(), 0.1, Options(), Selection(people=(1, 2, 3)))[1].have == 3
    with pytest.raises(StudyError):
        kappa_precision(preference(4, 2), 0.1)
    with pytest.raises(StudyError):
        rate_precision(validity(2, 2), 0.1)
