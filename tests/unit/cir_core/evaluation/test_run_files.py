"""One reader for every run file, told apart by content."""

import json
from pathlib import Path
from typing import Any

import pytest

from cir_core.datasets.files.issues import ValidationIssues
from cir_core.errors import DatasetError
from cir_core.evaluation.runs.files import read_run
from cir_core.evaluation.runs.records import Run
from cir_core.evaluation.runs.trec import write_trec_run


def saved(folder: Path, content: Any, name: str = "mine.json") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def test_trec_lines_have_their_tag_as_system(tmp_path):
    write_trec_run(tmp_path / "file.txt", Run("tag", {"q": ("a", "b")}))
    assert read_run(tmp_path / "file.txt") == Run("tag", {"q": ("a", "b")}, {"q": (2.0, 1.0)})


def test_circo_s_form_has_numbers_or_strings(tmp_path):
    path = saved(tmp_path, {"0": [22, 33], "1": ["44", "22"]})
    assert read_run(path) == Run("mine", {"0": ("22", "33"), "1": ("44", "22")})


def test_cirr_s_form_drops_version_and_metric(tmp_path):
    path = saved(tmp_path, {"version": "rc2", "metric": "recall", "12": ["a", "b"]})
    assert read_run(path) == Run("mine", {"12": ("a", "b")})


def test_the_subset_metric_gives_subset_rankings(tmp_path):
    path = saved(tmp_path, {"version": "rc2", "metric": "recall_subset", "12": ["a", "b", "c"]})
    assert read_run(path) == Run("mine", {}, {}, {"12": ("a", "b", "c")})


def test_scores_decide_the_order_and_equal_ones_stay(tmp_path):
    path = saved(tmp_path, {"q": {"a": 0.1, "c": 0.9, "b": 0.9, "d": 1}})
    assert read_run(path) == Run("mine", {"q": ("d", "c", "b", "a")}, {"q": (1.0, 0.9, 0.9, 0.1)})


@pytest.mark.parametrize("name", ["dress.val.pred.json", "cap.dress.val.json", "my-dress_run.json"])
def test_fashioniq_s_challenge_form_numbers_queries_within_the_category(tmp_path, name):
    records = [{"candidate": "B1", "captions": ["x", "y"], "ranking": ["B2", "B3"]},
               {"candidate": "B1", "captions": ["x", "y"], "ranking": ["B3"]}]
    run = read_run(saved(tmp_path, records, name))
    assert run.rankings == {"dress:0": ("B2", "B3"), "dress:1": ("B3",)}


def test_a_folder_is_one_run_named_after_it(tmp_path):
    for category in ("dress", "shirt"):
        saved(tmp_path / "mine", [{"ranking": ["B1"]}], f"{category}.val.pred.json")
    saved(tmp_path / "mine", "not part of it", ".hidden")
    assert read_run(tmp_path / "mine") == Run("mine", {"dress:0": ("B1",), "shirt:0": ("B1",)})


def test_cirr_s_two_files_are_one_run(tmp_path):
    paths = [saved(tmp_path, {"metric": "recall", "12": ["a"]}, "full.json"),
             saved(tmp_path, {"metric": "recall_subset", "12": ["b"]}, "subset.json")]
    assert read_run(paths) == Run("full", {"12": ("a",)}, {}, {"12": ("b",)})


def test_files_with_one_tag_keep_it_and_their_notes_name_the_file(tmp_path):
    paths = [saved(tmp_path, "q Q0 a 1 0.5 tag\nq Q0 b 2 0.5 tag\n", "one.run"),
             saved(tmp_path, "p Q0 a 1 0.5 tag\n", "two.run")]
    run = read_run(paths)
    assert (run.system, list(run.rankings)) == ("tag", ["q", "p"])
    assert run.notes[0].startswith("one.run: 1 queries have equal scores")


def test_a_mark_and_windows_ends_are_read(tmp_path):
    path = tmp_path / "mine.json"
    path.write_bytes('\ufeff{\r\n "0": [1,\r\n 2]}\r\n'.encode())
    assert read_run(path).rankings == {"0": ("1", "2")}


@pytest.mark.parametrize(("content", "problem"), [
    ({"q": ["a", "b", "a"]}, "query 'q': image 'a' occurs twice in its ranking"),
    ({"q": [1, "1"]}, "query 'q': image '1' occurs twice in its ranking"),
    ({"q": ["a", None]}, "query 'q': its ranking contains something that is not an image id"),
    ({"q": ["a", True]}, "query 'q': its ranking contains something that is not an image id"),
    ({"q": "a"}, "query 'q': it has neither a list of image ids nor an object of scores"),
    ('{"q": {"a": NaN}}', "query 'q': the score of image 'a' is nan, which is not a finite number"),
    ('{"q": {"a": -Infinity}}', "query 'q': the score of image 'a' is -inf, which is not a finite number"),
    ('{"q": {"a": 1' + "0" * 400 + "}}", "query 'q': the score of image 'a' is 1"),
    ({"q": {"a": "0.5"}}, "query 'q': the score of image 'a' is '0.5', which is not a finite number"),
    ('{"q": ["a"], "q": ["b"]}', "key 'q': it occurs twice in one object"),
    ({}, "it contains no query"),
    ('{"q": ["a", ', "it is not valid JSON"),
    ('[{"ranking": ["a"]}]', "it is a JSON array, and its name does not say FashionIQ's category"),
    ("plain words", "line 1: it has 2 fields, not 6"),
    ("", "it contains no line of a run"),
])
def test_a_bad_file_is_named_with_query_and_remedy(tmp_path, content, problem):
    path = saved(tmp_path, content)
    with pytest.raises(DatasetError) as raised:
        read_run(path)
    assert str(raised.value).startswith((f"{path}, {problem}", f"{path}: {problem}"))
    assert str(raised.value).count(". ") >= 1


def test_a_challenge_record_without_ranking_is_named(tmp_path):
    path = saved(tmp_path, [{"ranking": ["a"]}, {"captions": []}], "dress.json")
    with pytest.raises(DatasetError, match="record 1: it has no list 'ranking'"):
        read_run(path)


def test_a_query_in_two_files_is_a_fault_and_the_first_counts(tmp_path):
    paths = [saved(tmp_path, {"q": ["a"]}, "one.json"), saved(tmp_path, {"q": ["b"], "p": ["a"]}, "two.json")]
    with pytest.raises(DatasetError, match="query 'q': another file of the run has it too"):
        read_run(paths)
    faults = ValidationIssues(collect=True)
    assert read_run(paths, faults=faults).rankings == {"q": ("a",), "p": ("a",)}
    assert faults.count == 1


def test_faults_are_collected_and_the_rest_is_read(tmp_path):
    faults = ValidationIssues(collect=True)
    run = read_run(saved(tmp_path, '{"q": ["a", "a"], "p": ["b"], "r": {"a": NaN}}'), faults=faults)
    assert run.rankings == {"p": ("b",)}
    assert [fault.record for fault in faults.found] == ["query 'q'", "query 'r'"]


def test_an_empty_folder_and_a_missing_file_are_named(tmp_path):
    with pytest.raises(DatasetError, match="There is no run file in"):
        read_run(tmp_path)
    with pytest.raises(DatasetError, match=r"nowhere\.json is missing"):
        read_run(tmp_path / "nowhere.json")
