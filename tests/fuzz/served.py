"""The real app as a process of its own, over a small home with something of everything; and what may come back."""

from __future__ import annotations

import contextlib
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil

from annotation.accounts.service import Passwords, PeopleService
from cir_core.datasets.readers.circled_raw import write_raw
from cir_core.gallery.gallery import open_gallery
from storage.stores import open_stores
from tests.fakes import drawn
from tests.fakes.databases import environment_of, settings_of
from tests.fakes.forked import Running, start
from tests.fakes.patience import PATIENCE, wait_for
from tests.fakes.people import LIGHT
from tests.fakes.studies import make_preference_study, make_study
from tests.fuzz.outcome import Bad, TooSlow
from tests.fuzz.tracebacks import ROOT, is_gradios, last_traceback

PASSWORD = "sixteen at once"
_INTERNALS = re.compile(r"Traceback \(most recent call last\)|site-packages|File \"[^\"]+\.py\"|sqlalchemy\.|"
                        r"sqlite3\.|psycopg|pydantic_core|<class '")
_MOST = 4 * 2**20       # bytes of an answer that are looked at
_PEEK = 1.0             # seconds that a stream without an end is read
_MOST_CPU = 20.0        # seconds of the app's CPU for an answer


@dataclass
class Served:
    """``known``: names and ids that are there, by the field that takes them. ``notes``: errors inside Gradio that it
    answered as it should; ``most_memory``: of the process, bytes."""

    url: str
    process: Running
    log: Path
    home: Path
    known: dict[str, list[Any]]
    secrets: dict[str, str]
    notes: dict[str, int] = field(default_factory=dict)
    memory_at_first: int = 0
    most_memory: int = 0
    _seen: int = 0

    def __post_init__(self) -> None:
        self._client = httpx.Client(base_url=self.url, timeout=PATIENCE)
        self._app = psutil.Process(self.process.pid)

    def close(self) -> None:
        self._client.close()

    def ask(self, method: str, path: str, *, who: str = "admin", own: bool = True, **more: Any) -> httpx.Response:
        """Send it, and look at what comes back. ``own`` is false for what Gradio answers: it has 500 for every refusal,
        and reports mistakes of those who call it as errors of its own in the log. Raises :class:`Bad`."""
        headers = {**more.pop("headers", {}), **({"Cookie": f"cirque={self.secrets[who]}"} if who else {})}
        used = self._cpu()
        try:
            answer = self._sent(method, path, headers, more, endless=not own)
        except httpx.TimeoutException as error:
            raise TooSlow(f"{method} {_route(path)}: no answer in time") from error
        except (httpx.InvalidURL, ValueError, UnicodeError):
            return httpx.Response(0)         # nothing that a client can send
        except httpx.TransportError as error:
            self.check_alive()
            if own or not isinstance(error, httpx.RemoteProtocolError):
                raise Bad(f"{method} {_route(path)}: hung up: {error}") from error
            self.notes[str(error)] = self.notes.get(str(error), 0) + 1     # a stream that Gradio broke off
            return httpx.Response(0)
        if self._cpu() - used > _MOST_CPU:
            raise TooSlow(f"{method} {_route(path)}: more than {_MOST_CPU:g} s of CPU")
        self._check(method, path, answer, own)
        return answer

    def check_alive(self) -> None:
        """Raises :class:`Bad` when the process is gone or does not answer."""
        if self.process.poll() is not None:
            raise Bad(f"the app ended with status {self.process.returncode}:\n{self.log.read_text()[-2000:]}")
        if self._client.get("/healthz").status_code != 200:
            raise Bad("the app is there and not well")

    def mend(self) -> None:
        """Studies are open again, whatever was done to them."""
        for study in ("Sample", "Shops"):
            self.ask("POST", "/studies/open", json={"study": study})

    def note_memory(self) -> None:
        now = self._app.memory_info().rss
        self.memory_at_first = self.memory_at_first or now
        self.most_memory = max(self.most_memory, now)

    def _cpu(self) -> float:
        with contextlib.suppress(psutil.NoSuchProcess):
            times = self._app.cpu_times()
            return float(times.user + times.system)
        return 0.0

    def _sent(self, method: str, path: str, headers: dict[str, str], more: Any, *, endless: bool) -> httpx.Response:
        request = self._client.build_request(method, path, headers=headers, **more)
        answer = self._client.send(request, stream=True)
        body, until = bytearray(), time.monotonic() + _PEEK
        try:
            if endless and "event-stream" in answer.headers.get("content-type", ""):
                request.extensions["timeout"]["read"] = _PEEK
                for piece in answer.iter_bytes():
                    body += piece
                    if time.monotonic() > until:
                        break
            else:
                body += answer.read()
        except httpx.ReadTimeout:
            if not endless:
                raise
        finally:
            answer.close()
        return httpx.Response(answer.status_code, headers={"content-type": answer.headers.get("content-type", "")},
                              content=bytes(body[:_MOST]))

    def _check(self, method: str, path: str, answer: httpx.Response, own: bool) -> None:
        if answer.status_code >= 500:
            time.sleep(0.02)      # until the log has it
        trace = self._new_traceback()
        what = f"{method} {_route(path)}"
        if (trace and (own or not is_gradios(trace))) or (own and answer.status_code == 500):
            raise Bad(f"{what}: {answer.status_code}; {trace}")
        if trace:
            self.notes[trace] = self.notes.get(trace, 0) + 1
        kind = answer.headers.get("content-type", "")
        if not kind.startswith(("text/", "application/json")) or "javascript" in kind:
            return
        found = _INTERNALS.search(answer.text)
        if found and answer.status_code >= 400:
            raise Bad(f"{what}: {answer.status_code} tells of internals: {found[0]}")
        for place in (str(self.home), str(ROOT)):
            if place in answer.text:
                raise Bad(f"{what}: {answer.status_code} tells where on the server something is")

    def _new_traceback(self) -> str:
        """The last error that the log has got since; empty for none."""
        with self.log.open("rb") as log:
            log.seek(self._seen)
            said = log.read().decode("utf-8", "replace")
        self._seen += len(said.encode("utf-8", "replace"))
        return last_traceback(said)


@contextmanager
def serving(folder: Path) -> Iterator[Served]:
    """The app over a new home in ``folder``."""
    home = folder / "home"
    known, secrets = make_home(home)
    log = folder / "app.log"
    environment = environment_of(home, CIRQUE_PORT="0", CIRQUE_HOST="127.0.0.1")
    with log.open("w") as stream:
        process = start("app.py", environment=environment, output=stream)
    try:
        found = wait_for(lambda: re.search(r"http://\S+", log.read_text()), going=lambda: process.poll() is None,
                         told=log.read_text)
        served = Served(found[0], process, log, home, known, secrets)
        _look_around(served)
        yield served
        served.close()
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()


def make_home(home: Path) -> tuple[dict[str, list[Any]], dict[str, str]]:
    """A gallery, two studies, people; what is there, and everybody's secret."""
    drawn.home(home, 24)
    shutil.copytree(home / "sample", home / "samples" / "atelier")
    _make_benchmark(home)
    stores = open_stores(settings_of(home))
    people = PeopleService(stores.people, passwords=Passwords(LIGHT))
    secrets = {}
    for who, role in (("admin", "admin"), ("judge", "annotator"), ("other", "annotator"), ("analyst", "analyst")):
        people.add(f"The {who}", PASSWORD, role)   # type: ignore[arg-type]
        secrets[who] = people.sign_in(f"The {who}", PASSWORD)
    invited = people.invite("annotator", 30, 50, "The admin")
    make_study(stores.studies, home, name="Sample", items=40, seats=3, overlap=2, panel=6, edge=24)
    make_preference_study(stores.studies, home, name="Shops", questions=36, per_person=12, edge=24)
    stores.close()
    known: dict[str, list[Any]] = {
        "study": ["Sample", "Shops"], "gallery": ["atelier"], "secret": [str(invited)],
        "name": ["The other", "clip", "Bench", "New"], "annotator": ["The judge", "The other"],
        "role": ["annotator", "analyst"],
        "kind": ["guidelines", "consent", "check"], "then": ["next", "stay"], "rule": ["majority", "any", "all"],
        "table": ["judgements", "items"], "form": ["csv", "json", "jsonl", "parquet", "circus", "mbeir", "md", "zip"],
        "version": ["x"], "method": ["cirevl", "soft", "corr", "slerp", "text-only"], "names": ["shown", "hidden"],
        "dataset": ["sample"], "model": ["built-in"], "epsilon": ["0", "30"], "tau": ["0.5", "2"], "number": [0, 3],
        "show": ["kept", "redundancy"], "sort": ["turns", "overall"], "order": ["down"], "limit": [1, "5"],
        "metric": ["clip"], "draws": ["0", "20"], "k": [1, 10, "1,2,3"], "undefined": ["drop"], "text": ["in red"],
    }
    return known, secrets


def _make_benchmark(home: Path) -> None:
    """Four sessions over the gallery, as a construction writes them."""
    ids = open_gallery("atelier", home=home).ids
    turns = [{"turn": number, "query_text": "red", "selected_image": ids[number] if number else None,
              "relative_caption": f"more red {number}" if number else None, "best_gt_rank": 20 - 9 * number,
              "text_similarity": 0.4 if number else None, "similar_turn": 0 if number else None}
             for number in range(3)]
    results = [{"query_id": f"q{place}", "reference_image_id": ids[0], "ground_truth_ids": [ids[9]],
                "original_query": "in red", "success": place > 0, "success_turn": place - 1,
                "turns": turns[:max(1, place)]} for place in range(4)]
    folder = home / "benchmarks" / "Bench" / "raw"
    folder.mkdir(parents=True)
    write_raw(folder / "a.json", {"dataset_name": "sample_dress_test", "config": {"gallery": "atelier"}}, results)


def _look_around(served: Served) -> None:
    """Everybody joins, one search is made: ids that are there."""
    known = served.known
    for who in ("admin", "judge", "other"):
        for study in ("Sample", "Shops"):
            workspace = served.ask("POST", "/study/join", who=who, json={"study": study}).json()
            if (workspace.get("gate") or {}).get("kind") == "guidelines":
                workspace = served.ask("POST", "/study/gate", who=who, json={
                    "study": study, "kind": "guidelines", "token": "guidelines-read"}).json()["desk"]
            item = workspace.get("item") or {}
            known.setdefault("item", []).extend([item["id"]] * (6 if who == "admin" else 1) if item else [])
            known.setdefault("study_id", []).append(workspace["study"]["id"])
            if item:
                known.setdefault("name_of_picture", []).append(item["reference"]["large"].rpartition("/")[2])
    images = served.ask("GET", "/media/find", params={"gallery": "atelier"}).json()["images"]
    known["image"] = known["image_id"] = known["reference"] = [image["id"] for image in images[:4]]
    began = served.ask("POST", "/gradio_api/call/search", own=False, json={
        "data": [known["image"][0], None, "in red", "", 10, "", [], []]}).json()["event_id"]
    found = wait_for(lambda: re.search(r'"session_id": ?"([^"]+)", ?"turn_id": ?"([^"]+)"', served.ask(
        "GET", f"/gradio_api/call/search/{began}", own=True).text))
    known["session_id"], known["turn_id"] = [found[1]], [found[2]]
    known["session"], known["turn"] = known["session_id"], known["turn_id"]


def _route(path: str) -> str:
    """Without what differs from one input to the next."""
    return "/".join(path.partition("?")[0].split("/")[:4])[:60]
