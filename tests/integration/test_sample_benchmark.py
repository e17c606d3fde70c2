"""The sample benchmark end to end, small: drawing, indexing, the bundled encoder, both evaluations."""

from __future__ import annotations

from pathlib import Path

import pytest

from cir_core import quick
from cir_core.atelier.build import build_atelier
from cir_core.encoders import load_encoder
from cir_core.evaluate_sample import evaluate_sample
from cir_core.gallery import open_gallery
from cir_core.indexing import index_folder
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.sample import NAME

GARMENTS, QUERIES = 420, 20
pytestmark = pytest.mark.xdist_group("sample")


@pytest.fixture(scope="module")
def encoder():
    return load_encoder("atelier")


@pytest.fixture(scope="module")
def home(tmp_path_factory, encoder) -> Path:
    home = tmp_path_factory.mktemp("home")
    paths = build_atelier(home / "drawn", limit=GARMENTS)
    index_folder(paths.folder, name=NAME, encoder=encoder, home=home, manifest=paths.manifest, split="test")
    return home


@pytest.fixture(scope="module")
def report(home, encoder):
    return evaluate_sample(open_gallery(NAME, home=home), home / "drawn", encoder,
                           BuiltinLanguageModel(encoder), seed=1, limit=QUERIES)


def test_composed_beats_each_modality_alone(report):
    recall = {row.system: row.recall["mean"] for row in report.single}
    assert recall["composed"][10] > recall["text only"][10] + 0.1
    assert recall["composed"][1] > recall["image only"][1] + 0.2


def test_recall_grows_with_the_cutoff_and_the_mean_is_the_mean(report):
    for row in report.single:
        for recall in row.recall.values():
            values = [recall[k] for k in (1, 5, 10, 50)]
            assert values == sorted(values)
        categories = [row.recall[name][10] for name in ("dress", "shirt", "toptee")]
        assert row.recall["mean"][10] == pytest.approx(sum(categories) / 3)


def test_every_query_is_a_session(report):
    assert report.sessions.scores.sessions == report.single[0].queries


def test_the_same_seed_gives_the_same_numbers_and_cards_tell_systems_apart(home, encoder, report):
    again = evaluate_sample(open_gallery(NAME, home=home), home / "drawn", encoder,
                            BuiltinLanguageModel(encoder), seed=1, limit=QUERIES)
    assert again == report
    assert len({row.protocol.digest for row in report.single}) == 3


def test_the_python_door(home):
    """The lines of the README."""
    search = quick.open_search(NAME, home=home)
    first = search.start(search.gallery.ids[0], "in red, with long sleeves")
    second = first.refine(first.hits[2].image_id, "without the belt")
    other = first.refine(first.hits[1].image_id, "without the belt")
    assert second.references == (search.gallery.ids[0], first.hits[2].image_id)
    assert second.found.vector.tolist() != other.found.vector.tolist()
    assert "red" in first.merged_text and "long sleeves" in first.merged_text
    own = search.start(search.gallery.path_of(search.gallery.ids[5]), "in blue")
    assert own.hits[0].rank == 1
