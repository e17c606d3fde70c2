"""Simulated users of a soak, who record every acknowledgement while the app is killed.

A call interrupted by a kill is repeated, with the same token, as soon as the app responds. Any other refusal ends
that client's run and is a complaint.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import random
import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import orjson

from benchmarks.driver import Connection, Refused, dechunked
from benchmarks.soak_app import App
from benchmarks.soak_home import STUDY, Home
from benchmarks.soak_ledger import Ledger, Line, digest_of
from benchmarks.study_home import an_answer
from benchmarks.survey_home import a_rating

_LONGEST = 90.0      # seconds for one response: the first search after a start waits for the models
_TEXTS = ("in red", "striped", "with long sleeves", "longer", "in dark blue", "without a collar")
_AGAIN, _CHANGE, _LOOK = 0.05, 0.08, 0.1    # shares of saves sent twice, followed by a revision, by a page load


class Client(ABC):
    """One user with one connection. ``milliseconds`` by kind are those of uninterrupted calls."""

    def __init__(self, app: App, home: Home, name: str, ledgers: Path, seed: int) -> None:
        self.name, self._app, self._home = name, app, home
        self._rng = random.Random(f"{seed}/{name}")
        self._connection = Connection(app.address, f"cirque={home.secrets[name]}")
        self._ledger = Ledger(ledgers / f"{name}.jsonl")
        self.milliseconds: dict[str, list[float]] = defaultdict(list)
        self.acknowledged = self.replays = self.retried = 0
        self.complaint = ""

    async def work(self, over: asyncio.Event) -> None:
        """Work until it is ``over``, nothing is left to do, or a call is refused."""
        await self.unless_refused(self._work(over))

    async def _work(self, over: asyncio.Event) -> None:
        while not over.is_set() and await self.act():
            pass

    async def unless_refused(self, work: Awaitable[None]) -> None:
        """Do ``work``; a refusal becomes this client's complaint."""
        try:
            await work
        except (Refused, OSError, ValueError, KeyError, AssertionError) as error:
            self.complaint = f"{self.name}: {type(error).__name__}: {error}"

    async def act_once(self) -> None:
        """:meth:`act`. Raises RuntimeError if nothing is left to do."""
        if not await self.act():
            raise RuntimeError(f"{self.name} has nothing left to do. Lay out more (Size.each).")

    def leave(self) -> None:
        self._connection.close()
        self._ledger.close()

    @abstractmethod
    async def act(self) -> bool:
        """Do the next action. False if nothing is left."""

    async def insisting(
        self, kind: str | Callable[[], str], ask: Callable[[], Awaitable[bytes]], *, once: bool = False,
    ) -> bytes:
        """``ask``, repeated after kills. With ``once`` an interrupted call is recorded as such
        before it is repeated: whether it took effect is unknown. ``kind`` may depend on when ``ask`` begins."""
        while True:
            await self._app.up.wait()
            of_kind = kind if isinstance(kind, str) else kind()
            age, began = self._app.age, time.perf_counter()
            try:
                answer = await asyncio.wait_for(ask(), _LONGEST)
            except (OSError, Refused) as error:     # a TimeoutError is an OSError
                self._connection.close()
                if self._app.age == age:
                    if ended := self._app.ended:
                        raise Refused(ended) from error
                    raise
                self.retried += 1
                if once:
                    self._ledger.write(Line("interrupted", self.name))
                continue
            self.milliseconds[of_kind].append((time.perf_counter() - began) * 1000)
            return answer

    def note(self, line: Line) -> None:
        self._ledger.write(line)
        self.acknowledged += 1

    def route(self, path: bytes, **fields: Any) -> Awaitable[bytes]:
        return self._connection.post(path, orjson.dumps(fields))

    def call(self, name: bytes, *arguments: Any) -> Awaitable[bytes]:
        """A named call without queue."""
        body = {"data": arguments, "session_hash": self.name.replace(" ", "")}
        return self._connection.post(b"/gradio_api/run/" + name, orjson.dumps(body))


class Annotator(Client):
    """Answers one item after the other; alternates between the screen's routes and named calls."""

    kind, named, study = "judgement", b"save_judgement", STUDY

    def __init__(self, *about: Any) -> None:
        super().__init__(*about)
        self._by_route = int(self.name.rpartition(" ")[2]) // 2 % 2 == 0
        self._way = f"{self.kind}, {'route' if self._by_route else 'named call'}"
        self._desk: dict[str, Any] | None = None
        self._number = 0
        self._before: dict[str, Any] | None = None    # the last answered item

    async def act(self) -> bool:
        if self._desk is None and not await self.sit_down():
            return False
        assert self._desk is not None
        item = self._desk["item"]
        if item is None:
            self._desk = None
            return await self.act()
        answer = self.answer(item["position"])
        self._desk = await self._save(item, answer, 1)
        if self._before is not None and self._rng.random() < _CHANGE and self.may_change:
            # A revision of the previous item; the position does not change.
            await self._save(self._before, {**self.answer(self._before["position"]), "note": f"again, {self._number}"},
                             2, stay=True)
            item = None
        self._before = item
        if self._rng.random() < _LOOK:
            await self.insisting("look", lambda: self.call(b"progress", self.study))
        return True

    may_change = True

    async def sit_down(self) -> bool:
        """Start, or continue with the next study; False if there is none."""
        if self._number:
            return False
        self._desk = orjson.loads(await self.insisting("join", lambda: self.route(b"/study/join", study=self.study)))
        return self._desk["item"] is not None

    def answer(self, position: int) -> dict[str, Any]:
        return an_answer(position) | {"note": f"{self.name} at {position}, {self._number}"}

    async def leave_draft(self) -> None:
        """Save a draft for the open item; the last action of a client."""
        item = (self._desk or {}).get("item")
        if item is None or self.kind != "judgement":
            return
        note = f"begun by {self.name}"
        await self.insisting("draft", lambda: self.route(b"/study/draft", study=self.study, item=item["id"],
                                                         answer={"note": note}))
        self.note(Line("draft", f"{self.name}/{item['id']}", digest_of(note)))

    async def _save(self, item: dict[str, Any], answer: dict[str, Any], revision: int, *, stay: bool = False) -> Any:
        self._number += 1
        token = f"{self.name.replace(' ', '-')}-{self._number:06d}"
        asked = {"study": self.study, "item": item["id"], "answer": answer, "token": token, "seconds": 12.5}

        def send() -> Awaitable[bytes]:
            if self._by_route:
                return self.route(b"/study/save", **asked, then="stay" if stay else "next")
            return self.call(self.named, *asked.values())

        told = self._told(await self.insisting(self._way, send))
        line = Line("answer", f"{self.name}/{token}", digest_of(answer), told["saved"]["revision"], item["id"])
        if line.revision != revision:
            raise AssertionError(f"{token} is revision {line.revision}, not {revision}")
        self.note(line)
        if self._rng.random() < _AGAIN:    # a double click
            again = self._told(await self.insisting(self._way, send))["saved"]
            if (again["repeated"], again["revision"]) != (True, revision):
                raise AssertionError(f"{token}, sent twice, was answered {again}")
            self.replays += 1
        return told["desk"]

    def _told(self, body: bytes) -> Any:
        found = orjson.loads(body)
        return found if self._by_route else found["data"][0]


class Rater(Annotator):
    """Fills in one survey after another."""

    kind, named = "rating", b"save_rating"
    may_change = False      # finished forms cannot be changed

    def __init__(self, *about: Any) -> None:
        super().__init__(*about)
        self._surveys: Iterator[str] = iter(self._home.surveys)

    async def sit_down(self) -> bool:
        survey = next(self._surveys, None)
        if survey is None:
            return False
        self.study = survey
        self._desk = orjson.loads(await self.insisting("join", lambda: self.route(b"/study/join", study=survey)))
        return self._desk["item"] is not None

    def answer(self, position: int) -> dict[str, Any]:
        return a_rating(position) | {"reason": f"{self.name} at {position}, {self._number}"}


class Searcher(Client):
    """Searches by the named call, three turns a session, sometimes with an uploaded reference."""

    turns, method = 3, ""
    brings = 0.25         # share of sessions that begin with an upload
    looks = _LOOK         # share of searches after which the session is exported
    held_up = False       # on purpose, by a language model that does not respond

    def __init__(self, *about: Any) -> None:
        super().__init__(*about)
        self._session, self._turn = "", 0
        self._reference = ""

    async def act(self) -> bool:
        if self._turn % self.turns == 0:
            self.begin_session()
            self._reference = (await self._upload() if self._rng.random() < self.brings
                               else self._rng.choice(self._home.image_ids))
        found = await self.search()
        self._turn += 1
        self._session = found["session_id"]
        self.note(Line("turn", found["turn_id"], digest_of([[hit["image_id"], hit["rank"]] for hit in found["hits"]]),
                       place=self._session))
        if self._rng.random() < self.looks:
            await self.insisting("look", lambda: self._connection.get(f"/export/{self._session}.json"))
        return True

    def begin_session(self) -> None:
        """Make the next search the first of a session."""
        self._session, self._turn = "", 0

    async def search(self) -> dict[str, Any]:
        text = self._rng.choice(_TEXTS)

        return dict(orjson.loads(await self.insisting(self._kind, lambda: self._searched(text), once=True)))

    def _kind(self) -> str:
        """Kind of a search that starts now. Cold: the app has not loaded its model yet, and the search waits for it."""
        if self.held_up:
            return "search, named call, waiting for a silent language model"
        return f"search, named call, {'warm' if self._app.warm.is_set() else 'cold'}"

    async def asked(self, text: str) -> str:
        """Start a search; returns its event id."""
        reference = self._reference if not self._session else ""
        body = orjson.dumps({"data": [reference, None, text, self._session, 10, self.method, [], []]})
        return str(orjson.loads(await self._connection.post(b"/gradio_api/call/search", body))["event_id"])

    async def answered(self, event: str) -> bytes:
        """Its result, as JSON. Raises ``Refused`` with the stream's message."""
        stream = dechunked(await self._connection.get(f"/gradio_api/call/search/{event}"))
        done, _, rest = stream.rpartition(b"event: complete\ndata: ")
        if not done and not stream.startswith(b"event: complete"):
            raise Refused(stream.decode("utf-8", "replace"))
        return orjson.dumps(orjson.loads(rest.split(b"\n", 1)[0])[0])

    async def _searched(self, text: str) -> bytes:
        return await self.answered(await self.asked(text))

    async def _upload(self) -> str:
        from PIL import Image

        picture = Image.frombytes("RGB", (48, 64), self._rng.randbytes(48 * 64 * 3))
        content = io.BytesIO()
        picture.save(content, "PNG")
        answer = orjson.loads(await self.insisting("upload, route", lambda: self._connection.post(
            b"/media/upload", content.getvalue(), b"image/png")))
        self.note(Line("upload", answer["reference_id"], hashlib.sha256(picture.tobytes()).hexdigest()[:24]))
        return str(answer["reference_id"])


class RouteSearcher(Searcher):
    """Searches by the plain route."""

    async def _searched(self, text: str) -> bytes:
        return await self.route(b"/api/search", reference=self._reference if not self._session else "", text=text,
                                session_id=self._session, method=self.method)
