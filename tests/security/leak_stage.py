"""What the tests of leaks look at: an audit of the sample gallery, and all that a person's browser gets of a study."""

from __future__ import annotations

import asyncio
import json
import random
import secrets
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import numpy as np
import pytest
from fastapi import FastAPI
from PIL import Image
from sqlalchemy import event

from annotation.kinds.table import KINDS
from annotation.records import Role
from annotation.sources import StudyQuery
from annotation.sources.audit import read_audit
from annotation.studies.service import StudyService
from cir_core.audit.aggregate import aggregate
from cir_core.audit.circus.traces import write_queries
from cir_core.audit.records import VARIANTS, QueryAudit, Ranking, RetrieverRun, RunCard, pools_digest
from cir_core.datasets.records import Benchmark, BenchmarkQuery, caption_mode_of
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import engine_of
from tests.fakes.signed_in import SignedIn
from tests.security.leak_statistics import Seconds, features_of
from web.http.meter import Meter
from web.http.visitor import StudyMembers
from web.studies.adjudicate import adjudicate_routes
from web.studies.annotate import study_routes

RECORDED = Path(__file__).with_name("sample_audit.jsonl")
"""Of `cirque audit sample --retrievers text-only,image-only,slerp,cirevl`: 120 queries with a shortcut and 120 without,
their ranks (both inputs, text, image) and what each retriever found with both. Images are numbers."""
PICTURES = 48
_REPEATS = 3
_SEED = 20260402


def recorded_audit(folder: Path) -> Sequence[StudyQuery]:
    """The recorded audit through its files, as ``cirque study create validity --from-audit`` reads them."""
    records = [json.loads(line) for line in RECORDED.read_text("utf-8").splitlines()]
    queries = [BenchmarkQuery(str(one["query"]), image(one["reference"]), one["text"], (image(one["target"]),))
               for one in records]
    benchmark = Benchmark("sample", "test", queries, {"": None}, lambda image_id: (f"{image_id}.png",))
    runs = []
    for name in records[0]["ranks"]:
        card = RunCard(benchmark.name, benchmark.digest, pools_digest(benchmark.pools), name, {"method": name}, "black",
                       None, caption_mode_of(queries))
        runs.append(RetrieverRun(card, [
            QueryAudit(query.query_id, {
                variant: Ranking((rank,), tuple(map(image, one["top"][name])) if variant == "multimodal" else ())
                for variant, rank in zip(VARIANTS, one["ranks"][name], strict=True)})
            for query, one in zip(queries, records, strict=True)]))
    labels = aggregate(runs)
    write_queries(folder / "sample-test_queries.jsonl", benchmark, runs, labels)
    return read_audit(folder, categories=sorted({label.label for label in labels.labels})).queries


def image(number: int) -> str:
    return f"i{number:04}"


def draw_pictures(folder: Path) -> Sequence[Path]:
    """Pictures of many shapes and of files of many sizes. Which image has which is drawn, so that what is on them
    tells nothing: all that could tell is how they are sent."""
    folder.mkdir(parents=True)
    random_ = np.random.default_rng(_SEED)
    for number in range(PICTURES):
        width, height = random_.integers(24, 160, 2)
        coarse = random_.integers(0, 255, (2 + number % 12, 2 + number % 9, 3), np.uint8)
        Image.fromarray(coarse).resize((int(width), int(height))).save(folder / f"{number}.png")
    return sorted(folder.iterdir())


@contextmanager
def seeded(what: str) -> Iterator[None]:
    """The system's random numbers from a seed, so that a test has the same result each time."""
    source = random.Random(f"{_SEED} {what}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(random, "SystemRandom", lambda: source)
        patch.setattr(secrets, "token_bytes", lambda size=32: source.randbytes(size))
        patch.setattr(secrets, "choice", source.choice)
        patch.setattr(secrets, "token_hex", lambda size=32: source.randbytes(size).hex())
        yield


@dataclass(frozen=True)
class Answered:
    """One answer, with what can be measured about it."""

    response: httpx.Response
    seconds: Seconds         # median of some
    statements: int          # of the database, for the first of them

    @property
    def json(self) -> Any:
        return json.loads(self.response.content)

    def features(self, name: str, *, less: int = 0) -> dict[str, float]:
        """``less``: bytes of the body that are the item's own text."""
        headers = self.response.headers
        return {
            f"{name} bytes": len(self.response.content) - less, f"{name} seconds": self.seconds,
            f"{name} statements": self.statements, f"{name} status": self.response.status_code,
            **{f"{name} header {key}": features_of(value)[":length"] for key, value in headers.items()
               if key not in ("content-length", "date")},
        }


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """One for all requests, in a thread of its own: fastapi's TestClient makes one for each, and crosses over to it
    eight times, which takes longer than most answers."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="requests", daemon=True).start()
    return loop


class Browser:
    """Somebody's browser, before an app with the routes of studies."""

    def __init__(self, home: Path, store: SqlStudyStore, who: str = "Ada", role: Role = "annotator") -> None:
        services: Any = SimpleNamespace(
            studies=StudyService(store, {name: kind.answers for name, kind in KINDS.items()}),
            study_store=store, study_members=StudyMembers(store),
            settings=SimpleNamespace(home=home, accel_redirect=""), meter=Meter())
        app = FastAPI()
        app.include_router(study_routes(services))
        app.include_router(adjudicate_routes(services))
        app.add_middleware(SignedIn, role=role)
        self._client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://testserver",
                                         headers={"x-test-name": who})
        self._statements = 0
        event.listen(store.engine, "before_cursor_execute", self._count)

    def get(self, address: str, *, repeats: int = _REPEATS, **query: Any) -> Answered:
        taken, before, statements, response = [], self._statements, 0, None
        for number in range(repeats):
            began = time.perf_counter()
            response = self._request("GET", "/" + address.lstrip("/"), params=query or None)
            taken.append(time.perf_counter() - began)
            statements = statements if number else self._statements - before
        assert response is not None and response.status_code == 200, response and response.text
        return Answered(response, Seconds(float(np.median(taken)),
                                          lambda: self.get(address, repeats=repeats, **query).seconds), statements)

    def post(self, path: str, **sent: Any) -> Any:
        response = self._request("POST", path, json=sent)
        assert response.status_code == 200, response.text
        return response.json()

    def _request(self, method: str, path: str, **sent: Any) -> httpx.Response:
        return asyncio.run_coroutine_threadsafe(self._client.request(method, path, **sent), _loop()).result()

    def _count(self, *_: object) -> None:
        self._statements += 1


def picture_features(name: str, answered: Sequence[Answered]) -> dict[str, float]:
    """Of several pictures: how large their files are, and everything else about their answers."""
    sizes = [len(one.response.content) for one in answered]
    found = {f"{name} files": float(len(sizes)), f"{name} bytes": float(np.mean(sizes)),
             f"{name} smallest": min(sizes), f"{name} largest": max(sizes)}
    found[f"{name} seconds"] = _median([one.seconds for one in answered])
    for part in ("statements", "status"):
        found[f"{name} {part}"] = float(np.median([getattr(one, part, one.response.status_code) for one in answered]))
    return found


def _median(measured: Sequence[Seconds]) -> Seconds:
    return Seconds(float(np.median(measured)), lambda: _median([one.again() for one in measured]))


def difference(one: Seconds, other: Seconds) -> Seconds:
    return Seconds(one - other, lambda: difference(one.again(), other.again()))


def without(payload: Any, *keys: str) -> Any:
    """JSON without the fields of these names, however deep they are."""
    if isinstance(payload, Mapping):
        return {key: without(value, *keys) for key, value in payload.items() if key not in keys}
    return [without(one, *keys) for one in payload] if isinstance(payload, list) else payload


@dataclass(frozen=True)
class Stage:
    home: Path
    queries: Sequence[StudyQuery]
    store: SqlStudyStore
    pictures: Sequence[Path]

    def find(self, image_id: str) -> Path:
        return self.pictures[random.Random(f"{_SEED} {image_id}").randrange(PICTURES)]


def set_stage(home: Path) -> Stage:
    return Stage(home, recorded_audit(home / "audit"), SqlStudyStore(engine_of(home)), draw_pictures(home / "drawn"))
