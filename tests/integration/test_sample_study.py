"""The sample study that a page offers, with and without simulated answers."""

from __future__ import annotations

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from annotation.kinds.validity.sample_study import SIMULATED, simulate_answers
from annotation.studies.overview import seat_progress
from cir_core.errors import StorageError
from tests.fakes import drawn
from tests.fakes.databases import settings_of
from tests.fakes.databases import study_store as study_store
from tests.fakes.people import NOON
from tests.fakes.signed_in import SignedIn
from tests.fakes.studies import make_study
from web.services import Services, open_services
from web.studies.sample import sample_routes

GARMENTS = 240


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Services:
    return open_services(settings_of(drawn.home(tmp_path_factory.mktemp("sample") / "home", GARMENTS,
                                                at="samples/atelier")))


def client(services: Services, role: str) -> TestClient:
    app = FastAPI()
    app.include_router(sample_routes(services))
    app.add_middleware(SignedIn, role=role)
    return TestClient(app, headers={"x-test-name": "Olga"})


def test_a_study_to_try_and_one_whose_report_can_be_looked_at(services: Services) -> None:
    page, store = client(services, "researcher"), services.study_store
    names = [page.post("/studies/sample", json=sent).json()["name"] for sent in ({}, {"judged": True})]
    assert names == ["Sample study", "Sample study with simulated answers"]
    tried, judged = map(store.study, names)
    assert (tried.accepting, judged.accepting) == (True, False)
    assert not store.judgements(tried.study_id)
    items = len(store.items(judged.study_id))
    assert len(store.judgements(judged.study_id)) == 2 * items == 2 * len(store.items(tried.study_id)) > 20
    assert client(services, "annotator").post("/studies/sample", json={}).status_code == 403


def test_answers_that_cannot_be_simulated_leave_no_study(
    services: Services, monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(store: object, study: object, *, seed: int) -> None:
        raise StorageError("The disk is full.")

    before = {one.name for one in services.study_store.studies()}
    monkeypatch.setattr("annotation.kinds.validity.sample_study.simulate_answers", fail)
    refused = client(services, "researcher").post("/studies/sample", json={"judged": True})
    assert refused.status_code == 503 and {one.name for one in services.study_store.studies()} == before


def test_two_simulated_judges_answer_everything_mostly_alike(store, tmp_path) -> None:
    study = make_study(store, tmp_path, items=60, seats=2, overlap=2)
    closed = simulate_answers(store, study, seed=1)
    seats, judgements = store.seats(study.study_id), store.judgements(study.study_id)
    assert [seat.annotator for seat in seats] == list(SIMULATED) and not closed.accepting
    progress = seat_progress(closed, seats, store.assignments(study.study_id), judgements, NOON)
    assert [one.done for one in progress] == [60, 60]
    verdicts = [{one.item_id: one.answer["flags"] for one in judgements if one.annotator == who} for who in SIMULATED]
    alike = sum(verdicts[0][item] == verdicts[1][item] for item in verdicts[0])
    # 0.8 + 0.2 · (0.6² + 4 · 0.1²) = 0.88 are expected: 52.8 of 60, with a standard deviation of 2.5.
    assert 43 <= alike < 60
    assert {flag for flags in verdicts[0].values() for flag in flags} > {"QUERY_TOO_BROAD"}
