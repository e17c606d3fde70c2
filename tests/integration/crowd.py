"""The real server as a process that can be killed, and people who work over the named calls."""

from __future__ import annotations

import re
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from annotation.accounts.service import Passwords, PeopleService
from benchmarks.servers import lasting_port
from storage.stores import Stores, open_stores
from tests.fakes.databases import environment_of, settings_of
from tests.fakes.forked import Running, start
from tests.fakes.patience import PATIENCE, wait_for
from tests.fakes.people import LIGHT
from tests.fakes.studies import flagged, make_study, valid
from web.middleware.auth import SIGN_IN as COOKIE

ROOT = Path(__file__).parents[2]
PASSWORD = "sixteen at once"


class Refused(Exception):
    """The server answered with something else than 200."""


class Server:
    """``python app.py`` over ``home``, always at the same port."""

    def __init__(self, home: Path) -> None:
        self.home, self._starts = home, 0
        self.logs = home
        self._port = lasting_port()   # also while it is down
        self.url = f"http://127.0.0.1:{self._port}"
        self._process: Running | None = None

    def start(self) -> None:
        self._starts += 1
        log = self.logs / f"app-{self._starts}.log"
        environment = environment_of(self.home, CIRQUE_PORT=str(self._port), CIRQUE_HOST="127.0.0.1",
                                     CIRQUE_GALLERY="none", CIRQUE_WEBHOOK_HOSTS="127.0.0.1:*")
        with log.open("w") as stream:
            self._process = start("app.py", environment=environment, output=stream)
        process = self._process
        wait_for(lambda: re.search(r"http://\S+", log.read_text()), going=lambda: process.poll() is None,
                 told=log.read_text)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """kill -9."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait(PATIENCE)

    def log(self) -> str:
        """What all its runs said."""
        return "\n".join(path.read_text() for path in sorted(self.logs.glob("app-*.log")))


def stores_of(home: Path) -> Stores:
    return open_stores(settings_of(home))


def add_people(stores: Stores, names: list[str]) -> None:
    people = PeopleService(stores.people)
    people.add("Ada Min", PASSWORD, "admin")
    for name in names:
        people.add(name, PASSWORD, "annotator")


def add_entered(stores: Stores, names: list[str]) -> dict[str, str]:
    """As :func:`add_people`, but they are signed in already: the secret of each. Their passwords are hashed
    lightly, for with many people that takes longer than all they do."""
    people = PeopleService(stores.people, passwords=Passwords(LIGHT))
    people.add("Ada Min", PASSWORD, "admin")
    for name in names:
        people.add(name, PASSWORD, "annotator")
    return {name: people.sign_in(name, PASSWORD) for name in names}


@dataclass(frozen=True)
class Acknowledged:
    item: str
    token: str
    revision: int
    repeated: bool


@dataclass
class Worker:
    """One person with a connection of their own. A server that is gone is asked again, with the same
    token. Whatever else goes wrong ends up in ``complaints``."""

    name: str
    url: str
    study: str
    acknowledged: list[Acknowledged] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    retried: int = 0

    def __post_init__(self) -> None:
        self._client = httpx.Client(base_url=self.url, timeout=PATIENCE)
        self._session = secrets.token_hex(6)   # as Gradio's own clients do

    def close(self) -> None:
        self._client.close()

    def sign_in(self) -> None:
        self._client.post("/sign-in", json={"name": self.name, "password": PASSWORD}).raise_for_status()

    def enter(self, secret: str) -> None:
        """Signed in with what :func:`add_entered` gave."""
        self._client.cookies.set(COOKIE, secret)

    @property
    def cookies(self) -> httpx.Cookies:
        return self._client.cookies

    def call(self, endpoint: str, *arguments: Any) -> Any:
        """A named call's answer. Raises ``Refused``, and httpx.TransportError when the server is gone."""
        answer = self._client.post(f"/gradio_api/run/{endpoint}", json={
            "data": list(arguments), "session_hash": self._session})
        if answer.status_code != 200:
            raise Refused(f"{self.name}: {endpoint} answered {answer.status_code}: {answer.text}")
        return answer.json()["data"][0]

    def insisting(self, ask: Callable[[], Any]) -> Any:
        """``ask`` again and again while the server is gone."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return ask()
            except httpx.TransportError:
                if time.monotonic() > until:
                    raise
                self.retried += 1
                time.sleep(0.05)

    def keep(self, endpoint: str, item: str, answer: dict[str, Any], token: str) -> Any:
        """Save by ``endpoint`` and note that it was acknowledged; the desk."""
        found = self.call(endpoint, self.study, item, answer, token, 12.5)
        saved = found["saved"]
        self.acknowledged.append(Acknowledged(item, token, saved["revision"], saved["repeated"]))
        return found["desk"]


class Judge(Worker):
    """Answers every item of a validity study."""

    def save(self, item: str, answer: dict[str, Any], token: str) -> Any:
        return self.keep("save_judgement", item, answer, token)

    def judge_everything(self) -> None:
        """Until nothing is left, or the first complaint."""
        try:
            workspace = self.insisting(lambda: self.call("next_item", self.study, ""))
            while workspace["item"] is not None:
                item, position = workspace["item"]["id"], workspace["item"]["position"]
                token = f"{self.name.replace(' ', '-')}-{position:06d}"
                workspace = self.insisting(lambda item=item, position=position, token=token:
                                      self.save(item, an_answer(position), token))
        except Exception as error:
            self.complaints.append(f"{type(error).__name__}: {error}")


def an_answer(position: int) -> dict[str, Any]:
    """Every third one is flagged: what is stored can be told from the position."""
    if position % 3:
        return valid(note=f"at {position}")
    return flagged("INVALID_TEXT_QUERY", reasons=("1b",), note=f"at {position}")


def at_once(jobs: list[Callable[[], Any]]) -> list[Any]:
    """Start all jobs at the same moment; their answers, or what they raised."""
    gate, answers = threading.Barrier(len(jobs)), [None] * len(jobs)

    def run(number: int) -> None:
        gate.wait(PATIENCE)
        try:
            answers[number] = jobs[number]()
        except Exception as error:
            answers[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


@contextmanager
def one_judge(home: Path, logs: Path, study: str, items: int) -> Iterator[tuple[Server, Judge, list[str]]]:
    """A server, somebody who has begun a study there, and the items that they are to answer. The server's logs are
    elsewhere: what cannot be written in ``home`` is another matter."""
    stores = stores_of(home)
    name = "Judge 01"
    secrets = add_entered(stores, [name])
    made = make_study(stores.studies, home, name=study, items=items, seats=1, panel=4, edge=16)
    ids = [one.item_id for one in stores.studies.items(made.study_id)]
    stores.close()
    server = Server(home)
    server.logs = logs
    server.logs.mkdir()
    server.start()
    judge = Judge(name, server.url, study)
    try:
        judge.enter(secrets[name])
        judge.call("next_item", study, "")
        yield server, judge, ids
    finally:
        judge.close()
        server.kill()


def tokens_of(home: Path, study: str) -> list[str]:
    """Of all revisions that are kept, sorted."""
    stores = stores_of(home)
    try:
        return sorted(it.token for it in stores.studies.judgements(stores.studies.study(study).study_id, history=True))
    finally:
        stores.close()
