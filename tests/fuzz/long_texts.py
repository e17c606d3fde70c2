"""Texts of up to a megabyte, made of repeated pairs of characters, in every field of every address and named call.

What takes the square of a text's length is fast with all that people write, and holds up everybody with this.
"""

from __future__ import annotations

import itertools
import json
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from hypothesis import strategies as st

from tests.fuzz.calls import Route, asked_of, fields_of, named_calls, screen
from tests.fuzz.outcome import Target
from tests.fuzz.served import Served

PAIRS = ("a+", "/a", "a ", '"a', "“a", "://", "a@", " \t", "0.", "[[", "{\"", "e\u0301", "\u0301\u0327", "<a", "a,",
         "\\a", "a:", "''", "((", "\r\n", "%2", "&a", "=1", "..", "😀a", "\0a", "-a", "A_", "ıI", "a\u202e")
_SIZES = (1_000, 8_000, 64_000, 250_000, 1_000_000)     # bytes of a body
_OF_ADDRESSES = (1_000, 8_000, 15_000, 40_000)          # bytes as escaped: servers take 64 kB at most
_HEADERS = ("X-File-Name", "X-Cirque-Person", "X-Request-ID", "Cookie", "Accept", "Referer")
_FORMS = {"/sign-in": ("name", "password", "next"), "/sign-out": ("name",),
          "/join/{secret}": ("name", "password", "again"), "/login": ("username", "password")}


@dataclass(frozen=True)
class Field:
    """``send`` puts a text into it and says how that ended."""

    name: str
    in_address: bool
    send: Callable[[str], str]


def targets(served: Served, routes: Sequence[Route]) -> list[Target]:
    """Fields are taken in turn, so that each has its text in the smallest run."""
    known = {**served.known, "name": ["Nobody yet"]}
    own = [field for route in routes if route.own for field in _of_route(served, route, known)]
    named = [field for name, parameters in named_calls(served).items()
             for field in _of_call(served, name, parameters, known)]
    return [_target("long texts, addresses", served, own, 12.0), _target("long texts, named calls", served, named, 6.0),
            _target("long texts, actions of the search screen", served, _of_screen(served, known), 4.0)]


def long_text(pair: str, size: int, *, escaped: bool = False) -> str:
    """``pair`` again and again: ``size`` bytes as JSON has it, or as an address has it."""
    one = quote(pair, errors="replace") if escaped else json.dumps(pair)[1:-1]
    return pair * (size // len(one))


def _target(name: str, served: Served, fields: Sequence[Field], weight: float) -> Target:
    turns = itertools.cycle(fields)
    # The number is there so that Hypothesis does not take two inputs for one.
    inputs = st.tuples(st.sampled_from(PAIRS), st.sampled_from(_SIZES), st.sampled_from(_OF_ADDRESSES),
                       st.integers(0, 2**40))

    def attempt(drawn: tuple[str, int, int, int]) -> str:
        pair, size, in_address, _ = drawn
        field = next(turns)
        ended = field.send(long_text(pair, in_address, escaped=True) if field.in_address else long_text(pair, size))
        served.note_memory()
        return ended

    return Target(name, inputs, attempt, weight=weight, deadline=60.0, begin=served.mend, least=len(fields),
                  of_app=True)


def _of_route(served: Served, route: Route, known: Mapping[str, Sequence[Any]]) -> list[Field]:
    parts = [name for name, _ in re.findall(r"\{(\w+)(:path)?\}", route.path)]
    usual = {name: _usual(known, name) for name in parts}
    # Signed out nobody can be asked for anything any more.
    who = "" if route.path == "/sign-out" else "admin"

    def ask(path: Mapping[str, Any], query: Mapping[str, str] = {}, **more: Any) -> str:
        where = route.path
        for name, value in path.items():
            part = quote(value if isinstance(value, bytes) else str(value).encode(errors="replace"), safe="")
            where = re.sub(r"\{" + name + r"(:path)?\}", lambda _, part=part: part, where)
        where += f"?{urlencode(query, errors='replace')}" if query else ""
        return str(served.ask(route.method, where, who=who, **more).status_code)

    found = [Field(f"{route.method} {route.path}, {name} in the path", True,
                   lambda text, name=name: ask({**usual, name: text})) for name in parts]  # type: ignore[misc]
    if route.method == "GET":
        needed, more = asked_of(served, route)
        names, sure = [*needed, *more, "other"], {name: _usual(known, name) for name in needed}
        found += [Field(f"{route.method} {route.path}, {name} in the query", True,
                        lambda text, name=name: ask(usual, {**sure, name: text})) for name in names]  # type: ignore[misc]
    elif (fields := fields_of(served, route)) is not None:
        required, optional = fields
        whole = {name: _usual(known, name) for name in required}
        found += [Field(f"{route.method} {route.path}, {name}", False, lambda text, name=name: ask(  # type: ignore[misc]
            usual, json={**whole, name: text})) for name in (*required, *optional, "other")]
        found.append(Field(f"{route.method} {route.path}, a key", False, lambda text: ask(
            usual, json={**whole, text: text[:100]})))
        if "answer" in whole:
            found += [Field(f"{route.method} {route.path}, {name} of the answer", False,
                            lambda text, name=name: ask(usual, json={  # type: ignore[misc]
                                **whole, "token": secrets.token_hex(8), "answer": {"validated": True, name: text}}))
                      for name in ("note", "reason", "flags", "other")]
    found += [Field(f"{route.method} {route.path}, {name} of the form", False, lambda text, name=name: ask(  # type: ignore[misc]
        usual, content=urlencode({name: text}, errors="replace"),
        headers={"Content-Type": "application/x-www-form-urlencoded"})) for name in _FORMS.get(route.path, ())
        if route.method == "POST"]
    if route.path in ("/study/save", "/media/upload", "/sign-in", "/"):
        found += [Field(f"{route.method} {route.path}, header {name}", True, lambda text, name=name: ask(  # type: ignore[misc]
            usual, headers={name: quote(text, safe="/+@:\"[]{}<>,= ", errors="replace")[:40_000].strip()}))
            for name in _HEADERS]
    return found


def _of_call(
    served: Served, name: str, parameters: Sequence[str], known: Mapping[str, Sequence[Any]],
) -> list[Field]:
    values = {"image": None, "more": [], "less": [], "also": [], "k": 5, "seconds": 1, "number": 0, "attempt": 0,
              "answer": {}}
    usual = [values[one] if one in values else _usual(known, one) for one in parameters]
    queued = name == "search"

    def ask(arguments: Sequence[object], **more: object) -> str:
        body = {"data": arguments, **({} if queued else {"session_hash": "fuzz"}), **more}
        answer = served.ask("POST", f"/gradio_api/{'call' if queued else 'run'}/{name}", own=False, json=body)
        if queued and answer.status_code == 200:
            told = served.ask("GET", f"/gradio_api/call/{name}/{answer.json()['event_id']}", own=False).text
            return "200" if "event: complete" in told else "500"
        return str(answer.status_code)

    def with_one(place: int, value: object) -> str:
        return ask([*usual[:place], value, *usual[place + 1:]])

    found = []
    for place, parameter in enumerate(parameters):
        found.append(Field(f"{name}, {parameter}", False, lambda text, place=place: with_one(place, text)))  # type: ignore[misc]
        found.append(Field(f"{name}, {parameter} as a list and an object", False,
                           lambda text, place=place: with_one(place, [{text: text[:50]}])))  # type: ignore[misc]
    found.append(Field(f"{name}, the session", False, lambda text: ask(usual, session_hash=text)))
    return found


def _of_screen(served: Served, known: Mapping[str, Sequence[Any]]) -> list[Field]:
    send, actions, words = screen(served)
    first = {"gallery": known["gallery"][0], "image": known["image"][0], "reference": known["image"][0]}
    found = [Field("the action's name", False, lambda text: send({"do": text}))]
    # Each word with some of the actions, each action with some of the words: all of them would be a thousand.
    for number, (word, action) in enumerate(itertools.product(words, actions)):
        if number % 11 == 0:
            found.append(Field(f"{action}, {word}", False, lambda text, word=word, action=action: send(  # type: ignore[misc]
                {**first, "do": action, word: text})))
    return found


def _usual(known: Mapping[str, Sequence[Any]], name: str) -> Any:
    """One value that gets far."""
    values = {"password": "correct horse", "token": "long-texts-0001", "answer": {"validated": True}, "draft": {},
              "seconds": 1, "seen_revision": 0, "content": "item,set,clip\n", "active": True, "rules": "",
              "select": "{}", "more": [], "position": "0", "attempt": 0, "do": "search"}
    if name in values:
        return values[name]
    return known[name][0] if name in known else "x"
