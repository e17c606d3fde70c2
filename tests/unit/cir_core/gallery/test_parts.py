"""An index run in parts that lie apart gives the gallery of one process, byte for byte."""

import os
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from PIL import Image

from cir_core.errors import EncoderMismatch, GalleryError
from cir_core.gallery.encoding import BATCHES, Encoded, EncodeFiles, File, FilesOfRun, KnownHashes
from cir_core.gallery.indexing import index_folder
from cir_core.gallery.scan import Entry
from cir_core.gallery.sources.opening import source_at
from tests.fakes.places import Apart, ByBatch, Loading
from tests.fakes.same_gallery import contents

BATCH = 2
PART = BATCH * BATCHES


@pytest.fixture
def source(tmp_path):
    """Three parts. Large images have thumbnails; the files that cannot be read change the batches behind them."""
    folder = tmp_path / "photos"
    folder.mkdir()
    colours = np.random.default_rng(0).integers(0, 255, (2 * PART + 5, 3))
    for number, colour in enumerate(colours):
        size = (500, 400) if number % 5 == 0 else (8, 8)
        Image.new("RGB", size, tuple(map(int, colour))).save(folder / f"{number:02}.png", compress_level=1)
    for number in (1, PART - 1, 2 * PART + 4):     # within a batch, the last of a part, the last of all
        (folder / f"{number:02}.png").write_bytes(b"no image")
    return folder


def run(source, tmp_path, name, place=None, **options):
    return index_folder(source, name="g", encoder=ByBatch(), home=tmp_path / name, batch_size=BATCH, place=place,
                        load=Loading(), **options)


def same(tmp_path, one="here", other="apart"):
    here, apart = (contents(tmp_path / name / "galleries" / "g") for name in (one, other))
    assert here == apart
    return here


def test_parts_apart_give_the_same_gallery_and_report(source, tmp_path):
    here, apart = run(source, tmp_path, "here"), run(source, tmp_path, "apart", Apart())
    assert any(name.startswith("thumbnails/") for name in same(tmp_path))
    assert replace(here, seconds=0) == replace(apart, seconds=0)
    assert [path for path, _ in apart.skipped] == ["01.png", f"{PART - 1}.png", f"{2 * PART + 4}.png"]


def test_a_second_run_reuses_vectors_of_the_same_bytes(source, tmp_path):
    for name, place in (("here", None), ("apart", Apart())):
        run(source, tmp_path, name, place)
    (source / "00.png").rename(source / "zero.png")
    os.utime(source / "03.png", ns=(1, 1))
    Image.new("RGB", (9, 9), "red").save(source / "new.png")
    here, apart = run(source, tmp_path, "here"), run(source, tmp_path, "apart", Apart())
    same(tmp_path)
    assert replace(here, seconds=0) == replace(apart, seconds=0) and apart.encoded == 1


@pytest.mark.parametrize("goes_on", [None, Apart()])
def test_parts_that_were_stored_and_not_joined_are_found(source, tmp_path, goes_on):
    """But for the first batch of one of them. A process that works alone makes them again."""
    run(source, tmp_path, "here")
    with pytest.raises(RuntimeError, match="the driver died"):
        run(source, tmp_path, "apart", Apart(lost=2))
    report = run(source, tmp_path, "apart", goes_on)
    same(tmp_path)
    # The last two parts had been stored: all of the second, and five files of which one cannot be read.
    assert report.resumed == (PART + 4 if goes_on else BATCH)
    assert report.encoded == 2 * PART + 5 - 3 - report.resumed


def test_a_run_that_began_here_goes_on_apart(source, tmp_path):
    run(source, tmp_path, "here")
    failing = ByBatch(fail_at=4)    # after three batches of the first part
    with pytest.raises(RuntimeError, match="out of memory"):
        index_folder(source, name="g", encoder=failing, home=tmp_path / "apart", batch_size=BATCH)
    report = run(source, tmp_path, "apart", Apart())
    same(tmp_path)
    assert report.resumed == 3 * BATCH


def test_a_machine_without_the_images_or_with_another_encoder_is_refused(source, tmp_path):
    encoder = ByBatch()
    absent = partial(source_at, str(tmp_path / "absent"), None)
    work = EncodeFiles(Loading(), encoder.identity, absent, tmp_path, 64, 2, 1, KnownHashes(()))
    with pytest.raises(GalleryError, match="All machines of the cluster must see the images"):
        work.prepare()
    with pytest.raises(EncoderMismatch, match="the same weights"):
        replace(work, source=partial(source_at, str(source), None), load=Loading(40)).prepare()


def test_known_hashes():
    ends_in_zeros, other, absent = "ab" + "00" * 31, "01" * 32, "ab" + "00" * 30 + "01"
    known = KnownHashes([other, ends_in_zeros])
    assert ends_in_zeros in known and other in known and absent not in known and "00" * 32 not in known
    assert other not in KnownHashes([])


def test_packed_outcomes_of_another_dimension_are_refused(source):
    encoder = ByBatch()
    images = partial(source_at, str(source), None)
    work = EncodeFiles(Loading(), encoder.identity, images, source, 64, 2, 1, KnownHashes(()))
    [encoded] = work((FilesOfRun((File(Entry("00", "00.png")),)),))
    [again] = work.unpack(work.pack([encoded]))
    assert isinstance(again, Encoded) and again.records == encoded.records and again.thumbnails == encoded.thumbnails
    with pytest.raises(ValueError, match="shape"):
        replace(work, identity=replace(encoder.identity, dim=40)).unpack(work.pack([encoded]))
