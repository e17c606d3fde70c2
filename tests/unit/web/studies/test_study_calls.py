"""The named calls of studies, over the protocol that Gradio's clients speak."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
from fastapi.testclient import TestClient

from storage.studies.store import SqlStudyStore
from tests.fakes.studies import make_study, valid


@pytest.fixture
def page(store: SqlStudyStore, tmp_path: Path, calls: TestClient) -> TestClient:
    make_study(store, tmp_path, items=4)
    return calls


def call(page: TestClient, name: str, *inputs: Any, who: str = "Ada") -> Any:
    return page.post(f"/gradio_api/run/{name}", json={"data": list(inputs)}, headers={"x-test-name": who})


def test_a_script_judges_what_is_its_own(page: TestClient) -> None:
    for _ in range(2):   # asking is not joining
        assert call(page, "progress", "Sample").json()["data"][0] == {
            "study": {"id": ANY, "name": "Sample", "kind": "validity", "one": "item", "many": "items",
                      "protocol": "circus/1", "accepting": True},
            "joined": False, "done": 0, "total": 0, "unsure": 0, "median_seconds": None, "seconds_left": None}
    workspace = call(page, "next_item", "Sample", "").json()["data"][0]
    assert workspace["joined"] is True and workspace["progress"]["total"] == 2
    item = workspace["item"]["id"]
    for repeated in (False, True):
        told = call(page, "save_judgement", "Sample", item, valid(), "token-01", 5).json()["data"][0]
        assert told["saved"] == {"revision": 1, "repeated": repeated, "overtook": False, "unsure": False}
        assert told["desk"]["item"]["position"] == 1
    again = call(page, "next_item", "Sample", item).json()["data"][0]
    assert again["item"]["id"] == item and again["answer"] == valid()
    told = call(page, "progress", "Sample").json()["data"][0]
    assert told["joined"] is True
    assert (told["study"]["name"], told["done"], told["total"], told["seconds_left"]) == ("Sample", 1, 2, None)


def test_what_does_not_work_is_a_sentence(page: TestClient) -> None:
    item = call(page, "next_item", "Sample", "", who="Bea").json()["data"][0]["item"]["id"]
    call(page, "next_item", "Sample", "")
    for answer, sentence in (
        (call(page, "save_judgement", "Sample", item, valid(), "token-01", 5), "not one of yours"),
        (call(page, "save_judgement", "Sample", item, valid(), "t", 5, who="Bea"), "8 to 64 letters"),
        (call(page, "save_judgement", "Sample", item, {}, "token-01", 5, who="Bea"), "Nothing is chosen yet"),
        (call(page, "save_judgement", "Sample", item, None, "token-01", None, who="Bea"), "A judgement is an object"),
        (call(page, "save_judgement", "Sample", item, {}, "token-01", 5, who="Cy"), "You have no items in Sample yet"),
        (call(page, "progress", "Nowhere"), "No study 'Nowhere'"),
        (call(page, "next_item", "Sample", "", who=""), "You are not signed in"),
    ):
        assert answer.status_code == 500 and sentence in answer.json()["error"], answer.text


def test_the_calls_are_public_and_say_what_they_take(page: TestClient) -> None:
    named = page.get("/gradio_api/info").json()["named_endpoints"]
    assert set(named) == {
        "/next_item", "/save_judgement", "/next_question", "/save_rating", "/pass_gate", "/progress"}
    parameters = named["/save_judgement"]["parameters"]
    assert [each["parameter_name"] for each in parameters] == ["study", "item", "answer", "token", "seconds"]
    assert [each["parameter_has_default"] for each in parameters] == [False, False, False, False, True]
    assert [each["parameter_has_default"] for each in named["/next_item"]["parameters"]] == [False, True]
    assert "on disk when the call returns" in named["/save_judgement"]["description"]
