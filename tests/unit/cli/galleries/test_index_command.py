"""``cirque index``: what it prints and reports about files that are not in the gallery."""

import os

import pytest
from PIL import Image
from typer.testing import CliRunner

from cir_core.settings import get_settings
from cli.galleries import galleries
from cli.main import app
from tests.fakes.databases import use_home
from tests.fakes.encoder import FakeEncoder


@pytest.fixture
def cirque(tmp_path, monkeypatch):
    use_home(monkeypatch, tmp_path / "home")
    get_settings.cache_clear()
    monkeypatch.setattr(galleries, "open_encoder", lambda spec: FakeEncoder())
    yield lambda *arguments: CliRunner().invoke(app, ["index", str(tmp_path / "photos"), "--name", "g", *arguments])
    get_settings.cache_clear()


def test_what_was_left_out_is_summed_up_and_listed(cirque, tmp_path):
    photos = tmp_path / "photos"
    (photos / "@eaDir").mkdir(parents=True)
    for name in ("a.png", "b.png", "c.gif", "d.gif"):
        Image.new("RGB", (8, 8), "red").save(photos / name)
    for name in ("a.xmp", ".hidden", os.fsdecode(b"\xff\n.txt")):
        (photos / name).touch()
    (photos / ".cirqueignore").write_text("b.png\n")
    result = cirque("--exclude", "*.gif", "--include", "d.gif", "--report", str(tmp_path / "report.tsv"))
    assert result.exit_code == 0, result.output
    assert "Gallery g: 2 images. 2 added" in result.output
    assert "Left out: 4 files and 1 folders" in result.output
    assert "1 excluded by --exclude '*.gif'" in result.output
    assert (tmp_path / "report.tsv").read_text("utf-8").splitlines() == [
        "\\udcff\\n.txt\tis empty (0 bytes).", ".hidden\tleft out: hidden",
        "@eaDir/\tleft out: previews of another program",
        "a.xmp\tleft out: sidecar file", "b.png\tleft out: excluded by .cirqueignore, line 1",
        "c.gif\tleft out: excluded by --exclude '*.gif'"]


def test_nothing_is_said_where_nothing_was_left_out(cirque, tmp_path):
    (tmp_path / "photos").mkdir()
    Image.new("RGB", (8, 8), "red").save(tmp_path / "photos" / "a.png")
    assert "Left out" not in cirque().output
