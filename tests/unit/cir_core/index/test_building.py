"""Indexes of a gallery: built, measured, put in use in one step, refused, continued."""

import json

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from cir_core.errors import GalleryError
from cir_core.gallery.gallery import open_gallery
from cir_core.index import building, faiss_index
from cir_core.index.approximate import ApproximateIndex
from cir_core.index.building import build_index, rebuild_kind
from cir_core.index.engines import maker_of
from cir_core.index.flat import FlatIndex
from cir_core.index.measuring import caption_vectors, sample_queries
from cir_core.index.stored import FILE, figures_in_words, open_index, read_index
from tests.fakes.encoder import FakeEncoder
from tests.fakes.vector_galleries import DIM, NAME, index_anew, vector_gallery

KINDS = ("faiss:hnsw", "faiss:ivf-sq", "faiss:ivf-pq")


def build(home, kind="faiss:ivf-sq", **options):
    return build_index(NAME, home=home, kind=kind, **options)


def folders(gallery):
    return sorted(path.name for path in gallery.folder.glob("index*"))


@pytest.fixture(autouse=True)
def one_thread():
    """Threads of a busy machine wait for each other, which small data pays for most."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def gallery(tmp_path):
    return vector_gallery(tmp_path)


@pytest.fixture
def small_steps(monkeypatch):
    """Inverted files in four shards, HNSW written four times."""
    monkeypatch.setattr(faiss_index, "_SHARD", 500)
    monkeypatch.setattr(faiss_index, "_INTERVAL", 500)
    monkeypatch.setattr(faiss_index, "_BLOCK", 250)


@pytest.mark.parametrize("kind", KINDS)
def test_an_index_is_built_measured_and_used(kind, gallery, tmp_path, small_steps):
    stored = build(tmp_path, kind, recall=0.9)
    index, problem = open_index(gallery)
    assert isinstance(index, ApproximateIndex) and problem == "" and stored == read_index(gallery.folder)
    assert folders(gallery) == [stored.folder, FILE]
    assert set(stored.figures.recall) == {"near", "between"} and min(stored.figures.worst) >= 0.9
    assert stored.figures.size == sum(path.stat().st_size for path in (gallery.folder / stored.folder).glob("*.faiss")
                                      if path.name != "trained.faiss")
    assert index.description == stored.row and stored.digest in stored.row and stored.kind in stored.row
    exact = FlatIndex(gallery.features, gallery.ids)
    queries = sample_queries(gallery.features, each=20, seed=1)["near"]
    both = [({hit.image_id for hit in index.search(query, 10)}, {hit.image_id for hit in exact.search(query, 10)})
            for query in queries]
    assert np.mean([len(ours & theirs) / 10 for ours, theirs in both]) >= 0.9
    assert dict(figures_in_words(stored))["Searches with"].startswith("oversampling")


def test_auto_goes_by_size():
    maker = maker_of("faiss")
    assert [maker.variant("auto", size, 512).name for size in (1000, 200_000, 200_001, 10**7, 10**8)] == [
        "hnsw", "hnsw", "ivf-sq", "ivf-sq", "ivf-pq"]


@pytest.mark.parametrize(("kind", "writes"), [("faiss:hnsw", 2), ("faiss:ivf-sq", 3), ("faiss:ivf-pq", 1)])
def test_a_killed_build_goes_on_and_nothing_half_made_is_used(
    kind, writes, gallery, tmp_path, small_steps, monkeypatch
):
    write, blocks, added = faiss_index._write, faiss_index._blocks, []

    def killed(index, path):
        if len(done) == writes:
            raise KeyboardInterrupt
        done.append(path)
        write(index, path)

    def counted(features, start, end):
        for block in blocks(features, start, end):
            added.append(len(block))
            yield block

    done: list[object] = []
    monkeypatch.setattr(faiss_index, "_blocks", counted)
    monkeypatch.setattr(faiss_index, "_write", killed)
    with pytest.raises(KeyboardInterrupt):
        build(tmp_path, kind, recall=0.5)
    assert type(open_index(gallery)[0]) is FlatIndex and read_index(gallery.folder) is None
    assert folders(gallery) == ["index-work"]
    added.clear()
    monkeypatch.setattr(faiss_index, "_write", write)
    continued = build(tmp_path, kind, recall=0.5)
    # Two writes of HNSW hold 1,000 vectors; of inverted files the first is the training.
    assert sum(added) == 2000 - 500 * (writes if kind == "faiss:hnsw" else writes - 1)
    found = [hit.image_id for hit in open_index(gallery)[0].search(gallery.features[5], 60)]
    fresh = vector_gallery(tmp_path / "other")
    assert build(tmp_path / "other", kind, recall=0.5).kind == continued.kind
    assert found == [hit.image_id for hit in open_index(fresh)[0].search(fresh.features[5], 60)]


def test_a_build_killed_while_it_is_measured_is_not_repeated(gallery, tmp_path, monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(building, "measure", killed)
        with pytest.raises(KeyboardInterrupt):
            build(tmp_path, recall=0.5)
    assert type(open_index(gallery)[0]) is FlatIndex
    monkeypatch.setattr(faiss_index.FaissMaker, "build", killed)
    assert build(tmp_path, recall=0.5) == read_index(gallery.folder)


def test_work_of_other_vectors_or_another_kind_is_not_continued(gallery, tmp_path, monkeypatch):
    work = gallery.folder / "index-work"
    work.mkdir()
    (work / "run.json").write_text(json.dumps({"kind": "faiss:ivf-sq", "vectors": "of others"}))
    (work / "shard-00000.faiss").write_bytes(b"no index")
    assert min(build(tmp_path, recall=0.5).figures.worst) >= 0.5


def test_below_the_recall_the_build_is_refused_and_the_old_index_stays(gallery, tmp_path, monkeypatch):
    old = build(tmp_path, "faiss:ivf-sq", recall=0.5)
    monkeypatch.setitem(faiss_index._LADDERS, "ivf-pq", ({"oversampling": 1, "nprobe": 1},))
    with pytest.raises(GalleryError, match=r"too few of the best images.*near 0\.\d+ and 0\.\d+.*0\.999 is required"
                                           r".*--recall"):
        build(tmp_path, "faiss:ivf-pq", recall=0.999)
    assert read_index(gallery.folder) == old and folders(gallery) == [old.folder, FILE]
    assert open_index(gallery)[0].description == old.row


def test_settings_are_the_first_that_reach_the_recall(gallery, tmp_path):
    low = build(tmp_path, recall=0.3)
    assert low.settings == faiss_index._LADDERS["ivf-sq"][0]
    high = build(tmp_path, recall=0.999)
    assert high.settings["nprobe"] > low.settings["nprobe"] and min(high.figures.worst) >= 0.999
    assert high.row != low.row


def test_an_index_of_other_vectors_is_not_used(gallery, tmp_path):
    old = build(tmp_path, recall=0.5)
    changed = index_anew(tmp_path, vectors=True)
    index, problem = open_index(changed)
    assert type(index) is FlatIndex and index.description == ""
    assert f"was built from other vectors than those it has now, so search is exact. To build it again: cirque " \
           f"galleries index {NAME} faiss:ivf-sq" in problem
    assert rebuild_kind(NAME, tmp_path) == ("faiss:ivf-sq", 0.5)
    new = build(tmp_path, recall=0.5)
    assert new.vectors != old.vectors and folders(changed) == [new.folder, FILE]
    assert isinstance(open_index(changed)[0], ApproximateIndex)


def test_the_same_vectors_under_another_generation_need_no_build(gallery, tmp_path, monkeypatch):
    old = build(tmp_path, recall=0.5)
    changed = index_anew(tmp_path, vectors=False)
    monkeypatch.setattr(faiss_index.FaissMaker, "build", None)
    kept = build(tmp_path, recall=0.5)
    assert (kept.folder, kept.digest, kept.generation) == (old.folder, old.digest, changed.generation)
    assert isinstance(open_index(changed)[0], ApproximateIndex)


def test_captions_are_among_the_queries(gallery, tmp_path):
    captioned = index_anew(tmp_path, vectors=False)
    stored = build(tmp_path, recall=0.0, texts=lambda one: caption_vectors(one, FakeEncoder(DIM)))
    assert set(stored.figures.recall) == {"near", "between", "text", "composed"}
    assert caption_vectors(gallery, FakeEncoder(DIM)) is None
    assert caption_vectors(captioned, FakeEncoder(DIM)).shape == (100, DIM)


def test_exact_takes_the_index_away(gallery, tmp_path):
    build(tmp_path, recall=0.5)
    assert build(tmp_path, "exact") is None
    assert type(open_index(gallery)[0]) is FlatIndex and folders(gallery) == []


@pytest.mark.parametrize("file", [FILE, "shard-00000.faiss"])
def test_a_damaged_index_is_not_used(file, gallery, tmp_path):
    stored = build(tmp_path, recall=0.5)
    path = gallery.folder / FILE if file == FILE else gallery.folder / stored.folder / file
    path.write_bytes(path.read_bytes()[:100])
    index, problem = open_index(open_gallery(NAME, home=tmp_path))
    assert type(index) is FlatIndex and "damaged" in problem and f"cirque galleries index {NAME}" in problem
    path.unlink()
    assert type(open_index(gallery)[0]) is FlatIndex
    build(tmp_path, recall=0.5)     # the command that the error names
    assert isinstance(open_index(gallery)[0], ApproximateIndex)


@pytest.mark.parametrize(("kind", "recall", "problem"), [
    ("annoy", 0.9, "no index 'annoy'. Choose exact, or one of these engines"),
    ("faiss:flat", 0.9, "no index 'flat' here. Choose auto, hnsw, ivf-sq, ivf-pq"),
    ("faiss:auto", 1.5, "between 0 and 1"),
])
def test_what_cannot_be_built(kind, recall, problem, gallery, tmp_path):
    with pytest.raises(GalleryError, match=problem):
        build(tmp_path, kind, recall=recall)
    with pytest.raises(GalleryError, match="No gallery"):
        build_index("nobody", home=tmp_path, kind="faiss")
    assert not (tmp_path / "galleries" / "nobody").exists()
