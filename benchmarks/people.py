"""Simulated users of the two servers of ``benchmarks.studies``, over keep-alive connections."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Sequence
from typing import Any

import orjson

from benchmarks.driver import Connection, Lanes
from benchmarks.study_home import STUDY, an_answer
from benchmarks.survey_home import a_rating

_LANES = 6           # connections a browser opens to one server
TOO_FEW = "Everything is answered before the time is over. Lay out more of it (_AT_MOST)."


class Judge:
    """One signed-in annotator with the connections of one browser."""

    _named = b"save_judgement"

    def __init__(self, address: str, cookie: str) -> None:
        self._connections = [Connection(address, cookie) for _ in range(_LANES)]
        self._save, self._lanes = self._connections[0], Lanes(self._connections)
        self._session = secrets.token_hex(6)
        self._tokens = (f"bench-{secrets.token_hex(6)}-{number}" for number in itertools.count())
        self._study, self._desk = STUDY, dict[str, Any]()

    async def sit_down(self) -> None:
        for connection in self._connections:
            await connection.open()
        await self._begin(STUDY)

    def leave(self) -> None:
        for connection in self._connections:
            connection.close()

    async def by_route(self) -> None:
        """Like the screen: save, which returns the next item."""
        body = {**self._judgement(), "seen_revision": 0, "then": "next"}
        self._desk = orjson.loads(await self._save.post(b"/study/save", orjson.dumps(body)))["desk"]

    async def by_call(self) -> None:
        """Like a script: the named call, in the form of the baseline."""
        body = {"data": list(self._judgement().values()), "session_hash": self._session}
        answer = orjson.loads(await self._save.post(b"/gradio_api/run/" + self._named, orjson.dumps(body)))
        self._desk = answer["data"][0]["desk"]

    async def cycle(self, thumbnails: int) -> None:
        """Save, next, and all its images: reference and target, one zoomed, ``thumbnails``."""
        await self.by_route()
        item = self._desk["item"]
        shown = [item["reference"]["large"], item["target"]["large"], item["panel"][0]["large"]]
        shown += [image["small"] for image in item["panel"][:thumbnails]]
        await self._lanes.fetch(["/" + path.lstrip("/") for path in shown])

    async def _begin(self, study: str) -> None:
        self._study = study
        self._desk = orjson.loads(await self._save.post(b"/study/join", orjson.dumps({"study": study})))

    def _judgement(self) -> dict[str, Any]:
        item = self._desk["item"]
        if item is None:
            raise RuntimeError(TOO_FEW)
        return {"study": self._study, "item": item["id"], "answer": self._answer(item["position"]),
                "token": next(self._tokens), "seconds": 31.5}

    def _answer(self, position: int) -> dict[str, Any]:
        return an_answer(position)


class Rater(Judge):
    """One signed-in annotator who fills in one survey after another. Opening the next one, once in
    ``QUESTIONS`` ratings, is timed as part of the rating that needs it."""

    _named = b"save_rating"

    def __init__(self, address: str, cookie: str, surveys: Sequence[str]) -> None:
        super().__init__(address, cookie)
        self._surveys = iter(surveys)

    async def sit_down(self) -> None:
        await self._save.open()
        await self._next_survey()

    async def by_route(self) -> None:
        if self._desk["item"] is None:
            await self._next_survey()
        await super().by_route()

    async def by_call(self) -> None:
        if self._desk["item"] is None:
            await self._next_survey()
        await super().by_call()

    async def _next_survey(self) -> None:
        survey = next(self._surveys, None)
        if survey is None:
            raise RuntimeError(TOO_FEW)
        await self._begin(survey)

    def _answer(self, position: int) -> dict[str, Any]:
        return a_rating(position)


class Clerk:
    """One user of the baseline. Sends the same data as a judge, and a session as Gradio's own clients do."""

    def __init__(self, address: str) -> None:
        self.connection = Connection(address)
        self._session, self._numbers = secrets.token_hex(6), itertools.count()

    async def direct(self) -> None:
        await self.connection.post(b"/gradio_api/run/save", self._body(session_hash=self._session))

    async def queued(self) -> None:
        event = orjson.loads(await self.connection.post(b"/gradio_api/call/save_queued", self._body()))["event_id"]
        told = await self.connection.get(f"/gradio_api/call/save_queued/{event}")
        if b"event: complete" not in told:
            raise RuntimeError(f"The baseline's event failed: {told!r}")

    def _body(self, **more: str) -> bytes:
        number = next(self._numbers)
        return orjson.dumps({
            "data": [STUDY, f"bench{number:015d}", an_answer(number), f"bare-{number}", 31.5], **more})
