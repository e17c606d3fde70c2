"""Session studies: what is stored, what annotators can see of it, what is left out, and answers to it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from annotation.kinds.ratings import answers
from annotation.kinds.ratings.answers import Sessions, load_questions
from annotation.kinds.ratings.create import create_session_study
from annotation.kinds.ratings.exports import session_files
from annotation.kinds.ratings.results import rating_rows
from annotation.kinds.table import KINDS, Export
from annotation.records import StudyPlan
from annotation.studies.image_snapshots import studies_folder
from annotation.studies.service import StudyService
from cir_core.construct.describe.sets import SubsetSessions
from cir_core.construct.judging.sample import Source, content_digest, draw_sample
from cir_core.construct.judging.scores import DIMENSIONS
from cir_core.errors import IncompleteJudgement, StudyError
from cir_core.language.prompts import load
from cir_core.language.tasks import JudgeAnswer
from tests.fakes.databases import study_store as study_store
from tests.fakes.session_studies import make_session_study, session_rated, two_sources
from web.studies import annotate_json


@pytest.fixture
def service(store):
    return StudyService(store, {"sessions": Sessions()})


def created(store, home, gallery, sampled, plan=StudyPlan(2, 1, 3, 3), name="One", **options):
    return create_session_study(store, home, name, sampled, {"": gallery}, plan, created_by="local",
                                source={"sample": 6, "seed": 3}, **options)


def test_a_study_is_stored_whole(store, tmp_path, gallery):
    sampled, told = draw_sample(two_sources(gallery), 6, 3), []
    made = created(store, tmp_path, gallery, sampled, progress=lambda done, total: told.append((done, total)))
    study = store.study("one")
    assert study == made.study and (study.kind, study.protocol, study.accepting) == ("sessions", "circled/1", True)
    assert study.source == {"sample": 6, "seed": 3} and made.notes == ()
    items, images = store.items(study.study_id), store.images(study.study_id)
    assert [item.key for item in items] == [
        f"{one.source}::{one.session.subset}::{one.session.session_id}" for one in sampled]
    pictures = {image_id for one in sampled
                for image_id in (one.session.target_ids[0], *(turn.reference_id for turn in one.session.turns))}
    assert made.counts == {"items": 18, "pictures": len(pictures), "dropped": 0, "places": 15 + 2 * 3}
    assert told[-1] == (len(pictures), len(pictures))
    for item, one in zip(items, sampled, strict=True):
        session = one.session
        references = [turn.reference_id for turn in session.turns]
        assert item.hidden == {
            "source": one.source, "subset": session.subset, "session": session.session_id, "turns": len(session.turns),
            "content": content_digest(session), "target": list(session.target_ids),
            "target_id": session.target_ids[0], "references": references, "gallery": "colours"}
        assert item.stratum == f"{one.source}::{session.subset}::{len(session.turns)}"
        # In the order of the session, and by its own images.
        assert item.shown.keys() == {"turns", "target"}
        assert [turn["text"] for turn in item.shown["turns"]] == [turn.text for turn in session.turns]
        assert [images[turn["image"]].image_id for turn in item.shown["turns"]] == references
        assert images[item.shown["target"]].image_id == session.target_ids[0]
    tokens = [{turn["image"] for turn in item.shown["turns"]} | {item.shown["target"]} for item in items]
    assert sum(map(len, tokens)) == len(set.union(*tokens)) == len(images), "no two items share the name of an image"
    folder = studies_folder(tmp_path) / study.study_id
    assert {path.name for path in folder.iterdir()} == {f"{token}-{size}.webp" for token in images for size in "sl"}
    # One of each subset for everybody; the strata of the others are spread over both seats.
    assert Counter(item.stratum.rpartition("::")[0] for item in items if item.in_block) == {
        "ours::cirr_val": 1, "ours::fashioniq_dress_val": 1, "plain::circo_val": 1}
    loads = Counter(one.seat for one in store.assignments(study.study_id))
    assert sorted(loads.values()) == [10, 11]


def test_nothing_of_the_origin_is_shown(store, tmp_path, gallery):
    study = make_session_study(store, tmp_path, gallery)
    service = StudyService(store, {"sessions": Sessions()})
    workspace, page = service.join("Dialogues", "Ada"), service.page("Dialogues")
    assert [one["key"] for one in page["questions"]] == list(session_rated()["ratings"])
    assert page["points"] == [1, 2, 3, 4, 5] and all(one["text"] for one in page["questions"])
    for place in service.overview("Dialogues", "Ada"):
        workspace = service.workspace("Dialogues", "Ada", item_id=place.item_id)
        hidden = next(item.hidden for item in store.items(study.study_id) if item.item_id == place.item_id)
        sent = annotate_json.workspace(workspace)
        assert [turn["text"] for turn in sent["item"]["turns"]] == [
            turn["text"] for turn in workspace.item.shown["turns"]]
        assert sent["item"].keys() == {"id", "position", "turns", "target"}
        text = json.dumps({**sent, "item": {**sent["item"], "turns": [turn["image"] for turn in
                                                                      sent["item"]["turns"]]}})
        secrets = (hidden["source"], hidden["subset"], hidden["session"], "colours", *hidden["target"],
                   *hidden["references"])
        assert [secret for secret in secrets if f'"{secret}' in text or f"{secret}-" in text] == []
        assert all(f"{token}-l.webp" in text for token in [turn["image"]["token"] for turn in sent["item"]["turns"]])


def test_sessions_without_an_image_or_a_target_are_left_out_and_counted(store, tmp_path, gallery):
    sources = two_sources(gallery, 4)
    ours, other = sources[0].subsets
    lost = replace(ours.sessions[0], turns=(replace(ours.sessions[0].turns[0], reference_id="gone"),
                                            *ours.sessions[0].turns[1:]))
    aimless = replace(other.sessions[1], target_ids=())
    changed = Source("ours", (SubsetSessions(ours.name, (lost, *ours.sessions[1:])),
                              SubsetSessions(other.name, (other.sessions[0], aimless, *other.sessions[2:]))))
    made = created(store, tmp_path, gallery, draw_sample([changed, sources[1]], 4, 3))
    assert made.counts["items"] == 10 and made.counts["dropped"] == 2
    assert made.notes == (
        "1 session is left out, because no target is named, so progress cannot be rated (ours: 1).",
        "1 session is left out, because an image is missing or cannot be read (ours: 1).")
    # The second target, which the gallery lacks, is not missed; with nothing left there is no study.
    with pytest.raises(StudyError, match=r"No session is left to rate\. 1 session is left out.*Check the images"):
        created(store, tmp_path, gallery, draw_sample([Source("ours", (SubsetSessions("cirr_val", (lost,)),))], 4, 3),
                StudyPlan(1, 1, 0, 0), "Two")
    assert [study.name for study in store.studies()] == ["One"]
    assert len(list(studies_folder(tmp_path).iterdir())) == 1, "no image of it is left"


def test_what_cannot_be_a_study_is_refused(store, tmp_path, gallery):
    sampled = draw_sample(two_sources(gallery, 2), 2, 3)
    with pytest.raises(StudyError, match="There is no session to rate"):
        created(store, tmp_path, gallery, ())
    with pytest.raises(StudyError, match="Choose between 0 and 6"):
        created(store, tmp_path, gallery, sampled, StudyPlan(1, 1, 7, 0))
    created(store, tmp_path, gallery, sampled)
    with pytest.raises(StudyError, match="already taken"):
        created(store, tmp_path, gallery, sampled, name="ONE")
    with pytest.raises(StudyError, match="only 'circled/1', 'circled-reworded/1'"):
        load_questions("circled/2")


def test_the_order_of_items_does_not_follow_the_sources(store, tmp_path, gallery):
    study = make_session_study(store, tmp_path, gallery, sample=12, seats=1)
    by_id = {item.item_id: item for item in store.items(study.study_id)}
    of_ours = [by_id[one.item_id].hidden["source"] == "ours" for one in store.assignments(study.study_id)]
    runs = 1 + sum(one != other for one, other in zip(of_ours, of_ours[1:], strict=False))
    assert len(of_ours) == 36 and runs > 8


def test_means_by_source_and_exports(service, store, tmp_path, gallery):
    study = make_session_study(store, tmp_path, gallery, seats=2, overlap=2)
    for who, rating in (("Ada", 2), ("Ben", 5)):
        service.join("Dialogues", who)
        for number, one in enumerate(service.overview("Dialogues", who)[:9]):
            service.save("Dialogues", who, one.item_id, session_rated(*(rating,) * 5), f"{who}-token-{number}")
    items, judgements = store.items(study.study_id), store.judgements(study.study_id)
    rows = rating_rows(study, items, judgements)
    assert [(row.source, row.subset) for row in rows] == [
        ("ours", None), ("ours", "cirr_val"), ("ours", "fashioniq_dress_val"), ("plain", None)]
    for row in rows:   # counted again, plainly
        of = {item.item_id: [one.answer["ratings"]["overall"] for one in judgements if one.item_id == item.item_id]
              for item in items if item.hidden["source"] == row.source and row.subset in (None, item.hidden["subset"])}
        rated = [sum(given) / len(given) for given in of.values() if given]
        assert (row.sessions, row.rated, row.ratings) == (len(of), len(rated), sum(map(len, of.values())))
        assert row.means["overall"] == pytest.approx(sum(rated) / len(rated))
    files, _ = session_files(store, study, "csv")
    assert set(files) == {"judgements.csv", "items.csv"}
    lines = files["judgements.csv"].decode("utf-8-sig").splitlines()
    assert len(lines) == 1 + 18 and lines[0].split(",")[:7] == [
        "study", "item", "source", "subset", "session_id", "turns", "in_block"]
    assert session_files(store, study, "parquet", tables=("items",))[0].keys() == {"items.parquet"}
    results = json.loads(session_files(store, study, "results")[0]["results.json"])
    assert results["sessions"].keys() == {item.key for item in items} and results["kind"] == "sessions"
    assert [row["rated"] for row in results["rows"]] == [row.rated for row in rows]
    with pytest.raises(StudyError, match="exported as csv, parquet, results"):
        KINDS["sessions"].export(store, study, Export("circus"))


# --- answers: the same five questions as a language model's ----------------------------------

GOOD = dict(zip(DIMENSIONS, (4, 3, 5, 5, 4), strict=True))
QUESTIONS = load_questions("circled/1").questions


def complete_answer(given):
    return answers.complete_answer(given, load_questions("circled/1"))


def test_people_answer_what_the_language_model_answers():
    assert [one.key for one in QUESTIONS] == list(DIMENSIONS)
    assert set(JudgeAnswer.model_fields) - {"reason", "notes"} == set(DIMENSIONS)
    prompt = load("judge").system
    assert all(f"- {one.key}: {one.title}. {one.text}" in prompt for one in QUESTIONS)
    assert {f"from 1 ({one.low}) to 5 ({one.high})" in prompt for one in QUESTIONS} == {True}


def test_studies_of_earlier_versions_keep_their_wording():
    assert answers.newest_questions() == "circled/1"
    assert load_questions("circled-reworded/1").questions[0].low == "like a machine"


def test_a_whole_answer():
    found = complete_answer({"reason": "Too long \n", "ratings": dict(reversed(GOOD.items()))})
    assert found == {"ratings": GOOD, "reason": "Too long"} and list(found["ratings"]) == list(DIMENSIONS)
    assert complete_answer({"ratings": GOOD})["reason"] == ""
    assert complete_answer(complete_answer({"ratings": GOOD, "reason": "x"})) == {"ratings": GOOD, "reason": "x"}


@pytest.mark.parametrize(("given", "says"), [
    (None, "is an object with ratings, reason"), ({"ratings": [1]}, "“ratings” is an object with naturalness"),
    ({"ratings": GOOD, "verdict": 1}, "no field “verdict”"), ({"ratings": GOOD | {"x" * 99: 1}}, "no field “xxx"),
    ({"ratings": {**GOOD, "progress": None}}, "“Goal-directed progress” has no answer yet"),
    ({"ratings": {"naturalness": 1}}, "“Coherence / consistency” has no answer yet"),
    *(({"ratings": {**GOOD, "redundancy": bad}}, "“Redundancy .higher = better.” must be a whole number")
      for bad in (0, 6, True, 3.0, "3", [3])),
    ({"ratings": GOOD, "reason": 7}, "“reason” must be a text"), ({"ratings": GOOD, "reason": "a\0b"}, "NUL"),
    ({"ratings": GOOD, "reason": "x" * 20_001}, "the limit is 20,000"),
])
def test_what_is_missing_or_wrong_is_said(given, says):
    with pytest.raises(IncompleteJudgement, match=says):
        complete_answer(given)


def draft_answer(given):
    return answers.draft_answer(given, load_questions("circled/1"))


def test_a_draft_keeps_what_is_usable():
    nothing = dict.fromkeys(DIMENSIONS)
    assert draft_answer(None) == draft_answer({"ratings": 3, "reason": 4}) == {"ratings": nothing, "reason": ""}
    assert draft_answer({"ratings": {"progress": 2, "overall": 9, "x": 1}, "reason": "so", "y": 1}) == {
        "ratings": {**nothing, "progress": 2}, "reason": "so"}
    assert draft_answer(complete_answer({"ratings": GOOD})) == {"ratings": GOOD, "reason": ""}


def test_versions_of_the_questions_coexist(tmp_path, monkeypatch):
    first = (answers._FOLDER / "circled-1.toml").read_text("utf-8")
    (tmp_path / "circled-1.toml").write_text(first, "utf-8")
    for version, old, new in ((2, "very bad", "stiff"), (3, '"progress"', '"speed"')):
        (tmp_path / f"circled-{version}.toml").write_text(
            first.replace("circled/1", f"circled/{version}").replace(old, new), "utf-8")
    monkeypatch.setattr(answers, "_FOLDER", tmp_path)
    read = answers.load_questions.__wrapped__
    assert answers.newest_questions() == "circled/3"
    assert [read(f"circled/{version}").questions[0].low for version in (1, 2)] == ["very bad", "stiff"]
    with pytest.raises(StudyError, match="naturalness, coherence, progress"):
        read("circled/3")
