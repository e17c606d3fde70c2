from __future__ import annotations

import json

import pytest

from cir_core.datasets.files.image_files import ImageFolder
from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.errors import DatasetError
from cir_core.registry.checking import check
from cir_core.registry.kinds import KINDS, domain_named, domain_of, domain_of_targets, read_benchmark
from tests.fakes.fashioniq_folder import QUERIES, draw_images, write_fashioniq


def files(root, *paths):
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()
    return root


@pytest.mark.parametrize(("there", "found"), [
    (["images/a.png"], "images/a.png"),
    (["images/a.JPEG"], "images/a.JPEG"),                    # another extension, the folder as named
    (["a.jpg"], "a.jpg"),                                    # a candidate further down the list
    (["deep/er/a.webp"], "deep/er/a.webp"),                  # anywhere
    (["x/a.png", "b/images/a.png"], "b/images/a.png"),       # whose folders are most alike
    (["z/a.png", "y/a.png"], "y/a.png"),                     # of equals the first
    (["images/a.jpg", "images/a.png"], "images/a.png"),
    (["images/a.txt", "images/ab.png", "images/b.a.png"], None),
    ([], None),
])
def test_an_image_is_found_in_the_layouts_of_releases(tmp_path, there, found):
    folder = ImageFolder(files(tmp_path, *there), lambda image_id: (f"./images/{image_id}.png", f"{image_id}.png"))
    assert folder.find("a") == found
    assert folder.missing(["a", "nope"]) == (["nope"] if found else ["a", "nope"])


def test_a_path_that_leads_out_of_the_root_is_not_followed(tmp_path):
    files(tmp_path, "secret.png", "root/b.png")
    folder = ImageFolder(tmp_path / "root", lambda image_id: ("../secret.png", str(tmp_path / "secret.png")))
    assert folder.find("a") is None


def test_linked_folders_are_looked_into_once(tmp_path):
    files(tmp_path, "disk/a.png")
    (tmp_path / "root").mkdir()
    (tmp_path / "root/linked").symlink_to(tmp_path / "disk", target_is_directory=True)
    (tmp_path / "disk/loop").symlink_to(tmp_path / "root", target_is_directory=True)
    assert ImageFolder(tmp_path / "root", lambda image_id: (f"images/{image_id}.jpg",)).find("a") == "linked/a.png"


def test_folders_are_listed_once_however_many_images_there_are(tmp_path, monkeypatch):
    import os

    files(tmp_path, *(f"images/{number}.png" for number in range(50)))
    listed = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: listed.append(str(path)) or scandir(path))
    folder = ImageFolder(tmp_path, lambda image_id: (f"images/{image_id}.png",))
    assert folder.missing(map(str, range(60))) == [str(number) for number in range(50, 60)]
    # The candidates' folder, then for what is not there the whole tree: the root and that folder.
    assert len(listed) == 3


@pytest.mark.parametrize("name", ["nope", "file"])
def test_a_root_that_is_no_folder(tmp_path, name):
    (tmp_path / "file").touch()
    with pytest.raises(DatasetError, match="folder of images"):
        ImageFolder(tmp_path / name, lambda image_id: ())


def test_a_report_has_counts_and_missing_images(tmp_path):
    root = write_fashioniq(tmp_path / "fiq")
    draw_images(tmp_path / "pictures/images", "B01", "B02", "B04")
    report = check("fashioniq", root, images=tmp_path / "pictures")
    # Two queries over four images; "is green and is not red" has six words, "is white" two.
    assert report.counts == {
        "queries": 2, "images": 4, "reference images": 2, "target images": 2, "targets of a query, mean": 1.0,
        "targets of a query, most": 1, "words of a text, mean": 4.0,
    }
    assert (report.image_count, report.missing_count, report.missing_images) == (4, 1, ("B03",))
    assert not report.fault_count and not report.ok
    assert any("1 empty captions" in note for note in report.notes)
    draw_images(tmp_path / "pictures", "B03", ending=".png")
    assert check("fashioniq", root, images=tmp_path / "pictures").ok


def test_every_fault_is_named(tmp_path):
    strange = {"candidate": "B01", "target": "B99", "captions": ["x"]}
    lacking = {"candidate": "B01", "captions": ["x"]}
    root = write_fashioniq(tmp_path, [QUERIES[0], strange, lacking], split=["B01", "B02", "B02"])
    report = check("fashioniq", root)
    assert report.counts["queries"] == 1 and report.fault_count == 3
    told = [str(fault) for fault in report.faults]
    assert any("split.dress.val.json, record 2: 'B02' occurs twice" in one for one in told)
    assert any("cap.dress.val.json, record 1: 'B99' is not in" in one for one in told)
    assert any("cap.dress.val.json, record 2: 'target' is missing" in one for one in told)
    json.dumps(report.as_json(), allow_nan=False)


@pytest.mark.parametrize(("kind", "content"), [
    *((name, b"\x00\xff nonsense") for name, kind in KINDS.items() if name not in ("sample", "fashioniq")),
    *((name, content) for name in KINDS if name not in ("sample", "fashioniq")
      for content in (b"", b"{}", b"[]")),
    ("hp-fashioniq", b'{"user_1": {"question_set_1": {"sen'),
    ("soft-multi-target", b'[{"a": NaN}]'),
    ("soft-candidates", b"[]]"),
    ("trec-run", b"1 Q0 a 1 nan tag\r\n"),
    ("circled", b"[3, null]"),
    ("circus-audit", b'{"metadata": {"aggregation": 3}}'),
    ("circus-audit", b'{"metadata": [], "samples": {}}'),
    ("circus-traces", b'{"query_idx": 1}\n{"query_idx": 1}\n'),
    ("circus-traces", b'{"query_idx": -1}\n'),
    ("cirr-submission", b'{"version": "rc2"}'),
    ("circo", b'[{"id": 0}]'),
])
def test_whatever_a_file_holds_is_a_fault_and_not_an_error(tmp_path, kind, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    report = check(kind, path)
    assert report.fault_count and not report.ok
    for fault in report.faults:
        assert str(path) in fault.file and fault.problem and fault.remedy
        assert not fault.problem.endswith(".") and str(fault).endswith(".")


def test_a_folder_of_another_data_set_is_a_fault(tmp_path):
    report = check("fashioniq", tmp_path)
    assert report.fault_count == 1 and "cap.dress.val.json" in str(report.faults[0])
    assert check("cirr", write_fashioniq(tmp_path)).fault_count == 1


@pytest.mark.parametrize(("arguments", "options", "sentence"), [
    (("nope", "x"), {}, "no kind of data set 'nope'. There are: sample, fashioniq"),
    (("fashioniq", "x/y"), {}, "x/y is missing"),
    (("circo-submission", "x"), {"annotations": "gone"}, "gone is missing"),
    (("hp-fashioniq", "x"), {"split": "val"}, "hp-fashioniq takes no split"),
    (("circo", "x"), {"pool": "x"}, "circo takes no pool"),
])
def test_what_is_asked_wrongly_is_an_error(tmp_path, arguments, options, sentence):
    (tmp_path / "x").touch()
    kind, path = arguments
    paths = {key: tmp_path / value if key != "split" else value for key, value in options.items()}
    with pytest.raises(DatasetError, match=sentence):
        check(kind, tmp_path / path, **paths)


def test_images_are_not_looked_for_where_none_are_named(tmp_path):
    path = tmp_path / "run"
    path.write_text("1 Q0 a 1 0.5 tag\n")
    with pytest.raises(DatasetError, match="names no images"):
        check("trec-run", path, images=tmp_path)


def test_ids_that_stand_twice_are_faults(tmp_path):
    split = tmp_path / "split.json"
    split.write_text('["B01", "B02", "B01"]')
    multi = tmp_path / "multi.json"
    multi.write_text(json.dumps([{
        "reference_image_name": "B01", "threshold": 0.5, "target_image_name": "B02", "relative_captions": "x",
        "confidence_scores": {"B02": 0.9},
    }]))
    report = check("soft-multi-target", multi, pool=split)
    assert [str(fault) for fault in report.faults] == [
        f"{multi}, pool 'gallery': image 'B01' occurs more than once. Keep one of them."]
    split.write_text('{"B01": "./a/B01.png", "B02": "./a/B02.png"}')  # as CIRR's split files
    assert check("soft-multi-target", multi, pool=split).counts["images"] == 2
    split.write_text("[1, 2]")
    assert "it is not a list of image names" in str(check("soft-multi-target", multi, pool=split).faults[0])


def test_traces_and_runs_are_counted(tmp_path):
    traces = tmp_path / "traces.jsonl"
    traces.write_text("".join(json.dumps(one) + "\n" for one in [
        {"dataset": "cirr", "query_idx": 5, "hidden_category": "unresolved", "validated": True},
        {"dataset": "cirr", "query_idx": 6, "hidden_category": "unresolved", "validated": False},
        {"dataset": "circo", "query_idx": 5, "hidden_category": "composition_required", "validated": None},
    ]))
    assert check("circus-traces", traces).counts == {
        "queries": 3, "queries, circo": 1, "queries, cirr": 2, "composition_required": 1, "unresolved": 2,
        "valid": 1, "not valid": 1, "not decided": 1,
    }
    run = tmp_path / "run.txt"
    run.write_text("1 Q0 a 1 0.9 mine\n1 Q0 b 2 0.8 mine\n2 Q0 c 1 0.7 mine\n")
    assert check("trec-run", run).counts == {
        "system": "mine", "queries": 2, "images of a query, least": 1, "images of a query, most": 2}
    qrels = tmp_path / "qrels"
    qrels.write_text("1 0 a 1\n1 0 b 0\n2 0 c 0\n")
    assert check("trec-qrels", qrels).counts == {
        "queries": 2, "judgements": 3, "relevant": 1, "queries without a relevant image": 1}


def test_benchmarks_by_kind(tmp_path):
    root = write_fashioniq(tmp_path)
    benchmark = read_benchmark("fashioniq", root, caption_mode="separate")
    assert [query.query_id for query in benchmark.queries] == ["dress:0:0", "dress:0:1", "dress:1:0"]
    with pytest.raises(DatasetError, match=r"no queries that could be ranked\. Benchmarks are: sample"):
        read_benchmark("hp-fashioniq", root)
    (tmp_path / "none.json").write_text("[]")
    with pytest.raises(DatasetError, match="contains no query of soft-multi-target"):
        read_benchmark("soft-multi-target", tmp_path / "none.json")
    with pytest.raises(DatasetError, match="circled takes no caption mode"):
        read_benchmark("circled", root, caption_mode="first")


# --- what language models are told that a data set's images show -----------------------------

def benchmark(kind, *, dataset="", pools=("all",), reference="B001"):
    queries = (BenchmarkQuery("0", reference, "red", ("x",)),)
    return Benchmark(kind, "val", queries, dict.fromkeys(pools), lambda image_id: (), dataset=dataset)


@pytest.mark.parametrize(("of", "expected"), [
    (benchmark("sample"), "garment"),
    (benchmark("fashioniq", pools=("dress", "shirt")), "garment"),
    (benchmark("cirr"), "scene"),
    (benchmark("lasco"), "scene"),
    (benchmark("circo"), "circo"),
    (benchmark("mbeir", dataset="cirr"), "scene"),
    (benchmark("mbeir", dataset="CIRCO"), "circo"),
    (benchmark("mbeir", dataset="fashioniq_dress"), "garment"),
    (benchmark("mbeir", dataset="nights"), None),
    (benchmark("mbeir"), None),
    (benchmark("circled", pools=("cirr_val",)), "scene"),
    (benchmark("circled", pools=("fashioniq_dress_val", "fashioniq_shirt_val")), "garment"),
    (benchmark("circled", pools=("cirr_val", "circo_val")), None),
    (benchmark("soft-multi-target", reference="dev-244-0-img1"), "scene"),
    (benchmark("soft-single-target", reference="B00A3F9MJE"), "garment"),
])
def test_the_data_set_says_it_or_nobody(of, expected):
    assert domain_of(of) == expected


@pytest.mark.parametrize(("files", "expected"), [
    ([("cirr", "dev-244-0-img1")], "scene"),
    ([("mine", "dev-244-0-img1"), ("cirr", "a")], "scene"),
    ([("shirt", "B00A3F9MJE"), ("dress", "B00A3F9MJF")], "garment"),
    ([("circo", "000000000001")], "circo"),
    ([("fashioniq_dress", "a")], "garment"),
    ([("shirt", "B00A3F9MJE"), ("cirr", "dev-244-0-img1")], None),
    ([("shirt", "B00A3F9MJE"), ("mine", "a")], None),
    ([], None),
])
def test_files_of_targets_say_it_by_their_names_and_images(files, expected):
    assert domain_of_targets(files) == expected


@pytest.mark.parametrize("name", ["", "_", "own_val", "cirruscloud", "mycirr"])
def test_a_name_that_is_only_like_a_known_one_says_nothing(name):
    assert domain_named(name) is None
