import json
from copy import deepcopy

import pytest

from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.readers.hp_fashioniq import Question, ShownSet, decoded_text, read_questions, write_questions
from cir_core.errors import DatasetError
from cir_core.registry.checking import check


def paths(*names, category="shirt"):
    return [f"/-/image_data/{category}/{name}.jpg" for name in names]


def shown(names, score):
    return {"img_path": paths(*names), "user_score": score}


# Two questions. The first: target B02 in both sets, scores 4 and 2, the first preferred. The second: target
# B09 in neither, scores 3 and 3, and both sets show the same images in another order.
RELEASED = {"user_1": {"question_set_1": {
    "ref_img_paths": paths("B01", "B08"),
    "targ_img_paths": paths("B02", "B09"),
    "sentences": ["is bluedotmark  and has a logo", "salt andmark pepper starmarkstarsstarmark  whyquestionmark"],
    "retrieved_set1": [shown(["B02", "C1", "C2", "C3", "C4"], "4"), shown(["D1", "D2", "D3", "D4", "D5"], "3")],
    "retrieved_set2": [shown(["C1", "C2", "C3", "C4", "B02"], "2"), shown(["D5", "D4", "D3", "D2", "D1"], "3")],
    "preferred set": ["1", "2"],
}}}


@pytest.fixture
def released(tmp_path):
    """Writes a changed copy of the file: ``released(lambda lists: …)``."""

    def write(change=lambda lists: None):
        content = deepcopy(RELEASED)
        change(content["user_1"]["question_set_1"])
        path = tmp_path / "hpfiq.json"
        path.write_text(json.dumps(content, indent=2))
        return path

    return write


def test_a_question_has_ids_marks_as_signs_and_whole_scores(released):
    first, second = read_questions(released())
    assert first == Question(
        "user_1", "question_set_1", 0, "B01", "B02", "shirt", "is blue. and has a logo",
        (ShownSet(("B02", "C1", "C2", "C3", "C4"), 4), ShownSet(("C1", "C2", "C3", "C4", "B02"), 2)), 1,
    )
    assert second.text == "salt & pepper *stars* why?"
    assert second.question_id == "user_1/question_set_1/1" and second.preferred == 2


def test_what_was_read_is_written_byte_for_byte(released, tmp_path):
    path = released()
    write_questions(tmp_path / "again.json", read_questions(path))
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


def test_questions_of_ones_own_come_back_equal(tmp_path):
    sets = (ShownSet(("a", "b", "c", "d", "e"), 1), ShownSet(("f", "g", "h", "i", "j"), 5))
    mine = [Question("me", "one", 0, "r", "t", "toptee", "red & white? no.", sets, 2)]
    write_questions(tmp_path / "mine.json", mine)
    assert list(read_questions(tmp_path / "mine.json")) == mine
    assert "red andmark whitequestionmark nodotmark" in (tmp_path / "mine.json").read_text()


@pytest.mark.parametrize(("text", "number", "sentence"), [
    ("a dotmark", 0, "cannot be written"),
    ("two  spaces", 0, "cannot be written"),
    ("red", 1, "is at position 0"),
])
def test_what_the_form_cannot_hold_is_refused(tmp_path, text, number, sentence):
    sets = (ShownSet(("a", "b", "c", "d", "e"), 1), ShownSet(("f", "g", "h", "i", "j"), 5))
    with pytest.raises(DatasetError, match=sentence):
        write_questions(tmp_path / "mine.json", [Question("me", "one", number, "r", "t", "dress", text, sets, 2)])
    assert not (tmp_path / "mine.json").exists()


def test_questions_of_one_person_stand_together(released, tmp_path):
    first, second = read_questions(released())
    other = Question("user_2", "one", 0, "r", "t", "dress", "red", first.sets, 1)
    with pytest.raises(DatasetError, match="are not adjacent"):
        write_questions(tmp_path / "mixed.json", [first, other, second])


def set_to(key, value):
    return lambda lists: lists[key].__setitem__(0, value)


@pytest.mark.parametrize(("change", "where", "problem"), [
    (lambda lists: lists["sentences"].pop(), "user_1, question_set_1", "lists differ in length .*sentences 1"),
    (lambda lists: lists.pop("preferred set"), "user_1, question_set_1", "no list 'preferred set'"),
    (set_to("retrieved_set1", shown(["a", "b", "c", "d", "e"], "6")), "question 0", "score of its set 1 is '6'"),
    (set_to("retrieved_set2", shown(["a", "b", "c", "d", "e"], "")), "question 0", "score of its set 2 is ''"),
    (set_to("retrieved_set2", shown(["a", "b", "c", "d"], "3")), "question 0", "set 2 has 4 images"),
    (set_to("retrieved_set2", shown(["a", "b", "c", "d", "a"], "3")), "question 0", "set 2 shows an image twice"),
    (set_to("retrieved_set2", "B01"), "question 0", "set 2 has no img_path"),
    (set_to("preferred set", "3"), "question 0", "preferred set is '3'"),
    (set_to("ref_img_paths", "/-/image_data/B01.jpg"), "question 0", "no category in the path"),
    (set_to("ref_img_paths", None), "question 0", "no category in the path None"),
    (set_to("ref_img_paths", "/-/image_data/dress/B01.jpg"), "question 0", r"2 categories \(dress, shirt\)"),
    (set_to("sentences", "  "), "question 0", "sentence is"),
])
def test_a_fault_names_file_question_and_remedy(released, change, where, problem):
    path = released(change)
    with pytest.raises(DatasetError, match=problem) as raised:
        read_questions(path)
    assert str(path) in str(raised.value) and where in str(raised.value)
    assert str(raised.value).count(". ") == 1 and str(raised.value).endswith(".")  # a problem and its remedy

    faults = ValidationIssues(collect=True)
    kept = read_questions(path, faults)
    assert faults.count == 1 and [question.number for question in kept] in ([], [1])


@pytest.mark.parametrize(("content", "problem"), [
    (b'{"user_1": {"question', "not valid JSON"),
    (b"[]", "not contain a JSON object"),
    (b'{"user_1": []}', "user_1: it does not contain question sets"),
    (b'{"user_1": {"question_set_1": 3}}', "question_set_1: it is not an object of six lists"),
    (b'{"user_1": {}, "user_1": {}}', "key 'user_1': it occurs twice"),
])
def test_another_kind_of_file_is_a_sentence(tmp_path, content, problem):
    path = tmp_path / "other.json"
    path.write_bytes(content)
    with pytest.raises(DatasetError, match=problem):
        read_questions(path)


def test_windows_line_ends_and_a_byte_order_mark_do_not_matter(released):
    path = released()
    questions = read_questions(path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_questions(path) == questions


def test_counts(released):
    counts = check("hp-fashioniq", released()).counts
    assert counts == {
        "people": 1, "question sets": 1, "questions": 2, "questions, shirt": 2, "shown sets": 4,
        "sets with score 1": 0, "sets with score 2": 1, "sets with score 3": 2, "sets with score 4": 1,
        "sets with score 5": 0, "score, mean": 3.0,     # (4 + 2 + 3 + 3) / 4
        "set 1 preferred": 1, "set 2 preferred": 1,
        "share of sets with the target": 0.5,           # both of the first question, none of the second
        "questions with equal scores": 1, "preferences against the scores": 0,
        "questions with twice the same images": 2,
    }
    against = check("hp-fashioniq", released(set_to("preferred set", "2"))).counts
    assert against["preferences against the scores"] == 1  # 2 is preferred, with score 2 to 4


def test_runs_of_spaces_become_one():
    assert decoded_text("a   b  and c") == "a b and c"
