"""The sample gallery is drawn and indexed once, and again only where something changed."""

from functools import partial

import pytest
from PIL import Image

from cir_core.errors import GalleryError
from cir_core.gallery.gallery import list_galleries
from cir_core.sample import gallery as sample
from cir_core.sample.atelier.build import build_atelier
from tests.fakes.encoder import FakeEncoder

COUNT = 24


@pytest.fixture(autouse=True)
def small(monkeypatch):
    def build(folder, *, workers, **options):
        return build_atelier(folder, sizes={"test": COUNT}, workers=1, **options)

    monkeypatch.setattr(sample, "build_atelier", build)


@pytest.fixture
def bundled():
    return partial(FakeEncoder, spec=sample.NAME)


def test_the_second_time_nothing_is_drawn_or_encoded(tmp_path, bundled):
    assert not sample.is_ready(tmp_path)
    first = sample.ensure_sample(tmp_path, bundled())
    assert (first.name, len(first), first.split) == ("atelier", COUNT, "test") and sample.is_ready(tmp_path)
    drawn, encoder = [], bundled()
    again = sample.ensure_sample(tmp_path, encoder, drawing=lambda *done: drawn.append(done))
    assert (again.generation, encoder.calls, drawn) == (first.generation, 0, [])


def test_another_encoder_leaves_the_gallery_of_the_demo_alone(tmp_path, bundled):
    first = sample.ensure_sample(tmp_path, bundled())
    other = sample.ensure_sample(tmp_path, FakeEncoder(40, spec="ViT-B-32/openai"))
    assert other.name != first.name and other.encoder.dim == 40
    assert sample.is_ready(tmp_path)
    assert {info.name: info.encoder.spec for info in list_galleries(tmp_path)} == {
        "atelier": "atelier", other.name: "ViT-B-32/openai"}


def test_pictures_drawn_anew_are_indexed_anew(tmp_path, bundled):
    sample.ensure_sample(tmp_path, bundled())
    folder = sample.sample_folder(tmp_path)
    picture = min((folder / "images").iterdir())
    Image.new("RGB", (256, 256), "red").save(picture)  # stands for what another version draws
    (folder / "build.json").unlink()
    encoder = bundled()
    gallery = sample.ensure_sample(tmp_path, encoder)
    assert encoder.images == 1
    assert gallery.features[gallery.row_of(picture.stem)].argmax() == 0
    assert sample.is_ready(tmp_path)


@pytest.mark.extended
def test_a_gallery_of_an_earlier_version_is_drawn_anew(tmp_path, bundled):
    first = sample.ensure_sample(tmp_path, bundled())
    assert not sample.is_outdated(tmp_path)
    folder = sample.sample_folder(tmp_path)
    (folder / "build.json").write_text('{"version": 1}')
    (folder / ".recipe").write_text("another")
    (folder / "images" / f"{first.ids[0]}.jpg").rename(folder / "images" / "ATEARLIER.jpg")
    assert sample.is_outdated(tmp_path) and not sample.is_ready(tmp_path)
    again = sample.ensure_sample(tmp_path, bundled())
    assert again.ids == first.ids and not (folder / "images" / "ATEARLIER.jpg").exists()
    assert sample.is_ready(tmp_path) and not sample.is_outdated(tmp_path)


def test_a_home_that_cannot_be_written_has_a_sentence(tmp_path, bundled):
    (tmp_path / "home").write_text("a file")
    with pytest.raises(GalleryError, match="a folder that you may write in"):
        sample.ensure_sample(tmp_path / "home", bundled())
