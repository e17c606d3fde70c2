"""``cirque datasets`` as a person types it."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from cir_core.errors import DatasetError, GalleryError
from cir_core.gallery.gallery import open_gallery
from cir_core.registry.kinds import KINDS
from cli.galleries import datasets as commands
from cli.main import app
from tests.fakes.encoder import FakeEncoder
from tests.fakes.fashioniq_folder import COLOURS, QUERIES, draw_images, write_fashioniq
from tests.integration.homes import command_home  # noqa: F401

pytestmark = pytest.mark.sqlite   # nothing here is kept in a database


@pytest.fixture
def cirque(home, monkeypatch):
    monkeypatch.setattr(commands, "open_encoder", lambda spec: FakeEncoder())
    return lambda *arguments: CliRunner().invoke(app, ["datasets", *map(str, arguments)])


@pytest.fixture
def fashioniq(tmp_path):
    return write_fashioniq(tmp_path / "fiq")


def test_the_list_has_every_kind(cirque):
    result = cirque("list")
    assert result.exit_code == 0
    for kind in KINDS.values():
        assert kind.name in result.stdout and kind.expects in result.stdout


def test_a_good_copy_is_counted(cirque, fashioniq):
    result = cirque("check", "fashioniq", fashioniq)
    assert result.exit_code == 0, result.output
    assert "No faults." in result.stdout and "Note: 1 empty captions" in result.stdout
    counts = dict(line.rsplit(maxsplit=1) for line in result.stdout.splitlines() if line[-2:].strip().isdigit())
    assert {name.strip(): number for name, number in counts.items()}["queries"] == "2"


def test_faults_end_with_1_and_name_file_and_record(cirque, tmp_path):
    strange = {"candidate": "B01", "target": "[/b] :cat:", "captions": ["x"]}
    root = write_fashioniq(tmp_path / "fiq", [QUERIES[0], strange])
    result = cirque("check", "fashioniq", root)
    assert result.exit_code == 1
    printed = " ".join(result.stdout.split())
    assert "1 fault:" in printed and "cap.dress.val.json, record 1: '[/b] :cat:' is not in" in printed


def test_missing_images_end_with_1(cirque, fashioniq, tmp_path):
    draw_images(tmp_path / "pictures", "B01", "B02", "B04")
    result = cirque("check", "fashioniq", fashioniq, "--images", tmp_path / "pictures")
    assert result.exit_code == 1
    assert "Images: 3 of 4" in result.stdout and "missing: B03" in result.stdout
    draw_images(tmp_path / "pictures", "B03", ending=".png")
    assert cirque("check", "fashioniq", fashioniq, "--images", tmp_path / "pictures").exit_code == 0


def test_json_is_all_there_is_on_standard_output(cirque, tmp_path):
    root = write_fashioniq(tmp_path / "fiq", QUERIES[:1] * 30, split=["B01"])
    result = cirque("check", "fashioniq", root, "--images", tmp_path, "--json")
    report = json.loads(result.stdout)
    assert result.exit_code == 1 and report["kind"] == "fashioniq" and report["ok"] is False
    assert report["fault_count"] == len(report["faults"]) == 30
    assert report["faults"][29]["record"] == "record 29" and report["faults"][29]["remedy"]
    assert report["images"] == {"root": str(tmp_path), "images": 1, "missing": 1, "first_missing": ["B01"]}


def test_a_submission_is_checked_against_its_benchmark(cirque, tmp_path):
    (tmp_path / "val.json").write_text(json.dumps([{
        "reference_img_id": 1, "target_img_id": 2, "relative_caption": "x", "shared_concept": "y",
        "gt_img_ids": [2], "id": 0, "semantic_aspects": ["addition"],
    }]))
    (tmp_path / "sub.json").write_text(json.dumps({"1": [3]}))
    result = cirque("check", "circo-submission", tmp_path / "sub.json", "--annotations", tmp_path / "val.json")
    assert result.exit_code == 1 and "sub.json" in result.stdout
    (tmp_path / "sub.json").write_text(json.dumps({"0": list(range(2, 52))}))
    result = cirque("check", "circo-submission", tmp_path / "sub.json", "--annotations", tmp_path / "val.json")
    assert result.exit_code == 0, result.output


def test_a_benchmark_becomes_a_gallery_under_its_own_ids(cirque, fashioniq, tmp_path):
    draw_images(tmp_path / "pictures/dress", *COLOURS)
    result = cirque("index", "fashioniq", fashioniq, "--images", tmp_path / "pictures")
    assert result.exit_code == 0, result.output
    assert "Gallery fashioniq-val: 4 images" in result.stdout
    gallery = open_gallery("fashioniq-val", home=tmp_path / "home")
    assert list(gallery.ids) == list(COLOURS)  # the pool's order decides ties
    # The list that was indexed stays, for `cirque index --manifest`.
    lines = (tmp_path / "home/manifests/fashioniq-val.jsonl").read_text().splitlines()
    assert json.loads(lines[0]) == {"id": "B01", "path": "dress/B01.jpg"}
    again = cirque("index", "fashioniq", fashioniq, "--images", tmp_path / "pictures", "--name", "fashioniq-val")
    assert "4 unchanged" in again.stdout


def m_beir(root, name, ids):
    (root / "query/test").mkdir(parents=True)
    (root / "cand_pool").mkdir()
    (root / f"query/test/mbeir_{name}_task7_test.jsonl").write_text(json.dumps({
        "qid": "1", "query_txt": "is green", "query_img_path": f"{ids[0]}.jpg", "pos_cand_list": [f"{name}:{ids[1]}"],
    }) + "\n")
    (root / f"cand_pool/mbeir_{name}_task7_cand_pool.jsonl").write_text("".join(
        json.dumps({"did": f"{name}:{image_id}", "img_path": f"{image_id}.jpg"}) + "\n" for image_id in ids))
    return root


def test_data_sets_in_m_beir_s_form_have_a_gallery_each(cirque, tmp_path):
    pictures = draw_images(tmp_path / "pictures", *COLOURS)
    for name, ids in {"cirr": ("B01", "B02"), "circo": ("B03", "B04")}.items():
        result = cirque("index", "mbeir", m_beir(tmp_path / name, name, ids), "--images", pictures)
        assert f"Gallery mbeir-{name}-test: 2 images" in result.stdout, (result.output, result.exception)
    assert open_gallery("mbeir-cirr-test", home=tmp_path / "home").ids == ("cirr:B01", "cirr:B02")


def test_a_gallery_of_another_data_set_is_not_emptied(cirque, fashioniq, tmp_path):
    pictures = draw_images(tmp_path / "pictures", *COLOURS)
    other = m_beir(tmp_path / "cirr", "cirr", ("B01", "B02"))
    assert cirque("index", "fashioniq", fashioniq, "--images", pictures, "--name", "mine").exit_code == 0
    refused = cirque("index", "mbeir", other, "--images", pictures, "--name", "mine")
    assert isinstance(refused.exception, DatasetError)
    assert "contains 4 images, none of them of mbeir-cirr-test" in str(refused.exception)
    assert "--name NAME" in str(refused.exception)
    assert len(open_gallery("mine", home=tmp_path / "home").ids) == 4
    lines = (tmp_path / "home/manifests/mine.jsonl").read_text().splitlines()
    assert len(lines) == 4  # the list of what is there stays too


def test_the_caption_mode_of_a_check(cirque, fashioniq):
    whole = cirque("check", "fashioniq", fashioniq, "--caption-mode", "separate", "--json")
    # The first query has two captions, the second one and an empty one.
    assert json.loads(whole.stdout)["counts"]["queries"] == 3
    refused = cirque("check", "hp-fashioniq", fashioniq, "--caption-mode", "first")
    assert isinstance(refused.exception, DatasetError) and "takes no caption mode" in str(refused.exception)


def test_converting(cirque, fashioniq, tmp_path):
    result = cirque("convert", "fashioniq", fashioniq, "--to", "mbeir", "--out", tmp_path / "m")
    assert result.exit_code == 0, (result.output, result.exception)
    assert result.stdout.count("Wrote ") == 3 and "Note: 1 empty captions" in result.stdout
    assert cirque("check", "mbeir", tmp_path / "m").exit_code == 0
    result = cirque("convert", "mbeir", tmp_path / "m", "--to", "trec-qrels", "--out", tmp_path / "qrels.txt")
    assert (tmp_path / "qrels.txt").read_text() == "dress:0 0 B02 1\ndress:1 0 B04 1\n", result.exception
    refused = cirque("convert", "fashioniq", fashioniq, "--to", "circled", "--out", tmp_path / "x")
    assert "fashioniq cannot be written as 'circled'. It can be written as: mbeir" in str(refused.exception)


def test_images_that_are_missing_are_refused_until_one_says_so(cirque, fashioniq, tmp_path):
    draw_images(tmp_path / "pictures", "B01", "B02", "B04")
    arguments = ("index", "fashioniq", fashioniq, "--images", tmp_path / "pictures", "--name", "three")
    result = cirque(*arguments)
    assert isinstance(result.exception, DatasetError)
    assert "1 of 4 images are not under" in str(result.exception) and "--allow-missing" in str(result.exception)
    assert not (tmp_path / "home/manifests").exists()
    result = cirque(*arguments, "--allow-missing")
    assert "Gallery three: 3 images" in result.stdout and "1 of 4 images are missing" in result.stdout


@pytest.mark.parametrize(("arguments", "sentence"), [
    (("check", "nope"), "no kind of data set 'nope'"),
    (("check", "circo"), "Say where circo is: the folder with annotations/"),
    (("check", "sample"), "has not been drawn yet"),
    (("check", "fashioniq", "/no/where"), "/no/where is missing"),
    (("index", "fashioniq", "FIQ"), "Give the folder with the images: --images"),
    (("index", "fashioniq", "FIQ", "--images", "/no/where"), "folder of images /no/where is missing"),
    (("index", "fashioniq", "FIQ", "--images", "FIQ", "--allow-missing"), "4 of 4 images are not under"),
    (("index", "hp-fashioniq", "FIQ", "--images", "FIQ"), "has no queries that could be ranked"),
    (("index", "circo", "CIRCO", "--images", "FIQ"), "do not list the gallery"),
])
def test_mistakes_are_sentences(cirque, fashioniq, tmp_path, arguments, sentence):
    circo = tmp_path / "val.json"
    circo.write_text(json.dumps([{
        "reference_img_id": 1, "target_img_id": 2, "relative_caption": "x", "shared_concept": "y",
        "gt_img_ids": [2], "id": 0, "semantic_aspects": [],
    }]))
    result = cirque(*({"FIQ": fashioniq, "CIRCO": circo}.get(one, one) for one in arguments))
    assert isinstance(result.exception, DatasetError) and sentence in str(result.exception)


def test_a_bad_name_is_refused_before_images_are_looked_for(cirque, fashioniq):
    result = cirque("index", "fashioniq", fashioniq, "--images", fashioniq, "--name", "a/b")
    assert isinstance(result.exception, GalleryError) and "cannot be the name" in str(result.exception)
