"""The drawing: repeatable, complete, and every attribute leaves a mark."""

from __future__ import annotations

import numpy as np
import pytest

from cir_core.garments.lexicon import CATEGORY, COLOUR
from cir_core.sample.atelier.catalogue import catalogue
from cir_core.sample.atelier.draw import render
from cir_core.sample.atelier.draw.motifs import COUNT, motif

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
