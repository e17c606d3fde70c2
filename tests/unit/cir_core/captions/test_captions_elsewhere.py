"""Captions that are asked for and ranked in parts that lie apart are those of one process."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest
from PIL import Image

from cir_core.captions import caption_build
from cir_core.captions.caption_build import optimise_captions
from cir_core.captions.captions import RankSummary
from cir_core.captions.stored import captions_folder, captions_path
from cir_core.errors import GalleryError, LanguageModelUnavailable
from cir_core.gallery.gallery import GalleryOpener, open_gallery
from cir_core.gallery.indexing import index_folder
from tests.fakes.captioner import ScriptedCaptioner
from tests.fakes.encoder import FakeEncoder
from tests.fakes.places import Apart

IMAGES, SAMPLES = 40, 30    # three parts to ask, and two to rank: 34 images have 1,024 captions


@pytest.fixture
def galleries(tmp_path):
    source = tmp_path / "photos"
    source.mkdir()
    colours = np.random.default_rng(0).integers(0, 255, (IMAGES, 3))
    for number, colour in enumerate(colours):
        Image.new("RGB", (8, 8), tuple(map(int, colour))).save(source / f"{number:02}.png")
    for home in ("here", "apart"):
        index_folder(source, name="g", encoder=FakeEncoder(), home=tmp_path / home)
    return [open_gallery("g", home=tmp_path / home) for home in ("here", "apart")]


def say(task):
    words = ("red", "green", "blue", "long")
    return " ".join(words[int(digit, 16) % 4] for digit in task.picture.digest[:task.sample % 5])


@dataclass(frozen=True)
class Connecting:
    """``unavailable``: the content hash of an image at whose second sample the server is away."""

    name: str = "scripted/1"
    unavailable: str = ""

    def __call__(self):
        return ScriptedCaptioner(self._say, name=self.name)

    def _say(self, task):
        if (task.picture.digest, task.sample) == (self.unavailable, 1):
            raise LanguageModelUnavailable("away.")
        return say(task)


def build(gallery, place=None, connect=Connecting(), **options):
    return optimise_captions(gallery, FakeEncoder(), Connecting()(), samples=SAMPLES, place=place, load=FakeEncoder,
                             connect=connect, **options)


def published(gallery):
    """The lines but their checksum; the header without its time."""
    header, *lines, _, _ = captions_path(gallery).read_bytes().split(b"\n")
    return {**json.loads(header), "created_at": None}, lines


def test_the_captions_are_the_same(galleries):
    here, apart = galleries
    one, other = build(here), build(apart, Apart())
    assert published(here) == published(apart)
    assert (one.asked, one.resumed, one.problems) == (other.asked, other.resumed, other.problems)
    assert other.header.after != RankSummary.of([])
    again = build(apart, Apart())
    assert (again.asked, again.resumed) == (0, IMAGES)


def test_what_was_answered_before_the_server_went_away_is_kept(galleries):
    here, apart = galleries
    build(here)
    with pytest.raises(LanguageModelUnavailable, match=r"away\. Nothing is lost: "):
        build(apart, Apart(), Connecting(unavailable=apart.image(20).sha256))
    report = build(apart, Apart())
    assert published(here) == published(apart)
    # The last part, of eight images, was over; of the second, those before row 20. That has one answer, an empty one,
    # which does not count.
    assert report.resumed == 8 + 4 and report.asked == (16 + 12) * SAMPLES


def test_answers_that_were_stored_and_not_joined_are_found(galleries):
    here, apart = galleries
    build(here)
    with pytest.raises(RuntimeError, match="the driver died"):
        build(apart, Apart(lost=2))
    report = build(apart, Apart())
    assert published(here) == published(apart)
    assert report.resumed == 8 + 16 and report.asked == 16 * SAMPLES
    assert not any((captions_folder(apart) / "shards").rglob("*.npz"))


@pytest.mark.parametrize("beside", [True, False], ids=["in the folder", "in other storage"])
def test_a_restart_takes_no_answers_that_wait(beside, galleries, monkeypatch):
    apart = galleries[1]
    with pytest.raises(RuntimeError, match="the driver died"):
        build(apart, Apart(lost=2))
    if not beside:
        monkeypatch.setattr(caption_build.shutil, "rmtree", lambda *_, **__: None)
    report = build(apart, Apart(), restart=True)
    assert report.resumed == 0 and report.asked == IMAGES * SAMPLES


def test_answers_that_wait_replace_no_complete_ones(galleries):
    apart = galleries[1]
    with pytest.raises(RuntimeError, match="the driver died"):
        build(apart, Apart(lost=2))
    build(apart)
    kept = (captions_folder(apart) / "texts.jsonl").read_bytes()
    build(apart, Apart())
    assert (captions_folder(apart) / "texts.jsonl").read_bytes() == kept
    assert not any((captions_folder(apart) / "shards").rglob("*.npz"))


def test_a_machine_with_another_model_is_refused(galleries):
    with pytest.raises(GalleryError, match=r"would caption with model other/1, and this machine with model scripted/1"):
        build(galleries[1], Apart(), Connecting("other/1"))


def test_a_machine_with_another_gallery_is_refused(galleries):
    here = galleries[0]
    opener = GalleryOpener.of(here)
    assert opener() is here
    with pytest.raises(GalleryError, match="under the same path"):
        replace(opener, generation="x")()
