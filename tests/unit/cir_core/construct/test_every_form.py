"""From the files of every data set to a benchmark of sessions."""

from __future__ import annotations

import json

import pytest
from PIL import Image

from cir_core.construct.filtering.files import filter_sessions, raw_files
from cir_core.construct.sessions.run import Construction, construct_sessions
from cir_core.construct.sessions.settings import ConstructionSettings
from cir_core.datasets.readers.circled import read_sessions
from cir_core.gallery.gallery import open_gallery
from cir_core.gallery.indexing import index_folder
from cir_core.registry.checking import check
from cir_core.registry.kinds import read_benchmark
from tests.fakes import benchmark_files as files
from tests.fakes.colour_person import ColourPerson
from tests.fakes.encoder import FakeEncoder

LEVELS = (0, 120, 250)
COLOURS = [(r, g, b) for r in LEVELS for g in LEVELS for b in LEVELS]
FAR = [(n, (7 * n + 11) % 27) for n in range(20)]      # pairs of colours that one text rarely bridges
TEXT = "shinier"


def fashioniq(root):
    ids = [f"B{n:02}" for n in range(27)]
    for category in ("dress", "shirt"):
        records = [files.fashioniq_record(ids[b], ids[a], TEXT, f"is number {n}") for n, (a, b) in enumerate(FAR)]
        files.fashioniq(root, category, records, ids)
    return root, ids


def cirr(root):
    ids = files.CIRR_NAMES[:27]
    def image_set(a, b):
        others = [n for n in range(6) if n not in (a, b)][:4]
        return {"id": 1, "members": [ids[n] for n in (a, b, *others)], "reference_rank": 0}

    records = [files.cirr_record(n, a, b, TEXT, img_set=image_set(a, b)) for n, (a, b) in enumerate(FAR)]
    return files.cirr(root, records, names=ids), ids


def circo(root):
    ids = [str(n + 1) for n in range(27)]
    records = [files.circo_record(n, reference_img_id=a + 1, target_img_id=b + 1, gt_img_ids=[b + 1, (b + 5) % 27 + 1],
                                  relative_caption=TEXT) for n, (a, b) in enumerate(FAR)]
    files.circo(root, records)
    files.coco_images(root, range(1, 28))
    return root, ids


def lasco(root):
    def image(n):
        return [n + 1, f"val2014/COCO_val2014_{n + 1:012}.jpg"]

    queries = [{"qid": n, "query-image": image(a), "query-text": TEXT, "target-image": image(b)}
               for n, (a, b) in enumerate(FAR)]
    files.put(root / "lasco_val.json", queries)
    files.put(root / "lasco_val_corpus.json", [{"id": n + 1, "path": image(n)[1]} for n in range(27)])
    return root, [str(n + 1) for n in range(27)]


def mbeir(root):
    ids = [f"8:{n}" for n in range(27)]
    pool = [{"did": one, "img_path": f"images/{n}.png"} for n, one in enumerate(ids)]
    queries = [{"qid": f"8:{100 + n}", "query_txt": TEXT, "query_img_path": f"images/{a}.png",
                "query_modality": "image,text", "pos_cand_list": [ids[b]]} for n, (a, b) in enumerate(FAR)]
    for path, lines in (("query/test/mbeir_cirr_task7_test.jsonl", queries),
                        ("cand_pool/mbeir_cirr_task7_cand_pool.jsonl", pool)):
        (root / path).parent.mkdir(parents=True)
        (root / path).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return root, ids


@pytest.mark.parametrize(("kind", "written", "mode", "subsets", "per_subset"), [
    ("fashioniq", fashioniq, "separate", ["fashioniq_dress_val", "fashioniq_shirt_val"], 40),
    ("fashioniq", fashioniq, "joined", ["fashioniq_dress_val", "fashioniq_shirt_val"], 20),
    ("fashioniq", fashioniq, "first", ["fashioniq_dress_val", "fashioniq_shirt_val"], 20),
    ("cirr", cirr, None, ["cirr_val"], 20), ("circo", circo, None, ["circo_val"], 20),
    ("lasco", lasco, None, ["lasco_val"], 20), ("mbeir", mbeir, None, ["cirr_test"], 20),
])
def test_a_data_set_becomes_a_benchmark(kind, written, mode, subsets, per_subset, tmp_path):
    root, ids = written(tmp_path / "files")
    benchmark = read_benchmark(kind, root, caption_mode=mode)
    photos, lines = tmp_path / "photos", []
    photos.mkdir()
    for number, image_id in enumerate(ids):
        Image.new("RGB", (8, 8), COLOURS[number]).save(photos / f"{number}.png")
        lines.append(json.dumps({"id": image_id, "path": f"{number}.png"}) + "\n")
    (tmp_path / "manifest.jsonl").write_text("".join(lines))
    index_folder(photos, name="g", encoder=FakeEncoder(), home=tmp_path / "home", manifest=tmp_path / "manifest.jsonl")
    gallery = open_gallery("g", home=tmp_path / "home")
    settings = ConstructionSettings(k=5)
    construction = Construction(benchmark, gallery, FakeEncoder(), ColourPerson(), settings, domain="scene")
    report = construct_sessions(construction, tmp_path / "built")
    assert list(report.counts) == subsets and {one.queries for one in report.counts.values()} == {per_subset}
    assert report.card["caption_mode"] == (mode or ("m-beir" if kind == "fashioniq" else "single"))
    filtered = filter_sessions(raw_files(tmp_path / "built"), tmp_path / "kept")
    assert sum(one.kept for one in filtered.subsets) >= 1
    for path in filtered.outputs:
        sessions = json.loads(path.read_text())
        assert [one["session_id"] for one in sessions] == [f"{path.stem}_{n:04d}" for n in range(len(sessions))]
        assert {one["subset"] for one in sessions} <= {path.stem}
        read = read_sessions(path) if sessions else ()
        for one in read:
            assert one.turns[0].text and set(one.target_ids) <= set(gallery.ids)
            assert {turn.reference_id for turn in one.turns} <= set(gallery.ids)
        if sessions:
            assert check("circled", path).ok and check("circled", tmp_path / "kept/raw" / path.name).ok
