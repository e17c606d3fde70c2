"""The named calls as tools of the Model Context Protocol, called by the reference client: open and with sign-in."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest
from PIL import Image

from annotation.accounts.service import Passwords, PeopleService
from storage.stores import open_stores
from tests.fakes import drawn
from tests.fakes.databases import settings_of
from tests.fakes.loops import run
from tests.fakes.mcp_clients import ENDPOINT, TRANSPORTS, ToolFailed, call, mcp_session, text_of
from tests.fakes.patience import PATIENCE
from tests.fakes.people import LIGHT, PASSWORD
from tests.fakes.studies import make_preference_study, make_study, rated, solved, valid
from tests.integration.processes import App
from web.http.request_fields import MOST_AT_WORK

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="starts servers")
RESULTS = {"list_studies", "study_people", "study_results"}
TOOLS = {"search", "next_item", "save_judgement", "next_question", "save_rating", "pass_gate", "progress", "thumb",
         "create_study", "open_study"} | RESULTS
ROLES = {"Rhea": "researcher", "Ann": "annotator", "Bob": "annotator", "Lys": "analyst"}
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@dataclass(frozen=True)
class Served:
    """A server with a gallery of 24 drawn images, a validity and a preference study."""

    url: str
    searcher: str              # who may search
    judge: str
    cookies: dict[str, str] = field(default_factory=dict)

    def headers(self, name: str) -> dict[str, str]:
        """What the client of this person is configured with."""
        return {"Cookie": self.cookies[name]} if self.cookies else {}


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return drawn.home(tmp_path_factory.mktemp("gallery"), 24)


def begin(indexed: Path, home: Path, people: dict[str, str]) -> App:
    shutil.copytree(indexed, home, dirs_exist_ok=True)
    stores = open_stores(settings_of(home))
    make_study(stores.studies, home, name="Valid", items=12, seats=3, edge=16)
    make_preference_study(stores.studies, home, name="Shops", edge=16)
    service = PeopleService(stores.people, passwords=Passwords(LIGHT))
    for name, role in people.items():
        service.add(name, PASSWORD, role)
    stores.close()
    return App(home, home / "app.log", MCP="1", GALLERY="atelier", METRICS="1", METRICS_FROM="127.0.0.1")


def sign_in(url: str, name: str) -> str:
    """As docs/reference/api.md says: the cookie that the sign-in sets."""
    answer = httpx.post(f"{url}/login", data={"username": name, "password": PASSWORD}, timeout=PATIENCE)
    answer.raise_for_status()
    return answer.headers["set-cookie"].partition(";")[0]


@pytest.fixture(scope="module")
def apps(indexed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[App, App]]:
    """One where nobody has an account, and one with people. They load their models at the same time."""
    with ExitStack() as ends:
        started = []
        for name, people in (("open", {}), ("closed", {"Ada": "admin", **ROLES})):
            started.append(begin(indexed, tmp_path_factory.mktemp(name), people))
            ends.callback(started[-1].end)
        yield started[0], started[1]


@pytest.fixture(scope="module")
def open_one(apps: tuple[App, App]) -> Served:
    return Served(apps[0].url, "local", "local")


@pytest.fixture(scope="module")
def closed_one(apps: tuple[App, App]) -> Served:
    url = apps[1].url
    return Served(url, "Rhea", "Ann", {name: sign_in(url, name) for name in ROLES})


@pytest.fixture(scope="module", params=["open", "signed in"])
def served(request: pytest.FixtureRequest) -> Served:
    return request.getfixturevalue("open_one" if request.param == "open" else "closed_one")


def some_id(served: Served) -> str:
    found = httpx.get(f"{served.url}/media/find?gallery=atelier", headers=served.headers(served.searcher),
                      timeout=PATIENCE)
    return str(found.json()["images"][0]["id"])


def picture(colour: tuple[int, int, int] = (200, 30, 40)) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (60, 80), colour).save(buffer, "PNG")
    return buffer.getvalue()


def test_every_tool_says_what_it_takes_and_gives(served: Served) -> None:
    async def story() -> Any:
        async with mcp_session(served.url, served.headers(served.judge)) as session:
            return (await session.list_tools()).tools

    tools = run(story())
    assert {tool.name for tool in tools} == TOOLS
    for tool in tools:
        for schema in (tool.inputSchema, tool.outputSchema):
            jsonschema.Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
        assert tool.description.endswith(".") and "  " not in tool.description
        for name, each in tool.inputSchema["properties"].items():
            assert each["description"].endswith((".", ")")), (tool.name, name)
    takes = {tool.name: tool.inputSchema for tool in tools}
    assert takes["search"].get("required", []) == []
    assert takes["search"]["properties"]["k"]["default"] == 10
    for name in ("more", "less"):
        assert {"type": "array", "items": {"type": "string"}} in takes["search"]["properties"][name]["anyOf"]
    assert takes["save_judgement"]["required"] == ["study", "item", "answer", "token"]
    assert takes["save_rating"]["required"] == ["study", "item", "answer", "token"]
    assert takes["next_item"]["required"] == takes["next_question"]["required"] == ["study"]
    assert takes["pass_gate"]["required"] == ["study", "kind", "token"]
    assert takes["progress"]["required"] == ["study"]
    texts = {tool.name: tool.description for tool in tools}
    assert "on disk when the call returns" in texts["save_judgement"] and "Returns" in texts["search"]
    # Descriptions that take more than one line come whole.
    assert takes["search"]["properties"]["reference"]["description"].endswith("to keep the reference of the last turn.")


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_every_tool_does_its_work(served: Served, transport: str) -> None:
    start = some_id(served)
    web = httpx.Client(base_url=served.url, headers=served.headers(served.judge), timeout=PATIENCE)

    async def search() -> None:
        async with mcp_session(served.url, served.headers(served.searcher), transport) as session:
            await session.list_tools()   # so that the client checks what comes against the schema
            first = await call(session, "search", reference=start, text="in red", k=5)
            assert [hit["rank"] for hit in first["hits"]] == [1, 2, 3, 4, 5] and "red" in first["merged_text"]
            one, other = (hit["image_id"] for hit in first["hits"][:2])
            second = await call(session, "search", text="with stripes", session_id=first["session_id"],
                                reference=one, more=[other], less=[first["hits"][4]["image_id"]])
            assert second["session_id"] == first["session_id"] and len(second["hits"]) == 10
            found = web.get(second["hits"][0]["picture"], headers=served.headers(served.searcher)).raise_for_status()
            Image.open(io.BytesIO(found.content)).load()

    async def judge() -> None:
        async with mcp_session(served.url, served.headers(served.judge), transport) as session:
            await session.list_tools()
            workspace = await call(session, "next_item", study="Valid")
            item = workspace["item"]["id"]
            for size in ("small", "large"):
                found = web.get(workspace["item"]["reference"][size]).raise_for_status()
                assert Image.open(io.BytesIO(found.content)).format == "WEBP"
            done = (await call(session, "progress", study="Valid"))["done"]
            saved = await call(session, "save_judgement", study="Valid", item=item, answer=valid(),
                               token=f"token-{transport}", seconds=3)
            assert saved["saved"] == {"revision": 1, "repeated": False, "overtook": False, "unsure": False}
            again = await call(session, "save_judgement", study="Valid", item=item, answer=valid(),
                               token=f"token-{transport}")
            assert again["saved"]["repeated"] is True
            assert (await call(session, "progress", study="Valid"))["done"] == done + 1
            assert (await call(session, "next_item", study="Valid", item=item))["answer"] == valid()

    async def rate() -> None:
        async with mcp_session(served.url, served.headers(served.judge), transport) as session:
            await session.list_tools()
            workspace = await call(session, "next_question", study="Shops")
            while workspace["gate"] is not None:
                passed = await call(session, "pass_gate", study="Shops", token=f"gate-{transport}-0",
                                    **solved(workspace["gate"]))
                assert passed["passed"] is True
                workspace = passed["desk"]
            assert len(workspace["item"]["sets"]["A"]) == 5
            saved = await call(session, "save_rating", study="Shops", item=workspace["item"]["id"], answer=rated(),
                               token=f"rate-{transport}")
            assert saved["saved"]["revision"] == 1

    with web:
        for each in (search, judge, rate):
            run(each())


def test_a_search_is_the_same_by_all_three_ways(closed_one: Served) -> None:
    headers, start = closed_one.headers(closed_one.searcher), some_id(closed_one)
    given = {"reference": start, "text": "in red with stripes", "k": 7}
    with httpx.Client(base_url=closed_one.url, headers=headers, timeout=PATIENCE) as web:
        plain = web.post("/api/search", json=given).raise_for_status().json()
        data = [start, None, given["text"], "", 7, "", [], []]
        [named] = web.post("/gradio_api/run/search", json={"data": data}).raise_for_status().json()["data"]
        begun = web.post("/gradio_api/call/search", json={"data": data}).raise_for_status().json()["event_id"]
        fetched = web.get(f"/gradio_api/call/search/{begun}").text.partition("event: complete\ndata: ")[2]
        further = web.post("/api/search", json={"text": "longer", "session_id": plain["session_id"]}).json()
        described = web.get("/api/openapi.json").json()["paths"]

    async def story() -> tuple[Any, set[str]]:
        async with mcp_session(closed_one.url, headers) as session:
            return await call(session, "search", **given), {one.name for one in (await session.list_tools()).tools}

    tool, tools = run(story())
    ways = [plain, named, json.loads(fetched.partition("\n")[0])[0], tool]
    for one in ways:   # each a session of its own
        assert one.pop("session_id") and one.pop("turn_id")
    assert len(plain["hits"]) == 7 and all(one == plain for one in ways)
    assert len(further["hits"]) == 10
    assert described.keys() == {f"/api/{name}" for name in tools}


def test_the_answer_is_json_for_clients_that_read_text_only(closed_one: Served) -> None:
    async def story() -> tuple[str, Any]:
        async with mcp_session(closed_one.url, closed_one.headers(closed_one.judge)) as session:
            result = await session.call_tool("progress", {"study": "Valid"})
            return text_of(result), result.structuredContent

    text, structured = run(story())
    assert json.loads(text) == structured


def test_images_come_as_data_or_as_uploads(closed_one: Served) -> None:
    headers = closed_one.headers(closed_one.searcher)
    sent = "data:image/png;base64," + base64.b64encode(picture()).decode()
    uploaded = httpx.post(f"{closed_one.url}/gradio_api/upload", files={"files": ("mine.png", picture())},
                          headers=headers, timeout=PATIENCE).json()[0]

    async def story() -> None:
        async with mcp_session(closed_one.url, headers) as session:
            for image in (sent, uploaded):
                assert len((await call(session, "search", image=image, text="with stripes", k=2))["hits"]) == 2

    run(story())


def test_the_image_is_no_file_of_the_machine_and_no_address_inside(open_one: Served) -> None:
    drawing = Path(__file__).parents[2] / "docs" / "images" / "metric-light.png"
    images = (str(drawing), "/etc/passwd", "http://127.0.0.1:7860/media/full", "http://169.254.169.254/latest",
              "file:///etc/passwd", "../../x.png")

    async def story() -> list[str]:
        said = []
        async with mcp_session(open_one.url, open_one.headers(open_one.searcher)) as session:
            for image in images:
                with pytest.raises(ToolFailed) as failed:
                    await call(session, "search", image=image, text="in red")
                said.append(str(failed.value))
        return said

    for sentence in run(story()):
        assert sentence.startswith("Invalid value: "), sentence
        assert "Traceback" not in sentence and "site-packages" not in sentence


@pytest.mark.parametrize(("tool", "arguments", "sentence"), [
    ("search", {"text": "in red"}, "Give a reference: the id of a gallery image, or an image."),
    ("search", {"text": "in red", "k": 5000}, "k is 5000"),
    ("search", {"text": "in red", "less": [1]}, "“less"),
    ("search", {"text": "in red", "less": "a"}, "“less”"),
    ("search", {"text": "in red", "colour": "red"}, "“colour”"),
    ("search", {"text": "in red", "x" * 5000: "red"}, "“" + "x" * 20),
    ("pass_gate", {"study": "Shops", "kind": "check", "token": "token-0001", "answer": {}}, "“answer”"),
    ("search", {"text": "in red", "image": "data:image/png;base64,????"}, "is empty (0 bytes)"),
    ("search", {"text": "in red", "image": "data:image/png;base64,bm8gaW1hZ2U="}, "cannot be read as an image"),
    ("progress", {}, "“study”"),
    ("progress", {"study": "Nowhere"}, "No study 'Nowhere'"),
    ("save_judgement", {"study": "Valid", "item": "x", "answer": {}, "token": "t"}, "8 to 64 letters"),
    ("nothing", {}, "There is no tool “nothing”"),
])
def test_what_does_not_work_is_a_sentence(
    open_one: Served, tool: str, arguments: dict[str, Any], sentence: str,
) -> None:
    async def story() -> Any:
        async with mcp_session(open_one.url, {}) as session:
            return await session.call_tool(tool, arguments)

    result = run(story())
    said = text_of(result)
    assert result.isError and sentence in said and len(said) < 500, said
    assert not any(inside in said for inside in ("Traceback", "pydantic", "Error(", ".py"))


def test_nobody_gets_in_without_a_sign_in(closed_one: Served) -> None:
    for path in ("", "http", "sse", "messages/?session_id=x", "schema"):
        for cookie in ({}, {"Cookie": "cirque=forged"}):
            for method in ("GET", "POST", "DELETE"):
                answer = httpx.request(method, closed_one.url + ENDPOINT + path, headers={**JSON, **cookie},
                                       content=json.dumps(LIST), timeout=PATIENCE)
                assert answer.status_code == 401, (method, path)
                assert answer.json()["problem"].startswith("You are not signed in")

    async def story() -> None:
        async with mcp_session(closed_one.url, {}):
            pass

    with pytest.raises(BaseException) as failed:
        run(story())
    assert _holds(failed.value, httpx.HTTPStatusError, "401")


def test_each_tool_asks_for_the_rights_of_its_person(closed_one: Served) -> None:
    async def refusals(name: str, *tools: str) -> list[str]:
        said = []
        async with mcp_session(closed_one.url, closed_one.headers(name)) as session:
            for tool in tools:
                needed = {"study": "Valid", "kind": "guidelines", "token": "token-0001", "item": "x",
                          "session_id": "s", "turn_id": "t", "image_id": "i",
                          "answer": True if tool == "pass_gate" else {}}
                taken = (await session.list_tools()).tools
                names = next(each.inputSchema["properties"] for each in taken if each.name == tool)
                arguments = {key: value for key, value in needed.items() if key in names} if tool != "search" else {
                    "text": "in red", "image": "http://127.0.0.1:9/not-fetched.png"}
                with pytest.raises(ToolFailed) as failed:
                    await call(session, tool, **arguments)
                said.append(str(failed.value))
        return said

    assert run(refusals("Ann", "search")) == [
        "Ann is signed in as annotator, and annotators may not search. Ask an admin for another role."]
    for sentence in run(refusals("Lys", *sorted(TOOLS - RESULTS))):
        assert sentence.startswith("Lys is signed in as analyst, and analysts may not ")
    for sentence in run(refusals("Ann", *sorted(RESULTS))):
        assert sentence.startswith("Ann is signed in as annotator, and annotators may not ")


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_two_people_at_once_are_told_apart(closed_one: Served, transport: str) -> None:
    """Each saves in items of their own; an item of the other is refused."""
    async def work(name: str) -> list[str]:
        async with mcp_session(closed_one.url, closed_one.headers(name), transport) as session:
            workspace, items = await call(session, "next_item", study="Valid"), []
            first = workspace["item"]["id"]
            for number in range(12):
                told = await call(session, "save_judgement", study="Valid", item=first,
                                  answer=valid(note=f"{name} {number} by {transport}"),
                                  token=f"{name}-{transport}-{number:04}")
                back, search = await asyncio.gather(call(session, "next_item", study="Valid", item=first),
                                                    session.call_tool("search", {"text": "in red"}))
                assert back["answer"]["note"] == f"{name} {number} by {transport}"
                assert text_of(search).startswith(f"{name} is signed in as annotator")
                items.append(told["desk"]["item"]["id"] if told["desk"]["item"] else "")
            return [first, *items]

    async def together() -> list[list[str]]:
        return await asyncio.gather(*(work(name) for name in ("Ann", "Bob")))

    ann, bob = run(together())
    assert not set(ann) & (set(bob) - {""})

    async def meddle() -> None:
        async with mcp_session(closed_one.url, closed_one.headers("Bob"), transport) as session:
            with pytest.raises(ToolFailed, match="not one of yours"):
                await call(session, "save_judgement", study="Valid", item=ann[0], answer=valid(), token="token-0001")

    run(meddle())


def test_a_stream_takes_messages_of_its_own_person_only(closed_one: Served) -> None:
    """Of the older transport: its address has a session in it."""
    with httpx.Client(base_url=closed_one.url, timeout=PATIENCE) as web, \
            web.stream("GET", ENDPOINT + "sse", headers=closed_one.headers("Ann")) as stream:
        lines = stream.iter_lines()
        address = next(line for line in lines if line.startswith("data: ")).removeprefix("data: ")
        for name, status in (("Bob", 404), ("Ann", 202)):
            answer = web.post(address, json=LIST, headers=closed_one.headers(name))
            assert answer.status_code == status, name


def test_what_guards_the_calls_guards_the_tools(served: Served) -> None:
    headers = {**JSON, **served.headers(served.judge)}
    for path in ("", "http", "messages/?session_id=" + "0" * 32):
        def post(content: Any, path: str = path, **more: str) -> httpx.Response:
            return httpx.post(served.url + ENDPOINT + path, content=content, headers={**headers, **more},
                              timeout=PATIENCE)

        large = json.dumps({**LIST, "params": {"cursor": "x" * MOST_AT_WORK}}).encode()
        assert post(large).status_code == 413
        assert post(iter([large])).status_code == 413                       # of no known length
        assert post(b'{"a":' + b"[" * 40_000 + b"]" * 40_000 + b"}").status_code == 413
        assert post(b"{").status_code == 422
        for elsewhere in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
            assert post(json.dumps(LIST), **elsewhere).status_code == 403
        told = post(json.dumps(LIST), **{"Content-Type": "text/plain"})
        assert told.status_code == 400 and "application/json" in told.json()["problem"]
    for path in ("", "http"):
        looked = httpx.get(served.url + ENDPOINT + path, headers=headers, timeout=PATIENCE)
        assert looked.status_code == 405 and looked.headers["allow"] == "POST"


def test_the_server_calls_nobody_whom_a_header_names(closed_one: Served) -> None:
    """It would hand on everybody's sign-in, from then on."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        other.settimeout(0.5)
        host = f"127.0.0.1:{other.getsockname()[1]}"
        called = {**LIST, "method": "tools/call", "params": {"name": "search", "arguments": {"text": "in red"}}}
        for more in ({}, {"X-Forwarded-Host": host}):
            answer = httpx.post(closed_one.url + ENDPOINT, json=called, timeout=PATIENCE,
                                headers={**JSON, **closed_one.headers("Rhea"), "Host": host, **more})
            assert answer.json()["result"]["content"][0]["text"].startswith("Give a reference")
        with pytest.raises(TimeoutError):
            other.accept()


def test_another_name_of_this_machine_is_refused_while_nobody_has_an_account(open_one: Served) -> None:
    for path in ("", "sse"):
        answer = httpx.post(open_one.url + ENDPOINT + path, json=LIST, headers={**JSON, "Host": "evil.example"},
                            timeout=PATIENCE)
        assert answer.status_code == 403


def _holds(error: BaseException, kind: type[BaseException], text: str) -> bool:
    inner: Callable[[BaseException], bool] = lambda each: _holds(each, kind, text)   # noqa: E731
    return (isinstance(error, kind) and text in str(error)) or any(map(inner, getattr(error, "exceptions", ())))
