"""A target study with marks of its own: what is shown, stored, reported, exported, put to a model and refused."""

from __future__ import annotations

import json

import pytest
from PIL import Image

from annotation.analysis.records import Options
from annotation.kinds.marks.answers import Targets, marking_of, parse_marking
from annotation.kinds.marks.exports import target_files
from annotation.kinds.marks.report.report import target_report
from annotation.kinds.marks.report.sections import target_sections
from annotation.kinds.reports import load_answers
from annotation.kinds.table import KINDS, Export, own_questions, results_of
from annotation.studies.copying import duplicate_study
from annotation.studies.guidelines import tokens_of
from annotation.studies.protocols import OwnFile
from annotation.studies.service import StudyService
from cir_core.errors import IncompleteJudgement, StudyError
from tests.fakes.databases import study_store as study_store
from tests.fakes.target_studies import OWN_MARKS, all_marked, make_target_study

FILE = OwnFile("mine.toml", OWN_MARKS)


@pytest.fixture
def study(store, tmp_path, gallery):
    return make_target_study(store, tmp_path, gallery, count=2, questions=FILE)


def test_the_file_is_stored_with_the_study_and_stands_beside_its_tables(store, tmp_path, study):
    assert (study.protocol, store.study("Which fit").settings["questions"]) == ("my-lab/1", OWN_MARKS)
    copy = duplicate_study(store, tmp_path, study, "Copy")
    assert marking_of(copy).codes == ("no", "yes")
    page = Targets().page(study)
    assert (page["title"], page["question"]) == ("Your shelf", "Would you put it on the shelf?")
    assert [(one["mark"], one["name"], one["key"]) for one in page["choices"]] == [
        ("no", "leave it", "l"), ("yes", "take it", "k")]
    assert json.loads(target_files(store, copy, "results")[0]["results.json"])["questions"] == OWN_MARKS
    for form, tables, there in (("csv", None, True), ("parquet", None, True), ("csv", ("images",), False)):
        files, _ = KINDS["targets"].export(store, study, Export(form, tables))
        assert files.get("questions.toml", b"").decode() == (OWN_MARKS if there else ""), (form, tables)


def test_pictures_of_an_appendix_are_those_beside_the_file(store, tmp_path, gallery):
    (tmp_path / "mine.toml").write_text(OWN_MARKS.replace("title", 'appendix = "![A](a.png)"\ntitle', 1))
    own = own_questions("targets", tmp_path / "mine.toml")
    with pytest.raises(StudyError, match=r"a\.png is unavailable"):
        make_target_study(store, tmp_path, gallery, count=1, questions=own)
    assert not store.studies() and not list((tmp_path / "studies").glob("*/*"))
    Image.new("RGB", (9, 9), "teal").save(tmp_path / "a.png")
    study = make_target_study(store, tmp_path, gallery, count=1, questions=own)
    [token] = tokens_of(study)
    assert (tmp_path / "studies" / study.study_id / f"{token}-l.webp").is_file()


def test_a_study_without_a_file_has_the_marks_that_it_always_had(store, tmp_path, gallery):
    study = make_target_study(store, tmp_path, gallery, count=1)
    assert study.settings == {} and "questions.toml" not in KINDS["targets"].export(store, study, Export("csv"))[0]
    assert [one["mark"] for one in Targets().page(study)["choices"]] == ["yes", "no", "unsure"]
    asked = KINDS["targets"].asking.asked(store.items(study.study_id)[0], study, {})
    assert {(one.about, one.options) for one in asked.form.fields} == {("Is it a target?", ("yes", "no", "unsure"))}


def test_marks_that_the_file_does_not_offer_are_refused(store, study):
    item = store.items(study.study_id)[0]
    tokens = item.shown["candidates"]
    with pytest.raises(IncompleteJudgement, match="Mark each with leave it or take it, then save"):
        Targets().normalize({"marks": {}}, item, study)
    with pytest.raises(IncompleteJudgement, match=r"A mark is one of no, yes\."):
        Targets().normalize(all_marked(tokens, "unsure"), item, study)
    assert set(Targets().draft(all_marked(tokens, "unsure"), item, study)["marks"].values()) == {None}
    answer = Targets().normalize(all_marked(tokens, "yes"), item, study).answer
    assert Targets().told(answer, item, study) == f"take it: {', '.join(map(str, range(1, len(tokens) + 1)))}"


def test_reports_and_results_have_the_words_of_the_file(store, study):
    service = StudyService(store, {"targets": Targets()})
    service.join(study.name, "Ann")
    for place in service.overview(study.name, "Ann"):
        tokens = next(one for one in store.items(study.study_id) if one.item_id == place.item_id).shown["candidates"]
        service.save(study.name, "Ann", place.item_id, all_marked(tokens), f"token-{place.item_id}")
    report = target_report(load_answers(store, study), options=Options(draws=0))
    words = repr(target_sections(report))
    assert "Would you put it on the shelf?" in words and "“Take it” is yes" in words
    assert "'Take it'" in words and "Images marked “Take it”" in words and "Marked" not in words
    assert results_of(store, study).tables[0][0][3:5] == ("take it", "leave it")


def test_a_language_model_is_asked_the_same(store, study):
    item, asking = store.items(study.study_id)[0], KINDS["targets"].asking
    field = asking.asked(item, study, {}).form.fields[0]
    assert field.options == ("no", "yes")
    assert field.about == ('Would you put it on the shelf? "no": leave it; '
                           '"yes": take it (Also if you would rather have another.).')


@pytest.mark.parametrize(("old", "new", "said"), [
    ('protocol = "my-lab/1"', 'protocol = "mine"', r"line 1, protocol: write a name .* and a version, such as my-lab"),
    ('key = "k"', 'key = "z"', r"line 14, marks\.1\.key: z is a key of the screen"),
    ('key = "k"', 'key = "l"', r"line 14, marks\.1\.key: l occurs twice"),
    ('name = "take it"', 'name = "leave it"', r"line 13, marks\.1\.name: leave it occurs twice"),
    ('mark = "yes"', 'mark = "unsure"', r"line 12, marks\.1\.mark: no mark counts as yes"),
    ('mark = "yes"', 'mark = "maybe"', r"line 12, marks\.1\.mark: Input should be 'yes', 'no' or 'unsure'"),
    ('intro = "Somebody asks for a picture."\n', "", r"intro: this field is missing\. Add it"),
])
def test_a_fault_is_named_with_its_line(old, new, said):
    assert old in OWN_MARKS
    with pytest.raises(StudyError, match=rf"^mine\.toml, {said}"):
        parse_marking(OWN_MARKS.replace(old, new, 1), "mine.toml")


def test_a_name_never_means_two_files(store, tmp_path, gallery, study):
    other = OwnFile("mine.toml", OWN_MARKS.replace("take it", "have it"))
    with pytest.raises(StudyError, match=r"uses a different my-lab/1\. Raise .* my-lab/2"):
        make_target_study(store, tmp_path, gallery, name="Two", questions=other)
    assert [one.name for one in store.studies()] == ["Which fit"]
