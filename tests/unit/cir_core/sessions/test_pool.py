"""The pool: who loads an encoder, who waits for it, and what is let go."""

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

import cir_core.sessions.pool
from cir_core.captions.stored import captions_path, read_captions
from cir_core.errors import EncoderMismatch, EncoderUnavailable, GalleryError
from cir_core.gallery.gallery import open_gallery, remove_gallery
from cir_core.gallery.indexing import index_folder
from cir_core.images.uploads import UploadFolder
from cir_core.index.building import build_index
from cir_core.sessions.pool import REST, SearcherPool
from cir_core.sessions.service import SearchService
from cir_core.types.records import MethodSettings
from tests.fakes.colours import NAME, colour_gallery
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ScriptedLanguageModel
from tests.fakes.store import InMemorySessionStore

OLD, NEW = "a" * 16, "b" * 16
SOON = 10  # seconds after which a test that hangs has failed


class Weights:
    """What lies on the disk: encoder spec to revision. ``loads`` are the specs, as asked for.

    ``during`` runs within a load, once for each spec.
    """

    def __init__(self, **revisions):
        self.revisions = revisions
        self.loads = []
        self.during = {}

    def __call__(self, spec):
        self.loads.append(spec)
        self.during.pop(spec, lambda: None)()
        return FakeEncoder(spec=spec, revision=self.revisions[spec])


class Held:
    """Keeps a load from ending until it is left, and tells when it has begun."""

    def __init__(self):
        self.begun, self._may_end = threading.Event(), threading.Event()

    def __call__(self):
        self.begun.set()
        assert self._may_end.wait(SOON)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._may_end.set()


class Disk:
    def __init__(self, tmp_path):
        self.home, self._photos = tmp_path / "home", tmp_path / "photos"
        self.weights = Weights(fake=OLD, other=OLD)
        self.now = 0.0

    def index(self, name=NAME, spec="fake"):
        encoder = FakeEncoder(spec=spec, revision=self.weights.revisions[spec])
        index_folder(self._photos, name=name, encoder=encoder, home=self.home)

    def pool(self, language_for=lambda encoder: ScriptedLanguageModel("green")):
        return SearcherPool(self.home, language_for, self.weights, clock=lambda: self.now)


@pytest.fixture
def disk(tmp_path):
    colour_gallery(tmp_path, steps=2, encoder=FakeEncoder(revision=OLD))
    return Disk(tmp_path)


@pytest.fixture
def threads():
    with ThreadPoolExecutor(4) as executor:
        yield executor


def turn(searcher):
    return searcher.turn(searcher.gallery_reference("r0g1b0"), "red", MethodSettings(), k=3)


def test_everybody_shares_what_is_loaded(disk):
    disk.index("second")
    pool = disk.pool()
    assert pool.searcher(NAME) is pool.searcher(NAME)
    assert pool.searcher("second").encoder is pool.searcher(NAME).encoder
    assert pool.searcher("second").language is pool.searcher(NAME).language
    assert disk.weights.loads == ["fake"]


def test_new_weights_under_the_same_spec_are_loaded(disk):
    pool = disk.pool()
    pool.searcher(NAME)
    disk.weights.revisions["fake"] = NEW
    disk.index()
    searcher = pool.searcher(NAME)
    assert searcher.encoder.identity.revision == NEW and len(turn(searcher).hits) == 3
    assert pool.searcher(NAME) is searcher and disk.weights.loads == ["fake", "fake"]


def test_a_gallery_of_the_old_weights_goes_on_beside_one_of_the_new(disk):
    disk.index("second")
    pool = disk.pool()
    pool.searcher(NAME), pool.searcher("second")
    disk.weights.revisions["fake"] = NEW
    disk.index("second")
    assert pool.searcher("second").encoder.identity.revision == NEW
    assert pool.searcher(NAME).encoder.identity.revision == OLD
    assert disk.weights.loads == ["fake", "fake"]


def test_a_new_generation_of_the_same_weights_needs_no_load(disk, tmp_path):
    pool = disk.pool()
    encoder = pool.searcher(NAME).encoder
    (tmp_path / "photos" / "r0g0b0.png").unlink()
    disk.index()
    searcher = pool.searcher(NAME)
    assert len(searcher.index) == 7 and searcher.encoder is encoder and disk.weights.loads == ["fake"]


def test_another_index_is_used_at_once_and_needs_no_load(disk):
    pool = disk.pool()
    exact = pool.searcher(NAME)
    build_index(NAME, home=disk.home, kind="faiss:ivf-sq", recall=0.5)
    indexed = pool.searcher(NAME)
    assert indexed is pool.searcher(NAME) and disk.weights.loads == ["fake"]
    cards = [searcher.card(MethodSettings()) for searcher in (exact, indexed)]
    assert cards[0].index == "" and cards[1].index.startswith("faiss:ivf-sq (faiss")
    assert cards[0].digest != cards[1].digest
    assert pool.index(NAME)[0].startswith("faiss:ivf-sq, recall@10 ")
    disk.index(spec="other")   # another generation: the index is of other vectors
    assert pool.searcher(NAME).card(MethodSettings()).index == ""
    assert pool.index(NAME) == ("exact (faiss:ivf-sq is out of date)", None)
    build_index(NAME, home=disk.home, kind="exact")
    assert pool.index(NAME) == ("exact", None)


def test_weights_that_do_not_fit_are_looked_for_again_but_not_at_every_click(disk):
    disk.weights.revisions["fake"] = NEW
    pool = disk.pool()
    for _ in range(2):
        with pytest.raises(EncoderMismatch, match=f"revision {OLD}.*revision {NEW}"):
            pool.searcher(NAME)
    assert disk.weights.loads == ["fake"]
    disk.now = REST
    with pytest.raises(EncoderMismatch):
        pool.searcher(NAME)
    assert disk.weights.loads == ["fake"] * 2
    disk.weights.revisions["fake"] = OLD
    disk.now = 2 * REST
    assert pool.searcher(NAME).encoder.identity.revision == OLD


def test_indexing_again_helps_at_once(disk):
    disk.weights.revisions["fake"] = NEW
    pool = disk.pool()
    with pytest.raises(EncoderMismatch):
        pool.searcher(NAME)
    disk.index()
    assert pool.searcher(NAME).encoder.identity.revision == NEW


def test_weights_nobody_uses_any_more_are_let_go_before_others_are_loaded(disk):
    disk.index("second")
    pool = disk.pool()
    old = weakref.ref(pool.searcher(NAME).encoder)
    assert pool.searcher("second").encoder is old()
    disk.weights.revisions["fake"] = NEW
    disk.index()
    pool.searcher(NAME)
    gc.collect()
    assert old() is not None  # "second" was indexed with them
    disk.index("second")
    disk.index("third", spec="other")
    there = []
    disk.weights.during["other"] = lambda: there.append((gc.collect(), old())[1])
    pool.searcher("third")
    assert there == [None]


def test_a_removed_gallery_is_let_go(disk):
    disk.index("second", spec="other")
    pool = disk.pool()
    searcher, gallery = (weakref.ref(thing) for thing in (pool.searcher(NAME), pool.gallery(NAME)))
    remove_gallery(NAME, home=disk.home)
    pool.searcher("second")
    gc.collect()
    assert searcher() is None and gallery() is None
    remove_gallery("second", home=disk.home)
    encoder = weakref.ref(pool._searchers["second"].encoder)
    with pytest.raises(GalleryError, match="No gallery 'second'"):
        pool.gallery("second")
    gc.collect()
    assert encoder() is None


def test_a_picture_needs_no_encoder(disk, tmp_path):
    def none(spec):
        raise AssertionError(f"{spec} was loaded")

    pool = SearcherPool(disk.home, lambda encoder: ScriptedLanguageModel(), none)
    service = SearchService(pool, InMemorySessionStore(), UploadFolder(disk.home / "uploads", max_megapixels=4))
    assert service.picture(NAME, "r0g1b0").name == "r0g1b0.png"
    assert service.picture(NAME, "r0g1b0", thumbnail=True).is_file()
    assert sorted(service.random_images(NAME, 99)) == sorted(pool.gallery(NAME).ids)
    held = pool.gallery(NAME)
    assert pool.gallery(NAME) is held
    (tmp_path / "photos" / "r0g0b0.png").unlink()
    disk.index()
    assert len(pool.gallery(NAME)) == 7


def test_nobody_waits_for_the_encoder_of_another_gallery(disk, threads):
    disk.index("second", spec="other")
    disk.weights.revisions["third"] = OLD
    disk.index("third", spec="third")
    pool = disk.pool()
    loaded = pool.searcher(NAME)
    with Held() as load:
        disk.weights.during["other"] = load
        waiting = threads.submit(pool.searcher, "second")
        assert load.begun.wait(SOON)
        assert threads.submit(pool.gallery, "second").result(SOON).name == "second"
        assert threads.submit(pool.searcher, NAME).result(SOON) is loaded
        assert threads.submit(pool.searcher, "third").result(SOON).gallery.name == "third"
        assert not waiting.done()
    assert waiting.result(SOON).gallery.name == "second"


def test_those_who_ask_at_the_same_time_wait_for_one_load(disk, threads, monkeypatch):
    asked = threading.Semaphore(0)

    def reading(gallery):
        asked.release()
        return read_captions(gallery)

    monkeypatch.setattr(cir_core.sessions.pool, "read_captions", reading)
    disk.index("second")
    pool = disk.pool()
    with Held() as load:
        disk.weights.during["fake"] = load
        answers = [threads.submit(pool.searcher, name) for name in (NAME, NAME, "second", "second")]
        assert all(asked.acquire(timeout=SOON) for _ in answers)
        assert load.begun.wait(SOON)
    first, again, second, other = (answer.result(SOON) for answer in answers)
    assert first is again and second is other and first.encoder is second.encoder
    assert disk.weights.loads == ["fake"]


def test_a_load_that_fails_is_tried_again(disk, threads):
    def fail():
        raise EncoderUnavailable("The weights are not there. Copy them.")

    models = [RuntimeError("no vocabulary"), ScriptedLanguageModel()]

    def language_for(encoder):
        if isinstance(model := models.pop(0), Exception):
            raise model
        return model

    pool = disk.pool(language_for)
    with Held() as load:
        disk.weights.during["fake"] = lambda: (load(), fail())
        first = threads.submit(pool.searcher, NAME)
        assert load.begun.wait(SOON)
        second = threads.submit(pool.searcher, NAME)  # its own load works, its language model does not
    with pytest.raises(EncoderUnavailable, match="Copy them"):
        first.result(SOON)
    with pytest.raises(RuntimeError, match="no vocabulary"):
        second.result(SOON)
    assert pool.searcher(NAME).gallery.name == NAME and disk.weights.loads == ["fake"] * 3


def test_a_gallery_that_changes_while_its_encoder_is_loaded(disk, threads, tmp_path):
    """Who asked first may get what there was then; nobody after that does."""
    pool = disk.pool()

    def change():
        (tmp_path / "photos" / "r0g0b0.png").unlink()
        disk.index(spec="other")
        assert len(threads.submit(pool.searcher, NAME).result(SOON).index) == 7

    disk.weights.during["fake"] = change
    assert len(pool.searcher(NAME).index) == 8
    assert len(pool.searcher(NAME).index) == 7 and disk.weights.loads == ["fake", "other"]


def test_damaged_captions_do_not_end_a_search(disk):
    path = captions_path(open_gallery(NAME, home=disk.home))
    path.parent.mkdir()
    path.write_text("{}\n")
    pool = disk.pool()
    searcher = pool.searcher(NAME)
    assert searcher.captions is None and len(turn(searcher).hits) == 3
    assert f"{path} cannot be used" in searcher.captions_problem
    assert "cirque captions build colours" in searcher.captions_problem
    assert pool.searcher(NAME) is searcher
    path.unlink()
    mended = pool.searcher(NAME)
    assert (mended.captions, mended.captions_problem) == (None, "")
    assert mended.encoder is searcher.encoder and disk.weights.loads == ["fake"]


def test_only_the_demo_s_gallery_is_open(tmp_path):
    """Of a public demo: the home folder may have others, which are nobody's business."""
    colour_gallery(tmp_path, edge=8)
    home = tmp_path / "home"
    names = [info.name for info in SearcherPool(home, lambda _: ScriptedLanguageModel({})).infos()]
    assert names == [NAME]
    closed = SearcherPool(home, lambda _: ScriptedLanguageModel({}), lambda _: FakeEncoder(), only=("another",))
    assert closed.infos() == []
    for asked in (closed.gallery, closed.searcher):
        with pytest.raises(GalleryError, match="no gallery"):
            asked(NAME)
    assert SearcherPool(home, lambda _: ScriptedLanguageModel({}), only=(NAME,)).gallery(NAME).name == NAME
