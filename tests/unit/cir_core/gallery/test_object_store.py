"""Images in a bucket of S3, played by a server on this machine."""

from __future__ import annotations

import io
import tarfile
import warnings
from collections.abc import Iterator
from typing import Any

import fsspec
import numpy as np
import pytest
from PIL import Image

from cir_core.errors import ImageUnreadable
from cir_core.gallery.gallery import open_gallery
from cir_core.gallery.indexing import index_source
from cir_core.gallery.sources.opening import open_source
from cir_core.gallery.sources.source import SourceAway
from tests.fakes.encoder import FakeEncoder

COLOURS = {"red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255)}
SECRET = "of-these-tests"


def picture(colour: tuple[int, int, int]) -> bytes:
    content = io.BytesIO()
    Image.new("RGB", (9, 9), colour).save(content, "PNG")
    return content.getvalue()


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client of a new bucket "photos", with the credentials of it in the environment."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from moto.server import ThreadedMotoServer
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "/nowhere",
        "AWS_SHARED_CREDENTIALS_FILE": "/nowhere",
    }.items():
        monkeypatch.setenv(name, value)
    fsspec.filesystem("s3").clear_instance_cache()
    store = fsspec.filesystem("s3", use_listings_cache=False)
    store.mkdir("photos")
    try:
        yield store
    finally:
        type(store).clear_instance_cache()
        server.stop()


def run(tmp_path: Any, address: str, name: str) -> tuple[Any, Any, FakeEncoder]:
    encoder = FakeEncoder()
    report = index_source(open_source(address), name=name, encoder=encoder, home=tmp_path / "home")
    return report, open_gallery(name, home=tmp_path / "home"), encoder


def test_a_bucket_of_images_and_an_archive_in_it(tmp_path: Any, bucket: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for name, colour in COLOURS.items():
            bucket.pipe(f"photos/own/{name}.png", picture(colour))
            member = tarfile.TarInfo(f"{name}.png")
            member.size = len(picture(colour))
            tar.addfile(member, io.BytesIO(picture(colour)))
    bucket.pipe("photos/shards/0.tar", archive.getvalue())
    bucket.pipe("photos/own/notes.txt", b"x")

    report, own, _ = run(tmp_path, "s3://photos/own", "own")
    assert own.ids == ("blue", "green", "red") and [path for path, _ in report.skipped] == ["notes.txt"]
    _, packed, _ = run(tmp_path, "s3://photos/shards/0.tar", "packed")
    for name in COLOURS:
        assert np.array_equal(own.features[own.row_of(name)], packed.features[packed.row_of(name)])
        assert own.original_of(name) == packed.original_of(name) == picture(COLOURS[name])
    kept = b"".join(one.read_bytes() for one in (tmp_path / "home").rglob("*") if one.is_file())
    assert SECRET.encode() not in kept

    bucket.pipe("photos/own/red.png", picture((250, 1, 1)))
    report, own, encoder = run(tmp_path, "s3://photos/own", "own")
    assert (report.changed, report.unchanged, encoder.images) == (1, 2, 1)
    bucket.rm("photos/own/red.png")
    with pytest.raises(ImageUnreadable, match=r"red.png is missing"):
        own.original_of("red")

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    type(bucket).clear_instance_cache()
    with pytest.raises(SourceAway, match="AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"):
        open_source("s3://photos/own")
