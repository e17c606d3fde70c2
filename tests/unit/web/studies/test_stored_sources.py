"""New studies of what an installation has: audits, constructions and searches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from cir_core.construct.sessions.run import construct_sessions
from cir_core.gallery.gallery import Gallery, open_gallery
from cir_core.methods.declared import builtin_methods
from tests.fakes.colour_person import ColourPerson
from tests.fakes.colours import colour_gallery
from tests.fakes.construction import colour_construction
from tests.fakes.databases import settings_of
from tests.fakes.encoder import FakeEncoder
from tests.fakes.target_studies import stage_one
from web.services import Services, open_services

AUDITED = 8


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stored")
    gallery, home = colour_gallery(folder), folder / "home"
    construct_sessions(colour_construction(gallery, ColourPerson(), 6), home / "benchmarks" / "built")
    stage_one(home / "benchmarks" / "found", gallery, count=3, threshold=0.7)
    audit = home / "audits" / "colours-1"
    audit.mkdir(parents=True)
    lines = [json.dumps(line(gallery, number)) for number in range(AUDITED)]
    audit.joinpath("colours_queries.jsonl").write_text("\n".join(lines) + "\n")
    (home / "audits" / "joined").mkdir()
    return home


def line(gallery: Gallery, number: int) -> dict[str, object]:
    reference, target, *panel = gallery.ids[number:number + 12]
    return {"dataset": "colours", "query_idx": number, "query_id": f"q{number}", "query_text": f"has more {number}",
            "hidden_category": "unresolved" if number % 4 else "composition_required", "reference_id": reference,
            "query_image_path": reference, "target_image_path": target, "target_ids": [target],
            "panel": panel, "panel_paths": panel}


@pytest.fixture
def services(home: Path, monkeypatch: pytest.MonkeyPatch) -> Services:
    monkeypatch.setattr("cir_core.encoders.load_encoder", lambda spec, **_: FakeEncoder())
    return open_services(settings_of(home))


@pytest.fixture
def page(new_study_as) -> TestClient:
    return new_study_as("researcher", "Rosa")


def searched(services: Services, home: Path) -> None:
    session = services.search.start("colours", method=builtin_methods()["slerp"].settings, owner="Rosa")
    reference = open_gallery("colours", home=home).ids[0]
    first = services.search.run_turn(session.session_id, "in blue", reference_id=reference, k=20).turn
    services.search.run_turn(session.session_id, "darker", parent_id=first.turn_id,
                             reference_id=first.hits[3].image_id, k=20)


def asked(page: TestClient, of: dict[str, str], **more: object) -> dict[str, object]:
    draft = page.post("/studies/new/begin", json={}).json()["draft"]
    return {"draft": draft, "columns": {}, "source": of["key"], "kind": of["kind"], "gallery": of["gallery"], **more}


@pytest.mark.parametrize(("key", "kind", "there", "of"), [
    ("audit/colours-1", "validity", AUDITED, {"colours::composition_required": 2, "colours::unresolved": 6}),
    ("construction/built", "sessions", None, None),
    ("construction/found", "targets", 6, {"dress": 3, "shirt": 3}),
    ("searches/colours", "validity", 1, {"colours::unknown": 1}),
])
def test_each_is_offered_shown_and_made_a_study(page, services, home, key, kind, there, of) -> None:
    searched(services, home)
    sources = {one["key"]: one for one in page.get("/studies/new/choices").json()["sources"]}
    assert set(sources) == {"audit/colours-1", "construction/built", "construction/found", "searches/colours"}
    source = {**sources[key], "gallery": "colours"}
    look = page.post("/studies/new/look", json=asked(page, source)).json()
    assert look["desks"] and all(desk["item"] for desk in look["desks"]), look
    assert of is None or (look["items"], look["counts"]) == (there, of)
    made = page.post("/studies/new/create", json=asked(page, source, name=f"Of {key}", open=True))
    assert made.status_code == 200, made.text
    study = services.study_store.study(f"Of {key}")
    assert (study.kind, study.created_by, study.source["gallery"]) == (kind, "Rosa", "colours")
    assert len(services.study_store.items(study.study_id)) == look["items"] == made.json()["items"]
    assert study.source.get("threshold") == (0.7 if kind == "targets" else None)


def test_a_sample_is_as_large_as_was_asked_and_stratified(page) -> None:
    source = {"key": "audit/colours-1", "kind": "validity", "gallery": "colours"}
    look = page.post("/studies/new/look", json=asked(page, source, sample=4)).json()
    assert look["counts"] == {"colours::composition_required": 2, "colours::unresolved": 2}
    assert look["notes"][0] == "4 of 8 items of 'Audit colours-1'."
    for wrong, said in ((9, "Choose 1 to 8"), (0, "Choose 1 to 8"), ("4", "a whole number"), (True, "a whole number")):
        answer = page.post("/studies/new/look", json=asked(page, source, sample=wrong))
        assert answer.status_code == 400 and said in answer.json()["problem"]


@pytest.mark.parametrize(("key", "kind"), [
    ("audit/colours-1", "validity"), ("construction/built", "sessions"), ("construction/found", "targets")])
def test_the_order_of_a_source_that_may_be_sorted_by_what_is_hidden_is_never_kept(page, services, key, kind) -> None:
    source = {"key": key, "kind": kind, "gallery": "colours"}
    refused = page.post("/studies/new/create", json=asked(page, source, name="In order", open=True,
                                                          design={"order": 1}))
    assert refused.status_code == 400 and "Only the order of a table can be kept" in refused.json()["problem"]
    assert "In order" not in [study.name for study in services.study_store.studies()]


@pytest.mark.parametrize(("changed", "said"), [
    ({"key": "audit/none"}, "There is no source 'audit/none'"),
    ({"key": "audit/../galleries"}, "There is no source"),
    ({"kind": "targets"}, "another kind of study"),
    ({"gallery": "nope"}, "No gallery 'nope'"),
])
def test_what_cannot_be_read_is_refused(page, changed, said) -> None:
    source = {"key": "audit/colours-1", "kind": "validity", "gallery": "colours", **changed}
    answer = page.post("/studies/new/look", json=asked(page, source))
    assert answer.status_code == 400 and said in answer.json()["problem"], answer.text


def test_searches_of_others_are_for_administrators(new_study_as, services, home) -> None:
    searched(services, home)
    offered = {name: {one["key"] for one in new_study_as(role, name).get("/studies/new/choices").json()["sources"]}
               for role, name in (("researcher", "Rosa"), ("researcher", "Bo"), ("admin", "Olga"))}
    assert ["searches/colours" in offered[name] for name in ("Rosa", "Bo", "Olga")] == [True, False, True]
    bo, source = new_study_as("researcher", "Bo"), {"key": "searches/colours", "kind": "validity", "gallery": "colours"}
    answer = bo.post("/studies/new/look", json=asked(bo, source))
    assert answer.status_code == 400 and "There is no source" in answer.json()["problem"]
