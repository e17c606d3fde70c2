"""``cirque galleries index`` and what the list of galleries says of it."""

from __future__ import annotations

import pytest
from threadpoolctl import threadpool_limits
from typer.testing import CliRunner

from cir_core.gallery.gallery import open_gallery
from cir_core.index.stored import read_index
from cir_core.settings import get_settings
from cli import console
from cli.galleries import galleries, indexes
from cli.main import app
from tests.fakes.databases import use_home
from tests.fakes.encoder import FakeEncoder
from tests.fakes.vector_galleries import DIM, NAME, index_anew, vector_gallery


@pytest.fixture
def cirque(tmp_path, monkeypatch):
    use_home(monkeypatch, tmp_path)
    vector_gallery(tmp_path)
    get_settings.cache_clear()
    monkeypatch.setattr(console.out, "width", 300)

    def run(*arguments):
        result = CliRunner().invoke(app, arguments)
        said = str(result.exception or "") if result.exit_code else ""
        return result.exit_code, " ".join((result.output + " " + said).split())

    with threadpool_limits(1):
        yield run
    get_settings.cache_clear()


def listed(cirque):
    _, said = cirque("galleries", "list")
    return said.split(" complete ")[1]


def test_an_index_is_chosen_shown_and_taken_away(cirque, tmp_path):
    assert listed(cirque) == "exact"
    code, said = cirque("galleries", "index", NAME, "faiss:auto", "--recall", "0.9")
    stored = read_index(open_gallery(NAME, home=tmp_path).folder)
    assert code == 0 and said.startswith(f"Gallery {NAME} has the index faiss:hnsw. Built with: faiss")
    assert "Recall@10 and @60: near" in said and "against exact search" in said and "exact search" in said
    assert listed(cirque) == f"faiss:hnsw, recall@10 {stored.figures.worst[0]:.3f}"
    index_anew(tmp_path, vectors=True)
    assert listed(cirque) == "exact (faiss:hnsw is out of date)"
    assert cirque("galleries", "index", NAME, "exact") == (0, f"Gallery {NAME} is searched exactly.")
    assert listed(cirque) == "exact"


def test_captions_are_encoded_by_the_gallerys_encoder(cirque, tmp_path, monkeypatch):
    index_anew(tmp_path, vectors=False)
    asked = []
    monkeypatch.setattr(indexes, "open_encoder", lambda spec: asked.append(spec) or FakeEncoder(DIM))
    code, said = cirque("galleries", "index", NAME, "faiss:ivf-sq", "--recall", "0")
    assert code == 0 and "text" in said and "composed" in said and asked == ["fake"]


def test_indexing_again_builds_the_index_that_the_gallery_had(cirque, tmp_path, capsys):
    cirque("galleries", "index", NAME, "faiss:ivf-sq", "--recall", "0.5")
    index_anew(tmp_path, vectors=True)
    galleries.index_again(NAME, FakeEncoder(DIM))
    assert f"Gallery {NAME} has the index faiss:ivf-sq." in capsys.readouterr().out
    assert listed(cirque).startswith("faiss:ivf-sq, recall@10")


def test_a_saved_gallery_whose_index_is_refused_is_no_failure(cirque, tmp_path, capsys):
    cirque("galleries", "index", NAME, "faiss:ivf-sq", "--recall", "0.5")
    index_anew(tmp_path, vectors=True)
    galleries.index_again(NAME, FakeEncoder(DIM), recall=2)
    said = " ".join("".join(capsys.readouterr()).split())
    assert "index was not built again. The recall is 2" in said
    assert f"exact until you run: cirque galleries index {NAME} faiss:ivf-sq" in said
    assert listed(cirque) == "exact (faiss:ivf-sq is out of date)"


def test_a_kind_that_there_is_not_is_refused_before_anything_is_read(cirque, tmp_path):
    code, said = cirque("index", str(tmp_path / "nowhere"), "--name", "new", "--index", "annoy")
    assert code == 1 and "There is no index 'annoy'. Choose exact" in said
