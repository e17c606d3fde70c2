"""Annotation over HTTP: save and get the next item, against a bare Gradio event that commits one row.

Both servers are separate processes and run throughout; slices of a few seconds alternate, so that
both have the same conditions. The driver is one more process and shares the processor with them.
All users are signed in, and answer as fast as the server allows.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx

from benchmarks.driver import Act, Timings, drive
from benchmarks.own_settings import environment_of
from benchmarks.people import Clerk, Judge, Rater
from benchmarks.servers import Server, running
from benchmarks.study_home import PANEL, PASSWORD, PEOPLE, Room, make_home
from benchmarks.survey_home import QUESTIONS, alone, together

_AT_MOST = 1_200       # saves per second for which items are prepared
TARGET, TARGET_CYCLES = 0.8, 70


@dataclass(frozen=True)
class Size:
    """``slices`` of ``seconds`` for each line of the table."""

    stored: tuple[int, ...] = (1_000, 100_000)
    people: tuple[int, ...] = (1, 16)
    seconds: float = 5.0
    slices: int = 4

    def room(self) -> Room:
        # Two ways of saving and two cycles per number of people; for surveys the two ways alone.
        line = round(_AT_MOST * self.seconds * self.slices)
        saves, surveys = 4 * line + 50, 2 * line // QUESTIONS + 1
        several = max(self.people)   # number of people who share the common items
        return Room(alone=saves, each=saves // several + 100, surveys_alone=surveys, surveys=surveys // several + 3)


FULL = Size()
QUICK = Size(stored=(100, 2_000), people=(1, 16), seconds=0.5, slices=1)


def run(folder: Path, size: Size = FULL) -> None:
    """Print the table."""
    print(f"\nJudging: {' and '.join(map(str, size.people))} signed-in people flat out over loopback, "
          f"{size.slices * size.seconds:g} s a line.")
    print("bare: a Gradio app whose one event commits one row, called the same way (POST, no queue). queue: the same "
          "event as Gradio's pages call it.")
    print(f"rating: a preference study, {QUESTIONS} questions a person, without checks; then the next study.")
    for stored in size.stored:
        home = folder / f"studies-{stored}"
        make_home(home, stored, size.room())
        bare = [sys.executable, "-m", "benchmarks.bare_event", str(home)]
        environment = environment_of(home, CIRQUE_GALLERY="none")
        with (running(bare, environment, home / "bare.log") as theirs,
              running([sys.executable, "app.py"], environment, home / "app.log") as ours):
            print(f"\n{f'{stored:,} judgements stored':<44} {'p50':>8} {'p95':>9} {'per second':>11}  "
                  f"{'to bare':>7} {'to queue':>8}  driver")
            cookies = [_sign_in(ours.address, name) for name in PEOPLE]
            before = ours.memory_mb, theirs.memory_mb
            for people in size.people:
                asyncio.run(_measure(theirs, ours, cookies[:people], size))
            print(f"memory of the server: {before[0]:.0f} MB before, {ours.memory_mb:.0f} MB after all this "
                  f"(bare {before[1]:.0f} and {theirs.memory_mb:.0f} MB)", flush=True)


async def _measure(theirs: Server, ours: Server, cookies: Sequence[str], size: Size) -> None:
    people = len(cookies)
    clerks = [Clerk(theirs.address) for _ in cookies]
    judges = [Judge(ours.address, cookie) for cookie in cookies]
    surveys = together(size.room().surveys) if people > 1 else alone(size.room().surveys_alone)
    raters = [Rater(ours.address, cookie, surveys) for cookie in cookies]
    for person in (*judges, *raters):
        await person.sit_down()
    kinds: dict[str, Sequence[Act]] = {
        "bare event": [clerk.direct for clerk in clerks],
        "bare event, through Gradio's queue": [clerk.queued for clerk in clerks],
        "save + next, the screen's route": [judge.by_route for judge in judges],
        "save + next, named call": [judge.by_call for judge in judges],
        "… and 3 pictures": [_with(judge.cycle, 0) for judge in judges],
        f"… and 3 pictures, {PANEL} thumbnails": [_with(judge.cycle, PANEL) for judge in judges],
        "rating + next, the screen's route": [rater.by_route for rater in raters],
        "rating + next, named call": [rater.by_call for rater in raters],
    }
    timings = {label: Timings(people) for label in kinds}
    for acts in kinds.values():
        await drive(acts, 0, Timings(people))  # opens connections and warms up
    for turn in range(size.slices):
        for label in (list(kinds) if turn % 2 else list(kinds)[::-1]):
            await drive(kinds[label], size.seconds, timings[label])
    baseline, queued = timings["bare event"].rate, timings["bare event, through Gradio's queue"].rate
    for label, timing in timings.items():
        print(f"{people:>2} {label:<41} {timing.quantile(0.5):5.1f} ms {timing.quantile(0.95):6.1f} ms "
              f"{timing.rate:11.1f}  {timing.rate / baseline:7.2f} {timing.rate / queued:8.2f}  "
              f"{timing.driver_seconds / timing.seconds:6.0%}", flush=True)
    _say_targets(people, timings, baseline, queued)
    for clerk in clerks:
        clerk.connection.close()
    for person in (*judges, *raters):
        person.leave()


def _say_targets(people: int, timings: dict[str, Timings], baseline: float, queued: float) -> None:
    cycle = timings[f"… and 3 pictures, {PANEL} thumbnails"].rate
    for what in ("save", "rating"):
        route = timings[f"{what} + next, the screen's route"].rate
        print(f"   {what}: target {TARGET} × bare: {_met(route / baseline >= TARGET)} ({route / baseline:.2f}), "
              f"of its queue: {_met(route / queued >= TARGET)} ({route / queued:.2f})")
    if people > 1:
        three = timings["… and 3 pictures"].rate
        print(f"   target {TARGET_CYCLES} cycles a second: 3 pictures {_met(three >= TARGET_CYCLES)} ({three:.0f}), "
              f"with thumbnails {_met(cycle >= TARGET_CYCLES)} ({cycle:.0f})", flush=True)


def _met(reached: bool) -> str:
    return "met" if reached else "missed"


def _sign_in(address: str, name: str) -> str:
    answer = httpx.post(f"{address}/sign-in", json={"name": name, "password": PASSWORD}, timeout=30)
    answer.raise_for_status()
    return f"cirque={answer.cookies['cirque']}"


def _with(cycle: Callable[[int], Awaitable[None]], thumbnails: int) -> Act:
    async def act() -> None:
        await cycle(thumbnails)

    return act
