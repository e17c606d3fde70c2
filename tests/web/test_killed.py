"""kill -9 while people search: what was acknowledged is there, and the next start works."""

from __future__ import annotations

import random
import re
import shutil
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx
from gradio_client import Client

from storage.sessions.store import open_store
from tests.fakes import forked
from tests.fakes.databases import check_sound, database_of, environment_of, settings_of

ROUNDS, SEARCHERS = 3, 2


def start(home: Path, log: Path) -> tuple[forked.Running, str]:
    environment = environment_of(home, CIRQUE_PORT="0", CIRQUE_HOST="127.0.0.1")
    with log.open("w") as stream:
        process = forked.start("app.py", environment=environment, output=stream)
    until = time.monotonic() + 120
    while time.monotonic() < until:
        if found := re.search(r"http://\S+", log.read_text()):
            return process, found[0]
        assert process.poll() is None, log.read_text()
        time.sleep(0.1)
    raise AssertionError(log.read_text())


def search_until_it_dies(url: str, image: str, acknowledged: list[tuple[str, str]]) -> None:
    """One person: five turns a session, noting each turn the server answered."""
    try:
        client = Client(url, verbose=False, analytics_enabled=False)
        while True:
            session = ""
            for words in ("in red", "striped", "with long sleeves", "longer", "in blue"):
                answer = client.predict(reference=image, text=words, session_id=session, k=20, api_name="/search")
                session = answer["session_id"]
                acknowledged.append((session, answer["turn_id"]))
    except Exception:  # the server is gone, as planned: whatever a dead connection raises
        return


Wait = Callable[[Callable[[], bool]], None]


def test_nothing_acknowledged_is_lost(home: Path, tmp_path: Path, wait_for: Wait) -> None:
    mine = tmp_path / "home"
    shutil.copytree(home, mine)
    acknowledged: list[tuple[str, str]] = []
    rng = random.Random(5)
    for number in range(ROUNDS):
        process, url = start(mine, tmp_path / f"app-{number}.log")
        try:
            found = httpx.get(f"{url}/media/find?gallery=atelier", timeout=60).json()
            assert "images" in found, found
            image = found["images"][0]["id"]
            people = [threading.Thread(target=search_until_it_dies, args=(url, image, acknowledged), daemon=True)
                      for _ in range(SEARCHERS)]
            for person in people:
                person.start()
            enough = len(acknowledged) + 5 + rng.randrange(10)
            wait_for(lambda enough=enough: len(acknowledged) >= enough)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
        for person in people:
            person.join(60)

    store = open_store(settings_of(mine))
    for session_id in {session for session, _ in acknowledged}:
        stored = [turn.turn_id for turn in store.session(session_id).turns]
        said = [turn for session, turn in acknowledged if session == session_id]
        assert stored[: len(said)] == said, "in order, none lost, none doubled"
        assert len(stored) <= len(said) + 1, "at most the one whose answer was cut off"
    store.close()
    check_sound(database_of(mine))
