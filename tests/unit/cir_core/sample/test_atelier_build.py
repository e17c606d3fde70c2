"""The built gallery: FashionIQ's files, no answers in the manifest, resumable."""

from __future__ import annotations

import json
import re
from pathlib import Path

import cv2
import numpy as np
import pytest

from cir_core.errors import DatasetError
from cir_core.garments.lexicon import CATEGORY, COLOUR, GROUPS
from cir_core.sample.atelier.build import AtelierPaths, build_atelier, is_complete
from cir_core.sample.atelier.captions import PER_CATEGORY, make_triplets
from cir_core.sample.atelier.catalogue import Garment, catalogue
from cir_core.sample.atelier.draw import render
from cir_core.sample.atelier.draw.details import COUNT, motif
from cir_core.sample.atelier.ground_truth import read_attributes

SIZES = {"val": 30, "test": 24}
SEED = 8


def _build(folder: Path, **options: object) -> AtelierPaths:
    return build_atelier(folder, seed=SEED, sizes=SIZES, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> AtelierPaths:
    return _build(tmp_path_factory.mktemp("atelier"))


def test_images_and_marker(built: AtelierPaths) -> None:
    images = sorted(built.images.iterdir())
    assert len(images) == 24
    assert all(cv2.imread(str(image)).shape == (256, 256, 3) for image in images)
    marker = json.loads(built.marker.read_text())
    assert marker["seed"] == SEED and marker["counts"]["test"]["images"] == 24
    assert is_complete(built.folder)


def test_manifest_reveals_nothing(built: AtelierPaths) -> None:
    text = built.manifest.read_text()
    rows = text.splitlines()
    assert rows[0] == "id,path" and len(rows) == 25
    assert all(re.fullmatch(r"(AT[A-Z2-7]{8}),images/\1\.jpg", row) for row in rows[1:])
    values = {key for group in GROUPS for key in group.keys}
    assert not values & set(re.findall(r"[a-z]+", "\n".join(rows[1:])))


def test_split_files_list_each_item_once(built: AtelierPaths) -> None:
    listed = [item for category in CATEGORY.keys
              for item in json.loads(built.split(category, "test").read_text())]
    assert sorted(f"{item}.jpg" for item in listed) == sorted(p.name for p in built.images.iterdir())


def test_caption_files_have_fashioniqs_records(built: AtelierPaths) -> None:
    for category in CATEGORY.keys:
        ids = set(json.loads(built.split(category, "test").read_text()))
        records = json.loads(built.captions(category, "test").read_text())
        assert records
        for record in records:
            assert set(record) == {"target", "candidate", "captions"}
            assert record["target"] in ids and record["candidate"] in ids
            assert record["target"] != record["candidate"]
            assert len(record["captions"]) == 2 and all(record["captions"])


def test_answer_key_is_apart_and_complete(built: AtelierPaths) -> None:
    truth = read_attributes(built.folder, "test")
    assert truth == {g.item_id: dict(g.attributes) for g in catalogue(SEED, SIZES) if g.split == "test"}


def test_build_resumes_after_loss(tmp_path: Path) -> None:
    paths = _build(tmp_path, limit=6)
    images = sorted(paths.images.iterdir())
    before = {image.name: (image.read_bytes(), image.stat().st_mtime_ns) for image in images}
    images[0].unlink()
    images[3].unlink()
    (paths.images / ".ATBROKEN.jpg.x.part").write_bytes(b"half")
    paths.marker.unlink()
    seen: list[tuple[int, int]] = []
    _build(tmp_path, limit=6, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(4, 6), (5, 6), (6, 6)]
    after = {image.name: (image.read_bytes(), image.stat().st_mtime_ns) for image in paths.images.iterdir()}
    assert {name: data for name, (data, _) in after.items()} == {n: d for n, (d, _) in before.items()}
    assert after[images[1].name] == before[images[1].name]  # kept, not drawn again


def test_interrupted_build_is_not_complete(tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done == 3:
            raise Stop

    with pytest.raises(Stop):
        _build(tmp_path, limit=6, progress=stop)
    assert not is_complete(tmp_path)
    assert len(list((tmp_path / "images").glob("AT*.jpg"))) == 3


def test_another_recipe_redraws(tmp_path: Path) -> None:
    _build(tmp_path, limit=3)
    paths = build_atelier(tmp_path, seed=SEED + 1, sizes=SIZES, limit=3)
    assert len(list(paths.images.iterdir())) == 3


def test_unknown_split_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no split 'dev'"):
        _build(tmp_path, splits=("dev",))


def test_pool_draws_the_same_images(built: AtelierPaths, tmp_path: Path) -> None:
    paths = _build(tmp_path, workers=2)
    for image in built.images.iterdir():
        assert (paths.images / image.name).read_bytes() == image.read_bytes()


@pytest.mark.parametrize(("split", "least"), [
    pytest.param("test", 700, marks=pytest.mark.extended), ("val", 600),
])
def test_shipped_gallery_has_enough_queries(shipped: tuple[Garment, ...], split: str, least: int) -> None:
    garments = [g for g in shipped if g.split == split]
    triplets = make_triplets(garments, 1, PER_CATEGORY[split])
    assert len(triplets) >= least
    assert all(1 <= len(t.changed) <= 4 for t in triplets)
    assert make_triplets(garments, 1, PER_CATEGORY[split]) == triplets


# --- the drawing -----------------------------------------------------------------------------

DRESS = {
    "category": "dress", "colour": "teal", "second_colour": "white", "pattern": "plain",
    "sleeves": "short", "neckline": "crew", "length": "medium", "fit": "regular", "trim": "piping",
}


def test_same_arguments_give_the_same_bytes() -> None:
    first = render(DRESS, 4)
    assert first.shape == (256, 256, 3) and first.dtype == np.uint8
    assert first.tobytes() == render(DRESS, 4).tobytes()
    assert first.tobytes() != render(DRESS, 5).tobytes()


def test_other_sizes_can_be_drawn() -> None:
    assert render(DRESS, 4, size=96).shape == (96, 96, 3)


@pytest.mark.parametrize("change", [
    {"colour": "green"}, {"second_colour": "yellow"}, {"pattern": "stripes"}, {"sleeves": "long"},
    {"neckline": "vneck"}, {"length": "short"}, {"fit": "loose"}, {"trim": "belt"},
    {"category": "toptee"},
])
def test_each_attribute_changes_the_picture(change: dict[str, str]) -> None:
    difference = np.abs(render(DRESS, 4).astype(int) - render({**DRESS, **change}, 4))
    assert (difference.max(axis=2) > 25).mean() > 0.003


@pytest.mark.parametrize(("change", "rows"), [
    ({"colour": "green"}, slice(226, 256)), ({"pattern": "dots"}, slice(226, 256)),  # the wall below the hem
    ({"sleeves": "long"}, slice(185, 256)), ({"neckline": "vneck"}, slice(100, 256)),
    ({"trim": "belt"}, slice(130, 190)),
])
def test_one_seed_draws_everything_else_alike(change: dict[str, str], rows: slice) -> None:
    assert np.abs(render(DRESS, 4).astype(int) - render({**DRESS, **change}, 4))[rows].max() <= 3


@pytest.mark.parametrize("colour", COLOUR.keys)
def test_cloth_has_its_nominal_colour(colour: str) -> None:
    from cir_core.sample.atelier.draw.palette import rgb

    plain = {**DRESS, "colour": colour, "trim": "none", "second_colour": "none"}
    cloth = np.median(render(plain, 9)[120:170, 115:140].reshape(-1, 3), axis=0) / 255
    distances = {name: float(np.abs(cloth - rgb(name)).sum()) for name in COLOUR.keys}
    assert min(distances, key=distances.__getitem__) == colour


def test_a_sample_of_the_catalogue_draws_within_the_frame() -> None:
    garments = catalogue(3, {"test": 60})
    assert {g.category for g in garments} == set(CATEGORY.keys)
    for garment in garments[::2]:
        picture = render(garment.attributes, garment.seed).astype(int)
        assert picture.std() > 8, garment
        corners = picture[[0, 0, -1, -1], [0, -1, 0, -1]]
        assert np.ptp(corners, axis=0).max() < 45, garment


def test_motifs_fit_their_square() -> None:
    for index in range(COUNT):
        assert all(np.abs(outline).max() <= 0.56 for outline in motif(index))
