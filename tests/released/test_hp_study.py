"""HP-FashionIQ as released, as a study: 61 people, and it comes back."""

import json

import pytest

from annotation.analysis.records import Options, Selection
from annotation.kinds.preference.exports import judgement_table, preference_pairs, set_table
from annotation.kinds.preference.hp_fashioniq import hp_form
from annotation.kinds.preference.method_pairs import draw_pairs
from annotation.kinds.preference.quality import people_quality, side_bias
from annotation.kinds.preference.report.precision import rate_precision
from annotation.kinds.preference.report.report import preference_json, preference_report
from annotation.kinds.preference.sources.queries import SETS, from_hp
from annotation.kinds.preference.survey.plan import SurveyLayout, plan_survey
from annotation.kinds.reports import load_answers
from annotation.quality.rules import Rules, apply_rules
from cir_core.datasets.readers.hp_fashioniq import read_questions, write_questions
from cir_core.registry.checking import check


@pytest.fixture(scope="module")
def path(reference_data):
    return reference_data / "hp_fashioniq/hpfiq.json"


@pytest.fixture(scope="module")
def stored(imported):
    store, created = imported
    study_id = created.study.study_id
    return store.items(study_id), store.assignments(study_id), store.judgements(study_id)


def test_counts_are_those_of_the_release(imported):
    store, created = imported
    assert created.counts == {"people": 61, "question_sets": 122, "items": 3050, "judgements": 3050,
                              "rated_sets": 6100, "items, shirt": 1800, "items, toptee": 1250}
    assert created.notes[1] == "Questions with two sets of the same images: 11."
    counts = store.counts(created.study.study_id)
    assert (counts["people"], counts["items"], counts["done"]) == (61, 3050, 3050)


def test_the_export_is_the_file(path, stored, tmp_path):
    found = hp_form(*stored)
    assert found.questions == 3050 and not found.notes
    (tmp_path / "again.json").write_bytes(found.content)
    assert read_questions(tmp_path / "again.json") == read_questions(path)
    assert json.loads(found.content) == json.loads(path.read_bytes())
    assert found.content == path.read_bytes()


def test_the_first_set_of_the_file_is_preferred_and_nobody_can_say_why(stored):
    bias = side_bias(stored[2])
    assert bias.first.n == 0                        # which set stood first was not recorded
    assert (bias.stored.count, bias.stored.n) == (1641, 3050)
    equal = bias.stored_when_equal
    assert (equal.n, round(equal.value, 2)) == (774, 0.63)
    assert equal.p == pytest.approx(1e-13, rel=0.5)


def test_quality_of_the_people(imported, stored):
    store, created = imported
    people = people_quality(store.seats(created.study.study_id), stored[1], stored[2])
    assert [len(people), {one.answers for one in people}] == [61, {50}]
    assert sum(one.contradictions for one in people) == 32
    assert sum(one.contradictable for one in people) == 3050 - 774
    # The flags of the 307 questions are not in the release.
    assert len(apply_rules(Rules(irrelevant=True), stored[2], people).kept) == 3050


def test_tables_and_pairs(imported, stored):
    study = imported[1].study
    assert len(judgement_table(study, *stored).rows) == 3050
    table = set_table(study, *stored)
    at = [column.name for column in table.columns].index("rating")
    assert len(table.rows) == 6100
    assert [sum(row[at] == score for row in table.rows) for score in range(1, 6)] == [368, 1037, 1507, 1914, 1274]
    pairs = preference_pairs(stored[0], stored[2])
    # Eleven questions showed the same five images twice: there is nothing to learn from those.
    assert (pairs.pairs, pairs.ties, pairs.identical) == (3039, 0, 11)
    margins = [json.loads(line)["margin"] for line in pairs.content.splitlines()]
    assert (sum(margin < 0 for margin in margins), margins.count(0)) == (32, 774 - 10)  # ten of them rated alike


# --- the file --------------------------------------------------------------------------------

def test_counts_of_the_file_are_those_of_the_release(path):
    report = check("hp-fashioniq", path)
    assert report.ok
    counts = dict(report.counts)
    assert counts.pop("score, mean") == pytest.approx(3.441, abs=5e-4)
    assert counts.pop("share of sets with the target") == pytest.approx(0.3856, abs=5e-5)
    assert counts == {
        "people": 61, "question sets": 122, "questions": 3050, "questions, shirt": 1800, "questions, toptee": 1250,
        "shown sets": 6100, "sets with score 1": 368, "sets with score 2": 1037, "sets with score 3": 1507,
        "sets with score 4": 1914, "sets with score 5": 1274, "set 1 preferred": 1641, "set 2 preferred": 1409,
        "questions with equal scores": 774, "preferences against the scores": 32,
        "questions with twice the same images": 11,
    }


def test_the_file_comes_back_byte_for_byte(path, tmp_path):
    questions = read_questions(path)
    write_questions(tmp_path / "again.json", questions)
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
    assert not any("mark " in question.text or "  " in question.text for question in questions)


def test_every_image_is_of_its_question_s_category(path, reference_data):
    from cir_core.datasets.readers.fashioniq import read_split

    known = {category: set(read_split(reference_data / "fashioniq", category, "val"))
             for category in ("shirt", "toptee")}
    for question in read_questions(path):
        assert set(question.image_ids) <= known[question.category], question.question_id


# --- the questions as a new study ------------------------------------------------------------

def test_all_questions_whose_sets_differ_can_be_asked(reference_data):
    found = from_hp(reference_data / "hp_fashioniq" / "hpfiq.json", size=None, seed=1, images=reference_data)
    assert len(found.queries) == len({query.key for query in found.queries}) == 3050
    categories = [query.category for query in found.queries]
    assert categories.count("shirt") == 1800 and categories.count("toptee") == 1250
    drawn = draw_pairs({query.key: query.results for query in found.queries}, found.methods, seed=1)
    same = [query.key for query in found.queries if set(query.results[SETS[0]]) == set(query.results[SETS[1]])]
    assert drawn.identical == tuple(same) and drawn.ruled_out == len(same) and not drawn.lacking
    assert sum(drawn.counts.values()) == 3050 - len(same) > 3000
    # As it was: 61 people with 50 questions each, nothing shared.
    assert plan_survey(3050, SurveyLayout(shared_every=0)).people == 61


# --- what its answers say of recall ----------------------------------------------------------

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
    assert "Each of 61 people answered about 50: resampling people accounts" in said
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
