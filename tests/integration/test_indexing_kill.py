"""kill -9 at any moment: what was acknowledged is kept, and the end is the same."""

import random

import numpy as np
from PIL import Image

from cir_core.gallery import journal
from cir_core.gallery.gallery import open_gallery
from cir_core.gallery.indexing import index_folder
from tests.fakes.encoder import FakeEncoder
from tests.integration.victims import kill_when, lines_of

BATCH, IMAGES, KILLS = 5, 203, 8
PROGRAM = """
import sys
from pathlib import Path
from cir_core.gallery.indexing import index_folder
from tests.fakes.encoder import FakeEncoder
source, home, log = map(Path, sys.argv[1:4])
encoder = FakeEncoder(log=log, delay=0.002, stay_at=int(sys.argv[4]))
index_folder(source, name="g", encoder=encoder, home=home, batch_size=5)
"""


def test_killed_many_times_it_ends_as_if_never_killed(tmp_path):
    """Some batches later, when the last of them is encoded or when it is in the journal; and once before the first."""
    draw, pixels = random.Random(20261121), np.random.default_rng(0)
    source, home, log = tmp_path / "photos", tmp_path / "home", tmp_path / "calls"
    source.mkdir()
    for number in range(IMAGES):
        noise = pixels.integers(0, 255, (24, 32, 3), dtype=np.uint8)
        Image.fromarray(noise).save(source / f"{number:03}.png")
    (source / "zero.png").touch()
    folder = home / "galleries" / "g"

    def journaled():
        return len(journal.read_records(folder))

    for more in (0, *(draw.randint(1, 4) for _ in range(KILLS - 1))):
        encoded, kept = lines_of(log) + more, journaled() + BATCH * more
        reached = draw.choice([lambda least=encoded: lines_of(log) >= least, lambda least=kept: journaled() >= least])
        kill_when(lambda reached=reached: (folder / "work").exists() and reached(),
                  "-c", PROGRAM, source, home, log, more + 2)
        assert journaled() < IMAGES

    index_folder(source, name="g", encoder=FakeEncoder(log=log), home=home, batch_size=BATCH)
    index_folder(source, name="whole", encoder=FakeEncoder(), home=home, batch_size=BATCH)
    killed, whole = open_gallery("g", home=home), open_gallery("whole", home=home)
    assert killed.ids == whole.ids and killed.digest == whole.digest
    assert np.array_equal(killed.features, whole.features)
    # Only a batch that was in flight when the process died may have been encoded twice.
    batches = -(-IMAGES // BATCH)
    assert batches <= lines_of(log) <= batches + KILLS
    assert not (folder / "work").exists()
    assert not list(folder.rglob("*.part"))


def test_batches_in_the_journal_are_never_encoded_again(tmp_path):
    source, home, log = tmp_path / "photos", tmp_path / "home", tmp_path / "calls"
    source.mkdir()
    for number in range(100):
        Image.new("RGB", (9, 9), (number, 0, 0)).save(source / f"{number:03}.png")
    folder = home / "galleries" / "g"
    kill_when(lambda: len(journal.read_records(folder)) >= 40, "-c", PROGRAM, source, home, log, 12)
    acknowledged = len(journal.read_records(folder))
    assert 40 <= acknowledged < 100
    encoder = FakeEncoder()
    report = index_folder(source, name="g", encoder=encoder, home=home, batch_size=BATCH)
    assert (report.resumed, encoder.images, report.n) == (acknowledged, 100 - acknowledged, 100)
