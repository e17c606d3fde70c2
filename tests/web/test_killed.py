"""kill -9 while people search: what was acknowledged is there, and the next start works."""

from __future__ import annotations

import random
import shutil
import signal
import threading
from pathlib import Path

import httpx
import pytest
from gradio_client import Client

from storage.sessions.store import open_store
from tests.fakes import forked
from tests.fakes.databases import check_sound, database_of, environment_of, settings_of
from tests.fakes.patience import PATIENCE, wait_for
from tests.web.conftest import wait_for_address

ROUNDS, SEARCHERS = 3, 2


def start(home: Path, log: Path) -> tuple[forked.Running, str]:
    environment = environment_of(home, CIRQUE_PORT="0", CIRQUE_HOST="127.0.0.1")
    with log.open("w") as stream:
        process = forked.start("app.py", environment=environment, output=stream)
    return process, wait_for_address(process, log)


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


@pytest.mark.extended
def test_nothing_acknowledged_is_lost(home: Path, tmp_path: Path) -> None:
    mine = tmp_path / "home"
    shutil.copytree(home, mine)
    acknowledged: list[tuple[str, str]] = []
    rng = random.Random(5)
    for number in range(ROUNDS):
        process, url = start(mine, tmp_path / f"app-{number}.log")
        try:
            found = httpx.get(f"{url}/media/find?gallery=atelier", timeout=PATIENCE).json()
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
            person.join(PATIENCE)

    store = open_store(settings_of(mine))
    for session_id in {session for session, _ in acknowledged}:
        stored = [turn.turn_id for turn in store.session(session_id).turns]
        said = [turn for session, turn in acknowledged if session == session_id]
        assert stored[: len(said)] == said, "in order, none lost, none doubled"
        assert len(stored) <= len(said) + 1, "at most the one whose answer was cut off"
    store.close()
    check_sound(database_of(mine))
