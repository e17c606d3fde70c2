"""Search throughput by the named call on a warm app: this checkout alone, or alternating with another one.

    python -m benchmarks.searches --against ../cirque-before --searchers 16 --seconds 20 --rounds 4

Each checkout serves its own home, with the same gallery and the same users, and both are called by the
same clients. Sides alternate by slice: ABBA, where A is this checkout. The clients share the processor with the
app, so the table also shows the app's own processor time per search.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson
import psutil

from benchmarks.driver import Timings, drive
from benchmarks.own_settings import environment_of
from benchmarks.servers import ROOT
from benchmarks.soak_app import App
from benchmarks.soak_home import Home
from benchmarks.soak_people import Searcher
from benchmarks.soak_table import machine

# Run in each checkout: its own code creates a home that its own server can open.
_MAKE = """
import sys
from dataclasses import asdict
from pathlib import Path
import orjson
from benchmarks.soak_home import make_home
home = make_home(Path(sys.argv[1]), annotators=2, searchers=int(sys.argv[2]), each=1)
print(orjson.dumps({**asdict(home), "folder": str(home.folder), "image_ids": list(home.image_ids)}).decode())
"""


@dataclass
class Side:
    """One measured checkout. ``processor``: processor seconds of its app during measurement."""

    name: str
    app: App
    people: list[Searcher]
    timings: Timings = field(default_factory=lambda: Timings(0))
    processor: float = 0.0

    async def measure(self, seconds: float) -> None:
        """Measure a slice; its first second is not counted."""
        acts = [person.act_once for person in self.people]
        await drive(acts, 1.0, Timings(len(acts)))
        before = self._processor()
        await drive(acts, seconds, self.timings)
        self.processor += self._processor() - before

    def line(self) -> str:
        searches = len(self.timings.milliseconds)
        return (f"| {self.name} | {searches:,} | {self.timings.rate:.1f} | {self.timings.quantile(0.5):,.0f} ms | "
                f"{self.timings.quantile(0.95):,.0f} ms | {1000 * self.processor / max(1, searches):.1f} ms |")

    def _processor(self) -> float:
        times = psutil.Process(self.app.pid).cpu_times()
        return float(times.user + times.system)


def make_home(root: Path, folder: Path, searchers: int) -> Home:
    """Create a home in ``folder`` with the code of ``root``. Raises RuntimeError with its output on failure."""
    environment = environment_of(folder, PYTHONPATH=str(root))
    made = subprocess.run([sys.executable, "-c", _MAKE, str(folder), str(searchers)], cwd=root, env=environment,
                          capture_output=True, text=True, check=False)
    if made.returncode:
        raise RuntimeError(f"The code in {root} made no home:\n{made.stderr}")
    fields = orjson.loads(made.stdout.splitlines()[-1])
    return Home(**{**fields, "folder": Path(fields["folder"])})


async def compare(roots: Sequence[Path], folder: Path, searchers: int, seconds: float, rounds: int) -> list[Side]:
    """``rounds`` slices of each of ``roots``; the first one runs first and last."""
    sides: list[Side] = []
    try:
        for number, root in enumerate(roots):
            home = await asyncio.to_thread(make_home, root, folder / f"home-{number}", searchers)
            ledgers = folder / f"ledgers-{number}"
            ledgers.mkdir()
            app = App(home.folder, root=root)
            people = [Searcher(app, home, name, ledgers, 8) for name in home.searchers]
            for person in people:
                person.brings = 0.0
            sides.append(Side("this checkout" if number == 0 else str(root), app, people))
            await app.start()
            await people[0].act_once()       # waits until the model is loaded
        for number in range(rounds):
            for side in sides if number % 2 == 0 else sides[::-1]:
                await side.measure(seconds)
    finally:
        for side in sides:
            for person in side.people:
                person.leave()
            await side.app.stop()
    return sides


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.searches", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, help="another checkout, for example: git worktree add PATH COMMIT")
    parser.add_argument("--searchers", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each slice")
    parser.add_argument("--rounds", type=int, default=4, help="slices of each checkout")
    options = parser.parse_args(arguments)
    roots = [ROOT, *([options.against.resolve()] if options.against else [])]
    with tempfile.TemporaryDirectory(prefix="cirque-searches-") as folder:
        sides = asyncio.run(compare(roots, Path(folder), options.searchers, options.seconds, options.rounds))
    print(f"{options.searchers} searchers flat out, {machine()}.\n")
    print("| | searches | per second | p50 | p95 | processor time of the app for each |\n|---|--:|--:|--:|--:|--:|")
    for side in sides:
        print(side.line())
    if len(sides) == 2:
        ours, theirs = (side.timings.rate for side in sides)
        print(f"\n{ours / theirs:.2f} times as many searches per second.")


if __name__ == "__main__":
    main()
