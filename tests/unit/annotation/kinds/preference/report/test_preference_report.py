"""The preference report of small studies, by hand, and of those with hardly anything in them."""

import json
from dataclasses import asdict
from math import log

import numpy as np
import pytest
from scipy.stats import binom, kendalltau, spearmanr

from annotation.analysis.records import Estimate, MetricScores, Options, Selection, Strength
from annotation.analysis.statistics.shares import share
from annotation.kinds.preference.report.metric_reports import answers_needed, ratings_by_value, with_order
from annotation.kinds.preference.report.records import MethodPair
from annotation.kinds.preference.report.report import preference_json, preference_report
from annotation.quality.rules import Rules
from annotation.studies.creation import HP_ANSWERS
from cir_core.errors import StudyError
from tests.fakes.judged import study_of
from tests.fakes.preference_answers import answers_of
from tests.fakes.preferences import a_check, a_judgement, an_answer, an_item
from tests.fakes.reports import NONE

NO_DRAWS = Options(draws=0)
FLAGGED = {"irrelevant": {"image": True, "text": False}}

# The target is in set 2 of items 0 and 3, in set 1 of item 1, and in no set of item 2.
ITEMS = [an_item(0), an_item(1, target_ids=["1-a4"]), an_item(2, target_ids=["elsewhere"]),
         an_item(3, category="dress")]
JUDGEMENTS = [
    a_judgement(0, "Ada", an_answer(2, 5, 2, first=1)),
    a_judgement(0, "Bea", an_answer(3, 3, 1, first=2)),
    a_judgement(1, "Ada", an_answer(4, 1, 1, first=2)),
    a_judgement(1, "Cleo", an_answer(4, 4, 2, first=1, **FLAGGED)),
    a_judgement(2, "Bea", an_answer(2, 3, 1, first=1)),
    a_judgement(2, "Cleo", an_answer(3, 4, 2, first=2)),
    a_judgement(3, "Ada", an_answer(1, 2, 0, first=1)),
]
COSINE = MetricScores("cosine", "Made by hand.", {
    ("i0", 1): 0.1, ("i0", 2): 0.9, ("i1", 1): 0.8, ("i1", 2): 0.3, ("i2", 1): 0.2, ("i2", 2): 0.4})


def report(judgements=JUDGEMENTS, items=ITEMS, *, options=NO_DRAWS, **asked):
    given = {name: asked.pop(name) for name in ("people", "checks", "source", "accepting", "settings") if name in asked}
    return preference_report(answers_of(items, judgements, **given), options=options, **asked)


def test_counts():
    found = report()
    assert (found.n_people, found.n_questions, found.n_answers, found.n_valid) == (3, 4, 7, 7)
    assert [(one.seat, one.name, one.judgements) for one in found.raters] == [(1, "Ada", 3), (2, "Bea", 2),
                                                                            (3, "Cleo", 2)]
    assert found.ratings == (2, 3, 4, 4, 1)
    assert (found.mean_rating.value, found.mean_rating.n) == (41 / 14, 14)
    assert (found.rated_equal, found.contradictions, found.ties, found.flagged) == (2, 1, 1, 1)
    # What stood first was preferred in both answers to item 2 and never else, of the six that are no tie.
    assert (found.first_side.count, found.first_side.n) == (2, 6)
    assert (found.first_side_when_equal.count, found.first_side_when_equal.n) == (0, 2)
    assert (found.stored_one.count, found.stored_one.n) == (3, 6)
    assert (found.stored_one_when_equal.count, found.stored_one_when_equal.n) == (1, 2)
    assert found.mean_rating.low is None and found.about.versions["scipy"]


def test_recall_and_another_metric():
    found = report(scores=[COSINE])
    recall, cosine = found.metrics
    assert (recall.name, recall.scored, cosine.name, cosine.scored) == ("recall@5", 14, "cosine", 12)
    scores, ratings = [0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1], [2, 5, 3, 3, 4, 1, 4, 4, 2, 3, 3, 4, 1, 2]
    assert recall.spearman.value == pytest.approx(spearmanr(scores, ratings).statistic, abs=1e-12)
    assert recall.spearman.p == pytest.approx(spearmanr(scores, ratings).pvalue, abs=1e-12)
    assert recall.kendall.value == pytest.approx(kendalltau(scores, ratings).statistic, abs=1e-12)
    # Recall differs in items 0 and 1: followed by Ada twice, not by Bea and Cleo. Item 3 is a tie.
    assert (recall.rates["symmetric"].share.count, recall.rates["symmetric"].share.n) == (2, 4)
    # Set 1 as good or better: item 1 (preferred by Ada of two) and item 2 (by Bea of two).
    assert (recall.rates["ge"].share.count, recall.rates["ge"].share.n) == (2, 4)
    assert (recall.rates["gt"].share.count, recall.rates["gt"].share.n) == (1, 2)
    equal = recall.rates["given_equal_recall"].share
    assert equal.n == 0 and "differ and recall is equal" in equal.reason
    # Of cosine that is item 2, where set 2 has more: Cleo follows it, Bea does not.
    assert (cosine.rates["given_equal_recall"].share.count, cosine.rates["given_equal_recall"].share.n) == (1, 2)
    assert cosine.rates["gt_given_equal_recall"].share.n == 0
    # The favoured set stood second in Ada's two, who follow it, and first in the others, who do not: (1 + 0) / 2.
    assert (recall.rates["symmetric"].adjusted.value, recall.rates["symmetric"].adjusted.n) == (0.5, 4)
    (test,) = found.tests
    assert (test.a, test.b, test.difference.n) == ("recall@5", "cosine", 3)
    assert test.difference.p is None and "bootstrap" in test.difference.reason


def test_equal_recall_is_that_of_the_first_k():
    found = report(ks=(1, 5), scores=[COSINE])
    assert [one.name for one in found.metrics] == ["recall@1", "recall@5", "cosine"]
    # Item 1's target is the last of set 1: at 1 recall is equal there too, and Ada follows cosine, Cleo does not.
    equal = found.metrics[2].rates["given_equal_recall"].share
    assert (equal.count, equal.n) == (2, 4)
    assert "“Equal recall” means recall@1." in found.about.notes
    assert [one.name for one in report(ks=(), scores=[COSINE]).metrics] == ["cosine"]
    with pytest.raises(StudyError, match="whole number from 1"):
        report(ks=(0,))


def test_rules_look_at_all_answers_and_the_selection_comes_after():
    # Cleo failed a check; her answer to item 1 is flagged as well.
    checks = [a_check("Cleo", 1, False)]
    found = report(checks=checks, rules=Rules(irrelevant=True, failed_checks=0))
    assert found.rules == {"irrelevant": True, "failed_checks": 0}
    assert (found.n_answers, found.n_valid, found.flagged) == (7, 5, 1)
    assert found.removed == {"irrelevant": 1, "failed_checks": 2}
    assert "The rules leave out 2 of 7 answers." in found.about.notes
    assert (found.n_people, len(found.raters)) == (3, 2)
    # Within a selection a rule removes what is in it, and still knows people by all their answers.
    only = report(checks=checks, rules=Rules(failed_checks=0),
                  selection=Selection(people=(1, 3), categories=("shirt",)))
    assert (only.n_questions, only.n_answers, only.n_valid, only.removed) == (3, 4, 2, {"failed_checks": 2})
    # Unless told otherwise, rules are those that the study keeps.
    assert report(settings={"exclude": {"irrelevant": True}}).n_valid == 6
    assert report(settings={"exclude": {"irrelevant": True}}, rules=Rules()).n_valid == 7
    # Ada alone always preferred the same side, the second: she gave three answers.
    assert report(rules=Rules(one_side=1.0)).removed == {"one_side": 3}


def test_notes_say_what_is_missing():
    notes = report().about.notes
    assert any("1 answer counts although the results were flagged" in note for note in notes)
    unknown = {"irrelevant": {"image": None, "text": None}}
    released = [a_judgement(0, "Ada", an_answer(first=None, **unknown)),
                a_judgement(1, "Bea", an_answer(first=None, **unknown))]
    found = report(released, source={"form": HP_ANSWERS}, accepting=False)
    assert found.flagged is None and any("307 of 3,050" in note for note in found.about.notes)
    assert any("Which set was shown first was not recorded, so" in note for note in found.about.notes)
    assert any("No question of this study was answered by two people" in note for note in found.about.notes)
    alone = report(selection=Selection(people=(1,))).about.notes
    assert any("No question that counts here was answered by two people" in note for note in alone)
    part = report([*JUDGEMENTS, a_judgement(3, "Bea", an_answer(first=None))])
    assert "Which set was shown first was not recorded for 1 of 8 answers." in part.about.notes
    without = report([a_judgement(0, "Ada", an_answer())], [an_item(0, target_id=None, target_ids=[])])
    assert "No question has a known target, so there is no recall@5." in without.metrics[0].notes
    assert without.metrics[0].spearman.reason and without.metrics[0].rates["symmetric"].share.reason


def note_on(said, found):
    return next((note for note in found.about.notes if said in note), "")


def test_answers_that_are_not_independent_have_a_note():
    # Items 0, 1 and 2 have two answers each, item 3 has one.
    for draws in (0, 20):
        note = note_on("Wilson", report(options=Options(draws=draws)))
        assert note.startswith("Several people answered 3 of 4 questions. Wilson’s intervals and the p of shares, of ρ")
    assert not note_on("Wilson", report(JUDGEMENTS[::2], ITEMS))


def spread(people, each):
    """Each person answers questions of their own, as it comes."""
    rng = np.random.default_rng(6)
    items = [an_item(number) for number in range(people * each)]
    names = [f"p{number}" for number in range(people)]
    judgements = [a_judgement(number, names[number // each], an_answer(*rng.integers(1, 6, 2), int(rng.integers(1, 3))))
                  for number in range(people * each)]
    return lambda **options: report(judgements, items, people=names, options=Options(**{"draws": 20} | options))


def test_what_answers_of_one_person_have_in_common_has_a_note():
    said = "Intervals resample questions. Each of"
    assert note_on(said, spread(12, 8)()) == (
        "Intervals resample questions. Each of 12 people answered about 8: resampling people "
        "accounts for differences between them.")
    assert note_on(said, spread(9, 8)()).endswith("between people, because so few cannot be resampled.")
    assert not any(note_on(said, found) for found in (
        spread(12, 8)(draws=0), spread(12, 2)(), spread(12, 8)(resample="people"), spread(1, 12)()))


@pytest.mark.parametrize(("people", "note", "reason"), [
    (3, "there are only 3. At least 10 are needed: resample questions",
     "no interval: resampling people needs at least 10, not 3"),
    (12, "people, and 12 are few", "resampled from 12 people: interpret the interval with care"), (30, "", ""),
])
def test_draws_of_few_people(people, note, reason):
    found = spread(people, 6)(resample="people", draws=50)
    for estimate in (found.mean_rating, found.metrics[0].spearman, found.metrics[0].rates["symmetric"].drawn,
                     found.methods[0].value, found.methods[0].mean_rating, found.pairs[0].mean_difference):
        assert (estimate.low is None, estimate.reason) == (people < 10, reason)
    said = note_on("Intervals resample people", found)
    assert note in said and bool(said) == bool(note)
    # Wilson's is there all the same.
    assert found.metrics[0].rates["symmetric"].share.low is not None


def test_questions_whose_sets_hold_the_same_images():
    twins = [["a", "b", "c", "d", "e"], ["e", "d", "c", "b", "a"]]
    items = [an_item(0), an_item(1, set_ids=twins), an_item(2, set_ids=twins), an_item(3, set_ids=twins)]
    found = report(JUDGEMENTS[:4] + JUDGEMENTS[6:], items)
    assert found.identical_sets == 2, "of questions that somebody answered"
    assert note_on("the same images", found).startswith("Both sets have the same images in 2 questions. Where scores")
    assert report().identical_sets == 0 and not note_on("the same images", report())


def test_shared_questions():
    # Items 0, 1 and 2 have two answers each.
    found = report(options=Options(draws=200))
    assert found.shared_questions == 3
    # Preferences 2 1, 1 2, 1 2 never agree: observed 1; expected 2·3·3/(6·5) = 0.6; alpha 1 - 1/0.6 = -2/3.
    assert found.preference_alpha.value == pytest.approx(-2 / 3, abs=1e-12) and found.preference_alpha.n == 3
    assert found.ratings_alpha.n == 6 and found.ratings_alpha.low <= found.ratings_alpha.value
    assert found.ratings_alpha.reason == "resampled from 3 questions: interpret the interval with care"
    # Everybody agrees, on sets that differ: 1.
    same = [a_judgement(number, person, an_answer(5 - number, 1 + number, 1 + number % 2))
            for number in range(3) for person in ("Ada", "Bea")]
    found = report(same)
    assert (found.ratings_alpha.value, found.preference_alpha.value) == pytest.approx((1, 1), abs=1e-12)


def test_alpha_draws_questions_with_both_sets():
    # Of two questions there are three samples: the first twice, both, the second twice. The interval goes from the
    # least to the largest alpha of these; samples of four sets would have other ones between and beyond.
    answers = {0: (an_answer(5, 1), an_answer(4, 1)), 1: (an_answer(3, 2), an_answer(1, 5))}

    def alpha(*questions, draws=0):
        judgements = [a_judgement(place, person, answer) for place, number in enumerate(questions)
                      for person, answer in zip(("Ada", "Bea"), answers[number], strict=True)]
        return report(judgements, options=Options(draws=draws)).ratings_alpha

    samples = [alpha(0, 0).value, alpha(0, 1).value, alpha(1, 1).value]
    found = alpha(0, 1, draws=300)
    assert (found.low, found.high) == pytest.approx((min(samples), max(samples)), abs=1e-12)


def test_methods_are_there_where_they_are_known():
    found = report(options=Options(draws=100))
    assert [one.method for one in found.methods] == ["slerp", "text"] and found.no_methods == ""
    # Three preferences each, and a tie.
    assert found.methods[0].value.value == pytest.approx(0, abs=1e-12) and found.methods[0].value.n == 7
    assert [(one.first, one.second, one.answers) for one in found.pairs] == [("slerp", "text", 7)]
    blind = report([a_judgement(0, "Ada", an_answer())], [an_item(0, methods=[None, None])])
    assert (blind.methods, blind.pairs) == ((), ())
    assert blind.no_methods == "the methods of the sets were not recorded"


@pytest.mark.parametrize("resample", ["items", "people"])
def test_draws_take_questions_or_people_whole(resample):
    rng = np.random.default_rng(4)
    people = [f"p{number}" for number in range(30)]
    items = [an_item(number) for number in range(20)]
    # Each person has a level of their own: people differ much more than questions do.
    judgements = [
        a_judgement(number, person, an_answer(*rng.integers(1, 3, 2) + 3 * (index % 2), int(rng.integers(1, 3))))
        for index, person in enumerate(people) for number in range(20)]
    judgements = [one for one in judgements if rng.random() < 0.9]
    found = report(judgements, items, people=people, options=Options(draws=400, resample=resample))
    width = found.mean_rating.high - found.mean_rating.low
    # By people the spread is that of 30 levels, 3 apart: 2 · 1.96 · 1.5 / √30 = 1.07.
    assert width == pytest.approx(1.07, rel=0.2) if resample == "people" else width < 0.2


@pytest.mark.parametrize("draws", [0, 50])
def test_with_hardly_anything_there_are_reasons(draws):
    options = Options(draws=draws)
    for found in (report([], options=options), report([], [], options=options, people=())):
        assert (found.n_people, found.n_questions, found.n_valid, found.ratings) == (0, 0, 0, (0, 0, 0, 0, 0))
        assert found.mean_rating.value is None and found.mean_rating.reason and found.flagged == 0
        assert found.metrics[0].spearman.reason and found.metrics[0].rates["symmetric"].share.reason
        assert found.ratings_alpha.reason and found.no_methods == "no answers"
        assert any("No answers yet" in note or "leave no question" in note for note in found.about.notes)
    one = report(JUDGEMENTS[:1], options=options)
    assert one.mean_rating.value == 3.5 and one.mean_rating.low is None
    assert one.metrics[0].spearman.value is None
    gone = report(options=options, rules=Rules(failed_checks=0), checks=[a_check("Ada", 1, False)],
                  selection=Selection(categories=("dress",)))
    assert (gone.n_answers, gone.n_valid, gone.removed) == (1, 0, {"failed_checks": 1})
    assert gone.mean_rating.reason and "The rules leave out 1 of 1 answer." in gone.about.notes


def test_hidden_names_are_nowhere():
    found = report(options=Options(draws=20, hide_names=True), scores=[COSINE])
    assert [one.name for one in found.raters] == ["P01", "P02", "P03"]
    assert not any(name in repr(asdict(found)) for name in ("Ada", "Bea", "Cleo"))


def test_what_is_refused():
    with pytest.raises(StudyError, match="which compares no sets"):
        preference_report(answers_of([], [], study=study_of()))
    with pytest.raises(StudyError, match="agreement set"):
        report(selection=Selection(block_only=True))
    with pytest.raises(StudyError, match="-1 draws"):
        report(options=Options(draws=-1))
    with pytest.raises(StudyError, match="no rule"):
        report(settings={"exclude": {"whim": 1}})


# --- the keys of the report as JSON, which scripts rely on -----------------------------------

RATES = ("preference_rate_ge", "preference_rate_gt", "preference_rate_symmetric", "preference_rate_given_equal_recall")


def made(judgements=JUDGEMENTS, items=ITEMS, draws=50, **asked):
    found = preference_json(preference_report(answers_of(items, judgements), options=Options(draws=draws), **asked))
    # nan and infinities are no JSON.
    return json.loads(json.dumps(found, allow_nan=False))


def test_the_fixed_keys():
    found = made(scores=[COSINE])
    assert list(found)[:5] == ["n_people", "n_questions", "n_valid", "ratings", "metrics"]
    assert found["ratings"] == {"1": 2, "2": 3, "3": 4, "4": 4, "5": 1}
    assert list(found["metrics"]) == ["recall@5", "cosine"]
    for metric in found["metrics"].values():
        assert {"shapiro", "spearman", *RATES} <= set(metric)
        assert {"w", "p"} <= set(metric["shapiro"]) and {"rho", "p", "ci95", "n"} <= set(metric["spearman"])
        assert all({"rate", "n", "ci95"} <= set(metric[rate]) for rate in RATES)
    recall = found["metrics"]["recall@5"]
    assert (recall["preference_rate_symmetric"]["rate"], recall["preference_rate_symmetric"]["n"]) == (0.5, 4)
    low, high = recall["spearman"]["ci95"]
    assert -1 <= low <= recall["spearman"]["rho"] <= high <= 1
    assert found["about"]["options"]["draws"] == 50 and found["rules"] == {}


def test_rates_have_two_intervals_and_one_sided_ones_no_p():
    items = [an_item(number) for number in range(9)]
    found = made([a_judgement(number, person, an_answer(4, 2, 1 + number % 2))
                  for number in range(9) for person in ("Ada", "Bea", "Cleo")], items)
    rates = found["metrics"]["recall@5"]
    of = rates["preference_rate_symmetric"]
    # As sure as nine questions are, not as 27 answers are.
    (low, high), (wilson_low, wilson_high) = of["ci95_draws"], of["ci95"]
    assert low < wilson_low < of["rate"] < wilson_high < high and of["p"] > 0.05
    assert of["reason_draws"] == "resampled from 9 questions: interpret the interval with care" and of["reason"] == ""
    assert all(rates[f"preference_rate_{form}"]["p"] is None for form in ("ge", "gt", "gt_given_equal_recall"))
    assert made(draws=0)["metrics"]["recall@5"]["preference_rate_symmetric"]["ci95_draws"] is None
    assert found["identical_sets"] == 0


def test_what_is_not_there_is_null_with_a_reason():
    for judgements, items in (([], ITEMS), ([], []), (JUDGEMENTS[:1], ITEMS)):
        found = made(judgements, items)
        spearman = found["metrics"]["recall@5"]["spearman"]
        assert (spearman["rho"], spearman["ci95"], spearman["p"]) == (None, None, None) and spearman["reason"]
        given_equal = found["metrics"]["recall@5"]["preference_rate_given_equal_recall"]
        assert (given_equal["rate"], given_equal["ci95"], given_equal["n"]) == (None, None, 0)
        assert given_equal["reason"]
    assert made([], ITEMS)["mean_rating"] == {"value": None, "n": 0, "ci95": None, "reason": "no ratings"}
    assert made(draws=0)["mean_rating"]["ci95"] is None


def test_pairs_have_predictions_and_corrected_tests():
    def pair(first, second, count, n):
        return MethodPair(first, second, n, 0, share(count, n), NONE, NONE, NONE)

    def strength(method, value):
        return Strength(method, Estimate(value, 9), NONE, NONE, NONE)

    pairs = [pair("a", "b", 9, 10), pair("a", "c", 8, 10), pair("b", "c", 0, 0)]
    one, two, none = with_order(pairs, [strength("a", log(3)), strength("b", 0.0), strength("c", None)])
    # 2 · (1 + 10) / 1024 and 2 · (1 + 10 + 45) / 1024; Holm: the smaller one twice, the other once.
    assert (one.p_holm, two.p_holm) == (pytest.approx(2 * 22 / 1024), pytest.approx(112 / 1024)) and none.p_holm is None
    assert (one.predicted, two.predicted) == (pytest.approx(0.75), None)     # odds of 3 to 1


def test_answers_needed_find_the_preference_in_four_of_five_attempts():
    def needed(count, n, ties=0, pairs=1):
        return answers_needed(MethodPair("a", "b", n + ties, ties, share(count, n), NONE, NONE, NONE), pairs)

    found = needed(60, 100)
    # The exact test at that size: reject where both tails together have at most 0.05.
    counts = np.arange(found + 1)
    rejects = 2 * binom.cdf(np.minimum(counts, found - counts), found, 0.5) <= 0.05
    assert 0.76 < binom.pmf(counts[rejects], found, 0.6).sum() < 0.84
    # A quarter of the answers are ties; a tenth of the level asks for more; a share on the other side for as many.
    assert needed(60, 100, ties=100 // 3) == pytest.approx(found * 133 / 100, abs=1)
    assert needed(60, 100, pairs=10) > 1.5 * found and needed(40, 100) == found
    assert needed(50, 100) is None and needed(0, 0) is None


def test_ratings_are_counted_in_parts_of_a_metrics_values():
    rating = np.array([1.0, 2, 2, 5, 5, 4])
    assert ratings_by_value(np.array([0.0, 0, 0, 1, 1, 1]), rating) == (
        (0.0, 0.0, (1, 2, 0, 0, 0)), (1.0, 1.0, (0, 0, 0, 1, 2)))
    score = np.arange(100.0)
    parts = ratings_by_value(score, np.repeat([1.0, 2, 3, 4, 5], 20))
    assert [sum(counts) for *_, counts in parts] == [20] * 5 and [low for low, *_ in parts] == [0, 20, 40, 60, 80]
    assert [counts.index(20) for *_, counts in parts] == [0, 1, 2, 3, 4]
    assert ratings_by_value(np.empty(0), np.empty(0)) == ()
