"""kill -9 at any moment: what was acknowledged is kept, and the end is the same."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from PIL import Image

from cir_core.gallery import journal
from cir_core.gallery.gallery import open_gallery
from cir_core.gallery.indexing import index_folder
from cir_core.gallery.paths import read_header
from tests.fakes.encoder import FakeEncoder

BATCH = 5
ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
from pathlib import Path
from cir_core.gallery.indexing import index_folder
from tests.fakes.encoder import FakeEncoder
source, home, log = map(Path, sys.argv[1:])
encoder = FakeEncoder(log=log, delay=0.004)
print("ready", flush=True)
index_folder(source, name="g", encoder=encoder, home=home, batch_size=5)
"""


def start(source, home, log):
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, source, home, log], cwd=ROOT, stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"  # imports are not what is tested
    return process


def test_killed_many_times_it_ends_as_if_never_killed(tmp_path):
    rng = random.Random(20261121)
    pixels = np.random.default_rng(0)
    source, home, log = tmp_path / "photos", tmp_path / "home", tmp_path / "calls"
    source.mkdir()
    for number in range(203):
        noise = pixels.integers(0, 255, (24, 32, 3), dtype=np.uint8)
        Image.fromarray(noise).save(source / f"{number:03}.png")
    (source / "zero.png").touch()
    folder = home / "galleries" / "g"

    kills = 0
    while read_header(folder) is None:
        process = start(source, home, log)
        time.sleep(rng.uniform(0.02, 0.25))
        if process.poll() is None and kills < 12:
            os.kill(process.pid, signal.SIGKILL)
            kills += 1
        process.communicate(timeout=60)
    assert kills >= 4

    index_folder(source, name="whole", encoder=FakeEncoder(), home=home, batch_size=BATCH)
    killed, whole = open_gallery("g", home=home), open_gallery("whole", home=home)
    assert killed.ids == whole.ids and killed.digest == whole.digest
    assert np.array_equal(killed.features, whole.features)
    # Only a batch that was in flight when the process died may have been encoded twice.
    batches = -(-203 // BATCH)
    assert batches <= len(log.read_text().splitlines()) <= batches + kills
    assert not (folder / "work").exists()
    assert not list(folder.rglob("*.part"))


def test_batches_in_the_journal_are_never_encoded_again(tmp_path):
    source, home, log = tmp_path / "photos", tmp_path / "home", tmp_path / "calls"
    source.mkdir()
    for number in range(100):
        Image.new("RGB", (9, 9), (number, 0, 0)).save(source / f"{number:03}.png")
    process = start(source, home, log)
    folder = home / "galleries" / "g"
    deadline = time.monotonic() + 30
    while len(journal.read_records(folder)) < 40 and time.monotonic() < deadline:
        time.sleep(0.005)
    process.kill()
    process.communicate()
    acknowledged = len(journal.read_records(folder))
    assert 40 <= acknowledged < 100
    encoder = FakeEncoder()
    report = index_folder(source, name="g", encoder=encoder, home=home, batch_size=BATCH)
    assert (report.resumed, encoder.images, report.n) == (acknowledged, 100 - acknowledged, 100)
