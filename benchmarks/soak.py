"""``make soak``: load test with repeated kills, checking that every acknowledged write survives.

    python -m benchmarks.soak --actions 10000 --annotators 64 --searchers 16
    python -m benchmarks.soak --database postgresql+psycopg://cirque@/soak?host=/run/postgresql

Without a URL it creates a SQLite file; the shell's CIRQUE_ variables are ignored. Exits with 0
if nothing was lost, duplicated or changed, no request was refused unexpectedly, and enough was done; with 2 if it
could not start.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.soak_app import App
from benchmarks.soak_home import Home, make_home
from benchmarks.soak_ledger import compare, read_ledgers, stored_in
from benchmarks.soak_people import Annotator, Client, Rater, Searcher
from benchmarks.soak_table import Soaked, as_markdown
from benchmarks.soak_waiting import Waiting, while_searches_wait
from cir_core.errors import CirqueError


@dataclass(frozen=True)
class Size:
    """``actions``: minimum of acknowledged actions, and ``kills`` during the load, unless the ``minutes`` are over
    before. ``least`` and ``most``: seconds between the app's first response and its next kill. ``slices``: seconds of
    each of the three parts of the comparison with waiting searches; 0 omits it."""

    actions: int = 10_000
    annotators: int = 64
    searchers: int = 16
    minutes: float = 5.0
    least: float = 2.0
    most: float = 20.0
    kills: int = 5
    slices: float = 8.0
    seed: int = 8

    @property
    def each(self) -> int:
        """Answers planned per annotator: more than anybody reaches."""
        return 3 * self.actions // self.annotators + round(900 * self.slices / self.annotators) + 200


def soak(folder: Path, size: Size, database: str = "") -> Soaked:
    """Run the whole soak; ``folder`` must be empty, and so must ``database``, if given."""
    home = make_home(folder / "home", annotators=size.annotators, searchers=size.searchers, each=size.each,
                     database=database)
    ledgers = folder / "ledgers"
    ledgers.mkdir()
    return asyncio.run(_soak(home, ledgers, size))


async def _soak(home: Home, ledgers: Path, size: Size) -> Soaked:
    app = App(home.folder, home.database)
    about = (app, home)
    people: list[Client] = [
        *(Annotator(*about, name, ledgers, size.seed) for name in home.judges),
        *(Rater(*about, name, ledgers, size.seed) for name in home.raters),
        *(Searcher(*about, name, ledgers, size.seed) for name in home.searchers),
    ]
    waiting = Waiting()
    try:
        if size.slices:
            waiting = await while_searches_wait(app, people, size.slices)
            await app.stop()
        before = sum(person.acknowledged for person in people)
        await app.start()
        seconds = await _work(app, people, size)
        done = sum(person.acknowledged for person in people) - before
    finally:
        await app.stop()
        for person in people:
            person.leave()
    stored = stored_in(home.folder, home.database)
    verdict = compare(read_ledgers(ledgers), stored)
    said = app.said()
    complaints = [person.complaint for person in people if person.complaint]
    complaints += [line for line in said.splitlines() if "Traceback" in line or "database is locked" in line]
    milliseconds: dict[str, list[float]] = {}
    for person in people:
        for kind, times in person.milliseconds.items():
            milliseconds.setdefault(kind, []).extend(times)
    return Soaked(
        done, seconds, verdict, milliseconds, app.kills, tuple(app.seconds_to_ready), tuple(app.seconds_to_warm),
        sum(it.retried for it in people), sum(it.replays for it in people), app.most_memory_mb, tuple(complaints),
        waiting, len(home.judges) + len(home.raters), len(home.searchers), stored.database,
    )


async def _work(app: App, people: Sequence[Client], size: Size) -> float:
    """Run all clients while the app is killed, until enough is acknowledged; returns the seconds. Pending calls are
    finished first, since an aborted call proves nothing. Then the app is killed once more, and not restarted."""
    began, over = time.monotonic(), asyncio.Event()
    trouble = asyncio.create_task(app.trouble(over, random.Random(size.seed), size.least, size.most))
    working = [asyncio.create_task(person.work(over)) for person in people]
    enough = size.actions + sum(person.acknowledged for person in people)
    # A busy machine may take seconds for a warm search: one is waited for, so that the table has both kinds.
    while (sum(person.acknowledged for person in people) < enough or app.kills < size.kills
           or (size.searchers and not any(kind.endswith(" warm") for one in people for kind in one.milliseconds))):
        await asyncio.sleep(0.1)
        if (trouble.done() or time.monotonic() - began > 60 * size.minutes
                or any(person.complaint for person in people)):
            break
    seconds = time.monotonic() - began
    over.set()
    await trouble        # raises if the app did not restart
    await asyncio.gather(*working)
    await asyncio.gather(*(person.unless_refused(person.leave_draft()) for person in people
                           if isinstance(person, Annotator) and not person.complaint))
    app.kill()
    return seconds


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, kind in (("actions", int), ("annotators", int), ("searchers", int), ("minutes", float), ("seed", int)):
        parser.add_argument(f"--{name}", type=kind, default=getattr(Size, name))
    parser.add_argument("--database", default="", help="URL of an empty database, which is filled and left as it is "
                                                       "then; without it a SQLite file")
    parser.add_argument("--out", type=Path, help="write the table here as Markdown, too")
    parser.add_argument("--keep", type=Path, help="an empty folder for the home, the ledgers and the logs")
    given = vars(parser.parse_args(arguments))
    database, out, keep = (given.pop(name) for name in ("database", "out", "keep"))
    size = replace(Size(), **given)
    folder = keep or Path(tempfile.mkdtemp(prefix="cirque-soak-"))
    try:
        soaked = soak(folder, size, database)
    except CirqueError as error:
        print(error, file=sys.stderr)
        return 2
    finally:
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    table = as_markdown(soaked)
    print(table, flush=True)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(table, "utf-8")
    problems = soaked.problems(size.actions)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
