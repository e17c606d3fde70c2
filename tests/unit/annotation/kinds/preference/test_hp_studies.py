"""HP-FashionIQ's format as a study: what is read comes back, and what the form cannot hold is counted."""

import json
from dataclasses import replace

import pytest

from annotation.kinds.preference.hp_fashioniq import hp_form, import_hp_study
from annotation.records import PlannedAssignment
from cir_core.datasets.readers.hp_fashioniq import read_questions
from cir_core.errors import DatasetError, StudyError, UnknownStudy
from tests.fakes.databases import study_store as study_store
from tests.fakes.preferences import (
    a_judgement,
    a_study,
    an_answer,
    an_assignment,
    an_item,
    keep,
    seats_of,
)


def path_of(image_id, category):
    return f"/-/image_data/{category}/{image_id}.jpg"


def question(number, score_1, score_2, preferred, category="shirt", text="is bluedotmark  and has a logo"):
    sets = [[path_of(f"{letter}{number}{place}", category) for place in range(5)] for letter in "AB"]
    return {
        "ref_img_paths": path_of(f"R{number}", category), "targ_img_paths": path_of(f"A{number}0", category),
        "sentences": text, "retrieved_set1": {"img_path": sets[0], "user_score": str(score_1)},
        "retrieved_set2": {"img_path": sets[1], "user_score": str(score_2)}, "preferred set": str(preferred),
    }


def lists(*questions):
    return {key: [one[key] for one in questions] for key in question(0, 1, 1, 1)}


SAME = question(5, 3, 3, 1)
SAME["retrieved_set2"]["img_path"] = list(reversed(SAME["retrieved_set1"]["img_path"]))
RELEASED = {
    "user_2": {"question_set_2": lists(question(0, 4, 2, 1), question(1, 1, 5, 1, text="more colourquestionmark")),
               "question_set_1": lists(question(2, 3, 3, 2, "toptee"))},
    "user_10": {"question_set_1": lists(question(3, 5, 4, 1), SAME)},
}


@pytest.fixture
def released(tmp_path):
    path = tmp_path / "hpfiq.json"
    path.write_text(json.dumps(RELEASED, indent=2))
    return path


def export(store, study):
    return hp_form(store.items(study.study_id), store.assignments(study.study_id), store.judgements(study.study_id))


def test_a_released_file_is_a_closed_study(store, released):
    created = import_hp_study(store, "Shops", released, created_by="local")
    assert created.counts == {"people": 2, "question_sets": 3, "items": 5, "judgements": 5, "rated_sets": 10,
                              "items, shirt": 4, "items, toptee": 1}
    assert created.notes[1:] == ("Questions with two sets of the same images: 1.",)
    study = store.study("shops")
    assert (study.kind, study.protocol, study.accepting) == ("preference", "hs-fashioniq/1", False)
    assert study.source == {"form": "hp-fashioniq-answers", "file": "hpfiq.json", "people": 2, "questions": 5}
    assert [seat.annotator for seat in store.seats(study.study_id)] == ["user_2", "user_10"]
    assert all(seat.seen_at is None for seat in store.seats(study.study_id))   # an import is nobody's visit
    assert store.counts(study.study_id)["done"] == 5


def test_questions_and_answers_of_the_study(store, released):
    study = import_hp_study(store, "Shops", released, created_by="local").study
    items = store.items(study.study_id)
    first, second = items[0], items[1]
    assert (first.key, first.stratum, first.shown["text"]) == (
        "user_2/question_set_2/0", "shirt", "is blue. and has a logo")
    assert second.shown["text"] == "more colour?"
    assert (first.hidden["reference_id"], first.hidden["target_id"]) == ("R0", "A00")
    assert first.hidden["set_ids"][1] == ["B00", "B01", "B02", "B03", "B04"]
    tokens = [token for item in items for ids in ([item.shown["reference"]], *item.shown["sets"]) for token in ids]
    assert len(tokens) == len(set(tokens)) == 5 * 11     # also where an image occurs twice
    images = store.images(study.study_id)
    assert images[first.shown["sets"][1][4]].image_id == "B04" and not any(image.width for image in images.values())
    judgement = store.judgements(study.study_id)[1]
    assert judgement.answer == {
        "ratings": [1, 5], "preferred": 1, "irrelevant": {"either": None}, "reason": "", "first": None,
        "contradiction_confirmed": False}
    # Positions go on over a person's forms, which are numbered as they stand in the file.
    assert [(one.annotator, one.position, one.extra) for one in store.assignments(study.study_id)][:3] == [
        ("user_2", 0, {"first": None, "form": 1, "reason": False}),
        ("user_2", 1, {"first": None, "form": 1, "reason": False}),
        ("user_2", 2, {"first": None, "form": 2, "reason": False})]


def test_what_was_read_is_written_byte_for_byte(store, released):
    study = import_hp_study(store, "Shops", released, created_by="local").study
    found = export(store, study)
    assert found.content == released.read_bytes()
    assert (found.questions, found.notes) == (5, ())


def test_a_file_of_another_machine_comes_back_as_the_same_data(store, tmp_path):
    content = json.loads(json.dumps(RELEASED).replace("/-/image_data", "/home/me/data/image_data"))
    content["user_10"]["question_set_1"]["preferred set"] = [1, 2]
    path = tmp_path / "other.json"
    path.write_text(json.dumps(content))
    study = import_hp_study(store, "Shops", path, created_by="local").study
    (tmp_path / "again.json").write_bytes(export(store, study).content)
    assert read_questions(tmp_path / "again.json") == read_questions(path)


def broken(change):
    content = json.loads(json.dumps(RELEASED))
    change(content)
    return content


@pytest.mark.parametrize(("change", "told"), [
    (lambda c: c.update(USER_2=c["user_10"]), "USER_2: it differs from the name 'user_2' only in case"),
    (lambda c: c.update({" ": c.pop("user_10")}), "a person: the name is empty"),
    (lambda c: c["user_10"]["question_set_1"]["sentences"].__setitem__(0, "a\0b"), "cannot be stored"),
    (lambda c: c["user_10"]["question_set_1"]["preferred set"].__setitem__(1, "3"), "its preferred set is '3'"),
    (lambda c: c.clear(), "there is no question in it"),
    (lambda c: c.update({"user_2/x": {"0": c["user_10"]["question_set_1"]},
                         "user_2": {"x/0": c["user_10"]["question_set_1"]}}), "another question has the same name"),
])
def test_faults_are_named_and_nothing_is_made(store, tmp_path, change, told):
    path = tmp_path / "hpfiq.json"
    path.write_text(json.dumps(broken(change)))
    with pytest.raises(DatasetError) as problem:
        import_hp_study(store, "Shops", path, created_by="local")
    assert told in str(problem.value) and "nothing was created or changed" in str(problem.value)
    with pytest.raises(UnknownStudy):
        store.study("Shops")


def test_a_name_that_is_taken_is_refused_before_the_file_is_read(store, released, tmp_path):
    import_hp_study(store, "Shops", released, created_by="local")
    with pytest.raises(StudyError, match="The study name 'Shops' is already taken"):
        import_hp_study(store, " SHOPS ", tmp_path / "absent.json", created_by="local")
    with pytest.raises(DatasetError):
        import_hp_study(store, "Others", tmp_path / "absent.json", created_by="local")


def test_any_preference_study_is_written_in_the_form(store, tmp_path):
    # Ada has a form of two questions and one of one, shown in another order than they are stored; Ben left one open.
    items = [an_item(0), an_item(1, text="is  red,   not blue", category=None), an_item(2), an_item(3)]
    places = [PlannedAssignment("i2", 1, 0, {"first": 2, "form": 1, "reason": False}),
              PlannedAssignment("i0", 1, 1, {"first": 1, "form": 1, "reason": True}),
              PlannedAssignment("i1", 1, 2, {"first": 2, "form": 2, "reason": False}),
              PlannedAssignment("i3", 2, 0, {"first": 1, "form": 1, "reason": False}),
              PlannedAssignment("i0", 2, 1, {"first": 2, "form": 1, "reason": False})]
    judgements = [a_judgement(0, "Ada", an_answer(4, 2, 1, reason="x")), a_judgement(1, "Ada", an_answer(1, 5, 2)),
                  a_judgement(2, "Ada", an_answer(3, 3, 2, first=2)),
                  a_judgement(0, "Ben", an_answer(2, 2, 1, first=2))]
    study = a_study()
    keep(store, study, items, places, seats_of("Ada", "Ben"), judgements)
    path = tmp_path / "out.json"
    path.write_bytes(export(store, study).content)
    told = [(one.question_id, one.reference_id, one.category, one.text, one.sets[0].score, one.sets[1].score,
             one.preferred) for one in read_questions(path)]
    assert told == [
        ("Ada/question_set_1/0", "2-ref", "shirt", "is red", 3, 3, 2),
        ("Ada/question_set_1/1", "0-ref", "shirt", "is red", 4, 2, 1),
        ("Ada/question_set_2/0", "1-ref", "fashioniq", "is red, not blue", 1, 5, 2),
        ("Ben/question_set_1/0", "0-ref", "shirt", "is red", 2, 2, 1),
    ]


def test_what_the_form_cannot_hold_is_counted():
    items = [an_item(0), an_item(1, size=3), an_item(2, target_id="", target_ids=[]), an_item(3)]
    places = [an_assignment(n, 1, "Ada") for n in range(4)]
    judgements = [a_judgement(0, "Ada", an_answer(3, 3, 0)),
                  *(a_judgement(n, "Ada", an_answer()) for n in (1, 2, 3))]
    found = hp_form(items, places, judgements)
    assert found.questions == 1
    assert found.notes == ("Answers left out because the format has no ties: 1.",
                           "Answers left out because the format has sets of 5 images only: 1.",
                           "Answers left out because the format needs a target: 1.")
    # The questions that are left are numbered anew.
    assert json.loads(found.content)["Ada"]["question_set_1"]["preferred set"] == ["1"]
    with pytest.raises(StudyError, match="No answer fits HP-FashionIQ's format"):
        hp_form(items, places, judgements[:3])


def test_ids_and_texts_that_the_form_cannot_hold_are_refused():
    place, judgement = [an_assignment(0, 1, "Ada")], [a_judgement(0, "Ada", an_answer())]
    with pytest.raises(DatasetError, match=r"Ada/question_set_1/0: .*cannot contain the image id 'a/b'"):
        hp_form([an_item(reference_id="a/b")], place, judgement)
    with pytest.raises(DatasetError, match="cannot be written"):
        hp_form([an_item(text="no dotmark here")], place, judgement)


def test_an_answer_that_was_given_anew_is_the_one_that_is_written(store, released):
    study = import_hp_study(store, "Shops", released, created_by="local").study
    judgements = [replace(one, answer=an_answer(1, 2, 2, first=None)) if one.annotator == "user_10" else one
                  for one in store.judgements(study.study_id)]
    content = json.loads(hp_form(store.items(study.study_id), store.assignments(study.study_id), judgements).content)
    assert content["user_10"]["question_set_1"]["preferred set"] == ["2", "2"]
    assert content["user_2"] == RELEASED["user_2"]
