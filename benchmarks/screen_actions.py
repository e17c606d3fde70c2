"""Bytes and server time of the search screen's actions: this checkout, alternating with others.

    python -m benchmarks.screen_actions --home HOME [--against ../cirque-before ...] [--sessions 150] [--rounds 12]

Each checkout serves its own copy of HOME, which has an indexed gallery. One page per checkout sends what a browser
sends, round by round in turns (ABC CBA ...), and reads the answers whole. Bytes are those of the drawn panels as they
arrive; the time is Gradio's own, of the event on the server.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import orjson

from benchmarks.own_settings import environment_of
from benchmarks.servers import ROOT, running

TEXTS = ("in red", "with long sleeves", "striped", "in navy with white dots", "with a collar", "longer", "sleeveless")
LAMBDAS = (0.2, 0.4, 0.6, 0.8, 0.35, 0.55)


@dataclass
class Page:
    """One open search page."""

    address: str
    drawn: dict[str, str] = field(default_factory=dict)   # the latest HTML of each panel
    bytes: int = 0
    milliseconds: float = 0.0

    def __post_init__(self) -> None:
        self._client, self._session = httpx.Client(base_url=self.address, timeout=120), uuid4().hex
        config = self._client.get("/config").raise_for_status().json()
        self._events = {target[1]: one for one in config["dependencies"] for target in one["targets"]
                        if target[1] in ("load", "act")}
        self._names = {one["id"]: one["props"].get("elem_id") for one in config["components"]}

    def load(self, mine: list[str]) -> None:
        self._send("load", [None, mine], None)

    def act(self, name: str, **data: Any) -> None:
        shown = self.shown
        self._send("act", [None], {
            "do": name, "shown_turn": shown.get("turn"), "shown_reference": shown.get("reference"),
            "shown_beat": shown.get("beat"), **data})

    @property
    def shown(self) -> Mapping[str, str]:
        head = self.drawn.get("state") or self.drawn["top"]
        return dict(re.findall(r'data-(\w+)="([^"]*)"', head.split(">", 1)[0]))

    @property
    def results(self) -> list[str]:
        return re.findall(r'role="option"[^>]*data-image="([^"]*)"', self.drawn["results"])

    def _send(self, event: str, data: list[Any], said: Any) -> None:
        dependency = self._events[event]
        self._client.post("/gradio_api/queue/join", params={"__theme": "light"}, json={
            "data": data, "fn_index": dependency["id"], "session_hash": self._session, "event_data": said,
            "trigger_id": dependency["targets"][0][0],
        }).raise_for_status()
        self.bytes, self.milliseconds = 0, 0.0
        with self._client.stream("GET", "/gradio_api/queue/data", params={"session_hash": self._session}) as answer:
            for line in answer.iter_lines():
                if not line.startswith("data:"):
                    continue
                message = orjson.loads(line[5:])
                if message["msg"] in ("process_generating", "process_completed"):
                    self._take(message, dependency["outputs"], len(line))
                if message["msg"] == "process_completed":
                    assert message["success"], message
                if message["msg"] == "close_stream":
                    return

    def _take(self, message: Mapping[str, Any], outputs: list[int], size: int) -> None:
        self.bytes += size
        self.milliseconds += 1000 * message["output"].get("duration", 0.0)   # of each step of a generator
        for place, value in zip(outputs, message["output"].get("data", []), strict=False):
            if isinstance(value, str):
                self.drawn[self._names[place] or ""] = value
            elif isinstance(value, list):  # what differs from the value before, as Gradio sends it of generators
                for how, path, new in value:
                    if how == "replace" and path == []:
                        self.drawn[self._names[place] or ""] = new


@dataclass
class Side:
    """One checkout: an ordinary page, and one with SoFT."""

    name: str
    page: Page
    soft: Page
    sizes: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def prepare(self, sessions: int) -> None:
        self.page.load([])
        for number in range(sessions):
            self.page.act("new")
            self.page.act("search", text=TEXTS[number % len(TEXTS)])
        self.soft.load([])
        self.soft.act("settings", method="soft")
        self.soft.act("search", text="in red")

    def round(self, number: int) -> None:
        page = self.page
        page.act("new")
        self._timed("search, turn 1", page, "search", text=TEXTS[number % len(TEXTS)])
        if found := re.search(r'data-aspect="([^"]*)"', page.drawn["results"]):
            self._timed("drop a chip", page, "drop_aspect", aspect=found[1])
            page.act("reset")
        self._timed("choose a result as reference", page, "reference", image=page.results[2])
        self._timed("search, turn 2", page, "search", text=TEXTS[(number + 1) % len(TEXTS)])
        if 'id="drawer-sessions"' not in page.drawn["drawers"]:
            self._timed("open the list of sessions", page, "sessions")
        for place in range(2):
            self._timed("move λ", self.soft, "adjust", weight=LAMBDAS[(2 * number + place) % len(LAMBDAS)])

    def _timed(self, what: str, page: Page, name: str, **data: Any) -> None:
        page.act(name, **data)
        assert not page.shown["problem"], page.shown["problem"]
        self.sizes[what].append(page.bytes)
        self.times[what].append(page.milliseconds)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.screen_actions", description=__doc__)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--against", type=Path, nargs="*", default=[])
    parser.add_argument("--sessions", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=12)
    options = parser.parse_args()
    with ExitStack() as stack:
        sides = [_side(stack, root, options.home) for root in (ROOT, *options.against)]
        for side in sides:
            side.prepare(options.sessions)
        for number in range(options.rounds):
            for side in sides if number % 2 == 0 else sides[::-1]:
                side.round(number)
    print("| action | checkout | bytes, median | server ms, median |\n|---|---|--:|--:|")
    for what in dict.fromkeys(what for side in sides for what in side.times):
        for side in sides:
            if side.times[what]:
                print(f"| {what} | {side.name} | {statistics.median(side.sizes[what]):,.0f} | "
                      f"{statistics.median(side.times[what]):.1f} |")


def _side(stack: ExitStack, root: Path, home: Path) -> Side:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cirque-screen-")))
    shutil.copytree(home, folder / "home")
    environment = environment_of(folder / "home", CIRQUE_PORT="0", CIRQUE_HOST="127.0.0.1", PYTHONPATH=str(root),
                                 PYTHONUNBUFFERED="1")
    server = stack.enter_context(running([sys.executable, str(root / "app.py")], environment, folder / "log"))
    return Side(root.name, Page(server.address), Page(server.address))


if __name__ == "__main__":
    main()
