"""CIRCLED's sessions: the public format, the raw one, and what cirque itself exports."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.readers.circled import (
    CircledSession,
    CircledTurn,
    image_paths,
    read_sessions,
    single_turn_benchmark,
    write_sessions,
)
from cir_core.datasets.records import BenchmarkQuery
from cir_core.errors import DatasetError
from cir_core.images.uploads import UploadFolder
from cir_core.sessions.export import session_to_circled
from cir_core.sessions.pool import SearcherPool
from cir_core.sessions.service import SearchService
from cir_core.types.records import MethodSettings
from tests.fakes.colours import NAME, colour_gallery
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ScriptedLanguageModel
from tests.fakes.store import InMemorySessionStore

PUBLIC = {
    "session_id": "cirr_val_0007", "subset": "cirr_val", "ground_truth_ids": ["dev-5-0-img1"], "num_turns": 2,
    "turns": [{"turn": 1, "reference_image_id": "dev-9-1-img0", "relative_caption": "make it snow"},
              {"turn": 2, "reference_image_id": "dev-7-2-img1", "relative_caption": "Add a red sled"}]}
SESSION = CircledSession("cirr_val_0007", "cirr_val", ("dev-5-0-img1",), (
    CircledTurn("dev-9-1-img0", "make it snow"), CircledTurn("dev-7-2-img1", "Add a red sled")))


def raw_turn(number: int, picked: str | None, text: str | None) -> dict[str, Any]:
    return {"turn": number, "query_text": "merged", "search_results": [["x", 0.5]] * 10, "selected_image": picked,
            "selected_image_caption": None, "relative_caption": text, "gt_rankings": {"x": -1}, "best_gt_rank": 4}


RAW = {
    "dataset_name": "circo", "config": {"results": []}, "data_completeness": {},
    "results": [
        {"query_id": "3", "reference_image_id": "000000000011.jpg", "target_image_id": "000000000022",
         "ground_truth_ids": ["000000000022", "000000000033"], "original_query": "is outdoors", "success": True,
         "success_turn": 1, "turns": [raw_turn(0, None, None), raw_turn(1, "000000000044", "Add a dog")]},
        {"query_id": "4", "reference_image_id": "000000000012", "target_image_id": "000000000022",
         "ground_truth_ids": ["000000000022"], "original_query": "has a bench", "success": False,
         "success_turn": -1, "turns": [raw_turn(0, None, None), raw_turn(1, "", "Add a dog")]},
    ],
}


def saved(folder: Path, content: Any) -> Path:
    path = folder / "sessions.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def test_the_public_form(tmp_path):
    sessions = read_sessions(saved(tmp_path, [PUBLIC]))
    assert (list(sessions), sessions.notes) == ([SESSION], ())
    assert (len(sessions), sessions[0], sessions[:1]) == (1, SESSION, (SESSION,))


def test_the_public_form_comes_back_as_it_was(tmp_path):
    write_sessions(tmp_path / "a.json", [SESSION])
    assert json.loads((tmp_path / "a.json").read_text()) == [PUBLIC]
    assert list(read_sessions(tmp_path / "a.json")) == [SESSION]


def test_the_raw_form_follows_the_release_s_rule(tmp_path):
    sessions = read_sessions(saved(tmp_path, RAW))
    assert list(sessions) == [
        CircledSession("circo_val_0000", "circo_val", ("22", "33"),
                       (CircledTurn("11", "is outdoors"), CircledTurn("44", "Add a dog"))),
        CircledSession("circo_val_0001", "circo_val", ("22",), (CircledTurn("12", "has a bench"),)),
    ]
    assert sessions.notes == (
        "1 image ids of CIRCO had .jpg behind them, which is cut off.",
        "1 sessions of the raw file did not reach their target; they are included.",
    )


def test_a_num_turns_that_differs_is_noted_and_does_not_count(tmp_path):
    sessions = read_sessions(saved(tmp_path, [{**PUBLIC, "num_turns": 3}]))
    assert list(sessions) == [SESSION]
    assert sessions.notes == ("1 sessions have a num_turns that is not the number of their turns, which counts.",)


def test_only_circo_s_ids_lose_their_ending(tmp_path):
    (session,) = read_sessions(saved(tmp_path, [{**PUBLIC, "ground_truth_ids": ["a.jpg", "a.jpg"]}]))
    assert session.target_ids == ("a.jpg",)
    (session,) = read_sessions(saved(tmp_path, [{**PUBLIC, "subset": "circo_val", "ground_truth_ids": [22]}]))
    assert session.target_ids == ("22",)  # as CIRCO's own files, and so a gallery of its images, call it
    write_sessions(tmp_path / "again.json", [session])
    assert json.loads((tmp_path / "again.json").read_text())[0]["ground_truth_ids"] == ["000000000022"]


@pytest.mark.parametrize("subset", ["cirr_val", "circo_val"])
def test_padding_is_no_target(tmp_path, subset):
    padded = {**PUBLIC, "subset": subset, "ground_truth_ids": ["", "7", ""]}
    hidden = [{**PUBLIC, "session_id": str(number), "subset": subset, "ground_truth_ids": ids}
              for number, ids in enumerate(([""], []))]
    sessions = read_sessions(saved(tmp_path, [padded, *hidden]))
    assert [one.target_ids for one in sessions] == [("7",), (), ()]
    assert sessions.notes == ("2 sessions name no target: they can be searched, not scored.",)


def test_a_raw_file_that_is_nested_too_deep_before_its_name(tmp_path):
    with pytest.raises(DatasetError, match=r"is nested too deep: .+, before any 'dataset_name'"):
        read_sessions(saved(tmp_path, '{"config": ' + "[" * 100_000))


def test_a_mark_and_windows_ends_are_read(tmp_path):
    path = saved(tmp_path, "")
    for content in ([PUBLIC], RAW):
        path.write_bytes(("\ufeff\n" + json.dumps(content, indent=1)).replace("\n", "\r\n").encode())
        assert read_sessions(path)


def test_what_cirque_exports_is_read_back(tmp_path):
    colour_gallery(tmp_path)
    home = tmp_path / "home"
    pool = SearcherPool(home, lambda encoder: ScriptedLanguageModel("green"), lambda spec: FakeEncoder())
    service = SearchService(pool, InMemorySessionStore(), UploadFolder(home / "uploads", max_megapixels=4))
    session = service.start(NAME, method=MethodSettings(base="image-only"))
    one = service.run_turn(session.session_id, "red", reference_id="r0g3b0").turn
    service.run_turn(session.session_id, "", reference_id="r3g3b0", parent_id=one.turn_id)
    service.run_turn(session.session_id, "blue", reference_id="r3g0b0", parent_id=one.turn_id)
    records = session_to_circled(service.session(session.session_id))
    sessions = read_sessions(saved(tmp_path, json.dumps(records, indent=1, ensure_ascii=False)))
    first = CircledTurn("r0g3b0", "red")
    assert list(sessions) == [
        CircledSession("colours_all_0000", "colours_all", (), (first, CircledTurn("r3g3b0", ""))),
        CircledSession("colours_all_0001", "colours_all", (), (first, CircledTurn("r3g0b0", "blue"))),
    ]
    assert sessions.notes == ("1 sessions have a turn without text; they are included.",
                              "2 sessions name no target: they can be searched, not scored.")


def test_an_export_of_circo_s_images_has_circo_s_digits(tmp_path):
    colour_gallery(tmp_path)
    home = tmp_path / "home"
    pool = SearcherPool(home, lambda encoder: ScriptedLanguageModel("green"), lambda spec: FakeEncoder())
    service = SearchService(pool, InMemorySessionStore(), UploadFolder(home / "uploads", max_megapixels=4))
    started = service.start(NAME, method=MethodSettings(base="image-only"))
    turn = service.run_turn(started.session_id, "red", reference_id="r0g3b0").turn
    session = service.session(started.session_id)
    circo = replace(session, gallery="circo-val", target_id="22", turns=(
        replace(turn, reference_id="11", excluded_ids=("11",)),))
    (record,) = session_to_circled(circo)
    assert record["ground_truth_ids"] == ["000000000022"]
    assert record["turns"] == [{"turn": 1, "reference_image_id": "000000000011", "relative_caption": "red"}]
    assert record["cirque"]["turns"][0]["excluded_ids"] == ["11"]  # cirque's own are the gallery's ids
    (back,) = read_sessions(saved(tmp_path, [record]))
    assert (back.target_ids, back.turns) == (("22",), (CircledTurn("11", "red"),))


def test_first_turns_are_a_benchmark(tmp_path):
    fashion = {**PUBLIC, "session_id": "fashioniq_dress_val_0000", "subset": "fashioniq_dress_val"}
    benchmark = single_turn_benchmark(read_sessions(saved(tmp_path, [PUBLIC, fashion])))
    target = ("dev-5-0-img1",)
    assert benchmark.queries == (
        BenchmarkQuery("cirr_val_0007", "dev-9-1-img0", "make it snow", target, "single", "cirr_val"),
        BenchmarkQuery("fashioniq_dress_val_0000", "dev-9-1-img0", "make it snow", target, "separate",
                       "fashioniq_dress_val"),
    )
    assert benchmark.pools == {"cirr_val": None, "fashioniq_dress_val": None}
    assert benchmark.name == "circled-val"


def test_images_are_looked_for_where_their_benchmark_keeps_them():
    assert "unlabeled2017/000000000022.jpg" in image_paths("22")
    assert "images/1234567890.jpg" in image_paths("1234567890")  # an id of FashionIQ without a letter
    assert "dev/dev-5-0-img1.png" in image_paths("dev-5-0-img1")
    assert "images/B001.jpg" in image_paths("B001")


def turns(*numbers: int) -> list[dict[str, Any]]:
    return [{"turn": n, "reference_image_id": "a", "relative_caption": "b"} for n in numbers]


@pytest.mark.parametrize(("content", "problem"), [
    ([PUBLIC, PUBLIC], ", record 1: session 'cirr_val_0007' occurs twice"),
    ([{**PUBLIC, "turns": []}], ", record 0: session 'cirr_val_0007' has no turns"),
    ([{**PUBLIC, "turns": turns(1, 3)}],
     ", record 0: session 'cirr_val_0007' has turns numbered 1, 3 instead of 1 to 2"),
    ([{**PUBLIC, "turns": turns(0, 1)}],
     ", record 0: session 'cirr_val_0007' has turns numbered 0, 1 instead of 1 to 2"),
    ([{"session_id": "x"}], ", record 0: 'subset' is missing"),
    ([{**PUBLIC, "turns": [{"turn": 1}]}], ", record 0: 'turns.0.reference_image_id' is missing"),
    (json.dumps([PUBLIC, PUBLIC])[:-20], ", record 1: the file ends in the middle of it"),
    ('[{"session_id": NaN}]', ", record 0: it is not valid JSON"),
    ([], ": it contains no session"),
    ({"results": []}, ", key 'dataset_name': it is missing"),
    ({"dataset_name": "cirr_val"}, ", results: it contains no session"),
    ({"dataset_name": "cirr_val", "results": [{"original_query": "x"}]},
     ", record 0: 'reference_image_id' is missing"),
    (json.dumps(RAW)[:-300], ", record 1: the file ends in the middle of it"),
    ("words", ": it does not contain a JSON array (it begins with 'w')"),
])
def test_a_bad_file_names_record_and_remedy(tmp_path, content, problem):
    path = saved(tmp_path, content)
    with pytest.raises(DatasetError) as raised:
        read_sessions(path)
    assert str(raised.value).startswith(f"{path}{problem}")


def test_faults_are_collected_and_the_rest_is_read(tmp_path):
    faults = ValidationIssues(collect=True)
    sessions = read_sessions(saved(tmp_path, [{**PUBLIC, "session_id": "x", "turns": []}, {}, PUBLIC]), faults)
    assert list(sessions) == [SESSION]
    assert [fault.record for fault in faults.found] == ["record 0", "record 1"]
