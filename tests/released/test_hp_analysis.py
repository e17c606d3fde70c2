"""HP-FashionIQ as released: what its people's answers say of recall, beside the paper's numbers."""

import pytest

from annotation.analysis.records import Options, Selection
from annotation.kinds.loading import load_answers
from annotation.kinds.preference.report.as_json import preference_json
from annotation.kinds.preference.report.precision import rate_precision
from annotation.kinds.preference.report.report import preference_report


@pytest.fixture(scope="module")
def answers(imported):
    store, created = imported
    return load_answers(store, created.study)


@pytest.fixture(scope="module")
def report(answers):
    return preference_report(answers, options=Options(draws=200))


def test_counts(report):
    assert (report.n_people, report.n_questions, report.n_answers, report.n_valid) == (61, 3050, 3050, 3050)
    assert report.ratings == (368, 1037, 1507, 1914, 1274)
    assert report.mean_rating.value == pytest.approx(3.441, abs=5e-4)
    assert (report.rated_equal, report.contradictions, report.ties) == (774, 32, 0)
    assert report.flagged is None and report.shared_questions == 0
    assert (report.stored_one.count, report.stored_one_when_equal.n) == (1641, 774)


def test_recall_at_5(report):
    (recall,) = report.metrics
    # The paper has 0.16 over the 2,743 questions that nobody flagged.
    rho = recall.spearman
    assert (round(rho.value, 5), rho.n) == (0.15349, 6100) and rho.low < rho.value < rho.high
    # The paper has 0.58, which counts equal recall for set 1.
    rates = {name: (round(recall.rates[name].share.value, 5), recall.rates[name].share.n)
             for name in ("ge", "gt", "symmetric")}
    assert rates == {"ge": (0.58878, 2585), "gt": (0.81069, 449), "symmetric": (0.77681, 914)}
    assert recall.rates["given_equal_recall"].share.n == 0, "recall does not differ where it is equal"
    assert recall.rates["symmetric"].adjusted.reason == "which set was shown first was not recorded"


def test_what_the_release_does_not_say(report):
    said = " ".join(report.about.notes)
    assert "307 of 3,050" in said and "hich set was shown first" in said
    assert "No question of this study was answered by two people" in said
    assert "Each of 61 people answered about 50: resampling people (--resample people)" in said
    assert report.identical_sets == 11 and "the same images in 11 questions" in said
    assert report.methods == () and report.no_methods == "the methods of the sets were not recorded"
    assert preference_json(report)["metrics"]["recall@5"]["spearman"]["rho"] == pytest.approx(0.15349, abs=5e-6)


def test_people_drawn_whole_and_one_category(answers):
    by_people = preference_report(answers, options=Options(draws=200, resample="people")).mean_rating
    by_questions = preference_report(answers, options=Options(draws=200)).mean_rating
    # People use the scale differently: how sure the mean is depends on how many people there are.
    assert by_people.high - by_people.low > 2 * (by_questions.high - by_questions.low)
    shirts = preference_report(answers, Selection(categories=("shirt",)), Options(draws=0))
    assert (shirts.n_questions, shirts.metrics[0].spearman.n) == (1800, 3600)


def test_planning(answers):
    questions, people = rate_precision(answers, 0.03)
    # Of 914 answers, 78 %: a width of 4 · √(0.777 · 0.223 / 914) · 0.98, and questions with its square.
    assert questions.width == pytest.approx(0.054, abs=0.002)
    assert questions.needed == pytest.approx(3050 * (questions.width / 0.03) ** 2, rel=0.05)
    assert people.have == 61
