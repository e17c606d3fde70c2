"""Searches of 1, 16 and 64 people flat out on a warm app, by the named call and by the plain route in turn, and what
annotators notice of them.

    python -m benchmarks.searches --against ../cirque-before --processes 2 --searchers 1 16 64 --seconds 10 --rounds 2

``--against``: another checkout, called by its named call. Each checkout serves its own home, with the same gallery and
the same users. ``--processes``: of this checkout, over one home; people are spread over them as a proxy spreads them.
Annotators work in those processes first, then in a process of their own, beside searching ones of low priority; the
searchers beside them are clients in another process of low priority, as they would be on other machines.
Ways alternate by slice: ABBA. The clients share the processor with the apps, so only ratios within one run count, and
the table also shows the apps' own processor time for each search.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing.synchronize import Event as EventType
from pathlib import Path

import orjson
import psutil

from benchmarks.driver import Act, Refused, Timings, drive
from benchmarks.own_settings import environment_of
from benchmarks.servers import ROOT
from benchmarks.soak_app import App
from benchmarks.soak_home import Home
from benchmarks.soak_people import Annotator, Client, RouteSearcher, Searcher
from benchmarks.soak_table import machine

# Run in each checkout: its own code creates a home that its own server can open.
_MAKE = """
import sys
from dataclasses import asdict
from pathlib import Path
import orjson
from benchmarks.soak_home import make_home
home = make_home(Path(sys.argv[1]), annotators=2 * int(sys.argv[3]), searchers=int(sys.argv[2]), each=int(sys.argv[4]),
                 database=sys.argv[5])
print(orjson.dumps({**asdict(home), "folder": str(home.folder), "image_ids": list(home.image_ids)}).decode())
"""
_SAVES = 60   # a second, of one annotator, at most
_LOW = 19     # the niceness of what searches beside annotators
_HEADER = ("| | in all | errors | per second | p50 | p95 | processor time of the app for each |\n"
           "|---|--:|--:|--:|--:|--:|--:|")


@dataclass
class Side:
    """A checkout with its running processes."""

    name: str
    home: Home
    apps: Sequence[App]
    ledgers: Path
    own: Sequence[App] = ()   # of annotators, and of low priority, for the last table

    def people(self, kind: type[Client], names: Sequence[str], apps: Sequence[App] = ()) -> list[Client]:
        people: list[Client] = []
        apps = apps or self.apps
        for number, name in enumerate(names):
            person = kind(apps[number % len(apps)], self.home, name, self.ledgers, 8)
            if isinstance(person, Searcher):
                person.brings = person.looks = 0.0
            people.append(person)
        return people

    @property
    def processor(self) -> float:
        times = [psutil.Process(app.pid).cpu_times() for app in (self.own or self.apps)]
        return float(sum(one.user + one.system for one in times))


@dataclass
class Line:
    """One row of the table. ``beside``: who searches meanwhile and is not counted, and in which apps."""

    name: str
    side: Side
    people: Sequence[Client]
    beside: Sequence[str] = ()
    searched: Sequence[App] = ()
    timings: Timings = field(default_factory=lambda: Timings(0))
    errors: list[str] = field(default_factory=list)
    processor: float = 0.0

    async def measure(self, seconds: float) -> None:
        """Measure a slice; its first second is not counted."""
        before = 0.0
        with searching(self.side, self.beside, self.searched) as ready:
            await asyncio.to_thread(ready)
            for length, into in ((1.0, Timings(0)), (seconds, self.timings)):
                before = self.side.processor
                await drive([self._act(one) for one in self.people], length, into)
        self.processor += self.side.processor - before

    def row(self) -> str:
        count = len(self.timings.milliseconds)
        return (f"| {self.name} | {count:,} | {len(self.errors):,} | {self.timings.rate:.1f} | "
                f"{self.timings.quantile(0.5):,.0f} ms | {self.timings.quantile(0.95):,.0f} ms | "
                f"{1000 * self.processor / max(1, count):.1f} ms |")

    def _act(self, person: Client) -> Act:
        async def act() -> None:
            try:
                await person.act_once()
            except Refused as error:
                self.errors.append(str(error).partition("\n")[0])

        return act


@contextmanager
def searching(side: Side, names: Sequence[str], apps: Sequence[App]) -> Iterator[Callable[[], object]]:
    """Have ``names`` search without pause in another process. Gives what returns when they have begun."""
    if not names:
        yield lambda: None
        return
    spawned = multiprocessing.get_context("spawn")
    begun = spawned.Event()
    process = spawned.Process(target=_search, daemon=True,
                              args=(replace(side, apps=(), own=()), names, [app.address for app in apps], begun))
    process.start()
    try:
        yield lambda: begun.wait(60)
        if process.exitcode is not None:
            raise RuntimeError("The searchers beside the annotators stopped; their error is above.")
    finally:
        process.terminate()
        process.join()


def _search(side: Side, names: Sequence[str], addresses: Sequence[str], begun: EventType) -> None:
    os.nice(_LOW)
    apps = [App(side.home.folder) for _ in addresses]
    for app, app.address in zip(apps, addresses, strict=True):
        app.up.set()
        app.warm.set()

    async def search() -> None:
        people = side.people(RouteSearcher, names, apps)
        await asyncio.gather(*[person.act_once() for person in people])
        begun.set()
        await drive([person.act_once for person in people], 3600, Timings(0))

    asyncio.run(search())


def make_home(root: Path, folder: Path, searchers: int, annotators: int, saves: int, database: str) -> Home:
    """Create a home in ``folder`` with the code of ``root``. Raises RuntimeError with its output on failure."""
    environment = environment_of(folder, PYTHONPATH=str(root))
    made = subprocess.run([sys.executable, "-c", _MAKE, str(folder), str(searchers), str(annotators), str(saves),
                           database],
                          cwd=root, env=environment, capture_output=True, text=True, check=False)
    if made.returncode:
        raise RuntimeError(f"The code in {root} made no home:\n{made.stderr}")
    fields = orjson.loads(made.stdout.splitlines()[-1])
    return Home(**{**fields, "folder": Path(fields["folder"])})


async def measured(sides: Sequence[Side], options: argparse.Namespace) -> None:
    """Start the apps, and print the table."""
    for side in sides:
        side.ledgers.mkdir()
        for app in side.apps:
            await app.start()
        for app in side.apps:
            await asyncio.wait_for(app.warm.wait(), 300)
    ours = sides[0]
    for count in options.searchers:
        lines = [Line(f"{count} searching, named call{'' if side is ours else ', ' + side.name}", side,
                      side.people(Searcher, side.home.searchers[:count])) for side in sides]
        lines.append(Line(f"{count} searching, plain route", ours,
                          ours.people(RouteSearcher, ours.home.searchers[:count])))
        await _in_turn(lines, options)
        best = lines[-1].timings.rate
        print(f"  plain route to named call{', ' + sides[-1].name if len(sides) > 1 else ''}: "
              f"{best / max(1e-9, lines[len(sides) - 1].timings.rate):.2f} times as many a second", flush=True)
    judges, searchers = ours.home.judges[:options.annotators], ours.home.searchers[:options.beside]
    await _annotating(ours, ours.apps, ours.apps, judges, searchers, options, "in the same processes")
    of_annotators, *of_programs = ours.own = [
        App(ours.home.folder, ours.home.database, niceness=_LOW if number else 0)
        for number in range(1 + options.processes)]
    for app in ours.apps:
        await app.stop()
    for app in ours.own:
        await app.start()
        await asyncio.wait_for(app.warm.wait(), 300)
    await _annotating(ours, [of_annotators], of_programs, judges, searchers, options, "in processes of low priority")


async def _annotating(
    side: Side, apps: Sequence[App], searched: Sequence[App], judges: Sequence[str], searchers: Sequence[str],
    options: argparse.Namespace, where: str,
) -> None:
    """Print how fast ``judges`` are, alone and beside ``searchers``."""
    people = side.people(Annotator, judges, apps)
    lines = [Line(f"{len(judges)} annotating alone", side, people),
             Line(f"{len(judges)} annotating beside {len(searchers)} searching {where}", side, people, searchers,
                  searched)]
    await _in_turn(lines, options)
    alone, busy = (line.timings.quantile(0.5) for line in lines)
    print(f"  save and next beside searches: {busy / max(1e-9, alone):.2f} times as long as alone (median)")


async def _in_turn(lines: Sequence[Line], options: argparse.Namespace) -> None:
    for number in range(options.rounds):
        for line in lines if number % 2 == 0 else lines[::-1]:
            await line.measure(options.seconds)
    for line in lines:
        print(line.row(), flush=True)
        for error in sorted(set(line.errors)):
            print(f"  {error}")


async def run(sides: Sequence[Side], options: argparse.Namespace) -> None:
    print(f"{machine()}.\n\n{_HEADER}", flush=True)
    try:
        await measured(sides, options)
    finally:
        for side in sides:
            for app in (*side.apps, *side.own):
                await app.stop()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.searches", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, help="another checkout, for example: git worktree add PATH COMMIT")
    parser.add_argument("--database", default="", help="URL of an empty database for this checkout (default: SQLite)")
    parser.add_argument("--processes", type=int, default=1, help="of this checkout")
    parser.add_argument("--searchers", type=int, nargs="+", default=[1, 16, 64])
    parser.add_argument("--annotators", type=int, default=4)
    parser.add_argument("--beside", type=int, default=16, help="searchers beside the annotators")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each slice")
    parser.add_argument("--rounds", type=int, default=2, help="slices of each line")
    options = parser.parse_args(arguments)
    saves = round(_SAVES * (options.seconds + 1) * options.rounds * 4)
    with tempfile.TemporaryDirectory(prefix="cirque-searches-") as folder:
        sides = []
        for number, root in enumerate([ROOT, *([options.against.resolve()] if options.against else [])]):
            home = make_home(root, Path(folder) / f"home-{number}", max(*options.searchers, options.beside),
                             options.annotators, saves, "" if number else options.database)
            apps = [App(home.folder, home.database, root) for _ in range(1 if number else options.processes)]
            sides.append(Side(str(root), home, apps, Path(folder) / f"ledgers-{number}"))
        asyncio.run(run(sides, options))


if __name__ == "__main__":
    main()
