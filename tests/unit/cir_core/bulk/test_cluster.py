"""What can be said of a cluster without one. With one: tests/integration/test_ray.py."""

import os
import signal
import socket
import subprocess
import sys
import threading
from importlib.util import find_spec

import pytest

from cir_core.bulk.cluster import RayCluster
from cir_core.bulk.places import Job
from cir_core.errors import ClusterError
from cir_core.settings import prepare_for_ray

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray")


def run(address, tmp_path):
    return list(RayCluster(address, cpus=1).run(None, ["a part"], Job("job", tmp_path)))


@needs_ray
@pytest.mark.parametrize("address", ["head", "ray://head:10001", "head:port", ":6379", ""])
def test_an_address_of_another_form_has_a_sentence(address, tmp_path):
    with pytest.raises(ClusterError, match=r"not the address of a Ray cluster\. Write HOST:PORT"):
        run(address, tmp_path)


@needs_ray
def test_an_address_where_nothing_answers(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(ClusterError, match=rf"No Ray cluster answers at 127\.0\.0\.1:{port}: Connection refused"):
        run(f"127.0.0.1:{port}", tmp_path)


@needs_ray
def test_an_address_of_something_else(tmp_path):
    """Ray would wait for two minutes and then end the process."""

    def answer(server):
        connection, _ = server.accept()
        with connection:
            connection.recv(100)
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=answer, args=(server,))
        thread.start()
        with pytest.raises(ClusterError, match="8265 is that of its dashboard"):
            run(f"127.0.0.1:{server.getsockname()[1]}", tmp_path)
        thread.join()


@needs_ray
@pytest.mark.parametrize("address", ["local:0", "local:many"])
def test_a_number_of_processors_that_is_none(address, tmp_path):
    with pytest.raises(ClusterError, match="Write local:4"):
        run(address, tmp_path)


@pytest.mark.parametrize(("given", "mode"), [
    ({}, None), ({"RAY_AUTH_TOKEN": "secret"}, "token"), ({"RAY_AUTH_TOKEN_PATH": "/run/token"}, "token"),
    ({"file": "secret"}, "token"), ({"file": "secret", "RAY_AUTH_MODE": "disabled"}, "disabled"),
])
def test_a_token_that_is_there_is_used(given, mode, tmp_path, monkeypatch):
    """The head of a cluster that is started where there is one asks for it; a local Ray leaves one there."""
    variables = {"HOME": str(tmp_path)} | {name: value for name, value in given.items() if name != "file"}
    monkeypatch.setattr(os, "environ", variables)
    if "file" in given:
        (tmp_path / ".ray").mkdir()
        (tmp_path / ".ray" / "auth_token").write_text(given["file"])
    prepare_for_ray()
    assert variables.get("RAY_AUTH_MODE") == mode


@needs_ray
def test_the_commands_own_handler_of_sigterm_stays(tmp_path, monkeypatch):
    import ray

    def init(**_):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)   # as Ray's does with one of its own
        raise RuntimeError("no")

    own = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        mine = signal.getsignal(signal.SIGTERM)
        monkeypatch.setattr(ray, "init", init)
        with pytest.raises(ClusterError, match="Cannot use a Ray cluster"):
            run("local:1", tmp_path)
        assert signal.getsignal(signal.SIGTERM) is mine
    finally:
        signal.signal(signal.SIGTERM, own)


def test_without_ray_the_error_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ClusterError, match=r"\[ray\]"):
        run("auto", tmp_path)


def test_nothing_imports_ray_before_it_is_needed():
    program = "import sys, cir_core.bulk.cluster, cir_core.gallery.indexing, cli.main; print('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True
                          ).stdout == "False\n"
