"""Each filter at its bounds, and released files through all of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cir_core.construct.filtering.files import encoded_similarities, filter_sessions, raw_files, stored_similarities
from cir_core.construct.filtering.stages import STAGES, FilterSettings, ranks_of, texts_of, why_dropped
from cir_core.datasets.readers.circled import read_sessions, write_sessions
from cir_core.datasets.readers.circled_raw import RawResult, open_raw, write_raw
from cir_core.errors import DatasetError
from cir_core.registry.checking import check
from tests.fakes.encoder import FakeEncoder


def released(ranks=(50, 4), texts=("more red", "Add blue"), images=("a", "b"), success=True, **more) -> dict[str, Any]:
    """A result as the release has it: nothing but its own keys."""
    turns = [{
        "turn": n, "query_text": "merged", "search_results": [["x", 0.5]] * 10,
        "selected_image": images[n] if n else None,
        "selected_image_caption": "red" if n else None, "relative_caption": texts[n] if n else None,
        "gt_rankings": {"z": rank}, "best_gt_rank": rank} for n, rank in enumerate(ranks)]
    return {"query_id": "7", "reference_image_id": images[0], "target_image_id": "z", "ground_truth_ids": ["z"],
            "original_query": texts[0], "success": success, "success_turn": len(ranks) - 1 if success else -1,
            "turns": turns, **more}


def stage(result, images=100, **settings):
    similarities = encoded_similarities(FakeEncoder())
    found = why_dropped(RawResult.model_validate(result), FilterSettings(**settings), similarities, images)
    return None if found is None else (found.stage, found.number)


THREE = {"texts": ("more red", "Add blue", "Drop green"), "images": ("a", "b", "c")}


@pytest.mark.parametrize(("result", "dropped"), [
    (released(), None),
    (released((50, 40), success=False), ("success", 40)),
    (released((4,), ("more red",), ("a",)), ("multi-turn", 1)),
    (released(texts=(" ", "Add blue")), ("text", 1)),
    (released((50, 80, 4), **THREE), None),                      # exactly ε is allowed
    (released((50, 81, 4), **THREE), ("rank margin", 31)),
    (released((-1, 100, 4), **THREE), None),                     # missing: behind all 100 images
    (released((50, -1, 4), **THREE), ("rank margin", 51)),
    (released((71, -1, 4), **THREE), None),                      # 101 - 71 = 30
    (released(texts=("more red", "red more")), ("redundancy", 1.0)),
    (released((50, 40, 4), texts=("a b", "c d", "D c"), images=("a", "b", "c")), ("redundancy", 1.0)),
    (released(images=("a", "a")), ("repeated image", 2)),
    (released((50, 40, 4), texts=THREE["texts"], images=("a", "b", "b")), ("repeated image", 3)),
])
def test_the_first_stage_that_drops_a_session(result, dropped):
    assert stage(result) == dropped


def test_the_order_of_stages_decides_between_several():
    worst = released((50, 90, 4), texts=("", "x y", "x y"), images=("a", "a", "a"))
    expected = ["text", "rank margin", "redundancy", "repeated image"]
    fixes = [{"original_query": "more red"}, {"rank": 60}, {"texts": True}, {"images": True}]
    for name, fix in zip(expected, fixes, strict=True):
        assert stage(worst)[0] == name
        if "original_query" in fix:
            worst |= fix
        for n, turn in enumerate(worst["turns"][1:], start=1):
            if "rank" in fix and n == 1:
                turn["best_gt_rank"] = 60
            if "texts" in fix:
                turn["relative_caption"] = f"w{n} v{n}"
            if "images" in fix:
                turn["selected_image"] = f"i{n}"
    assert stage(worst) is None
    assert [name for name in STAGES if name in expected] == expected


def test_a_missing_rank_as_the_released_code_reads_it():
    up, down = released((-1, 20, 4), **THREE), released((50, -1, 25), **THREE)
    assert (stage(up), stage(up, missing="minus-one")) == (None, None)
    assert stage(up, epsilon=20, missing="minus-one") == ("rank margin", 21)     # 20 - (-1)
    assert stage(down, missing="minus-one") is None and stage(down)[0] == "rank margin"
    assert ranks_of(RawResult.model_validate(up), "last", 64) == [65, 20, 4]
    # A released file does not say how large its gallery is.
    assert stage(up, images=None) is None and stage(down, images=None)[0] == "rank margin"


def test_epsilon_and_tau_are_settings():
    assert stage(released((50, 81, 4), **THREE), epsilon=31) is None
    close = released(texts=("red blue", "red green"))       # cosine about 0.5
    assert stage(close) is None and stage(close, tau=0.4)[0] == "redundancy"
    assert stage(released(texts=("same", "same")), tau=1.01) is None


def test_repeated_images_are_told_by_their_bytes():
    result = released()
    result["turns"][0]["image_sha256"] = result["turns"][1]["image_sha256"] = "00ff"
    assert stage(result) == ("repeated image", 2)


def test_turns_without_an_image_or_a_text_do_not_count():
    result = released((50, 40, 4), texts=("more red", "", "Add blue"), images=("a", "b", "c"))
    assert texts_of(RawResult.model_validate(result)) == ["more red", "Add blue"]
    assert stage(result) is None


def test_stored_similarities_are_used_and_missed():
    result = released()
    with pytest.raises(DatasetError, match="--encoder"):
        stored_similarities(RawResult.model_validate(result))
    result["turns"][1] |= {"text_similarity": 0.91, "similar_turn": 0}
    model = RawResult.model_validate(result)
    assert stored_similarities(model) == [(1, 0.91)]
    assert why_dropped(model, FilterSettings(), stored_similarities).why == (
        "the text of turn 2 has cosine 0.91 with that of turn 1")


# --- released files ----------------------------------------------------------------------------

HEAD = {"dataset_name": "circo", "config": {"top_k": 10, "max_turns": 5}, "data_completeness": {"captions": 1.0}}


def released_file(folder, results=None, **more):
    path = folder / "circo.json"
    path.write_text(json.dumps({**HEAD, "results": results if results is not None else [
        released(extra={"kept": [1, None, "ü"]}), released((4,), ("x",), ("a",)),
    ], **more}, indent=2), "utf-8")
    return path


def test_a_released_raw_file_comes_back_as_it_was(tmp_path):
    path = released_file(tmp_path, filtering_info={"epsilon": 30, "n": 2})
    raw = open_raw(path)
    assert (raw.subset, raw.images) == ("circo_val", None)
    write_raw(tmp_path / "again.json", raw.head, (record for _, record, _ in raw.results()))
    before, after = (json.loads(one.read_text("utf-8")) for one in (path, tmp_path / "again.json"))
    assert after == before and list(after) == ["dataset_name", "config", "data_completeness", "results",
                                              "filtering_info"]
    assert [list(one) for one in after["results"]] == [list(one) for one in before["results"]]
    assert read_sessions(tmp_path / "again.json").sessions == read_sessions(path).sessions


def test_a_released_file_is_filtered_with_an_encoder(tmp_path):
    path = released_file(tmp_path)
    with pytest.raises(DatasetError, match="has no similarities of texts"):
        filter_sessions(raw_files(path), tmp_path / "out")
    report = filter_sessions(raw_files(path), tmp_path / "out", encoder=FakeEncoder())
    [found] = report.subsets
    assert (found.subset, found.sessions, found.kept, found.removed["multi-turn"]) == ("circo_val", 2, 1, 1)
    kept = json.loads((tmp_path / "out/raw/circo_val.json").read_text("utf-8"))
    assert kept["dataset_name"] == "circo" and kept["config"] == HEAD["config"]
    assert kept["results"] == [released(extra={"kept": [1, None, "ü"]})]
    public = json.loads((tmp_path / "out/public/circo_val.json").read_text("utf-8"))
    assert public == [{
        "session_id": "circo_val_0000", "subset": "circo_val", "ground_truth_ids": ["z"], "num_turns": 2,
        "turns": [{"turn": 1, "reference_image_id": "a", "relative_caption": "more red"},
                  {"turn": 2, "reference_image_id": "b", "relative_caption": "Add blue"}]}]
    for form in ("public", "raw"):
        assert check("circled", tmp_path / "out" / form / "circo_val.json").ok
    write_sessions(tmp_path / "again.json", read_sessions(tmp_path / "out/public/circo_val.json"))
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "out/public/circo_val.json").read_bytes()


def test_nothing_left_is_a_file_of_no_session(tmp_path):
    report = filter_sessions(raw_files(released_file(tmp_path, [])), tmp_path / "out", encoder=FakeEncoder())
    assert report.subsets[0].kept == 0
    assert json.loads((tmp_path / "out/public/circo_val.json").read_text()) == []
    assert json.loads((tmp_path / "out/raw/circo_val.json").read_text())["results"] == []


def test_other_files_are_refused(tmp_path):
    (tmp_path / "public.json").write_text("[]")
    with pytest.raises(DatasetError, match="is not a raw file of sessions"):
        raw_files(tmp_path / "public.json")
    (tmp_path / "public.json").write_text('{"results": []}')
    with pytest.raises(DatasetError, match="has no dataset_name"):
        raw_files(tmp_path)
    for name in ("/etc/x", "../x", "a\\b", ".x", "c:x", "a\nb", "😀" * 51):     # what would be written elsewhere
        (tmp_path / "public.json").write_text(json.dumps({"dataset_name": name, "results": []}))
        with pytest.raises(DatasetError, match="cannot name a file"):
            raw_files(tmp_path)
    (tmp_path / "public.json").unlink()
    with pytest.raises(DatasetError, match="contains no raw file of sessions"):
        raw_files(tmp_path)
    released_file(tmp_path)
    (tmp_path / "copy.json").write_bytes((tmp_path / "circo.json").read_bytes())
    with pytest.raises(DatasetError, match="several files of the subset 'circo_val'"):
        raw_files(tmp_path)
    bad = released_file(tmp_path, [{"query_id": "1", "reference_image_id": "a"}])
    (tmp_path / "copy.json").unlink()
    with pytest.raises(DatasetError, match="'success' is missing"):
        filter_sessions(raw_files(bad), tmp_path / "out", encoder=FakeEncoder())


@pytest.mark.parametrize(("cosine", "dropped"), [(0.799999, None), (0.8, "redundancy")])
def test_a_text_whose_cosine_is_tau_repeats_another(cosine, dropped):
    found = why_dropped(RawResult.model_validate(released()), FilterSettings(tau=0.8), lambda result: [(1, cosine)])
    assert (found and found.stage) == dropped


def test_what_only_the_filters_of_quality_drop_is_written_apart(tmp_path):
    """CIRCLED's Table 5, "w/o quality filter": filters 3 and 4, of sessions that pass 1 and 2."""
    path = released_file(tmp_path, [
        released(), released((50, 81, 4), **THREE), released(texts=("more red", "red more")),
        released((50, 40), success=False), released((4,), ("x",), ("a",)), released(images=("a", "a"))])
    report = filter_sessions(raw_files(path), tmp_path / "out", encoder=FakeEncoder(), write_excluded=True)
    assert [one.relative_to(tmp_path) .as_posix() for one in report.excluded] == ["out/excluded/circo_val.json"]
    rank, redundant = read_sessions(report.excluded[0])
    assert [turn.text for turn in rank.turns] == list(THREE["texts"])
    assert [turn.text for turn in redundant.turns] == ["more red", "red more"]
    assert [rank.session_id, redundant.session_id] == ["circo_val_0000", "circo_val_0001"]
    assert not filter_sessions(raw_files(path), tmp_path / "plain", encoder=FakeEncoder()).excluded
    assert not (tmp_path / "plain/excluded").exists()
