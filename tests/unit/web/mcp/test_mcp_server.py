"""MCP tools over calls that are made for these tests: what is made of them, and what happens around one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from tests.fakes.loops import run
from tests.fakes.signed_in import SignedIn
from web.http.calls import Call, Caller, docstring_of, threads
from web.http.visitor import Visitor
from web.limits.url_downloads import ImageFetcher
from web.mcp import McpServer, _Endpoint

SECRET = "/srv/lab/secret.db at line 7"
HEADERS = {"x-test-name": "Ann", "Accept": "application/json", "Content-Type": "application/json"}


def build() -> McpServer:
    def tell(visitor: Visitor, text: str) -> dict[str, Any]:
        """Tell it.

        Args:
            text: What to say: on one line,
                or on two.

        Returns:
            It, and to
            whom.
        """
        return {"said": text, "to": visitor.name}

    def fail(visitor: Visitor) -> dict[str, Any]:
        """Fail."""
        raise RuntimeError(SECRET)

    return McpServer(Caller([Call(one, "annotate", threads(1)) for one in (tell, fail)], ImageFetcher(1)))


@pytest.fixture
def page() -> Iterator[TestClient]:
    app = FastAPI()
    app.add_middleware(SignedIn)
    build().attach(app)
    with TestClient(app, headers=HEADERS) as client:
        yield client


def ask(page: TestClient, method: str, **params: Any) -> Any:
    sent = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return page.post("/gradio_api/mcp/", json=sent).raise_for_status().json()["result"]


def test_calls_are_tools(page: TestClient) -> None:
    tell, fail = ask(page, "tools/list")["tools"]
    assert (tell["name"], fail["name"]) == ("tell", "fail")
    assert tell["description"] == "Tell it. Returns: It, and to whom."
    assert tell["inputSchema"] == {
        "type": "object", "additionalProperties": False, "required": ["text"],
        "properties": {"text": {"type": "string", "description": "What to say: on one line, or on two."}}}
    assert fail["inputSchema"]["properties"] == {}


def test_an_error_nobody_foresaw_is_in_the_log_and_not_in_the_answer(
    page: TestClient, caplog: pytest.LogCaptureFixture,
) -> None:
    result = ask(page, "tools/call", name="fail", arguments={})
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith("Something went wrong on the server.")
    assert SECRET not in str(result) and SECRET in caplog.text


def test_a_call_is_for_the_visitor_of_its_request(page: TestClient) -> None:
    assert ask(page, "tools/call", name="tell", arguments={"text": "hello"})["structuredContent"] == {
        "said": "hello", "to": "Ann"}


def test_the_sections_of_a_docstring() -> None:
    def nothing() -> None: ...

    def both(one: int, other: int) -> None:
        """Do it.

        In two
        steps.

        Args:
            one: The first: of two.
            other: The other,
                note: not a parameter.

        Returns:
            This: and that.
        """

    assert docstring_of(nothing).description == docstring_of(nothing).returns == ""
    found = docstring_of(both)
    assert found.description == "Do it. In two steps."
    assert found.parameters == {"one": "The first: of two.", "other": "The other, note: not a parameter."}
    assert found.returns == "This: and that."


def test_the_wrong_method_is_told_the_right_one(page: TestClient) -> None:
    answer = page.get("/gradio_api/mcp/")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST") and " by POST." in answer.text
    answer = page.head("/gradio_api/mcp/sse")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET")
    sent: list[Any] = []     # the body of an answer to HEAD, which goes no further than the server

    async def send(message: Any) -> None:
        sent.append(message)

    run(_Endpoint(None, "GET")({"type": "http", "method": "HEAD"}, None, send))  # type: ignore[arg-type]
    assert b" by GET." in sent[-1]["body"]
