"""Bulk work on a Ray of several processes of this machine, some of which are killed."""

import subprocess  # noqa: F401 - Ray starts processes, and this tells which tests do

import numpy as np
import pytest
from PIL import Image

from cir_core.bulk.cluster import RayCluster
from cir_core.gallery.encoding import BATCHES
from cir_core.gallery.indexing import index_folder
from tests.fakes.places import ByBatch, Dying
from tests.fakes.same_gallery import contents

pytest.importorskip("ray")
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


def test_a_killed_worker_changes_nothing_and_results_pass_through_s3(tmp_path, bucket):
    source = photos(tmp_path / "photos", 3 * BATCH * BATCHES)
    index_folder(source, name="g", encoder=ByBatch(), home=tmp_path / "here", batch_size=BATCH)
    seen = []
    report = index_folder(source, name="g", encoder=ByBatch(), home=tmp_path / "ray", batch_size=BATCH,
                          place=RayCluster("local:2", storage=bucket, cpus=1), load=Dying(tmp_path, deaths=1),
                          progress=seen.append)
    assert (tmp_path / "death-0").exists(), "no worker was killed"
    assert contents(tmp_path / "ray/galleries/g") == contents(tmp_path / "here/galleries/g")
    assert [path for path, _ in report.skipped] == ["007.jpg"]
    assert (seen[-1].done, seen[-1].total, seen[-1].skipped) == (48, 48, 1)

    import s3fs

    assert s3fs.S3FileSystem().find("results") == [], "shards that were joined are left behind"
