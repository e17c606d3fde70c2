"""Bulk work on a Ray of several processes of this machine, some of which are killed."""

import json
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from PIL import Image

from cir_core.bulk.cluster import RayCluster
from cir_core.encoders.specs import EncoderLoader
from cir_core.gallery.encoding import BATCHES
from cir_core.gallery.indexing import index_folder
from cir_core.images.uploads import UploadFolder
from cir_core.index.building import build_index
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.sessions.pool import SearcherPool
from cir_core.sessions.service import SearchService
from cir_core.settings import environment_with
from storage.stores import open_stores
from tests.fakes.databases import settings_of
from tests.fakes.drawings import sample
from tests.fakes.patience import wait_for
from tests.fakes.places import ByBatch, Dying
from tests.fakes.same_gallery import contents
from web.search.presenters.results import how_found

if find_spec("ray") is None:    # which is imported where it is used, once it was told to be silent
    pytest.skip("needs Ray", allow_module_level=True)
pytestmark = pytest.mark.filterwarnings("ignore")   # those of Ray and of the storage server are not ours
BATCH = 2


def photos(folder, count):
    folder.mkdir()
    coarse = np.random.default_rng(0).integers(0, 255, (count, 12, 16, 3), dtype=np.uint8)
    for number, pixels in enumerate(coarse):
        Image.fromarray(pixels).resize((400, 300)).save(folder / f"{number:03}.jpg")
    (folder / "007.jpg").write_bytes(b"no image")
    return folder


@pytest.fixture
def bucket(monkeypatch):
    """An empty bucket of a server of this machine that answers as S3 does."""
    server_of = pytest.importorskip("moto.server").ThreadedMotoServer
    s3fs = pytest.importorskip("s3fs")
    server = server_of("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in (("AWS_ENDPOINT_URL", f"http://{host}:{port}"), ("AWS_ACCESS_KEY_ID", "test"),
                        ("AWS_SECRET_ACCESS_KEY", "test"), ("AWS_DEFAULT_REGION", "us-east-1")):
        monkeypatch.setenv(name, value)     # workers have the environment of who starts them
    s3fs.S3FileSystem.clear_instance_cache()
    s3fs.S3FileSystem().mkdir("results")
    yield "s3://results/of/ray"
    s3fs.S3FileSystem.clear_instance_cache()
    server.stop()


@pytest.mark.extended
def test_a_killed_worker_changes_nothing_and_results_pass_through_s3(tmp_path, bucket, capfd):
    source = photos(tmp_path / "photos", 3 * BATCH * BATCHES)
    index_folder(source, name="g", encoder=ByBatch(), home=tmp_path / "here", batch_size=BATCH)
    seen = []
    report = index_folder(source, name="g", encoder=ByBatch(), home=tmp_path / "ray", batch_size=BATCH,
                          place=RayCluster("local:2", storage=bucket, cpus=1), load=Dying(tmp_path, deaths=1),
                          progress=seen.append)
    assert (tmp_path / "death-0").exists(), "no worker was killed"
    assert contents(tmp_path / "ray/galleries/g") == contents(tmp_path / "here/galleries/g")
    assert [path for path, _ in report.skipped] == ["007.jpg"]
    assert capfd.readouterr().out == "", "Ray has printed something"
    assert (seen[-1].done, seen[-1].total, seen[-1].skipped) == (48, 48, 1)

    import s3fs

    assert s3fs.S3FileSystem().find("results") == [], "shards that were joined are left behind"


@pytest.mark.extended
def test_four_workers_of_which_two_are_killed_encode_with_a_real_model(tmp_path):
    """So is the command, between the two, and what it left is found. Threads count: see docs/how-to/scale.md."""
    import torch

    source, threads = photos(tmp_path / "photos", 10 * BATCH * BATCHES), torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        index_folder(source, name="g", encoder=EncoderLoader("atelier", "cpu")(), home=tmp_path / "here",
                     batch_size=BATCH)
    finally:
        torch.set_num_threads(threads)
    with subprocess.Popen([sys.executable, "-c", PROGRAM, source, tmp_path, "stay"]) as driver:
        try:
            wait_for((tmp_path / "stays").exists, going=lambda: driver.poll() is None)
        finally:
            driver.kill()
    assert {path.name for path in tmp_path.glob("death-*")} == {"death-0"}
    finished = subprocess.run([sys.executable, "-c", PROGRAM, source, tmp_path, "go on"], capture_output=True,
                              text=True, check=True)
    assert {path.name for path in tmp_path.glob("death-*")} == {"death-0", "death-1"}
    resumed, encoded = map(int, finished.stdout.split())
    assert resumed >= BATCH * BATCHES and resumed + encoded == 10 * BATCH * BATCHES - 1
    assert contents(tmp_path / "ray/galleries/g") == contents(tmp_path / "here/galleries/g")


PROGRAM = """
import sys, threading
from pathlib import Path
from cir_core.bulk.cluster import RayCluster
from cir_core.gallery.indexing import index_folder
from tests.fakes.drawings import sample
from tests.fakes.patience import wait_for
from tests.fakes.places import Dying
source, folder, stay = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] == "stay"

def progress(now):
    if stay and now.done > 32:      # two of ten parts
        (folder / "stays").touch()
        threading.Event().wait()

load = Dying(folder, deaths=1 if stay else 2, bundled=True)
report = index_folder(source, name="g", encoder=load(), home=folder / "ray", batch_size=2, load=load,
                      progress=progress, place=RayCluster("local:4", cpus=1))
print(report.resumed, report.encoded)
"""


@pytest.mark.extended
def test_captions_and_relevance_features_from_the_command_line(tmp_path):
    """With the built-in language model, which describes by the encoder's features, and the bundled relevance model."""
    source = sample(tmp_path / "sample", limit=40).images
    commands = (("index", str(source), "--name", "g"),
                ("captions", "build", "g", "--model", "built-in", "--samples", "5"),
                ("relevance", "index", "g", "--relevance", "bundled"))
    found = []
    for home, ray in (("here", ()), ("ray", ("--ray", "local:2"))):
        for command in commands:
            cirque(*command, *ray, home=tmp_path / home)
        folder = tmp_path / home / "galleries" / "g"
        header, *lines, _, _ = (folder / "captions" / "captions.jsonl").read_bytes().split(b"\n")
        found.append((
            {name: content for name, content in contents(folder).items()
             if "captions" not in name and "relevance" not in name},
            {**json.loads(header), "created_at": None}, lines,
            [path.read_bytes() for end in (".f16", ".sums", ".hashes", ".json")
             for path in (folder / "relevance").glob(f"*{end}")]))
    assert found[0] == found[1]


@pytest.mark.extended
def test_one_machine_milvus_and_ray_give_the_same_protocol_card(tmp_path):
    """But for the engine's row, and the digest that has it; and the same lists."""
    milvus = pytest.importorskip("benchmarks.embedded_milvus")
    source = sample(tmp_path / "sample", limit=240).images    # of much fewer, none are found by an engine
    here, ray = tmp_path / "here", tmp_path / "ray"
    cirque("index", str(source), "--name", "g", home=here)
    cirque("index", str(source), "--name", "g", "--ray", "local:2", home=ray)
    alone = searched(here)
    assert searched(ray) == alone and "Index" not in alone["rows"]
    digest = alone["card"].pop("digest")
    with milvus.embedded_milvus(tmp_path / "milvus") as address:
        for home in (here, ray):
            row = build_index("g", home=home, kind=f"milvus:{address}?index=flat").row
            found = searched(home)
            assert found["card"].pop("index") == found["rows"].pop("Index") == row and row.startswith("milvus (Milvus ")
            assert found["card"].pop("digest") != digest and found == alone


def searched(home):
    """A session of two turns: the protocol card, as it is exported and as the screen shows it, and the lists."""
    stores = open_stores(settings_of(home))
    service = SearchService(SearcherPool(home, BuiltinLanguageModel), stores.sessions,
                            UploadFolder(home / "uploads", max_megapixels=4))
    ids = service.gallery("g").ids
    started = service.start("g", target_id=ids[33]).session_id
    first = service.run_turn(started, "in red, with long sleeves", reference_id=ids[5]).turn
    second = service.run_turn(started, "shorter", parent_id=first.turn_id).turn
    [exported] = service.export(started)
    card, shown = exported["cirque"]["protocol"], how_found(service.session(started), second)
    stores.close()
    assert shown["card"] == card
    assert {first.protocol_digest, second.protocol_digest} == {card["digest"]}
    return {"card": card, "rows": dict(shown["rows"]),
            "lists": [(turn.hits, turn.target_rank, turn.notes) for turn in (first, second)]}


def cirque(*command, home):
    variables = {"CIRQUE_HOME": str(home), "CIRQUE_RAY_CPUS": "1", "OMP_NUM_THREADS": "1", "CIRQUE_DEVICE": "cpu"}
    subprocess.run([sys.executable, "-m", "cli.main", *command], env=environment_with(variables), check=True,
                   capture_output=True)
