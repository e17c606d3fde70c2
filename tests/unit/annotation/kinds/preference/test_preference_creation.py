"""Making a preference study: what is stored, what a participant's browser can learn of it, what is refused."""

import json
import os
from collections import Counter

import pytest

from annotation.kinds.preference.create import create_preference_study, make_questions
from annotation.kinds.preference.sources import SurveyQuery
from annotation.kinds.preference.survey.flow import SECRET
from annotation.kinds.preference.survey.plan import SurveyLayout
from annotation.kinds.preference.survey.texts import SETTINGS
from annotation.studies.image_snapshots import freezing, studies_folder
from cir_core.errors import StorageError, StudyError
from tests.fakes.databases import study_store as study_store
from tests.unit.annotation.studies.test_study_creation import find
from tests.unit.annotation.studies.test_study_creation import pictures as pictures

METHODS = ("cirevl", "slerp", "text-only")
LAYOUT = SurveyLayout(per_person=4, forms=2, shared_every=5, shared_by=2, reason_every=2, seed=3)


def images(*numbers: int) -> tuple[str, ...]:
    return tuple(f"i{number % 29:02}" for number in numbers)


def a_query(number: int, **changes: object) -> SurveyQuery:
    """cirevl and slerp share four of five images; its reference is i29, which no set holds."""
    fields: dict[str, object] = {
        "key": f"fashioniq-val::shirt:{number}", "dataset": "fashioniq-val", "query_id": f"shirt:{number}",
        "category": "shirt", "text": f"is blue & has {number} dots", "reference_id": "i29",
        "target_ids": images(number + 1), "results": {
            "cirevl": images(*range(number, number + 5)), "slerp": images(*range(number + 1, number + 6)),
            "text-only": images(*range(number + 10, number + 15))},
    }
    return SurveyQuery(**{**fields, **changes})


QUERIES = [a_query(number) for number in range(15)]


def made(store, home, pictures, queries=QUERIES, layout=LAYOUT, name="one", methods=METHODS, **options):
    return create_preference_study(store, home, name, queries, methods, find(pictures), layout, created_by="local",
                                   source={"form": "test"}, **options)


def test_a_study_is_stored_whole(store, tmp_path, pictures):
    told = []
    created = made(store, tmp_path, pictures, settings={"set_names": ("Mall 1 ", "Mall 2"), "lease_hours": 2},
                   progress=lambda done, total: told.append((done, total)))
    study = store.study("ONE")
    assert study == created.study and study.accepting and study.protocol == "hs-fashioniq/1"
    secret = study.settings[SECRET]
    assert len(secret) == 64
    assert study.kind == "preference" and study.settings == {
        **SETTINGS, SECRET: secret, "set_names": ["Mall 1", "Mall 2"], "lease_hours": 2, "per_person": 4,
        "form_size": 2, "shared_every": 5, "shared_by": 2, "reason_every": 2}
    # 15 queries, 3 pairs of methods; 15 / 5 = 3 questions for two people: 18 answers, 4 per person at most: 5 people.
    assert study.source == {"form": "test", "pairs": {
        "cirevl|slerp": 5, "cirevl|text-only": 5, "slerp|text-only": 5}}
    assert (study.plan.seats, study.plan.overlap, study.plan.agreement_items, study.plan.seed) == (5, 1, 0, 3)
    assert study.plan.lease_hours == 2
    assert created.counts == {"items": 15, "pictures": 30, "dropped": 0, "skipped": 0, "places": 18, "people": 5,
                              "shared": 3}
    items, found = store.items(study.study_id), store.images(study.study_id)
    assert [item.key for item in items] == [query.key for query in QUERIES]
    assert not any(item.in_block for item in items)
    for item, query in zip(items, QUERIES, strict=True):
        methods = item.hidden["methods"]
        assert item.hidden == {
            "dataset": "fashioniq-val", "query_id": query.query_id, "category": "shirt", "reference_id": "i29",
            "target_id": query.target_ids[0], "target_ids": list(query.target_ids), "methods": methods,
            "set_ids": [list(query.results[method]) for method in methods], "seed": 3}
        assert item.stratum == "|".join(sorted(methods)) and item.shown["text"] == query.text
        assert found[item.shown["reference"]].image_id == "i29"
        for tokens, ids in zip(item.shown["sets"], item.hidden["set_ids"], strict=True):
            assert sorted(found[token].image_id for token in tokens) == sorted(ids)
    extras = [one.extra for one in store.assignments(study.study_id)]
    assert len(extras) == 18 and all(set(extra) == {"first", "form", "reason"} for extra in extras)
    assert Counter(extra["first"] for extra in extras).keys() == {1, 2}
    files = {path.name for path in (studies_folder(tmp_path) / study.study_id).iterdir()}
    assert files == {f"{token}-{size}.webp" for token in found for size in "sl"}
    assert told[-1] == (30, 30) and not created.notes


def test_no_address_is_used_twice_and_nothing_shown_tells_a_method(store, tmp_path, pictures):
    study = made(store, tmp_path, pictures).study
    items, found = store.items(study.study_id), store.images(study.study_id)
    tokens = [token for item in items
              for token in (item.shown["reference"], *item.shown["sets"][0], *item.shown["sets"][1])]
    # 15 questions with 11 pictures: the same picture in both sets, or in two questions, has another address.
    assert len(tokens) == len(set(tokens)) == len(found) == 15 * 11
    ids = {image.image_id for image in found.values()}
    for item in items:
        assert set(item.shown) == {"text", "reference", "sets"}
        seen = json.dumps({**item.shown, "text": ""}) + item.item_id
        assert not any(word in seen for word in (*METHODS, *ids, "shirt", "fashioniq"))
    # The order of retrieval is a rank: over 30 sets no place keeps the best image more often than chance lets it.
    places = Counter(
        [found[token].image_id for token in shown].index(best[0])
        for item in items for shown, best in zip(item.shown["sets"], item.hidden["set_ids"], strict=True))
    assert len(places) == 5 and max(places.values()) <= 14


def test_repeated_pictures_take_no_room(store, tmp_path, pictures):
    study = made(store, tmp_path, pictures).study
    files = list((studies_folder(tmp_path) / study.study_id).iterdir())
    assert len({path.stat().st_ino for path in files}) == 2 * 30 < len(files)


def test_files_are_copied_where_they_cannot_be_linked(tmp_path, pictures, monkeypatch):
    def refuses(*paths: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(os, "link", refuses)
    with freezing(tmp_path, "study1") as freezer:
        one = freezer.freeze(["i01"], find(pictures), max_megapixels=1).images["i01"]
        again = freezer.under_another_name("i01", "item/0/1")
        other = freezer.under_another_name("i01", "item/1/1")
        freezer.keep_only(())
        freezer.finish()
    assert len({one.token, again.token, other.token}) == 3
    assert (again.image_id, again.width, again.height) == ("i01", 8, 8)
    assert {path.name for path in (studies_folder(tmp_path) / "study1").iterdir()} == {
        f"{token}-{size}.webp" for token in (again.token, other.token) for size in "sl"}


def test_the_same_seed_makes_the_same_study(store, tmp_path, pictures):
    shown: list[list[list[str]]] = []

    def layout(name: str, seed: int):
        study = made(store, tmp_path, pictures, name=name, layout=SurveyLayout(per_person=4, seed=seed)).study
        names = {image.token: image.image_id for image in store.images(study.study_id).values()}
        keys = {item.item_id: item.key for item in store.items(study.study_id)}
        # Not the order within a set: that tells a rank, and must not follow from what others may know.
        shown.append([[names[token] for token in one] for item in store.items(study.study_id)
                      for one in item.shown["sets"]])
        return ([(item.key, item.hidden) for item in store.items(study.study_id)],
                sorted((one.seat, one.position, keys[one.item_id], sorted(one.extra.items()))
                       for one in store.assignments(study.study_id)))

    assert layout("one", 3) == layout("two", 3) != layout("three", 4)
    assert shown[0] != shown[1] and [sorted(one) for one in shown[0]] == [sorted(one) for one in shown[1]]


def test_queries_whose_sets_are_the_same_are_skipped_and_counted(store, tmp_path, pictures):
    same = {name: images(*range(5)) for name in METHODS}
    lone = {"slerp": images(*range(5))}
    queries = [*QUERIES, a_query(15, results=same), a_query(16, results=lone)]
    created = made(store, tmp_path, pictures, queries)
    assert created.counts["items"] == 15 and created.counts["skipped"] == 2 and created.counts["dropped"] == 0
    assert created.notes == (
        "Two methods with the same images for a query are not compared on it (pairs: 3; queries left out because they "
        "have no other pair: 1).",
        "Queries left out because fewer than two methods have a set for them: 1.")
    with pytest.raises(StudyError, match="no query has different images from two methods"):
        made(store, tmp_path, pictures, queries[15:], name="two")


def test_questions_that_lack_a_picture_are_all_listed_and_nothing_is_made(store, tmp_path, pictures):
    both = {"slerp": ("gone", *images(1, 2, 3, 4)), "cirevl": ("broken", *images(1, 2, 3, 4))}
    queries = [*QUERIES, a_query(15, reference_id="lost"), a_query(16, results=both)]
    with pytest.raises(StudyError) as raised:
        made(store, tmp_path, pictures, queries)
    text = str(raised.value)
    assert text.startswith("2 of 17 questions cannot be asked") and "--skip-missing" in text
    lines = text.splitlines()[1:]
    assert lines[0] == "  fashioniq-val::shirt:15, reference: lost is unavailable"
    assert sorted(line.split(": ")[1].split(" is ")[0] for line in lines[1:]) == ["broken", "gone"]
    assert store.studies() == () and list(studies_folder(tmp_path).iterdir()) == []


def test_missing_pictures_are_skipped_on_demand_and_methods_drawn_anew(store, tmp_path, pictures):
    """What is left is as even as if the others had never been: 15 queries, 5 of each of three pairs."""
    queries = [query for number in range(15) for query in (
        a_query(number), a_query(number + 20, reference_id="lost"))]
    created = made(store, tmp_path, pictures, queries, skip_missing=True)
    assert created.counts["items"] == 15 and created.counts["dropped"] == 15
    assert set(created.study.source["pairs"].values()) == {5}
    assert created.notes == ("Queries left out because an image is missing or cannot be read: 15.",)
    with pytest.raises(StudyError, match=r"15 of 15 .*Check the images \(--images, --gallery\)"):
        made(store, tmp_path, pictures, queries[1::2], name="two", skip_missing=True)


@pytest.mark.parametrize(("changes", "says"), [
    ({"settings": {"sides": 1}}, "no setting 'sides'"),
    ({"settings": {"set_names": ["A", "a "]}}, "Both sets are called 'A'"),
    ({"settings": {"set_names": ["A"]}}, "a name each"), ({"settings": {"check": "puzzle"}}, "sum, instruction, none"),
    ({"settings": {"lease_hours": 0}}, "hours above 0"), ({"settings": {"check_every": -1}}, "0 for no checks"),
    ({"settings": {"allow_tie": 1}}, "true or false"), ({"settings": {"consent": "x" * 20_001}}, "20,000"),
    ({"settings": {"guidelines": 3}}, "or null"), ({"settings": {"completion_prefix": "a\nb"}}, "one line"),
    ({"settings": {"exclude": []}}, "object of rules"), ({"layout": SurveyLayout(per_person=0)}, "0 questions"),
    ({"methods": ("slerp",)}, "two different methods"), ({"queries": []}, "no question to ask"),
    ({"queries": [QUERIES[0], QUERIES[0]]}, "2 queries have the key"), ({"name": ""}, "is not a valid study name"),
])
def test_what_cannot_be_is_refused_before_any_work(store, tmp_path, changes, says):
    given = {"queries": QUERIES, "layout": LAYOUT, "methods": METHODS, "name": "one", "settings": {}} | changes
    with pytest.raises(StudyError, match=says):
        create_preference_study(
            store, tmp_path, given["name"], given["queries"], given["methods"],
            lambda image_id: pytest.fail("looked"), given["layout"], created_by="local", source={},
            settings=given["settings"])
    assert not studies_folder(tmp_path).exists()


def test_pictures_go_when_the_database_does_not_take_the_study(store, tmp_path, pictures, monkeypatch):
    def fails(*parts: object, **more: object) -> None:
        raise StorageError("The disk is full.")

    monkeypatch.setattr(store, "create", fails)
    with pytest.raises(StorageError, match="full"):
        made(store, tmp_path, pictures)
    assert list(studies_folder(tmp_path).iterdir()) == []


def test_a_question_knows_its_sets():
    [question], drawn = make_questions([a_query(0)], ("slerp", "text-only"), seed=1)
    assert question.stratum == "slerp|text-only" and set(question.methods) == {"slerp", "text-only"}
    assert question.sets == tuple(QUERIES[0].results[method] for method in question.methods)
    assert drawn.counts == {("slerp", "text-only"): 1}
