"""Every address of the app, its named calls and what its search screen can do, with bad inputs.

Addresses are those that the app has (:mod:`tests.fuzz.list_routes`), named calls those that Gradio lists, actions those
of :mod:`web.search.actions.base`: what is new is tried without being named here. Which
fields a call takes it says itself, in the sentence with which it refuses others.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hypothesis import strategies as st

from tests.fakes.databases import environment_of
from tests.fakes.forked import run
from tests.fakes.studies import flagged, rated, valid
from tests.fuzz.inputs import as_json, scalars, spoilt_fields, spoilt_json, texts, values, weighted
from tests.fuzz.outcome import Target
from tests.fuzz.pictures import spoilt_pictures
from tests.fuzz.served import Served
from web.search.actions.base import ACTIONS, LONG, WITH_SERVICES

_CSV = b"item,set,clip\nq0,1,0.25\nq0,2,-1.5\nq1,1,3\n"
_LACKS, _TAKES = re.compile(r"Missing in this call: ([\w, ]+)\."), re.compile(r"It takes ([\w, ]+)\.")
_SELECT = {"datasets": ["sample"], "categories": ["shirt"], "people": [1, 2], "block_only": False}
# They make a study each time, or end the sign-in that asks: few are enough.
_RARELY = {"/studies/sample": 0.05, "/sign-in": 0.5, "/login": 0.3, "/join/{secret}": 0.3}
_ACTIONS = [*ACTIONS, *WITH_SERVICES, *LONG]
_WEB = Path(__file__).parents[2] / "web"


@dataclass(frozen=True)
class Route:
    path: str
    method: str
    own: bool
    query: tuple[str, ...]


def routes(home: Path) -> list[Route]:
    """All of them, from the app itself. ``home`` is for listing them, and is not that of the app."""
    done = run("-m", "tests.fuzz.list_routes", environment=environment_of(home))
    assert done.returncode == 0, done.stderr
    return [Route(one["path"], method, one["own"], tuple(one["query"]))
            for one in json.loads(done.stdout.splitlines()[-1]) for method in one["methods"] if method != "HEAD"]


def targets(served: Served, found: Sequence[Route]) -> list[Target]:
    good = known_good(served.known)
    made = [_own(served, route, good) for route in found if route.own]
    made += [_foreign(served, [route for route in found if not route.own])]
    made += [_named(served, name, names, good) for name, names in named_calls(served).items()]
    made += [_actions(served, good), _tabs(served), _pictures(served)]
    return [replace(target, of_app=True) for target in made]


def known_good(known: Mapping[str, Sequence[Any]]) -> dict[str, st.SearchStrategy[Any]]:
    """Values that get far, by the name of the field."""
    answers = st.one_of(st.sampled_from([valid(), flagged("INVALID_TEXT_QUERY", reasons=("1b",)), rated()]),
                        spoilt_json(valid()), spoilt_json(rated()))
    made: dict[str, st.SearchStrategy[Any]] = {name: st.sampled_from(list(of)) for name, of in known.items()}
    return made | {
        "answer": answers, "do": weighted((9, st.sampled_from(_ACTIONS)), (1, values)),
        "token": st.from_regex(r"[A-Za-z0-9_-]{8,64}", fullmatch=True), "draft": answers,
        "seconds": st.one_of(st.floats(0, 1e6), scalars), "seen_revision": st.integers(0, 3),
        "password": st.one_of(st.just("correct horse"), texts), "active": st.booleans(),
        "select": spoilt_json(_SELECT, [["sample"], [1]]).map(json.dumps), "rules": st.one_of(
            spoilt_json({"speed": 3}), st.sampled_from(["", "fast", "fast,alike"])),
        "content": st.one_of(st.just(_CSV.decode()), texts), "position": st.sampled_from(["0", "3", "99999999"]),
        "more": st.lists(st.sampled_from(list(known["image"])), max_size=3),
        "also": st.lists(st.sampled_from(list(known["image"])), max_size=3),
        "region": st.lists(st.floats(0, 1), min_size=4, max_size=4), "attempt": st.integers(0, 2),
    }


def named_calls(served: Served) -> dict[str, list[str]]:
    """The parameters of every named call, as Gradio lists them."""
    listed = served.ask("GET", "/gradio_api/info", own=False).json()["named_endpoints"]
    return {name.lstrip("/"): [one["parameter_name"] for one in about["parameters"]] for name, about in listed.items()}


def _own(served: Served, route: Route, good: Mapping[str, st.SearchStrategy[Any]]) -> Target:
    parts = re.findall(r"\{(\w+)(:path)?\}", route.path)
    names = {"name": "name_of_picture"} if "study_id" in route.path else {}
    path = st.fixed_dictionaries({name: weighted((1, good.get(names.get(name, name), texts)), (1, texts))
                                  for name, _ in parts})
    who = st.sampled_from((*["admin"] * 8, "judge", "analyst", ""))
    fields = fields_of(served, route) if route.method != "GET" else asked_of(served, route)
    if fields is None:
        inputs = st.tuples(path, who, _bodies())
    else:
        inputs = st.tuples(path, who, spoilt_fields(*fields, good))

    def attempt(drawn: Any) -> str:
        given, asker, sent = drawn
        more: dict[str, Any]
        if route.method == "GET":
            more = {"params": {name: _as_text(value) for name, value in sent.items()}}
        elif fields is None:
            more = {"content": sent[1], "headers": {"Content-Type": sent[0]} if sent[0] else {}}
        else:
            more = {"content": as_json(sent), "headers": {"Content-Type": "application/json"}}
        leaving = route.path == "/sign-out"       # with the sign-in of nobody, or nothing could be asked any more
        answer = served.ask(route.method, _filled(route.path, given), who="" if leaving else asker, **more)
        served.note_memory()
        return str(answer.status_code)

    return Target(f"{route.method} {route.path}", inputs, attempt, weight=_RARELY.get(route.path, 1.0), deadline=30.0,
                  begin=served.mend)


def _foreign(served: Served, found: Sequence[Route]) -> Target:
    """Gradio's own addresses: its answers are its own, but it must not end, hang or tell where it runs."""
    bodies = st.one_of(_bodies(), values.map(lambda value: ("application/json", as_json(value))))
    inputs = st.tuples(st.sampled_from(found), st.lists(texts, min_size=5, max_size=5),
                       st.dictionaries(texts, texts, max_size=2), bodies)

    def attempt(drawn: Any) -> str:
        route, parts, query, (kind, body) = drawn
        names = [name for name, _ in re.findall(r"\{(\w+)(:path)?\}", route.path)]
        given = dict(zip(names, parts, strict=False))
        more = {} if route.method == "GET" else {"content": body, "headers": {"Content-Type": kind} if kind else {}}
        return str(served.ask(
            route.method, _filled(route.path, given), own=False,
            params={_as_text(name): _as_text(value) for name, value in query.items()}, **more).status_code)

    return Target("Gradio's own addresses", inputs, attempt, weight=6.0, deadline=30.0)


def _named(served: Served, name: str, parameters: Sequence[str], good: Mapping[str, st.SearchStrategy[Any]]) -> Target:
    def one(parameter: str) -> st.SearchStrategy[Any]:
        return weighted((9, good[parameter]), (1, values)) if parameter in good else values

    good = {**good, "image": st.none()}       # of a picture itself, which is uploaded elsewhere
    whole = st.tuples(*map(one, parameters)).map(list)
    inputs = weighted((14, whole), (1, st.lists(values, max_size=8)), (1, values))
    queued = name == "search"

    def attempt(arguments: Any) -> str:
        body = {"data": arguments, **({} if queued else {"session_hash": "fuzz"})}
        more = {"content": as_json(body), "headers": {"Content-Type": "application/json"}}
        answer = served.ask("POST", f"/gradio_api/{'call' if queued else 'run'}/{name}", own=False, **more)
        if queued and answer.status_code == 200:
            told = served.ask("GET", f"/gradio_api/call/{name}/{answer.json()['event_id']}", own=False).text
            return "200" if "event: complete" in told else "500"
        return str(answer.status_code)

    return Target(f"named call /{name}", inputs, attempt, weight=2.0, deadline=60.0, begin=served.mend)


def _actions(served: Served, good: Mapping[str, st.SearchStrategy[Any]]) -> Target:
    """What a browser sends from the search screen."""
    send, _, words = screen(served)
    return Target("actions of the search screen", inputs=spoilt_fields(["do"], words, good), attempt=send, weight=6.0,
                  deadline=60.0)


def _tabs(served: Served) -> Target:
    """What a tab says that it showed, when it is loaded again."""
    config = served.ask("GET", "/config", own=False).json()
    loading = [one["id"] for one in config["dependencies"] if any(target[1] == "load" for target in one["targets"])]
    known = served.known
    tab = {"sessions": known["session_id"][:1], "left": {
        "session": known["session_id"][0], "shown_turn": "x", "shown_reference": known["image"][0],
        "shown_further": json.dumps(known["image"][1:2]), "search": {"text": "in red", "more": known["image"][:1]}}}

    def attempt(sent: Any) -> str:
        session = secrets.token_hex(6)
        body = {"data": [None, sent], "fn_index": loading[0], "session_hash": session}
        where = {"session": known["session_id"][0]}
        served.ask("POST", "/gradio_api/queue/join", own=False, content=as_json(body), params=where,
                   headers={"Content-Type": "application/json"})
        told = served.ask("GET", "/gradio_api/queue/data", own=False, params={"session_hash": session}).text
        done = told.rpartition("process_completed")[2].replace(" ", "")
        return "done" if '"success":true' in done else "refused" if '"success":false' in done else "cut off"

    return Target("a tab that is loaded again", weighted((9, spoilt_json(tab)), (1, values)), attempt, weight=2.0,
                  deadline=60.0)


def screen(served: Served) -> tuple[Callable[[Any], str], list[str], list[str]]:
    """How an action is sent, the names of actions, and those of the fields they take."""
    config = served.ask("GET", "/config", own=False).json()
    acting = [one["id"] for one in config["dependencies"] if any(target[1] == "act" for target in one["targets"])]
    said = "\n".join(path.read_text("utf-8") for path in sorted(_WEB.rglob("*.py")))
    words = sorted(set(re.findall(r'(?:text_of|data\.get)\((?:data, )?"(\w+)"', said)) - {"do"})
    assert acting and words, "how the screen sends its actions has changed"

    def send(sent: Any) -> str:
        session = secrets.token_hex(6)
        body = {"data": [None], "fn_index": acting[0], "event_data": sent, "session_hash": session,
                "trigger_id": config["dependencies"][0]["targets"][0][0]}
        # Where the last page was: an action without a session shows little.
        where = {"session": served.known["session_id"][0]}
        served.ask("POST", "/gradio_api/queue/join", own=False, content=as_json(body), params=where,
                   headers={"Content-Type": "application/json"})
        told = served.ask("GET", "/gradio_api/queue/data", own=False, params={"session_hash": session}).text
        done = told.rpartition("process_completed")[2].replace(" ", "")
        return "done" if '"success":true' in done else "refused" if '"success":false' in done else "cut off"

    return send, _ACTIONS, words


def _pictures(served: Served) -> Target:
    def attempt(content: bytes) -> str:
        answer = served.ask("POST", "/media/upload", content=content, headers={"X-File-Name": "a%00b/../c.png"})
        if answer.status_code == 200:
            shown = {"gallery": "atelier", "image": answer.json()["reference_id"]}
            served.ask("GET", "/media/full", params=shown)
        served.note_memory()
        return str(answer.status_code)

    return Target("pictures, uploaded", spoilt_pictures(), attempt, weight=8.0, deadline=30.0)


def fields_of(served: Served, route: Route) -> tuple[list[str], list[str]] | None:
    """What a call takes, by its own sentences; None for one that takes no JSON object."""
    path = _filled(route.path, {name: "x" for name, _ in re.findall(r"\{(\w+)(:path)?\}", route.path)})
    if route.path in ("/sign-out", "/studies/sample"):
        return (["name", "password"], []) if route.path == "/sign-out" else ([], ["other"])
    lacking = _LACKS.search(_problem(served, route, path, []))
    required = lacking[1].split(", ") if lacking else []
    taken = _TAKES.search(_problem(served, route, path, [*required, "no_such_field"]))
    if taken is None:
        return (["name", "password"], ["username", "again", "next"]) if route.path == "/sign-in" else None
    return required, [name for name in taken[1].split(", ") if name not in required]


def asked_of(served: Served, route: Route) -> tuple[list[str], list[str]]:
    """What a route looks for in its query: what it says it needs, and what more it takes."""
    path = _filled(route.path, {name: "x" for name, _ in re.findall(r"\{(\w+)(:path)?\}", route.path)})
    answer = served.ask("GET", path, params={"no_such_field": "1"})
    taken = _TAKES.search(answer.text)
    names = taken[1].split(", ") if taken else [*route.query] or _query_names()
    needed = ["study"] if "study" in names and "study" in served.ask("GET", path).text else list(route.query)
    return needed, [name for name in names if name not in needed]


def _problem(served: Served, route: Route, path: str, fields: Sequence[str]) -> str:
    """What a call says to these fields without values; empty where it says nothing in JSON."""
    answer = served.ask(route.method, path, json=dict.fromkeys(fields))
    said = answer.json() if answer.content and "json" in answer.headers.get("content-type", "") else {}
    return str(said.get("problem", ""))


def _query_names() -> list[str]:
    """All names that any route asks its query for."""
    said = "\n".join(path.read_text("utf-8") for path in sorted(_WEB.rglob("*.py")))
    return sorted(set(re.findall(r'(?:query\.get\(|\(query, )"(\w+)"', said)))


def _bodies() -> st.SearchStrategy[tuple[str, bytes]]:
    """Content of any type, some of it a form."""
    kinds = st.sampled_from(("", "application/json", "application/x-www-form-urlencoded", "multipart/form-data",
                             "multipart/form-data; boundary=x", "image/png", "text/html; charset=nothing", "a/b; c"))
    fields = st.dictionaries(st.sampled_from(("name", "username", "password", "again", "next", "x")), texts)
    forms = fields.map(lambda one: "&".join(f"{name}={quote(text, errors='surrogatepass')}"
                                            for name, text in one.items()).encode())
    return st.tuples(kinds, st.one_of(st.binary(max_size=300), forms, values.map(as_json)))


def _filled(path: str, given: Mapping[str, Any]) -> str:
    """Half of the parts as they are, which many servers take for separators, half escaped."""
    for number, (name, value) in enumerate(given.items()):
        text = _as_text(value)[:2000]
        escaped = quote(text, safe="/." if number % 2 else "", errors="replace")
        path = re.sub(r"\{" + name + r"(:path)?\}", lambda _, escaped=escaped: escaped, path)
    return path


def _as_text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text.encode("utf-8", "replace").decode()[:4000]
