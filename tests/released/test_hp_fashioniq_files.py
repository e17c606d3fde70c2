"""HP-FashionIQ as released: 61 people, 50 questions each."""

import pytest

from cir_core.datasets.readers.hp_fashioniq import read_questions, write_questions
from cir_core.registry.checking import check


@pytest.fixture(scope="module")
def path(reference_data):
    return reference_data / "hp_fashioniq/hpfiq.json"


def test_counts_are_those_of_the_release(path):
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
