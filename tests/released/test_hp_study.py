"""HP-FashionIQ as released, as a study: 61 people, and it comes back."""

import json

import pytest

from annotation.kinds.preference.exclusion import Rules, apply_rules
from annotation.kinds.preference.exports import judgement_table, preference_pairs, set_table
from annotation.kinds.preference.hp_fashioniq import hp_form
from annotation.kinds.preference.quality import people_quality, side_bias
from cir_core.datasets.readers.hp_fashioniq import read_questions


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
