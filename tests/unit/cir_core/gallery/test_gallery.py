"""What a published gallery answers, and what it says when it cannot."""

import numpy as np
import pytest
from PIL import Image

from cir_core.errors import EncoderMismatch, GalleryError, ImageUnreadable, UnknownImage
from cir_core.gallery.gallery import list_galleries, open_gallery, remove_gallery
from cir_core.gallery.indexing import index_folder
from tests.fakes.encoder import FakeEncoder

COLOURS = {"red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255)}


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for name, colour in COLOURS.items():
        Image.new("RGB", (400, 200), colour).save(folder / f"{name}.png")
    return folder


@pytest.fixture
def home(tmp_path, source):
    home = tmp_path / "home"
    index_folder(source, name="demo", encoder=FakeEncoder(), home=home)
    return home


def test_images_in_order_with_one_vector_each(home, source):
    gallery = open_gallery("demo", home=home)
    assert len(gallery) == 3 and gallery.ids == ("blue", "green", "red")
    assert "red" in gallery and "pink" not in gallery
    assert gallery.row_of("red") == 2
    assert gallery.path_of("red") == source / "red.png"
    assert gallery.caption_of("red") is None
    assert gallery.load_image("red").getpixel((0, 0)) == (255, 0, 0)
    assert [(image.image_id, image.width, image.height) for image in gallery.images] == [
        ("blue", 400, 200), ("green", 400, 200), ("red", 400, 200)]
    assert gallery.images[-1].path == "red.png" and len(gallery.images[:2]) == 2
    assert isinstance(gallery.features, np.memmap) and gallery.features.shape == (3, 32)
    encoder = FakeEncoder()
    assert np.array_equal(gallery.features[2], encoder.encode_images([gallery.load_image("red")])[0])
    assert int(np.argmax(gallery.features @ encoder.encode_texts(["green"])[0])) == 1


def test_thumbnails_are_made_at_indexing_and_again_when_missing(home):
    gallery = open_gallery("demo", home=home)
    made = sorted((home / "galleries/demo/thumbnails").rglob("*.webp"))
    assert sorted(gallery.thumbnail_of(image_id) for image_id in gallery.ids) == made
    path = gallery.thumbnail_of("red")
    written = path.stat().st_mtime_ns
    assert gallery.thumbnail_of("red").stat().st_mtime_ns == written
    assert "red" not in str(path.relative_to(home))
    path.write_bytes(b"")
    with Image.open(gallery.thumbnail_of("red")) as thumbnail:
        assert thumbnail.size == (320, 160)
    path.unlink()
    assert gallery.thumbnail_of("red") == path and path.exists()
    path.unlink()
    gallery.path_of("red").unlink()
    with pytest.raises(ImageUnreadable, match=r"red.png is missing"):
        gallery.thumbnail_of("red")


def test_an_unknown_image_names_gallery_size_and_remedy(home):
    with pytest.raises(UnknownImage, match=r"No image 'x' in gallery 'demo' \(3 images\)\. Check the id"):
        open_gallery("demo", home=home).row_of("x")


def test_another_encoder_is_refused_with_both_identities(home):
    gallery = open_gallery("demo", home=home)
    gallery.check_encoder(FakeEncoder(spec="the same weights by another name"))
    with pytest.raises(EncoderMismatch) as caught:
        gallery.check_encoder(FakeEncoder(40, spec="other"))
    said = str(caught.value)
    assert "fake (revision 0000000000000020, 32 dim" in said
    assert "other (revision 0000000000000028, 40 dim" in said
    assert "--name demo --encoder other" in said


def test_a_missing_gallery_names_those_there_are(home):
    with pytest.raises(GalleryError, match=r"There are: demo\. To make it: cirque index DIR --name new"):
        open_gallery("new", home=home)
    with pytest.raises(GalleryError, match="There is none yet"):
        open_gallery("new", home=home / "elsewhere")


@pytest.mark.parametrize("name", ["", ".", "..", "../demo", "a/b", "Demo", "-x", "x" * 65, "a b", "x\n", "é"])
def test_names_that_are_no_folder_names_are_refused(home, name):
    for call in (open_gallery, remove_gallery):
        with pytest.raises(GalleryError, match="cannot be the name"):
            call(name, home=home)


def test_the_list_and_removal(home, source):
    index_folder(source, name="second", encoder=FakeEncoder(40), home=home)
    infos = list_galleries(home)
    assert [(i.name, i.size, i.encoder.dim, i.status) for i in infos] == [
        ("demo", 3, 32, "complete"), ("second", 3, 40, "complete")]
    assert infos[0].source == str(source) and infos[0].updated_at.tzinfo is not None
    remove_gallery("demo", home=home)
    assert [info.name for info in list_galleries(home)] == ["second"]
    assert len(list(source.iterdir())) == 3
    with pytest.raises(GalleryError, match="There are: second"):
        remove_gallery("demo", home=home)
    assert list_galleries(home / "nothing") == []


def test_an_open_view_outlives_the_next_generation(home, source):
    before = open_gallery("demo", home=home)
    assert open_gallery("demo", home=home) is before
    vectors = before.features.copy()
    Image.new("RGB", (9, 9)).save(source / "black.png")
    index_folder(source, name="demo", encoder=FakeEncoder(), home=home)
    after = open_gallery("demo", home=home)
    assert (len(before), len(after)) == (3, 4)
    assert before.digest != after.digest and before.generation != after.generation
    assert np.array_equal(before.features, vectors)
    assert len(list((home / "galleries/demo").glob("features-*"))) == 1


def test_the_digest_depends_on_ids_and_bytes_not_on_places(home, source, tmp_path):
    digest = open_gallery("demo", home=home).digest
    assert len(digest) == 16
    moved = source.rename(tmp_path / "elsewhere")
    index_folder(moved, name="copy", encoder=FakeEncoder(40), home=home)
    assert open_gallery("copy", home=home).digest == digest
    (moved / "red.png").rename(moved / "rouge.png")
    index_folder(moved, name="copy", encoder=FakeEncoder(40), home=home)
    assert open_gallery("copy", home=home).digest != digest


def test_damage_is_named_with_a_remedy(home):
    folder = home / "galleries/demo"
    next(folder.glob("images-*")).unlink()
    with pytest.raises(GalleryError, match="damaged"):
        open_gallery("demo", home=home)
    (folder / "gallery.json").write_text("{")
    with pytest.raises(GalleryError, match="damaged"):
        open_gallery("demo", home=home)
    assert list_galleries(home) == []
