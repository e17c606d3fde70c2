"""Target studies: what is stored, what annotators can see of it, answers to it, and corrected targets."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace

import pytest

from annotation.kinds.marks.answers import Targets, complete_answer, draft_answer, load_marking, newest_marking
from annotation.kinds.marks.create import create_target_study
from annotation.kinds.marks.exports import target_files
from annotation.kinds.marks.results import marked_images, target_rows
from annotation.kinds.table import KINDS, Export
from annotation.records import StudyPlan
from annotation.sources.targets import read_target_queries, sample_targets
from annotation.studies.image_snapshots import studies_folder
from annotation.studies.input_limits import NOTE_LIMIT
from annotation.studies.service import StudyService
from cir_core.construct.targets.files import selection_of
from cir_core.datasets.readers.soft import read_multi_target
from cir_core.errors import DatasetError, IncompleteJudgement, StudyError
from cir_core.jobs.job import RunRecord, write_run
from tests.fakes.databases import study_store as study_store
from tests.fakes.target_studies import COLOURS, answers_query, candidates_of, make_target_study, stage_one
from web.studies import annotate_json


@pytest.fixture
def service(store):
    return StudyService(store, {"targets": Targets()})


def created(store, home, gallery, queries, plan=StudyPlan(2, 1, 4, 3), name="One", **options):
    return create_target_study(store, home, name, queries, gallery, plan, threshold=0.85, created_by="local",
                               source={"files": {}}, **options)


def test_a_study_is_stored_whole(store, tmp_path, gallery):
    found, told = read_target_queries(stage_one(tmp_path / "made", gallery)), []
    assert found.threshold == 0.85 and list(found.source["files"]) == ["dress", "shirt"]
    made = created(store, tmp_path, gallery, found.queries, progress=lambda done, total: told.append((done, total)))
    study = store.study("one")
    assert study == made.study and (study.kind, study.protocol, study.accepting) == ("targets", "soft-targets/1", True)
    assert study.source == {"files": {}, "gallery": "colours", "threshold": 0.85} and made.notes == ()
    items, images = store.items(study.study_id), store.images(study.study_id)
    assert [item.key for item in items] == [f"{label}::q{place}" for label, places in (
        ("dress", range(6)), ("shirt", range(6, 12))) for place in places]
    # Six candidates with a confidence; the own target of each third query was not found, and is shown all the same.
    shown = [6 + (number % 3 == 0) for number in range(12)]
    assert [len(item.shown["candidates"]) for item in items] == shown
    assert made.counts == {"items": 12, "pictures": made.counts["pictures"], "dropped": 0, "places": 8 + 2 * 4,
                           "candidates": sum(shown)} and told[-1] == (made.counts["pictures"],) * 2
    for number, item in enumerate(items):
        query = candidates_of(gallery, number)
        hidden = item.hidden
        assert (hidden["reference"], hidden["original_target"], hidden["captions"]) == (
            query.reference, query.original_target, list(query.captions))
        assert item.shown.keys() == {"text", "reference", "candidates"} and item.shown["text"] == query.text
        by_image = {one.image: one for one in query.candidates}
        assert {each["image"] for each in hidden["candidates"]} == {
            one.image for one in query.candidates if one.confidence is not None} | {query.original_target}
        for token, each in zip(item.shown["candidates"], hidden["candidates"], strict=True):
            assert images[token].image_id == each["image"]
            one = by_image.get(each["image"])
            assert each["confidence"] == (one.confidence if one else None)
            assert [place["group"] for place in each["found"]] == [place.group for place in one.found] if one else True
    tokens = [token for item in items for token in (item.shown["reference"], *item.shown["candidates"])]
    assert len(tokens) == len(set(tokens)) == len(images), "no two items share the name of an image"
    folder = studies_folder(tmp_path) / study.study_id
    assert {path.name for path in folder.iterdir()} == {f"{token}-{size}.webp" for token in images for size in "sl"}
    assert Counter(item.stratum for item in items if item.in_block) == {"dress": 2, "shirt": 2}


def test_the_order_of_candidates_tells_nothing(store, tmp_path, gallery):
    study = make_target_study(store, tmp_path, gallery, count=30)
    items = store.items(study.study_id)
    own = Counter([each["image"] for each in item.hidden["candidates"]].index(item.hidden["original_target"])
                  for item in items)
    assert len(own) >= 5, "the own target stands anywhere"
    best = [[each["confidence"] or 0 for each in item.hidden["candidates"]] for item in items]
    descending = sum(one == sorted(one, reverse=True) for one in best)
    assert descending <= 3
    found = [[(each["found"] or [{"rank": 99}])[0]["rank"] for each in item.hidden["candidates"]] for item in items]
    assert sum(one == sorted(one) for one in found) <= 3
    again = {item.key: item for item in store.items(make_target_study(store, tmp_path, gallery, count=30,
                                                                      name="Again").study_id)}
    same = sum([each["image"] for each in item.hidden["candidates"]]
               == [each["image"] for each in again[item.key].hidden["candidates"]] for item in items)
    assert same <= 3, "the seed does not tell the order"


def test_nothing_of_the_origin_is_shown(store, service, tmp_path, gallery):
    study = make_target_study(store, tmp_path, gallery, seats=1)
    service.join(study.name, "Ada")
    by_id = {item.item_id: item for item in store.items(study.study_id)}
    for place in service.overview(study.name, "Ada"):
        sent = annotate_json.workspace(service.workspace(study.name, "Ada", item_id=place.item_id))
        hidden = by_id[place.item_id].hidden
        assert sent["item"].keys() == {"id", "position", "text", "reference", "candidates"}
        assert all(one.keys() == {"token", "small", "large", "width", "height"} for one in sent["item"]["candidates"])
        text = json.dumps({**sent, "item": {**sent["item"], "text": ""}})
        secrets = (hidden["dataset"], f'"{hidden["query_id"]}"', "colours", hidden["original_target"],
                   hidden["reference"], "confidence", "caption_query", "tg_img", "0.85",
                   *(each["image"] for each in hidden["candidates"]))
        assert [secret for secret in secrets if secret in text] == []
    page = service.page(study.name)
    assert page["marks"] == ["yes", "no", "unsure"] and all(one["text"] for one in page["guide"])


def test_samples_and_folders(store, tmp_path, gallery):
    folder = stage_one(tmp_path / "made", gallery, threshold=0.7)
    found = read_target_queries(folder)
    assert found.threshold == 0.7
    some = sample_targets(found, 4, 1)
    assert Counter(one.label for one in some) == {"dress": 2, "shirt": 2}
    more = {one.key for one in sample_targets(found, 6, 1)}
    assert {one.key for one in some} <= more and sample_targets(found, None, 1) == found.queries
    assert some != sample_targets(found, 4, 2)
    assert {one.label for one in read_target_queries(folder, ["shirt"]).queries} == {"shirt"}
    with pytest.raises(StudyError, match=r"no file of 'hat'\. It has dress, shirt"):
        read_target_queries(folder, ["hat"])
    with pytest.raises(StudyError, match="Choose 1 to 12"):
        sample_targets(found, 13, 1)
    with pytest.raises(StudyError, match=r"contains no provenance/LABEL\.jsonl"):
        read_target_queries(tmp_path)
    stage_one(folder, gallery, labels=("hat",), threshold=0.9)
    with pytest.raises(StudyError, match=r"different thresholds: 0\.7, 0\.9"):
        read_target_queries(folder)


def test_thresholds_of_files_without_targets(tmp_path, gallery):
    folder = stage_one(tmp_path / "made", gallery, threshold=1.0, labels=("dress",))
    assert read_multi_target(selection_of(folder, "dress")) == ()
    found = read_target_queries(folder)     # of an earlier version: nothing says the threshold
    assert found.threshold == 0.85 and "do not record the confidence" in found.notes[0]
    write_run(folder, RunRecord(total=6, complete=True, thresholds={"dress": 1.0, "hat": 0.5}))
    found = read_target_queries(folder)
    assert (found.threshold, found.notes) == (1.0, ())
    stage_one(folder, gallery, labels=("shirt",), threshold=0.7)
    with pytest.raises(StudyError, match=r"different thresholds: 0\.7, 1"):
        read_target_queries(folder)
    found = read_target_queries(folder, ["shirt"])
    assert (found.threshold, found.notes) == (0.7, ())


def test_a_broken_line_is_named(tmp_path, gallery):
    folder = stage_one(tmp_path / "made", gallery, labels=("dress",))
    path = folder / "provenance/dress.jsonl"
    path.write_text(re.sub('"confidence":[0-9.]+}', '"confidence":7.5}', path.read_text(), count=1))
    with pytest.raises(DatasetError, match=r"dress\.jsonl, line 1: it is not a query.*less than or equal to 1"):
        read_target_queries(folder)


def test_images_that_the_model_was_not_asked_about_are_never_its_targets(service, store, tmp_path, gallery):
    study = make_target_study(store, tmp_path, gallery, seats=1)
    items, judgements = answered(service, store, study, ("Ada",))
    asked = sum(each["confidence"] is not None for item in items for each in item.hidden["candidates"])
    shown = sum(len(item.shown["candidates"]) for item in items)
    row = target_rows(replace(study, source={**study.source, "threshold": 0.0}), items, judgements)[-1]
    assert row.by_model == asked < shown == row.yes + row.no


def test_queries_without_an_image_are_left_out_and_counted(store, tmp_path, gallery):
    first, second, *others = read_target_queries(stage_one(tmp_path / "made", gallery)).queries
    lost = [replace(first, found=replace(first.found, reference="gone")),
            replace(second, found=replace(second.found, original_target="gone"))]
    made = created(store, tmp_path, gallery, [*lost, *others])
    assert made.counts["items"] == 10 and made.counts["dropped"] == 2
    assert made.notes == ("2 queries are left out, because an image is missing in the gallery colours or cannot be "
                          "read (dress: 2).",)
    with pytest.raises(StudyError, match=r"No query is left to mark\..*Check the images \(--images, --gallery\)"):
        created(store, tmp_path, gallery, lost, StudyPlan(1, 1, 0, 0), "Two")
    for queries, plan, says in (((), StudyPlan(1, 1, 0, 0), "no query to mark"),
                                (others, StudyPlan(1, 1, 11, 0), "Choose between 0 and 10")):
        with pytest.raises(StudyError, match=says):
            created(store, tmp_path, gallery, queries, plan, "Two")
    with pytest.raises(StudyError, match="already taken"):
        created(store, tmp_path, gallery, others, name="ONE")
    assert [study.name for study in store.studies()] == ["One"]
    assert len(list(studies_folder(tmp_path).iterdir())) == 1, "no image of it is left"


def answered(service, store, study, people=("Ada", "Ben", "Cleo"), wrong=()):
    """Everybody says what the colours say, except ``wrong``: (person, item number, place): mark."""
    by_id = {item.item_id: item for item in store.items(study.study_id)}
    for who in people:
        service.join(study.name, who)
        for one in service.overview(study.name, who):
            item = by_id[one.item_id]
            said = {token: "yes" if answers_query(each["image"], COLOURS[item.number % 3]) else "no"
                    for token, each in zip(item.shown["candidates"], item.hidden["candidates"], strict=True)}
            said |= {item.shown["candidates"][place]: mark for (whom, number, place), mark in dict(wrong).items()
                     if (whom, number) == (who, item.number)}
            service.save(study.name, who, one.item_id, {"marks": said, "note": ""}, f"{who}-token-{item.number}")
    return store.items(study.study_id), store.judgements(study.study_id)


def test_corrected_targets_are_those_of_the_majority(service, store, tmp_path, gallery):
    study = make_target_study(store, tmp_path, gallery, seats=3, overlap=3)
    with pytest.raises(StudyError, match=r"no corrected targets to write\. 12 queries are left out, because nobody"):
        target_files(store, study, "soft")
    # Of item 0, place 0: one of three says the opposite; place 1: a tie of two, the third is unsure.
    plain = {item.number: [answers_query(each["image"], COLOURS[item.number % 3]) for each in item.hidden["candidates"]]
             for item in store.items(study.study_id)}
    first, tie = plain[0][0], plain[0][1]
    items, judgements = answered(service, store, study, wrong={
        ("Ben", 0, 0): "no" if first else "yes", ("Ben", 0, 1): "no" if tie else "yes", ("Cleo", 0, 1): "unsure"})
    marked = marked_images(items, judgements)[:2]
    assert [one.verdict for one in marked] == [first, None]
    assert marked[0].marks == {"yes": 2 if first else 1, "no": 1 if first else 2, "unsure": 0}
    assert marked[1].marks == {"yes": 1, "no": 1, "unsure": 1} and marked[1].share == 0.5
    files, notes = target_files(store, study, "soft")
    assert set(files) == {"dress_multi_target_selection.json", "shirt_multi_target_selection.json"}
    for name, content in files.items():
        path = tmp_path / name
        path.write_bytes(content)
        records = {(one.reference_id, one.captions): one for one in read_multi_target(path)}
        for item in items:
            if not name.startswith(item.hidden["dataset"]):
                continue
            wanted = {each["image"] for place, each in enumerate(item.hidden["candidates"])
                      if plain[item.number][place] and (item.number, place) != (0, 1)}
            record = records.get((item.hidden["reference"], tuple(item.hidden["captions"])))
            assert set(record.target_ids if record else ()) == wanted
            assert record is None or record.original_target_id == item.hidden["original_target"]
    empty = sum(not any(yes for place, yes in enumerate(all_of) if (number, place) != (0, 1))
                for number, all_of in plain.items())
    assert notes == (*((f"{empty} quer{'y is' if empty == 1 else 'ies are'} left out, because no image has a majority "
                        "of yes.",) if empty else ()),
                     "1 image is no target, because as many people say yes as no.")
    # Counted again, plainly.
    rows = target_rows(study, items, judgements)
    assert [row.dataset for row in rows] == ["dress", "shirt", None]
    decided = {(item.number, place): yes for item in items for place, yes in enumerate(plain[item.number])
               if (item.number, place) != (0, 1)}
    model = {(item.number, place) for item in items for place, each in enumerate(item.hidden["candidates"])
             if (each["confidence"] or 0) >= 0.85 and (item.number, place) in decided}
    whole = rows[-1]
    assert (whole.queries, whole.marked, whole.answers) == (12, 12, 36)
    assert (whole.yes, whole.no, whole.undecided) == (sum(decided.values()), len(decided) - sum(decided.values()), 1)
    assert (whole.by_model, whole.confirmed) == (len(model), sum(decided[one] for one in model))
    assert whole.missed == whole.yes - whole.confirmed and whole.without == empty


def test_tables_and_results(service, store, tmp_path, gallery):
    study = make_target_study(store, tmp_path, gallery, seats=2, overlap=2)
    items, _ = answered(service, store, study, ("Ada", "Ben"))
    images = sum(len(item.shown["candidates"]) for item in items)
    files, notes = target_files(store, study, "csv")
    assert set(files) == {"judgements.csv", "images.csv"} and notes == ()
    lines = files["judgements.csv"].decode("utf-8-sig").splitlines()
    assert len(lines) == 1 + 2 * images
    assert lines[0].split(",") == [
        "study", "item", "dataset", "query_id", "text", "reference_id", "in_block", "place", "image_id", "confidence",
        "original", "groups", "annotator", "revision", "protocol", "mark", "note", "seconds", "answered_at"]
    assert len(files["images.csv"].decode("utf-8-sig").splitlines()) == 1 + images
    assert target_files(store, study, "parquet", tables=("images",))[0].keys() == {"images.parquet"}
    results = json.loads(target_files(store, study, "results")[0]["results.json"])
    assert results["queries"].keys() == {item.key for item in items} and results["kind"] == "targets"
    one = results["queries"]["dress::q0"]["images"][0]
    assert one.keys() == {"image", "confidence", "target", "marks", "decided", "found"}
    assert sum(one["marks"].values()) == 2 and one["decided"] is None
    with pytest.raises(StudyError, match="exported as csv, parquet, results, soft"):
        KINDS["targets"].export(store, study, Export("circus"))


# --- answers: what is complete, what a draft keeps, what is refused --------------------------

TOKENS = ("aa", "bb", "cc")
ASKED = newest_marking()
MARKS = {"cc": "unsure", "aa": "yes", "bb": "no"}


def test_a_complete_answer_is_in_the_order_of_the_images():
    kept = complete_answer({"note": "so \n", "marks": MARKS}, TOKENS, ASKED)
    assert kept == {"marks": {"aa": "yes", "bb": "no", "cc": "unsure"}, "note": "so"}
    assert list(kept["marks"]) == list(TOKENS)
    assert complete_answer({"marks": MARKS}, TOKENS, ASKED)["note"] == ""


@pytest.mark.parametrize(("answer", "says"), [
    (None, "is an object with marks, note"),
    ({"marks": MARKS, "mark": 1}, "no field “mark”"),
    ({"note": ""}, "“marks” is an object"),
    ({"marks": {**MARKS, "dd": "no"}}, "“dd” is not an image of this query"),
    ({"marks": {"aa": "yes", "bb": None}}, "2 images have no mark yet"),
    ({"marks": {"aa": "yes", "bb": "no"}}, "1 image has no mark yet"),
    ({"marks": {**MARKS, "aa": "maybe"}}, "A mark is one of yes, no, unsure"),
    ({"marks": {**MARKS, "aa": ["yes"]}}, "A mark is one of"),
    ({"marks": MARKS, "note": 3}, "“note” must be a text"),
    ({"marks": MARKS, "note": "x" * (NOTE_LIMIT + 1)}, "20,001 characters"),
    ({"marks": MARKS, "note": "a\0b"}, "NUL"),
])
def test_what_is_incomplete_is_refused(answer, says):
    with pytest.raises(IncompleteJudgement, match=says):
        complete_answer(answer, TOKENS, ASKED)


def test_a_draft_keeps_what_can_be_stored():
    assert draft_answer({"marks": {"bb": "no", "aa": "perhaps", "dd": "yes"}, "note": "so f"}, TOKENS, ASKED) == {
        "marks": {"aa": None, "bb": "no", "cc": None}, "note": "so f"}
    for nothing in (None, [], {"marks": 3, "note": 3}):
        assert draft_answer(nothing, TOKENS, ASKED) == {"marks": dict.fromkeys(TOKENS), "note": ""}
    with pytest.raises(IncompleteJudgement, match="NUL"):
        draft_answer({"note": "\0"}, TOKENS, ASKED)


def test_marks_of_another_version_are_unknown():
    with pytest.raises(StudyError, match="only 'soft-targets/1'"):
        load_marking("soft-targets/2")
