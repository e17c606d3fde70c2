"""What metrics say of a comparison: after the vote alone, and nothing without a model."""


import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from cir_core.errors import RelevanceUnavailable
from cir_core.methods.declared import Method, builtin_methods
from cir_core.methods.relevance import Relevance
from cir_core.sessions.judges import CIRQRS, RECALL, ComparisonJudges, preferred
from cir_core.types.records import MethodSettings
from tests.fakes.colour_relevance import ColourRelevance
from tests.fakes.colours import NAME
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ScriptedLanguageModel
from web.search.actions.columns import COLUMN_ACTIONS, COLUMN_LONG
from web.search.presenters.columns import columns
from web.search.routes import judge_routes
from web.search.view import UiState
from web.ui.static_files import fill

METHODS = builtin_methods() | {
    "red-first": Method("red-first", "Red first", "", MethodSettings("text-only").with_parts(
        {"relevance": Relevance("gallery")}))}


@pytest.fixture
def language():
    return ScriptedLanguageModel("green")


@pytest.fixture
def methods():
    return METHODS


@pytest.fixture
def relevance(gallery):
    return ColourRelevance(gallery)


@pytest.fixture(autouse=True)
def judges(services, relevance):
    services.judges = ComparisonJudges(services.search, lambda _: relevance)


@pytest.fixture
def page(services):
    app = FastAPI()
    app.include_router(judge_routes(services))
    return TestClient(app)


def compared(services, *, blind=False, methods=("text-only", "image-only"), text="red", **view):
    _, job = COLUMN_LONG["compare_methods"](
        services, UiState(gallery=NAME, reference_id="r0g3b0", **view),
        {"methods": list(methods), "text": text, "blind": blind, "who": "me"})
    return job()


def voted(services, view, choice):
    COLUMN_ACTIONS["vote"](services, view, {"choice": choice})


def asked(page, view, who="me"):
    answer = page.post("/judges/comparison", json={"comparison": view.comparison_id, "who": who})
    assert answer.status_code == 200 and answer.headers["Cache-Control"] == "no-store"
    return answer.json()["html"]


def place(services, view, method):
    comparison = services.compare.comparison(view.comparison_id)
    return str([column.method for column in comparison.columns].index(method))


@pytest.mark.parametrize("blind", [True, False])
def test_nobody_is_told_before_they_have_voted(services, page, blind, relevance):
    view = compared(services, blind=blind)
    count = len(relevance.asked)
    assert asked(page, view) == "" and len(relevance.asked) == count, "nothing is even computed"
    comparison = services.compare.comparison(view.comparison_id)
    shown = columns(comparison, (), "me", METHODS, "v", lambda _: None)
    assert "judges" not in fill("search/columns.html", view=view, columns=shown)
    voted(services, view, place(services, view, "text-only"))
    assert "CIRQRS@10" in asked(page, view)
    assert asked(page, view, who="somebody else") == "", "who has not voted yet"


def test_the_scores_are_means_over_the_first_ten(services, page, gallery):
    view = compared(services)
    voted(services, view, "0")
    comparison = services.compare.comparison(view.comparison_id)
    html = asked(page, view)
    for column in comparison.columns:
        found = [hit.image_id for hit in column.hits[:10]]
        # Red's share less a tenth of the mean distance from the green reference.
        values = [int(one[1]) / 3 - 0.1 * (int(one[1]) + 3 - int(one[3]) + int(one[5])) / 9 for one in found]
        assert f"{sum(values) / 10:z.3f}".replace("-", "−") in html
    assert "<b>1</b> of 1 pair" in html and "Recall" not in html, "no target, no Recall"
    [judged] = services.judges.of(comparison)
    assert judged.metric == CIRQRS and preferred(judged.scores) == ("text-only",)


def test_agreement_is_counted_over_this_persons_votes(services, page, relevance):
    for choice in ("text-only", "image-only", "text-only", None):
        view = compared(services)
        voted(services, view, "none" if choice is None else place(services, view, choice))
    html = asked(page, view)
    assert "<b>2</b> of 3 pairs" in html and "no difference" in html
    count = len(relevance.asked)
    assert asked(page, view) == html and len(relevance.asked) == count, "each comparison is scored once"


def test_a_blind_vote_changed_after_the_names_is_not_counted(services, page):
    view = compared(services, blind=True)
    voted(services, view, place(services, view, "text-only"))
    assert "<b>1</b> of 1 pair" in asked(page, view)
    voted(services, view, place(services, view, "image-only"))
    assert "no pair to agree on yet" in asked(page, view)


def test_a_method_that_ranks_by_the_metric_is_named(services, page):
    view = compared(services, methods=("image-only", "red-first"))
    voted(services, view, "1")
    assert "B ranked by CIRQRS itself, so it favours it." in asked(page, view)


def test_recall_only_of_a_target_that_the_person_sees(services):
    session = services.search.start(NAME, method=METHODS["text-only"].settings, target_id="r3g3b0")
    turn = services.search.run_turn(session.session_id, "green", reference_id="r0g0b0").turn
    view = compared(services, session_id=session.session_id, turn_id=turn.turn_id)
    comparison = services.compare.comparison(view.comparison_id)
    assert comparison.session_id == session.session_id
    assert [one.metric for one in services.judges.of(comparison)] == [CIRQRS], "a hidden target stays hidden"
    services.search.reveal_target(session.session_id)
    recall, _ = services.judges.of(comparison)
    assert recall.metric == RECALL
    assert recall.scores == {column.method: float("r3g3b0" in [hit.image_id for hit in column.hits[:10]])
                             for column in comparison.columns}


def test_without_a_model_nothing_is_shown(services, page):
    def missing(_):
        raise RelevanceUnavailable("Needs a relevance model.")

    services.judges = ComparisonJudges(services.search, missing)
    view = compared(services)
    voted(services, view, "0")
    assert asked(page, view) == ""


def test_images_that_changed_since_are_not_scored(services, page, tmp_path, gallery):
    from cir_core.gallery.indexing import index_folder

    view = compared(services)
    voted(services, view, "0")
    (tmp_path / "photos" / "r3g3b3.png").unlink()
    index_folder(tmp_path / "photos", name=NAME, encoder=FakeEncoder(), home=tmp_path / "home")
    assert asked(page, view) == ""


@pytest.mark.parametrize("sent", [{}, {"comparison": 1, "who": "me"}, {"comparison": "x", "who": ""}])
def test_what_a_page_may_send_is_checked(page, sent):
    assert page.post("/judges/comparison", json=sent).status_code == 400
    assert page.post("/judges/comparison", json={"comparison": "nowhere", "who": "me"}).json() == {"html": ""}
