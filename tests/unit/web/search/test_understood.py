"""What was understood of a turn: chips that can be dropped, and ticks on the results."""

from types import SimpleNamespace

import pytest

from cir_core.errors import SearchError
from cir_core.images.uploads import UploadFolder
from cir_core.language.tasks import AspectAnswer, AspectsAnswer
from cir_core.methods.declared import builtin_methods
from cir_core.methods.guidance import ticks
from cir_core.methods.steps import STEPS
from cir_core.sessions.pool import SearcherPool
from cir_core.sessions.service import SearchService
from tests.fakes.colours import NAME, colour_gallery
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ReplayingLanguageModel
from tests.fakes.store import InMemorySessionStore
from web.search.actions.base import begin, perform
from web.search.presenters import steps as present_steps
from web.search.presenters.adjusted_turn import shown_turn
from web.search.presenters.guidance import GuidancePresenter
from web.search.view import UiState

RED = AspectAnswer(name="colour", label="red", asked=True, wanted=("red",), others=("green", "blue"))
KEPT = AspectAnswer(name="hue", label="green", asked=False, wanted=("green",), others=("blue",))


@pytest.fixture
def services(tmp_path):
    colour_gallery(tmp_path)
    home = tmp_path / "home"
    replies = [AspectsAnswer(aspects=(RED, KEPT)), AspectsAnswer()]
    model = ReplayingLanguageModel({"aspects": replies}, caption="a thing")
    pool = SearcherPool(home, lambda encoder: model, lambda spec: FakeEncoder())
    search = SearchService(pool, InMemorySessionStore(), UploadFolder(home / "uploads", max_megapixels=4))
    settings = SimpleNamespace(gallery=NAME, max_upload_mb=5, max_turns=20)
    return SimpleNamespace(search=search, methods=builtin_methods(), settings=settings)


@pytest.fixture
def searched(services):
    _, job = begin(services, UiState(gallery=NAME, reference_id="r0g3b0", k=64), "search", {"text": "red"})
    return job()


def drop(services, view, name):
    return perform(services, view, "drop_aspect", {"aspect": name})


def understood(services, view):
    session = services.search.session(view.session_id)
    found = shown_turn(services.search, session, session.turn(view.turn_id), view)
    guidance = GuidancePresenter(STEPS["guidance"])
    return guidance.panel(found.stored, found.shown, NAME, "v")


def test_chips_say_what_is_asked_and_what_stays(services, searched):
    panel = understood(services, searched)
    assert [(one["label"], one["earlier"]) for one in panel["asked"]] == [("red", False)]
    assert [one["title"] for one in panel["kept"]] == ["hue, as in the reference"]


def test_an_earlier_request_is_marked_and_can_be_dropped(services, searched):
    _, job = begin(services, searched, "search", {"text": "more"})
    later = job()
    panel = understood(services, later)
    assert [(one["label"], one["earlier"], one["title"]) for one in panel["asked"]] == [
        ("red", True, "colour, asked in turn 1")]
    dropped = drop(services, later, "colour")
    assert understood(services, dropped)["asked"] == []
    assert present_steps.changes(dropped)["what"] == "requests"
    assert understood(services, perform(services, dropped, "undo", {}))["asked"]
    with pytest.raises(SearchError, match="Reload"):
        drop(services, dropped, "colour")


def test_ticks_are_what_the_encoder_sees_more_likely_than_not(services, searched):
    turn = services.search.session(searched.session_id).turn(searched.turn_id)
    searcher = services.search.searcher(NAME)
    red, green, blue = FakeEncoder().encode_texts(["red", "green", "blue"])
    for hit in turn.hits:
        x = searcher.features_of([hit.image_id])[0].astype(float)
        rest = sum(2.718281828459045 ** ((x @ other - x @ red) / 0.02) for other in (green, blue))
        if abs(rest - 1) > 1e-3:   # p = 1 / (1 + rest)
            assert ticks(turn.composition, hit.parts) == [("red", rest < 1)], hit.image_id
