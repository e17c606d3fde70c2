"""docs/deploy/space/app.py, as a Space starts it: a process of its own with no settings but the Space's."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

from benchmarks.servers import lasting_port
from cir_core.version import __version__
from tests.fakes import drawn
from tests.fakes.databases import environment_of
from tests.fakes.forked import start
from tests.fakes.patience import PATIENCE, wait_for
from tests.integration.processes import ROOT

SPACE = ROOT / "docs" / "deploy" / "space"
FRAME = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe",
         "X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.7"}


@pytest.mark.extended
def test_it_serves_the_demo_to_strangers_in_hugging_face_s_frame(tmp_path: Path) -> None:
    port, log = lasting_port(), tmp_path / "log"
    home = drawn.home(tmp_path / "home", 12)
    environment = {name: value for name, value in environment_of(home, CIRQUE_DATABASE_URL="").items()
                   if not name.startswith("SPACE_")}
    # A gallery that is there: drawing 6,000 garments takes minutes. And a port that is free here.
    environment |= {"CIRQUE_GALLERY": "mine", "CIRQUE_PORT": str(port), "SPACE_HOST": "lab-cirque.hf.space",
                    "CIRQUE_TRUSTED_PROXIES": "127.0.0.0/8"}
    (home / "galleries" / "atelier").rename(home / "galleries" / "mine")
    with log.open("w") as stream:
        process = start(str(SPACE / "app.py"), environment=environment, output=stream)
    try:
        wait_for(lambda: "A public demo" in log.read_text(), going=lambda: process.poll() is None, told=log.read_text)
        assert re.search(rf"cirque is at http://localhost:{port}\b", log.read_text())   # it listens on 0.0.0.0
        with httpx.Client(base_url=f"http://127.0.0.2:{port}", timeout=PATIENCE, headers={
                "Host": "lab-cirque.hf.space"}) as visitor:
            page = visitor.get("/", headers=FRAME)
            assert page.status_code == 200
            assert page.headers["content-security-policy"].endswith("frame-ancestors https://huggingface.co")
            assert re.search("SameSite=none.*Partitioned", page.headers["set-cookie"])
            assert visitor.get("/me").json()["may"] == ["search"]
            for path in ("/studies", "/people", "/sign-in", "/gradio_api/info", "/metrics"):
                assert visitor.get(path).status_code == 404, path
        assert "203.0.113.7" not in log.read_text()
    finally:
        process.terminate()
        process.wait(30)


def test_its_wheel_is_this_version_s_and_all_files_are_named() -> None:
    requirements = (SPACE / "requirements.txt").read_text("utf-8")
    assert f"./cirque_workbench-{__version__}-py3-none-any.whl" in requirements.splitlines()
    front = (SPACE / "README.md").read_text("utf-8").split("---\n")[1]
    found = dict(line.split(": ", 1) for line in front.splitlines())
    assert (found["sdk"], found["app_port"], found["title"]) == ("docker", "7860", "cirque")
    assert len(found["short_description"]) <= 60     # what Hugging Face takes
    image = (SPACE / "Dockerfile").read_text("utf-8")
    assert {path.name for path in SPACE.iterdir()} == {"README.md", "app.py", "requirements.txt", "Dockerfile"}
    assert "COPY app.py" in image and "COPY requirements.txt *.whl" in image and "EXPOSE 7860" in image
