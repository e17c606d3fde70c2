"""What the annotation screen asks for over HTTP, and what it must never be told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from annotation.records import Item
from cir_core.types.records import new_id
from storage.studies.store import SqlStudyStore
from tests.fakes.studies import flagged, make_study, valid
from web.ui.static_files import asset_url, own_routes, own_version


@pytest.fixture
def page(visit: Callable[..., TestClient]) -> TestClient:
    return visit("annotator", "Ada")


def at(page: TestClient, who: str = "Ada", **query: Any) -> Any:
    """The desk of somebody who joins at their first look."""
    headers = {"x-test-name": who}
    answer = page.get("/study/at", params={"study": "Sample"} | query, headers=headers)
    assert answer.status_code == 200, answer.text
    if answer.json()["joined"]:
        return answer.json()
    joined = page.post("/study/join", json={"study": "Sample"}, headers=headers)
    assert joined.status_code == 200 and joined.headers["cache-control"] == "no-store"
    return at(page, who, **query) if query else joined.json()


def save(page: TestClient, item: str, answer: Any, token: str = "token-01", **more: Any) -> Any:
    return page.post("/study/save", json={"study": "Sample", "item": item, "answer": answer, "token": token} | more)


def test_a_desk_and_a_save_that_brings_the_next_one(page: TestClient, store: SqlStudyStore, tmp_path: Path) -> None:
    study = make_study(store, tmp_path, missing_panel=2)
    workspace = at(page)
    assert workspace["study"] == {"id": study.study_id, "name": "Sample", "kind": "validity", "one": "item",
                                  "many": "items", "language": "en", "protocol": "circus/1", "accepting": True}
    assert workspace["progress"] == {"done": 0, "total": 3, "unsure": 0, "median_seconds": None, "seconds_left": None}
    assert (workspace["answer"], workspace["revision"], workspace["seconds"], workspace["draft"]) == (None, 0, 0, None)
    item = workspace["item"]
    assert set(item) == {"id", "position", "text", "reference", "target", "panel"} and item["position"] == 0
    token = item["reference"]["token"]
    assert item["reference"] == {
        "token": token, "small": f"study/image/{study.study_id}/{token}-s.webp",
        "large": f"study/image/{study.study_id}/{token}-l.webp", "width": 72, "height": 96}
    assert [set(image) for image in item["panel"]].count({"token", "missing"}) == 2 and len(item["panel"]) == 12
    # Reference and target large, ten pictures of the panel small: what is not at hand is not asked for.
    assert [len(ahead["images"]) for ahead in workspace["ahead"]] == [12, 12]

    answer = save(page, item["id"], flagged("INVALID_TEXT_QUERY", reasons=("1b",)), seconds=8.5, seen_revision=0)
    assert answer.status_code == 200 and answer.headers["cache-control"] == "no-store"
    told = answer.json()
    assert told["saved"] == {"revision": 1, "repeated": False, "overtook": False, "unsure": False}
    following = told["desk"]["item"]
    assert following["position"] == 1 and told["desk"]["progress"]["done"] == 1
    # What was to be loaded ahead are the pictures of the item that came.
    assert workspace["ahead"][0]["images"][:2] == [following["reference"]["large"], following["target"]["large"]]

    back = at(page, position=0)
    assert back["revision"] == 1 and back["answer"]["reasons"] == ["1b"] and back["seconds"] == 8.5
    stay = save(page, item["id"], valid(), "token-02", then="stay", seen_revision=1).json()
    assert stay["desk"]["item"]["id"] == item["id"] and stay["desk"]["revision"] == 2


def test_looking_takes_no_seat_and_joining_does(page: TestClient, store: SqlStudyStore, tmp_path: Path) -> None:
    study = make_study(store, tmp_path)
    none = {"done": 0, "total": 3, "unsure": 0, "median_seconds": None, "seconds_left": None}
    about = {"id": study.study_id, "name": "Sample", "kind": "validity", "one": "item", "many": "items",
             "language": "en", "protocol": "circus/1", "accepting": True}
    for query in ({}, {"position": "0"}, {"item": store.items(study.study_id)[0].item_id}):
        assert page.get("/study/at", params={"study": "Sample"} | query).json() == {
            "study": about, "joined": False, "progress": none, "item": None, "answer": None, "revision": 0,
            "seconds": 0, "draft": None, "ahead": []}
    assert problem(page.get("/study/overview", params={"study": "Sample"})) == (404, "not-yours")
    assert problem(page.post("/study/more", json={"study": "Sample"})) == (404, "not-yours")
    assert store.counts(study.study_id)["people"] == 0
    for by in ("Bea", 7):
        assert problem(page.post("/study/join", json={"study": "Sample", "by": by})) == (403, "forbidden")
    for _ in range(2):
        workspace = page.post("/study/join", json={"study": "sample", "by": "Ada"}).json()
        assert workspace["joined"] is True and workspace["item"]["position"] == 0
    assert page.get("/study/at", params={"study": "Sample"}).json() == workspace
    assert [seat.annotator for seat in store.seats(study.study_id)] == ["Ada", None]
    assert problem(page.post("/study/join", json={"study": "Nowhere"})) == (404, "unknown")
    assert problem(page.post("/study/join", json={})) == (400, "other")
    store.set_accepting(study.study_id, False)
    bea = page.post("/study/join", json={"study": "Sample"}, headers={"x-test-name": "Bea"})
    assert problem(bea) == (409, "closed") and store.counts(study.study_id)["people"] == 1


def test_a_token_of_another_answer_is_refused(page: TestClient, store: SqlStudyStore, tmp_path: Path) -> None:
    make_study(store, tmp_path)
    item = at(page)["item"]["id"]
    save(page, item, valid())
    refused = save(page, item, valid(note="on second thoughts"))
    assert problem(refused) == (409, "token") and "Send a new token" in refused.json()["problem"]
    assert save(page, item, valid()).json()["saved"]["repeated"] is True
    assert at(page, position=0)["answer"] == valid()


def test_the_list_the_overview_the_rubric_drafts_and_more(
    page: TestClient, store: SqlStudyStore, tmp_path: Path,
) -> None:
    make_study(store, tmp_path, seats=1, items=2)
    assert page.get("/study/mine").json() == {"studies": [
        {"name": "Sample", "kind": "validity", "accepting": True, "joined": False, "done": 0, "total": 2}]}
    item = at(page)["item"]["id"]
    drafted = page.post("/study/draft", json={"study": "Sample", "item": item, "answer": {"note": "hm"}, "seconds": 3})
    assert drafted.json() == {"kept": True}
    assert at(page)["draft"]["answer"]["note"] == "hm" and at(page)["draft"]["seconds"] == 3
    discarded = page.post("/study/draft", json={"study": "Sample", "item": item, "answer": None})
    assert discarded.json() == {"kept": False} and at(page)["draft"] is None
    save(page, item, valid(unsure=True, validated=None))
    places = page.get("/study/overview", params={"study": "Sample"}).json()["places"]
    assert [place["state"] for place in places] == ["unsure", "open"] and places[0]["item"] == item
    rubric = page.get("/study/rubric", params={"study": "Sample"}).json()
    assert [flag["code"] for flag in rubric["flags"]] and rubric["unsure_after"] == 120
    assert page.post("/study/more", json={"study": "Sample"}).json()["added"] == 0


def test_a_page_that_somebody_else_opened_is_refused_whatever_it_asks(
    page: TestClient, store: SqlStudyStore, tmp_path: Path,
) -> None:
    study = make_study(store, tmp_path, items=3)
    item = at(page)["item"]["id"]
    body = {"study": "Sample"}
    answer = body | {"item": item, "answer": valid()}
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("GET", "mine", {}), ("GET", "at", {}), ("GET", "rubric", {}), ("GET", "overview", {}), ("POST", "join", body),
        ("POST", "more", body), ("POST", "draft", answer), ("POST", "save", answer | {"token": "token-01"})]
    for verb, path, sent in calls:
        said = page.request(verb, f"/study/{path}", params=body if verb == "GET" else {}, json=sent or None,
                            headers={"x-cirque-person": "Zo%C3%AB"})
        assert problem(said) == (403, "forbidden"), path
        assert said.json()["problem"].startswith("This page was opened by Zoë, but you are now signed in as Ada.")
    assert not store.judgements(study.study_id) and at(page)["draft"] is None
    for same in ("Ada", "ada", "%41da"):   # names are compared without regard to case
        assert page.get("/study/at", params=body, headers={"x-cirque-person": same}).status_code == 200


def test_the_overview_says_where_something_is_not_saved(
    page: TestClient, store: SqlStudyStore, tmp_path: Path,
) -> None:
    make_study(store, tmp_path, seats=1, items=4)
    items = [at(page, position=place)["item"]["id"] for place in range(4)]

    def draft(item: str, answer: dict[str, Any]) -> None:
        assert page.post("/study/draft", json={"study": "Sample", "item": item, "answer": answer}).status_code == 200

    def begun() -> list[bool]:
        return [place["draft"] for place in page.get("/study/overview", params={"study": "Sample"}).json()["places"]]

    for number in (0, 1):
        save(page, items[number], valid(note="so"), f"token-{number}0")
    assert begun() == [False] * 4
    draft(items[0], flagged("QUERY_TOO_BROAD"))                  # another answer
    draft(items[1], valid(note="so ", panel_opened=True))        # the same one, looked at again
    draft(items[2], valid(validated=None, panel_opened=True))    # looked at only
    draft(items[3], valid(validated=None, note="hm"))            # begun
    assert begun() == [True, False, False, True]
    save(page, items[0], flagged("QUERY_TOO_BROAD"), "token-02")
    assert begun() == [False, False, False, True]


@pytest.mark.parametrize("note", [
    "👩🏽‍🚀 naïve Ünïcode — ‘quotes’", "هذا النص من اليمين إلى اليسار", "שלום\nעולם", "𝔘 \U0001f9d1‍💻 漢字",
    "<b onmouseover=x>&amp;</b>"])
def test_notes_in_every_script_come_back_as_they_were(
    page: TestClient, store: SqlStudyStore, tmp_path: Path, note: str,
) -> None:
    make_study(store, tmp_path, texts=(note,))
    item = at(page)["item"]
    assert item["text"] == note
    save(page, item["id"], valid(note=note))
    assert at(page, position=0)["answer"]["note"] == note


def problem(answer: Any) -> tuple[int, str]:
    told = answer.json()
    assert set(told) == {"problem", "kind"} and told["problem"].endswith("."), told
    assert answer.headers["cache-control"] == "no-store"
    return answer.status_code, told["kind"]


def test_forged_and_other_peoples_items(page: TestClient, store: SqlStudyStore, tmp_path: Path) -> None:
    study = make_study(store, tmp_path)
    at(page)
    theirs = at(page, "Bea")["item"]["id"]
    for item in ("0123456789abcdef", "../../etc/passwd", "' OR 1=1 --", "", "x" * 10_000, None, 5, ["a"], theirs):
        assert problem(save(page, item, valid())) == (404, "not-yours")  # type: ignore[arg-type]
    assert problem(page.get("/study/at", params={"study": "Sample", "item": theirs})) == (404, "not-yours")
    assert problem(page.get("/study/at", params={"study": "Sample", "position": 999})) == (404, "not-yours")
    for begun in ({}, None):
        drafted = page.post("/study/draft", json={"study": "Sample", "item": theirs, "answer": begun})
        assert problem(drafted) == (404, "not-yours")
    assert store.judgements(study.study_id) == ()


def test_studies_that_are_not_there_or_closed(page: TestClient, store: SqlStudyStore, tmp_path: Path) -> None:
    study = make_study(store, tmp_path)
    item = at(page)["item"]["id"]
    for name in ("Nowhere", "", "x" * 5000):
        assert problem(page.get("/study/at", params={"study": name})) == (404, "unknown")
        assert problem(page.get("/study/rubric", params={"study": name})) == (404, "unknown")
    assert problem(page.get("/study/at")) == (404, "unknown")
    assert problem(page.post("/study/more", json={"study": 7})) == (404, "unknown")
    store.set_accepting(study.study_id, False)
    assert problem(save(page, item, valid())) == (409, "closed")
    assert at(page)["study"]["accepting"] is False   # to look at, still
    assert problem(page.get("/study/at", params={"study": "Sample"}, headers={"x-test-name": "Cy"})) == (409, "closed")


def test_what_an_answer_lacks_is_said(page: TestClient, store: SqlStudyStore, tmp_path: Path) -> None:
    study = make_study(store, tmp_path)
    item = at(page)["item"]["id"]
    for answer in ({}, None, 3, flagged("INVALID_IMAGE_QUERY"), valid(note="x" * 100_000), valid(note="ß" * 400_000)):
        assert problem(save(page, item, answer)) == (422, "incomplete")
    assert "20,000" in save(page, item, valid(note="x" * 100_000)).json()["problem"]
    assert problem(page.post("/study/save", content=b'"' + b"x" * 2**21, headers={
        "content-type": "application/json"})) == (422, "incomplete")
    assert store.judgements(study.study_id) == ()


@pytest.mark.parametrize("body", [
    b"", b"null", b"[]", b"{", b"\xff\xfe", b'{"study": "Sample"}', b'{"study": NaN}', b"[" * 100_000,
    b'{"study": "\\ud800"}', b'{"study":"Sample","item":"i","answer":{},"token":"token-01","admin":true}'])
def test_broken_calls_get_a_sentence(page: TestClient, body: bytes) -> None:
    answer = page.post("/study/save", content=body, headers={"content-type": "application/json"})
    assert problem(answer) == (400, "other")


def test_small_mistakes_in_a_call(page: TestClient, store: SqlStudyStore, tmp_path: Path) -> None:
    make_study(store, tmp_path)
    item = at(page)["item"]["id"]
    for changes in ({"token": "short"}, {"token": None}, {"then": "back"}, {"then": []}, {"seen_revision": "1"}):
        assert problem(save(page, item, valid(), **{"token": "token-01"} | changes)) == (400, "other")
    for position in ("-1", "1.5", "x", "²", "9" * 30):
        assert problem(page.get("/study/at", params={"study": "Sample", "position": position})) == (400, "other")


def test_a_form_of_another_site_changes_nothing(page: TestClient, store: SqlStudyStore, tmp_path: Path) -> None:
    study = make_study(store, tmp_path)
    call = json.dumps({"study": "Sample", "item": at(page)["item"]["id"], "answer": valid(), "token": "token-01"})
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        answer = page.post("/study/save", content=call, headers={"content-type": kind})
        assert problem(answer) == (400, "other") and "application/json" in answer.json()["problem"]
    assert store.judgements(study.study_id) == ()
    sent = page.post("/study/save", content=call, headers={"content-type": "Application/JSON; charset=utf-8"})
    assert sent.status_code == 200


def test_nobody_gets_nothing(page: TestClient, store: SqlStudyStore, tmp_path: Path) -> None:
    make_study(store, tmp_path)
    for verb, path in (("GET", "mine"), ("GET", "at?study=Sample"), ("GET", "overview?study=Sample"),
                       ("GET", "rubric?study=Sample")):
        assert problem(page.request(verb, f"/study/{path}", headers={"x-test-name": ""})) == (401, "signed-out")
    for path in ("more", "join"):
        answer = page.post(f"/study/{path}", json={"study": "Sample"}, headers={"x-test-name": ""})
        assert problem(answer) == (401, "signed-out")


def test_nothing_hidden_in_any_answer(page: TestClient, store: SqlStudyStore, tmp_path: Path) -> None:
    secret = {"dataset": "SECRET", "hidden_category": "SECRET", "query_id": "SECRET", "reference_id": "SECRET",
              "target_id": "SECRET", "panel": ["SECRET"], "query_idx": 987654321,
              "trace": {"SECRET": ["SECRET", 987654321]}}
    make_study(store, tmp_path, hidden=secret, strata=("SECRET one", "SECRET two"), seats=1)
    answers = [page.get("/study/at", params={"study": "Sample"})]   # before joining
    item = at(page)["item"]["id"]
    answers += [page.post("/study/join", json={"study": "Sample"})]
    answers += [page.get(f"/study/{path}", params={"study": "Sample"}) for path in ("at", "overview", "rubric", "mine")]
    answers += [page.get("/study/at", params={"study": "Sample", "position": n}) for n in range(6)]
    answers += [save(page, item, {}), save(page, item, valid(alternatives=["SECRE"])), save(page, item, valid())]
    answers += [page.post("/study/draft", json={"study": "Sample", "item": item, "answer": {}}),
                page.post("/study/more", json={"study": "Sample"})]
    for answer in answers:
        everything = answer.text + str(answer.headers)
        for word in ("SECRET", "987654321", "picture-", "sample::", "stratum", "hidden", "block"):
            assert word not in everything, (word, answer.url)


def test_pictures_are_kept_by_browsers_for_good(page: TestClient, store: SqlStudyStore, tmp_path: Path) -> None:
    study = make_study(store, tmp_path)
    image = at(page)["item"]["target"]
    folder = tmp_path / "studies" / study.study_id
    for size in ("small", "large", "small"):
        answer = page.get("/" + image[size])
        assert answer.status_code == 200 and answer.headers["content-type"] == "image/webp"
        assert answer.content == (folder / Path(image[size]).name).read_bytes()
        assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert page.head("/" + image["small"]).status_code == 200


def test_pictures_are_named_to_who_holds_their_item_alone(
    page: TestClient, store: SqlStudyStore, tmp_path: Path,
) -> None:
    """Whoever judges gets a picture by its name, so the name is what must not be told, nor guessed."""
    study = make_study(store, tmp_path, items=8, seats=3, panel=2, pictures=32)
    items = store.items(study.study_id)

    def named(text: str) -> set[str]:
        return set(re.findall(r"\b([0-9a-f]{24})-[sl]\.webp", text))

    def told(who: str) -> set[str]:
        """By all that somebody may ask, of every item and place."""
        asked = [("/study/mine", {}), ("/study/overview", {}), ("/study/rubric", {}), ("/study/at", {}),
                 *(("/study/at", {"item": item.item_id}) for item in items),
                 *(("/study/at", {"position": str(place)}) for place in range(len(items)))]
        answers = [page.get(path, params={"study": "Sample", **query}, headers={"x-test-name": who})
                   for path, query in asked]
        return set().union(*(named(answer.text) for answer in answers))

    at(page)
    mine, every = told("Ada"), {token for item in items for token in tokens_of(item)}
    places = {place.item_id for place in store.assignments(study.study_id) if place.seat == 1}
    assert mine == {token for item in items if item.item_id in places for token in tokens_of(item)}
    assert mine < every and told("Bea") == set()          # who has no place in it
    at(page, "Bea")
    assert told("Bea") < every and told("Bea") != mine

    known = sorted(mine)[0]
    other = f"{int(known, 16) ^ 1:024x}"                   # one bit away
    for name, status in ((known, 200), (other, 404)):
        assert page.get(f"/study/image/{study.study_id}/{name}-s.webp").status_code == status
    assert page.get(f"/study/image/{new_id()}/{known}-s.webp").status_code == 404


def tokens_of(item: Item) -> set[str]:
    return {item.shown["reference"], item.shown["target"], *item.shown["panel"]}


def test_no_way_out_of_the_folder_of_pictures(page: TestClient, store: SqlStudyStore, tmp_path: Path) -> None:
    study = make_study(store, tmp_path)
    (tmp_path / "studies" / "secret.webp").write_bytes(b"secret")
    token = "0" * 24
    (tmp_path / f"{token}-s.webp").write_bytes(b"secret")
    inside = ("..%2fsecret.webp", "%2e%2e%2fsecret.webp", f"{token}-s.webp", f"{token}-x.webp", f"{token}-s.webp%00",
              f"{token}-s.webp%0a", "cirque.db")
    outside = ("..", "%2e%2e", "..%2f..", "studies", f"{study.study_id}%00", "")
    for path in (*(f"{study.study_id}/{name}" for name in inside), *(f"{name}/{token}-s.webp" for name in outside)):
        answer = page.get(f"/study/image/{path}")
        assert answer.status_code == 404 and b"secret" not in answer.content, path


def test_own_files_have_the_version_in_their_address() -> None:
    app = FastAPI()
    app.include_router(own_routes())
    page = TestClient(app)
    address = asset_url("css/study.css")
    assert address == f"own/{own_version()}/css/study.css"
    answer = page.get("/" + address)
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/css")
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    script = page.get("/" + asset_url("js/search/actions.js"))
    assert script.headers["content-type"].startswith("text/javascript") and script.text.startswith("//")
    older = page.get("/own/0.0.1-abc/css/study.css")
    assert older.content == answer.content and older.headers["cache-control"] == "no-cache"
    for path in ("nothing.css", "../pyproject.toml", "%2e%2e/pyproject.toml", "rubrics/circus-1.toml", ""):
        assert page.get(f"/own/{own_version()}/{path}").status_code == 404
    with pytest.raises(KeyError):
        asset_url("js/nothing.js")


# --- the named calls -------------------------------------------------------------------------

@pytest.fixture
def ask(store: SqlStudyStore, tmp_path: Path, calls: TestClient) -> TestClient:
    make_study(store, tmp_path, items=4)
    return calls


def call(ask: TestClient, name: str, *inputs: Any, who: str = "Ada") -> Any:
    return ask.post(f"/gradio_api/run/{name}", json={"data": list(inputs)}, headers={"x-test-name": who})


def test_a_script_judges_what_is_its_own(ask: TestClient) -> None:
    for _ in range(2):   # asking is not joining
        assert call(ask, "progress", "Sample").json()["data"][0] == {
            "study": {"id": ANY, "name": "Sample", "kind": "validity", "one": "item", "many": "items", "language": "en",
                      "protocol": "circus/1", "accepting": True},
            "joined": False, "done": 0, "total": 0, "unsure": 0, "median_seconds": None, "seconds_left": None}
    workspace = call(ask, "next_item", "Sample", "").json()["data"][0]
    assert workspace["joined"] is True and workspace["progress"]["total"] == 2
    item = workspace["item"]["id"]
    for repeated in (False, True):
        told = call(ask, "save_judgement", "Sample", item, valid(), "token-01", 5).json()["data"][0]
        assert told["saved"] == {"revision": 1, "repeated": repeated, "overtook": False, "unsure": False}
        assert told["desk"]["item"]["position"] == 1
    again = call(ask, "next_item", "Sample", item).json()["data"][0]
    assert again["item"]["id"] == item and again["answer"] == valid()
    told = call(ask, "progress", "Sample").json()["data"][0]
    assert told["joined"] is True
    assert (told["study"]["name"], told["done"], told["total"], told["seconds_left"]) == ("Sample", 1, 2, None)


def test_what_does_not_work_is_a_sentence(ask: TestClient) -> None:
    item = call(ask, "next_item", "Sample", "", who="Bea").json()["data"][0]["item"]["id"]
    call(ask, "next_item", "Sample", "")
    for answer, sentence in (
        (call(ask, "save_judgement", "Sample", item, valid(), "token-01", 5), "not one of yours"),
        (call(ask, "save_judgement", "Sample", item, valid(), "t", 5, who="Bea"), "8 to 64 letters"),
        (call(ask, "save_judgement", "Sample", item, {}, "token-01", 5, who="Bea"), "Nothing is chosen yet"),
        (call(ask, "save_judgement", "Sample", item, None, "token-01", None, who="Bea"), "A judgement is an object"),
        (call(ask, "save_judgement", "Sample", item, {}, "token-01", 5, who="Cy"), "You have no items in Sample yet"),
        (call(ask, "progress", "Nowhere"), "No study 'Nowhere'"),
        (call(ask, "next_item", "Sample", "", who=""), "You are not signed in"),
    ):
        assert answer.status_code == 500 and sentence in answer.json()["error"], answer.text


def test_the_calls_are_public_and_say_what_they_take(ask: TestClient) -> None:
    named = ask.get("/gradio_api/info").json()["named_endpoints"]
    assert set(named) == {
        "/next_item", "/save_judgement", "/next_question", "/save_rating", "/pass_gate", "/progress"}
    parameters = named["/save_judgement"]["parameters"]
    assert [each["parameter_name"] for each in parameters] == ["study", "item", "answer", "token", "seconds"]
    assert [each["parameter_has_default"] for each in parameters] == [False, False, False, False, True]
    assert [each["parameter_has_default"] for each in named["/next_item"]["parameters"]] == [False, True]
    assert "on disk when the call returns" in named["/save_judgement"]["description"]
