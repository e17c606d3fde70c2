"""Results wait in storage: complete or not there."""

import numpy as np
import pytest

from cir_core.bulk.shards import Shards, packed, unpacked
from cir_core.errors import ClusterError


@pytest.fixture(params=["folder", "memory"])
def shards(request, tmp_path):
    return Shards(str(tmp_path / "area") if request.param == "folder" else f"memory://{tmp_path}", "job")


def test_they_are_listed_in_order_read_and_removed(shards):
    assert shards.names() == []
    names = [shards.write(number, b"%d" % number) for number in (12, 3)]
    assert shards.names() == names[::-1]
    assert shards.read(names[0]) == b"12"
    shards.remove(names[0])
    shards.remove(names[0])     # twice is no error
    assert shards.names() == names[1:]
    shards.discard()
    shards.discard()
    assert shards.names() == []


def test_what_is_half_written_is_not_listed(tmp_path):
    shards = Shards(str(tmp_path), "job")
    name = shards.write(1, b"whole")
    (tmp_path / "job" / f".{name}.0123.part").write_bytes(b"ha")
    assert shards.names() == [name]


def test_storage_that_is_not_shared_has_a_sentence(tmp_path):
    with pytest.raises(ClusterError, match="CIRQUE_RAY_STORAGE to a folder that all machines share"):
        Shards(str(tmp_path), "job").read("00000001-x.npz")


def test_storage_that_cannot_be_used_has_a_sentence(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ClusterError, match=r"file cannot be written: .*Check CIRQUE_RAY_STORAGE"):
        Shards(str(tmp_path / "file"), "job").write(1, b"")
    with pytest.raises(ClusterError, match=r"nonsense://x cannot be written: .*nonsense"):
        Shards("nonsense://x", "job").write(1, b"")


def test_results_that_cannot_be_deleted_end_no_job(shards, monkeypatch):
    name = shards.write(1, b"")

    def refuses(*_, **__):
        raise RuntimeError("AccessDenied")      # botocore's ClientError is no OSError

    with monkeypatch.context() as patched:
        for method in ("rm", "rm_file"):
            patched.setattr(type(shards._opened()[0]), method, refuses)
        shards.remove(name)
        shards.discard()
    assert shards.names() == [name]


def test_packed_is_checked():
    content, arrays = {"path": "a\udcff.png"}, {"vectors": np.arange(6, dtype=np.float32).reshape(2, 3)}
    stored = packed(content, arrays)
    again, found = unpacked(stored)
    assert again == content and found.keys() == {"vectors"} and np.array_equal(found["vectors"], arrays["vectors"])
    at = stored.index(arrays["vectors"].tobytes())
    for damaged in (stored[:-7], b"", stored[:at] + b"\xff" + stored[at + 1:]):
        with pytest.raises(ValueError, match="not what was written"):
            unpacked(damaged)
