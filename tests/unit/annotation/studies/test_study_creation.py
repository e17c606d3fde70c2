"""Making a validity study: what is stored, what judges can see of it, and what is refused."""

import json
from collections import Counter
from pathlib import Path

import pytest
from PIL import Image

from annotation.kinds.validity.create import create_validity_study
from annotation.records import StudyPlan
from annotation.sources import StudyQuery
from annotation.studies.creation import check_name
from annotation.studies.image_snapshots import studies_folder
from cir_core.errors import StorageError, StudyError
from tests.fakes.databases import study_store as study_store

LABELS = ("composition_required", "unresolved")
PLAN = StudyPlan(seats=2, overlap=1, agreement_items=2, seed=3)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    for number in range(30):
        Image.new("RGB", (8, 8), (8 * number, 90, 90)).save(folder / f"i{number:02}.png")
    (folder / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    return folder


def find(folder: Path):
    return lambda image_id: path if (path := folder / f"{image_id}.png").exists() else None


def a_query(number: int, **changes: object) -> StudyQuery:
    """Its panel holds its reference and its target too, as retrievers find them."""
    fields: dict[str, object] = {
        "key": f"cirr::{number}", "dataset": "cirr", "query_idx": number, "query_id": f"8:{number}",
        "hidden_category": LABELS[number % 2], "text": f"make it blue {number}", "reference_id": f"i{number:02}",
        "target_id": f"i{number + 1:02}", "target_ids": (f"i{number + 1:02}", "i29"),
        "panel": tuple(f"i{n:02}" for n in range(number, number + 12)), "trace": {"ranks": {"multimodal": 4}},
        "caption_mode": "joined",
    }
    return StudyQuery(**{**fields, **changes})


QUERIES = [a_query(number) for number in range(8)]


def made(store, home, pictures, queries=QUERIES, plan=PLAN, name="one", **options):
    return create_validity_study(store, home, name, queries, find(pictures), plan, created_by="local",
                                 source={"form": "test"}, **options)


def test_a_study_is_stored_whole(store, tmp_path, pictures):
    told = []
    created = made(store, tmp_path, pictures, progress=lambda done, total: told.append((done, total)))
    study = store.study("ONE")
    assert study == created.study and study.accepting and study.protocol == "circus/1"
    assert study.settings == {"unsure_after": 120, "broad_at": 10, "panel_size": 10}
    assert study.source == {"form": "test"}
    items, images = store.items(study.study_id), store.images(study.study_id)
    assert [item.key for item in items] == [query.key for query in QUERIES]
    assert items[2].hidden == {
        "dataset": "cirr", "query_idx": 2, "query_id": "8:2", "hidden_category": "composition_required",
        "reference_id": "i02", "target_id": "i03", "target_ids": ["i03", "i29"],
        "panel": [f"i{n:02}" for n in range(2, 14)], "trace": {"ranks": {"multimodal": 4}}, "caption_mode": "joined"}
    # Two of eight for everybody, the other six to one of two people each: 2 · 2 + 6 places.
    assert created.counts == {"items": 8, "pictures": 19, "dropped": 0, "missing": 0, "panel": 10, "places": 10}
    assert Counter(item.stratum for item in items if item.in_block) == {f"cirr::{label}": 1 for label in LABELS}
    assert [len([a for a in store.assignments(study.study_id) if a.seat == seat]) for seat in (1, 2)] == [5, 5]
    files = {path.name for path in (studies_folder(tmp_path) / study.study_id).iterdir()}
    assert files == {f"{token}-{size}.webp" for token in images for size in "sl"}
    # Each list has 12 images, reference and target among them: nothing would make a panel of 12.
    assert told[-1] == (19, 19) and told == sorted(told)
    assert created.notes == ()


def test_judges_see_neither_target_nor_reference_in_a_panel_nor_an_order(store, tmp_path, pictures):
    study = made(store, tmp_path, pictures).study
    names = {image.token: image.image_id for image in store.images(study.study_id).values()}
    orders = set()
    for item, query in zip(store.items(study.study_id), QUERIES, strict=True):
        assert set(item.shown) == {"text", "reference", "target", "panel"}
        assert names[item.shown["reference"]] == query.reference_id and names[item.shown["target"]] == query.target_id
        panel = [names[token] for token in item.shown["panel"]]
        assert sorted(panel) == sorted(set(query.panel) - {query.reference_id, query.target_id})
        orders.add(tuple(sorted(panel).index(one) for one in panel))
        seen = json.dumps(item.shown)
        assert not any(word in seen for word in (*LABELS, "cirr", *names.values(), "8:"))
    assert len(orders) == len(QUERIES), "the panel's order is another one for each item"


def panels_of(store, study):
    names = {image.token: image.image_id for image in store.images(study.study_id).values()}
    return [sorted(names[token] for token in item.shown["panel"]) for item in store.items(study.study_id)]


@pytest.mark.parametrize(("listed", "shown"), [(10, 8), (4, 2), (3, 1), (2, 0), (1, 0), (0, 0)])
def test_the_size_of_a_panel_does_not_tell_whether_the_target_was_found(store, tmp_path, pictures, listed, shown):
    # Query n has reference n and target n + 1; the lists of one retriever are equally long. Reference and target are
    # found, the target alone, the reference alone, neither: the first leaves two images less, so all have two less.
    def panel(*first: int) -> tuple[str, ...]:
        return tuple(f"i{n:02}" for n in (*first, *range(15, 25)))[:listed]

    found = {"composition_required": (panel(0, 1), panel(3)), "unresolved": (panel(4), panel())}
    queries = [a_query(2 * number, hidden_category=label, panel=listing) for number, (label, listing) in enumerate(
        (label, listing) for label, lists in found.items() for listing in lists)]
    created = made(store, tmp_path, pictures, queries, StudyPlan(1, 1, 0, 1))
    for item, panel_shown, query in zip(store.items(created.study.study_id), panels_of(store, created.study), queries,
                                        strict=True):
        kept = [one for one in query.panel if one not in (query.reference_id, query.target_id)][:shown]
        assert panel_shown == kept, "the first that were retrieved"
        assert len(kept) == shown and item.hidden["panel"] == list(query.panel)
    assert created.counts["panel"] == shown
    assert [note.split(":")[0] for note in created.notes[:1]] == (
        [f"Every panel has {shown} image{'' if shown == 1 else 's'}, not {listed}"] if shown else
        [f"There are no panels, not even of {listed} images"] if listed else [])


def test_panels_are_of_one_size_however_far_retrievers_agree(store, tmp_path, pictures):
    """Two retrievers that agree leave 10 images, two that do not 20; deeper results fill the places."""
    deep = tuple(f"i{n:02}" for n in range(28))
    queries = [a_query(0, panel=deep[:10], in_turn=deep), a_query(1, panel=deep[:20], in_turn=deep),
               a_query(26, panel=deep[:15], in_turn=deep[::-1])]
    created = made(store, tmp_path, pictures, queries, StudyPlan(1, 1, 0, 1))
    # As many as the longest list has, 20, in turn, without the two of the query itself.
    assert panels_of(store, created.study) == [
        [f"i{n:02}" for n in range(2, 22)], [f"i{n:02}" for n in (0, *range(3, 22))],
        [f"i{n:02}" for n in range(6, 26)]]
    assert created.counts["panel"] == 20 and not created.notes and created.study.settings["panel_size"] == 20


@pytest.mark.parametrize(("asked", "size"), [(3, 3), (0, 0), (12, 12), (40, 26)])
def test_a_size_can_be_asked_for_and_is_the_same_for_all(store, tmp_path, pictures, asked, size):
    deep = tuple(f"i{n:02}" for n in range(28))
    queries = [a_query(n, panel=deep[:10], in_turn=deep) for n in range(4)]
    created = made(store, tmp_path, pictures, queries, StudyPlan(1, 1, 0, 1), panel_size=asked)
    assert {len(panel) for panel in panels_of(store, created.study)} == {size} and created.counts["panel"] == size
    said = " ".join(created.notes)
    assert ("Every panel has 26 images, not 40" in said) == (asked == 40)
    assert ("fewer images than the 10 equally good ones" in said) == (asked == 3)


def test_the_next_picture_stands_in_the_place_of_one_that_cannot_be_read(store, tmp_path, pictures):
    deep = ("broken", "none", *(f"i{n:02}" for n in range(28)))
    queries = [a_query(20, panel=deep[:6], in_turn=deep), a_query(22, panel=deep[2:8], in_turn=deep[2:])]
    created = made(store, tmp_path, pictures, queries, StudyPlan(1, 1, 0, 1))
    assert panels_of(store, created.study) == [[f"i{n:02}" for n in range(6)]] * 2
    assert created.counts["missing"] == 2 and created.notes[0] == (
        "2 images of panels are missing or cannot be read; they were replaced by the next ones.")


def test_no_panel_is_longer_than_thirty_unless_asked(store, tmp_path, pictures):
    deep = tuple(f"i{n % 30:02}" for n in range(30))
    queries = [a_query(0, panel=deep * 2, reference_id="i28", target_id="i29"),
               a_query(1, panel=tuple(f"x{n}" for n in range(45)))]
    with_all = {f"x{n}": pictures / "i00.png" for n in range(45)} | {one: pictures / f"{one}.png" for one in deep}
    created = create_validity_study(store, tmp_path, "long", queries[1:], with_all.get, StudyPlan(1, 1, 0, 1),
                                    created_by="local", source={"form": "test"})
    assert created.counts["panel"] == 30 and not created.notes


def test_the_same_seed_lays_out_the_same_study(store, tmp_path, pictures):
    one, two = (made(store, tmp_path, pictures, name=name).study for name in ("one", "two"))

    def layout(study):
        names = {image.token: image.image_id for image in store.images(study.study_id).values()}
        keys = {item.item_id: item.key for item in store.items(study.study_id)}
        return ([(item.key, item.in_block, sorted(names[token] for token in item.shown["panel"]))
                 for item in store.items(study.study_id)],
                sorted((one.seat, one.position, keys[one.item_id]) for one in store.assignments(study.study_id)))

    assert layout(one) == layout(two)
    assert set(store.images(one.study_id)).isdisjoint(store.images(two.study_id))


def test_the_order_of_panels_follows_from_no_seed(store, tmp_path, pictures):
    """Whoever knows the seed, and CIRQUE_SEED has a default, could undo a shuffle by it: two studies that are
    alike in all else would have it too. Of ten pictures two orders are the same once in 10!, 3.6 million."""
    orders = []
    for name in ("one", "two"):
        study = made(store, tmp_path, pictures, name=name).study
        names = {image.token: image.image_id for image in store.images(study.study_id).values()}
        orders.append([[names[token] for token in item.shown["panel"]] for item in store.items(study.study_id)])
    assert all(len(panel) >= 10 for panel in orders[0])
    assert all(one != other and sorted(one) == sorted(other) for one, other in zip(*orders, strict=True))


def test_queries_without_a_picture_are_all_listed_and_nothing_is_made(store, tmp_path, pictures):
    queries = [*QUERIES, a_query(8, target_id="gone"), a_query(9, reference_id="broken", target_id="lost")]
    with pytest.raises(StudyError) as raised:
        made(store, tmp_path, pictures, queries)
    text = str(raised.value)
    assert text.startswith("2 of 10 queries cannot be judged") and "--skip-missing" in text
    assert text.splitlines()[1:] == [
        "  cirr::8, target: gone is unavailable",
        "  cirr::9, reference: broken is damaged, or of a kind that cirque cannot decode: its header "
        "cannot be read",
        "  cirr::9, target: lost is unavailable"]
    assert store.studies() == () and list(studies_folder(tmp_path).iterdir()) == []


def test_a_long_list_of_missing_pictures_is_cut(store, tmp_path, pictures):
    queries = [a_query(n, target_id=f"gone{n}", target_ids=(f"gone{n}",)) for n in range(25)]
    with pytest.raises(StudyError, match=r"(?s)25 of 25 .*--images, --gallery.*gone19 is unavailable\n  and 5 more$"):
        made(store, tmp_path, pictures, queries, skip_missing=True)


def test_missing_pictures_are_skipped_on_demand_and_counted(store, tmp_path, pictures):
    panel = ("i01", "none", "broken", "i02", "i03", "i04")
    queries = [*QUERIES, a_query(8, target_id="gone"), a_query(12, panel=panel)]
    created = made(store, tmp_path, pictures, queries, skip_missing=True)
    items = store.items(created.study.study_id)
    assert [item.key for item in items] == [query.key for query in (*QUERIES, queries[9])]
    assert [item.number for item in items] == list(range(9))
    assert created.counts["dropped"] == 1 and created.counts["missing"] == 2
    # Of the six images in its panel two are missing, and nothing was found behind them: so all have four.
    assert {len(item.shown["panel"]) for item in items} == {4} and items[8].hidden["panel"] == list(panel)
    assert [note.split(" ", 1)[0] for note in created.notes[:2]] == ["1", "2"]
    assert created.notes[1] == "2 images of panels are missing or cannot be read."
    assert created.notes[2].startswith("Every panel has 4 images, not 10: for the query 'cirr::12'")
    # What no panel shows after all is not kept: 0 to 8 and, of query 7, up to 12; 12 and 13 of query 12.
    shown = {image.image_id for image in store.images(created.study.study_id).values()}
    assert shown == {f"i{n:02}" for n in range(14)}
    assert len(list((studies_folder(tmp_path) / created.study.study_id).iterdir())) == 2 * 14


def test_a_name_that_is_taken_is_refused_before_any_work(store, tmp_path, pictures):
    made(store, tmp_path, pictures, name="Straße")
    with pytest.raises(StudyError, match="'Straße' is already taken"):
        create_validity_study(store, tmp_path, " STRASSE ", QUERIES, lambda image_id: pytest.fail("looked"), PLAN,
                              created_by="local", source={})


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 81, "a\0"])
def test_a_name_is_one_line(store, name):
    with pytest.raises(StudyError, match="is not a valid study name"):
        check_name(store, name)


@pytest.mark.parametrize(("plan", "says"), [
    (StudyPlan(2, 3, 0, 1), "overlap of 3"), (StudyPlan(2, 1, 9, 1), "9 of 8 items cannot be the agreement set"),
    (StudyPlan(0, 1, 0, 1), "one person"),
])
def test_a_plan_that_cannot_be_laid_out_is_refused_before_any_work(store, tmp_path, plan, says):
    with pytest.raises(StudyError, match=says):
        create_validity_study(store, tmp_path, "one", QUERIES, lambda image_id: pytest.fail("looked"), plan,
                              created_by="local", source={})
    assert not studies_folder(tmp_path).exists()


def test_nothing_to_judge_is_refused(store, tmp_path, pictures):
    with pytest.raises(StudyError, match="no query to judge"):
        made(store, tmp_path, pictures, [])


def test_pictures_go_when_the_database_does_not_take_the_study(store, tmp_path, pictures, monkeypatch):
    def fails(*parts: object, **more: object) -> None:
        raise StorageError("The disk is full.")

    monkeypatch.setattr(store, "create", fails)
    with pytest.raises(StorageError, match="full"):
        made(store, tmp_path, pictures)
    assert list(studies_folder(tmp_path).iterdir()) == []


def test_pictures_stay_when_ctrl_c_comes_after_the_study_was_stored(store, tmp_path, pictures, monkeypatch):
    create = store.create

    def stores_and_is_stopped(*parts: object, **more: object) -> None:
        create(*parts, **more)
        raise KeyboardInterrupt

    monkeypatch.setattr(store, "create", stores_and_is_stopped)
    with pytest.raises(KeyboardInterrupt):
        made(store, tmp_path, pictures)
    [study] = store.studies()
    assert [path.name for path in studies_folder(tmp_path).iterdir()] == [study.study_id]


def test_what_a_killed_creation_left_is_cleared_by_the_next(store, tmp_path, pictures):
    kept = made(store, tmp_path, pictures).study
    folder = studies_folder(tmp_path)
    (folder / ".gone.lock").touch()
    (folder / ".gone.part").mkdir()
    (folder / f".{kept.study_id}.lock").touch()    # killed between storing and letting go
    second = made(store, tmp_path, pictures, name="two").study
    assert {path.name for path in folder.iterdir()} == {kept.study_id, second.study_id}
