"""Who a visitor of a public demo is, and what they are counted as."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from cir_core.settings import Settings
from tests.fakes.people import people_service
from web.http.visitor import Visitor, browser_of, visitor_of
from web.limits.gradio_limits import TooManyRequests
from web.middleware.public_demo import Limits, PublicDemo

SECRETS = ("0" * 32, "f" * 32)


async def tell(request: Request) -> JSONResponse:
    visitor = visitor_of(request)
    return JSONResponse({"name": visitor.name, "counted": visitor.counted, "browser": browser_of(request)})


@pytest.fixture
def demo() -> PublicDemo:
    app = Starlette(routes=[Route("/{path:path}", tell, methods=["GET", "POST"])])
    settings = Settings.model_validate({"public_demo": True})
    return PublicDemo(app, people_service(), settings, Limits(5))


def seen(demo: PublicDemo, address: str, secret: str = "", **headers: str) -> dict[str, Any]:
    client = TestClient(demo, client=(address, 5000), cookies={"cirque-visitor": secret} if secret else {})
    found: dict[str, Any] = client.get("/media/thumb", headers=headers).json()
    return found


def test_a_browser_is_itself_wherever_it_is_and_counted_where_it_is(demo: PublicDemo) -> None:
    here, there = seen(demo, "203.0.113.7", SECRETS[0]), seen(demo, "198.51.100.1", SECRETS[0])
    neighbour = seen(demo, "203.0.113.7", SECRETS[1])
    assert (here["name"], here["browser"]) == (there["name"], there["browser"])
    assert here["counted"] != there["counted"]
    assert neighbour["browser"] != here["browser"] and neighbour["counted"] == here["counted"]
    for told in (here, there):
        assert SECRETS[0] not in str(told) and "203.0" not in str(told) and "198.51" not in str(told)


@pytest.mark.parametrize("secret", ["", "x", "0" * 31, "0" * 33, "G" * 32, "A" * 32])
def test_without_a_cookie_that_we_gave_the_address_stands_in(demo: PublicDemo, secret: str) -> None:
    assert seen(demo, "203.0.113.7", secret) == seen(demo, "203.0.113.7")
    assert seen(demo, "203.0.113.7", secret)["browser"] != seen(demo, "203.0.113.8")["browser"]


@pytest.mark.parametrize(("one", "other", "same"), [
    ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True), ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
    ("::ffff:203.0.113.7", "203.0.113.7", True), ("203.0.113.7", "203.0.113.8", False), ("testclient", "other", False),
])
def test_addresses_of_one_customer_are_one(demo: PublicDemo, one: str, other: str, same: bool) -> None:
    assert (seen(demo, one)["counted"] == seen(demo, other)["counted"]) is same


def test_another_start_makes_other_names(demo: PublicDemo) -> None:
    again = PublicDemo(tell, people_service(), Settings.model_validate({"public_demo": True}), Limits(5))  # type: ignore[arg-type]
    assert demo._key != again._key


def test_requests_beyond_the_limit_are_told_when_to_come_again(demo: PublicDemo) -> None:
    client = TestClient(demo, client=("203.0.113.7", 5000))
    answers = [client.post("/media/upload") for _ in range(101)]   # a minute: 100 actions
    assert [answer.status_code for answer in answers] == [200] * 100 + [429]
    assert 0 < int(answers[-1].headers["retry-after"]) <= 60
    assert "actions to 100 a minute" in answers[-1].json()["problem"]
    assert TestClient(demo, client=("203.0.113.8", 5000)).post("/media/upload").status_code == 200
    assert client.get("/media/thumb").status_code == 200           # pictures are counted by themselves
    assert client.get("/media/find").status_code == 429


def test_searches_are_counted_by_what_they_cost() -> None:
    limits, visitor = Limits(5), Visitor("a", "researcher", frozenset({"search"}), False, True, "address")
    admit = {"do": "search"}, {"do": "turn"}, {"do": "compare_methods", "methods": ["a", "b", "c"]}
    for data in (admit[0], admit[1], admit[1], admit[2], admit[0]):
        limits.admit(visitor, {"event_data": data}, ("search", "compare_methods"))
    with pytest.raises(TooManyRequests):
        limits.admit(visitor, {"event_data": admit[0]}, ("search", "compare_methods"))
    for harmless in ({}, {"event_data": None}, {"event_data": []}, {"event_data": {"do": ["search"]}},
                     {"event_data": admit[1]}):
        limits.admit(visitor, harmless, ("search", "compare_methods"))
