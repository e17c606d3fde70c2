"""The same turn with several methods."""

import dataclasses

import pytest

from cir_core.errors import LanguageModelError, SearchError, Stopped, UnknownSession
from cir_core.gallery.indexing import index_folder
from cir_core.images.uploads import UploadFolder
from cir_core.language.tasks import MergeTask
from cir_core.methods.declared import Method, builtin_methods
from cir_core.methods.observer import TurnObserver
from cir_core.sessions.compare import DEPTH, ComparisonService
from cir_core.sessions.pool import SearcherPool
from cir_core.sessions.service import SearchService
from cir_core.types.records import MethodSettings
from tests.fakes.colours import NAME, colour_gallery
from tests.fakes.comparison_store import InMemoryComparisonStore
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ReplayingLanguageModel, ScriptedLanguageModel
from tests.fakes.store import InMemorySessionStore

METHODS = builtin_methods()
TEXT, IMAGE, CIREVL = METHODS["text-only"], METHODS["image-only"], METHODS["cirevl"]


class NoMerge(ScriptedLanguageModel):
    """A model that cannot merge."""

    def complete(self, task, watch=None):
        if isinstance(task, MergeTask):
            raise LanguageModelError("The merge broke.")
        return super().complete(task, watch)


@pytest.fixture
def make(tmp_path):
    def build(language=None):
        home = tmp_path / "home"
        model = language or ScriptedLanguageModel("green")
        pool = SearcherPool(home, lambda encoder: model, lambda spec: FakeEncoder())
        search = SearchService(pool, InMemorySessionStore(), UploadFolder(home / "uploads", max_megapixels=4))
        return search, ComparisonService(search, InMemoryComparisonStore())

    colour_gallery(tmp_path)
    return build


def test_each_column_is_what_the_method_finds_alone(make):
    search, compare = make()
    made = compare.run(NAME, "r0g3b0", "red", [TEXT, IMAGE, CIREVL])
    assert [column.method for column in made.columns] == ["text-only", "image-only", "cirevl"]
    searcher = search.searcher(NAME)
    for column, method in zip(made.columns, (TEXT, IMAGE, CIREVL), strict=True):
        alone = searcher.turn(searcher.gallery_reference("r0g3b0"), "red", method.settings, k=DEPTH)
        assert column.hits == alone.hits and column.protocol.method == method.settings
        assert column.timings_ms["total"] >= column.timings_ms["search"]
    assert len({column.protocol.digest for column in made.columns}) == 3
    assert compare.comparison(made.comparison_id) == made


def test_it_goes_on_from_a_turn(make):
    search, compare = make()
    session = search.start(NAME)
    one = search.run_turn(session.session_id, "red", reference_id="r0g3b0").turn
    made = compare.run(NAME, one.hits[0].image_id, "blue", [TEXT, METHODS["guided"]], session_id=session.session_id,
                       parent_id=one.turn_id)
    two = search.run_turn(session.session_id, "blue", reference_id=one.hits[0].image_id, parent_id=one.turn_id).turn
    assert made.columns[1].hits == two.hits[:DEPTH]
    assert (made.session_id, made.parent_id) == (session.session_id, one.turn_id)
    with pytest.raises(SearchError, match="Reload"):
        compare.run(NAME, "r0g3b0", "red", [TEXT, CIREVL], session_id=session.session_id, parent_id="gone")


def test_a_blind_order_is_drawn_and_repeats_with_its_seed(make):
    _, compare = make()
    methods = [TEXT, IMAGE, CIREVL, METHODS["slerp"]]
    orders = {
        seed: [c.method for c in compare.run(NAME, "r0g3b0", "red", methods, blind=True, seed=seed).columns]
        for seed in range(8)
    }
    assert len({tuple(order) for order in orders.values()}) > 3
    assert all(sorted(order) == sorted(m.name for m in methods) for order in orders.values())
    again = compare.run(NAME, "r0g3b0", "red", methods, blind=True, seed=5)
    assert [column.method for column in again.columns] == orders[5] and again.seed == 5


def test_a_method_that_cannot_run_takes_part_with_its_problem(make):
    _, compare = make(NoMerge("green"))
    made = compare.run(NAME, "r0g3b0", "red", [TEXT, CIREVL, METHODS["joint"]])
    assert [bool(column.problem) for column in made.columns] == [False, True, True]
    assert made.columns[1].problem == "The merge broke." and made.columns[1].hits == ()
    assert "does not compose" in made.columns[2].problem
    with pytest.raises(SearchError, match="None of the methods"):
        compare.run(NAME, "r0g3b0", "red", [CIREVL, METHODS["joint"]])


def test_what_cannot_be_compared(make):
    _, compare = make()
    for methods, sentence in (([TEXT], "2 to 6"), ([TEXT, TEXT], "twice"), ([TEXT, IMAGE] * 4, "2 to 6")):
        with pytest.raises(SearchError, match=sentence):
            compare.run(NAME, "r0g3b0", "red", methods)
    with pytest.raises(SearchError, match="Say what should be different"):
        compare.run(NAME, "r0g3b0", " ", [TEXT, IMAGE])
    same = Method("image-again", "Image again", "", MethodSettings(base="image-only"))
    assert compare.run(NAME, "r0g3b0", "", [IMAGE, same]).columns[0].hits


def test_the_same_images_are_left_out_for_everybody(make):
    _, compare = make()
    methods = [TEXT, dataclasses.replace(CIREVL, settings=MethodSettings(exclude="none"))]
    made = compare.run(NAME, "r3g0b0", "red", methods, exclude="reference")
    assert all("r3g0b0" not in {hit.image_id for hit in column.hits} for column in made.columns)


def test_stopping_keeps_what_is_done(make):
    _, compare = make()
    watch, done = TurnObserver(), []

    def column_done():
        done.append(1)
        if len(done) == 2:
            watch.stop()

    made = compare.run(NAME, "r0g3b0", "red", [TEXT, IMAGE, CIREVL], watch=watch, column_done=column_done)
    assert [bool(column.problem) for column in made.columns] == [False, False, True]
    assert made.columns[2].problem == "Stopped before it started."
    watch.stop()
    with pytest.raises(Stopped, match="before any method"):
        compare.run(NAME, "r0g3b0", "red", [TEXT, IMAGE], watch=watch)


def test_a_blind_run_takes_the_methods_as_they_were_asked_for(make):
    """Otherwise the progress would tell which of the columns is the slow one."""
    language = ReplayingLanguageModel({}, caption="green")
    _, compare = make(language)
    for seed in range(6):
        asked = []
        compare.run(NAME, "r0g3b0", "red", [CIREVL, TEXT, IMAGE], blind=True, seed=seed,
                    column_done=lambda: asked.append(sum(task.role == "merge" for task in language.asked)))  # noqa: B023
        assert asked[0] == asked[-1] == seed + 1  # the one that merges was always run first


def test_the_caption_counts_for_every_column_that_needs_it(make):
    """It is made once; what a column shows is what its method costs alone."""
    language = ReplayingLanguageModel({}, caption="green")
    _, compare = make(language)
    made = compare.run(NAME, "r0g3b0", "red", [CIREVL, METHODS["average"], TEXT])
    assert sum(task.role == "caption" for task in language.asked) == 1
    first, second, text = made.columns
    assert first.timings_ms["caption"] == second.timings_ms["caption"] > 0 and "caption" not in text.timings_ms
    # one caption and one merge each; text alone asks nobody
    assert [column.composition.usage.calls for column in made.columns] == [2, 2, 0]
    assert text.composition.usage.models == ()


def test_it_does_not_go_on_in_another_gallery(make, tmp_path):
    search, compare = make()
    index_folder(tmp_path / "photos", name="other", encoder=FakeEncoder(), home=tmp_path / "home")
    session = search.start(NAME)
    one = search.run_turn(session.session_id, "red", reference_id="r0g3b0").turn
    with pytest.raises(SearchError, match="not part of this session"):
        compare.run("other", "r0g3b0", "red", [TEXT, CIREVL], session_id=session.session_id, parent_id=one.turn_id)
    with pytest.raises(UnknownSession):
        compare.run(NAME, "r0g3b0", "red", [TEXT, CIREVL], parent_id=one.turn_id)
