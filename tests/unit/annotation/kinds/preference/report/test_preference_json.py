"""The keys of a preference report as JSON, which scripts rely on."""

import json

from annotation.analysis.records import Options
from annotation.kinds.preference.report.as_json import preference_json
from annotation.kinds.preference.report.report import preference_report
from tests.fakes.preference_answers import answers_of
from tests.fakes.preferences import a_judgement, an_answer, an_item
from tests.unit.annotation.kinds.preference.report.test_preference_report import COSINE, ITEMS, JUDGEMENTS

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
