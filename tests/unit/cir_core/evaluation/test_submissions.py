"""Submissions to CIRCO's and CIRR's servers: what is written, and what is refused."""

import json

import pytest

from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.readers import circo as circo_files
from cir_core.datasets.readers import cirr as cirr_files
from cir_core.errors import DatasetError
from cir_core.evaluation.runs import submissions
from cir_core.evaluation.runs.records import Run
from cir_core.evaluation.runs.submissions import (
    read_circo_submission,
    read_cirr_submission,
    write_circo,
    write_cirr,
)
from tests.fakes.benchmark_files import CIRR_NAMES as NAMES
from tests.fakes.benchmark_files import as_windows_saves, circo, cirr, coco_images, put

FIFTY = tuple(map(str, range(70, 20, -1)))


@pytest.fixture
def circo_val(tmp_path):
    circo(tmp_path / "circo")
    coco_images(tmp_path / "circo")  # ids 1 to 70
    return circo_files.read_benchmark(tmp_path / "circo")


@pytest.fixture
def cirr_val(tmp_path):
    """Query 12 has the reference 0, query 15 the reference 4; both have the image set 0 to 5."""
    return cirr_files.read_benchmark(cirr(tmp_path / "cirr"))


def circo_run(**changes):
    return Run("mine", {"0": FIFTY, "1": FIFTY[::-1], **changes})


def cirr_run(**changes):
    return Run("mine", {"12": tuple(NAMES), "15": tuple(NAMES[::-1]), **changes})


def test_circo_takes_the_best_fifty_as_numbers(tmp_path, circo_val):
    run = Run("mine", {"1": FIFTY[::-1], "0": (*FIFTY, "1", "2")})
    written = write_circo(tmp_path / "out" / "s.json", run, circo_val)
    assert written.paths == (tmp_path / "out" / "s.json",) and written.notes == ()
    content = json.loads(written.paths[0].read_text())
    assert list(content) == ["0", "1"] and content["0"] == list(range(70, 20, -1))
    back = read_circo_submission(written.paths[0], circo_val)
    assert back == Run("s", {"0": FIFTY, "1": FIFTY[::-1]})
    assert written.paths[0].read_bytes() == write_circo(tmp_path / "again", back, circo_val).paths[0].read_bytes()


def test_circo_ids_may_be_strings(tmp_path, circo_val):
    path = put(tmp_path / "s.json", {"0": ["000000000022", 33], "1": ["11"]})
    run = read_circo_submission(as_windows_saves(path), circo_val)
    assert run.rankings == {"0": ("22", "33"), "1": ("11",)}
    assert run.notes == ("2 of 2 lists do not have 50 images, which the server expects but does not check.",)
    assert read_circo_submission(path).rankings == run.rankings


@pytest.mark.parametrize(("content", "sentence"), [
    ({"0": [22]}, "key '1': it is missing. A submission ranks every query"),
    ({"0": [22], "1": [22], "2": [22]}, "key '2': it is not a query of these 2"),
    ({"0": [22], "01": [22]}, "key '01': it is not a query"),
    ({"0": [22], "1": [22, 33, 22]}, "key '1': the image '22' occurs twice"),
    ({"0": [22], "1": [22, "0022"]}, "key '1': the image '22' occurs twice"),
    ({"0": [22], "1": [99]}, "key '1': the image '99' is not in this split"),
    ({"0": [22], "1": [2.5]}, "key '1': its value is not a list of image ids"),
    ({"0": [22], "1": 22}, "key '1': its value is not a list"),
    ([[22], [33]], "does not contain a JSON object"),
])
def test_circo_refuses(tmp_path, circo_val, content, sentence):
    with pytest.raises(DatasetError, match=r"s\.json.*" + sentence):
        read_circo_submission(put(tmp_path / "s.json", content), circo_val)


@pytest.mark.parametrize(("text", "sentence"), [
    ('{"0": [22], "0": [33]}', "key '0': it occurs twice in one object"),
    ('{"0": [22], "1": [NaN]}', "NaN is not a number"),
    ('{"0": [22], "1": [2', "it is not valid JSON"),
])
def test_broken_submissions(tmp_path, circo_val, text, sentence):
    (tmp_path / "s.json").write_text(text)
    with pytest.raises(DatasetError, match=r"s\.json.*" + sentence):
        read_circo_submission(tmp_path / "s.json", circo_val)


def test_a_file_that_cannot_be_read_is_one_fault(tmp_path, circo_val):
    (tmp_path / "s.json").write_text("{")
    faults = ValidationIssues(collect=True)
    assert read_circo_submission(tmp_path / "s.json", circo_val, faults).rankings == {} and faults.count == 1


@pytest.mark.parametrize(("run", "sentence"), [
    (Run("mine", {"0": FIFTY}), "key '1': it is missing"),
    (circo_run(**{"7": FIFTY}), "key '7': it is not a query of these 2"),
    (circo_run(**{"1": ("22", "b.jpg")}), "key '1': its value is not a list of image ids"),
    (circo_run(**{"1": ("22", "33", "22")}), "key '1': the image '22' occurs twice"),
])
def test_nothing_is_written_that_circo_would_refuse(tmp_path, circo_val, run, sentence):
    with pytest.raises(DatasetError, match=sentence):
        write_circo(tmp_path / "out" / "s.json", run, circo_val)
    assert not (tmp_path / "out").exists()


def test_cirr_takes_two_files(tmp_path, cirr_val):
    written = write_cirr(tmp_path / "out", cirr_run(), cirr_val)
    recall, subset = (json.loads(path.read_text()) for path in written.paths)
    assert [path.name for path in written.paths] == ["recall.json", "recall_subset.json"]
    assert list(recall) == ["version", "metric", "12", "15"] and recall["version"] == subset["version"] == "rc2"
    assert (recall["metric"], subset["metric"]) == ("recall", "recall_subset")
    assert recall["12"] == NAMES[1:51]  # without the reference 0
    assert recall["15"] == [name for name in NAMES[::-1] if name != NAMES[4]][:50]
    assert subset["12"] == NAMES[1:4] and subset["15"] == [NAMES[5], NAMES[3], NAMES[2]]  # set 0 to 5 without 4
    back = read_cirr_submission(tmp_path / "out", cirr_val)
    assert back.rankings["12"] == tuple(recall["12"]) and back.subset_rankings["15"] == tuple(subset["15"])
    assert read_cirr_submission(written.paths[1]).rankings == {}
    again = write_cirr((tmp_path / "a.json", tmp_path / "b.json"), back, cirr_val)
    assert [path.read_bytes() for path in again.paths] == [path.read_bytes() for path in written.paths]


def cirr_content(metric="recall", **changes):
    ranked = {"12": NAMES[1:51], "15": NAMES[5:55]} if metric == "recall" else {"12": NAMES[1:4], "15": NAMES[1:4]}
    return {"version": "rc2", "metric": metric, **ranked, **changes}


@pytest.mark.parametrize(("content", "sentence"), [
    (cirr_content(version="rc1"), "key 'version': it is 'rc1', not 'rc2'"),
    (cirr_content("recall@5"), "key 'metric': it is 'recall@5'. Set it to one of 'recall', 'recall_subset'"),
    ({"0": [22]}, "it has neither 'version' nor 'metric'. Check that it is a submission"),
    (cirr_content(**{"12": NAMES[1:50]}), "key '12': its list has 49 names, not 50. Give the best 50"),
    (cirr_content(**{"12": [*NAMES[1:50], NAMES[1]]}), f"key '12': the image '{NAMES[1]}' occurs twice"),
    (cirr_content(**{"12": NAMES[:50]}), f"key '12': it ranks its own reference '{NAMES[0]}'. Take"),
    (cirr_content(**{"12": [*NAMES[1:50], "dev-1.png"]}), "key '12': the image 'dev-1.png' is not in this split"),
    (cirr_content(**{"12": list(range(50))}), "key '12': its value is not a list of image names"),
    (cirr_content(**{"13": NAMES[1:51]}), "key '13': it is not a query of these 2"),
    (cirr_content("recall_subset", **{"15": NAMES[1:5]}), "key '15': its list has 4 names, not 3"),
    (cirr_content("recall_subset", **{"15": NAMES[3:6]}), f"key '15': it ranks its own reference '{NAMES[4]}'"),
    (cirr_content("recall_subset", **{"15": NAMES[5:8]}), f"key '15': the image '{NAMES[6]}' is not in the query's"),
])
def test_cirr_refuses(tmp_path, cirr_val, content, sentence):
    with pytest.raises(DatasetError, match=r"s\.json.*" + sentence):
        read_cirr_submission(put(tmp_path / "s.json", content), cirr_val)


def test_a_missing_pairid_and_every_other_fault_are_named(tmp_path, cirr_val):
    content = cirr_content(**{"12": NAMES[1:5]})
    del content["15"]
    faults = ValidationIssues(collect=True)
    assert read_cirr_submission(put(tmp_path / "s.json", content), cirr_val, faults).rankings == {}
    assert [(fault.record, fault.problem) for fault in faults.found] == [
        ("key '15'", "it is missing"), ("key '12'", "its list has 4 names, not 50")]


def test_cirr_files_are_small(tmp_path, cirr_val, monkeypatch):
    monkeypatch.setattr(submissions, "LARGEST", 300)
    with pytest.raises(DatasetError, match=r"s\.json: it has [\d,]+ bytes, and the server takes at most 300"):
        read_cirr_submission(put(tmp_path / "s.json", cirr_content()), cirr_val)
    with pytest.raises(DatasetError, match=r"recall\.json: it has"):
        write_cirr(tmp_path / "out", cirr_run(), cirr_val)


@pytest.mark.parametrize(("run", "sentence"), [
    (Run("mine", {"12": tuple(NAMES)}), "recall.json, key '15': it is missing"),
    (cirr_run(**{"15": tuple(NAMES[:50])}), "recall.json, key '15': its list has 49 names"),
    (cirr_run(**{"15": tuple(NAMES[5:])}), "recall_subset.json, key '15': its list has 1 names, not 3"),
    (cirr_run(**{"16": tuple(NAMES)}), "key '16': it is not a query"),
])
def test_nothing_is_written_that_cirr_would_refuse(tmp_path, cirr_val, run, sentence):
    with pytest.raises(DatasetError, match=sentence):
        write_cirr(tmp_path / "out", run, cirr_val)
    assert not (tmp_path / "out").exists()


def test_places_that_hold_or_take_no_submission(tmp_path, cirr_val):
    with pytest.raises(DatasetError, match=r"contains neither recall\.json nor recall_subset\.json"):
        read_cirr_submission(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(DatasetError, match=r"cannot be written: .* Choose another place"):
        write_cirr(tmp_path / "file", cirr_run(), cirr_val)
