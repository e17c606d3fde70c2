"""All targets one after the other, and a table of what came of it."""

from __future__ import annotations

import os
import platform
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import psutil

from tests.fuzz import calls, files, long_texts, pictures
from tests.fuzz.outcome import Bad, Outcome, Target, attempt_all
from tests.fuzz.served import serving
from tests.fuzz.watch import SLOWEST, Slowest, watching

MOST_MEMORY = 2**30      # bytes that a process may grow by: a picture of 64 megapixels is decoded, and copied
_GROUPS = (("file: ", "readers and importers of files"), ("named call ", "named calls"), ("GET /", "addresses, GET"),
           ("POST /", "addresses, POST"))


@dataclass
class Fuzzed:
    outcomes: list[Outcome] = field(default_factory=list)
    seconds: float = 0.0
    app_grew: int = 0        # bytes, from its first answer to its most
    reader_grew: int = 0     # bytes of the process that reads files
    notes: dict[str, int] = field(default_factory=dict)
    slowest_health: Slowest = field(default_factory=Slowest)
    slow_once: int = 0       # answers of /healthz that were slow beside an input, and were not when it came again
    problems: list[str] = field(default_factory=list)

    @property
    def inputs(self) -> int:
        return sum(outcome.inputs for outcome in self.outcomes)


def fuzz(folder: Path, inputs: int, minutes: float, seed: int = 0, *, long: bool = True) -> Fuzzed:
    """About ``inputs`` inputs, shared out by weight, unless the ``minutes`` are over before; ``long`` texts, of which
    every field of every address gets some, are most of them and of the time."""
    fuzzed, began = Fuzzed(), time.monotonic()
    with serving(folder) as served, ExitStack() as over:
        before = _own_peak()
        found = calls.routes(folder / "listed")
        targets = [*calls.targets(served, found), *(long_texts.targets(served, found) if long else ()),
                   *pictures.targets(), *files.targets(folder / "files")]
        watch = over.enter_context(watching(served.url, served.process.pid))
        for target, count in _shared(targets, inputs):
            if time.monotonic() - began > 60 * minutes:
                fuzzed.problems.append(f"The time was over before {target.name}. Give it more minutes.")
                break
            fuzzed.outcomes.append(attempt_all(watch.over(target) if target.of_app else target, count, seed))
        try:
            served.check_alive()
        except Bad as error:
            fuzzed.problems.append(str(error))
        fuzzed.app_grew = served.most_memory - served.memory_at_first
        fuzzed.notes = served.notes
        watch.look(fuzzed.outcomes[-1].name)
        fuzzed.slowest_health, fuzzed.slow_once = watch.slowest, watch.passed
    fuzzed.seconds, fuzzed.reader_grew = time.monotonic() - began, _own_peak() - before
    fuzzed.problems += [f"{outcome.name}: {what}\n    from {shown[0]}"
                        for outcome in fuzzed.outcomes for what, shown in outcome.findings.items()]
    fuzzed.problems += [f"{what} grew by {grew / 2**20:,.0f} MB" for what, grew in (
        ("The app", fuzzed.app_grew), ("The reading process", fuzzed.reader_grew)) if grew > MOST_MEMORY]
    return fuzzed


def as_markdown(fuzzed: Fuzzed) -> str:
    memory = psutil.virtual_memory().total / 2**30
    lines = [
        f"{fuzzed.inputs:,} inputs in {fuzzed.seconds:,.0f} s, {os.cpu_count()} cores, {memory:.0f} GiB, "
        f"{platform.system()}, Python {platform.python_version()}, {datetime.now(UTC).date().isoformat()}.", "",
        "| Tried | targets | inputs | how they ended | slowest | findings |", "|---|--:|--:|---|--:|--:|",
    ]
    for name, outcomes in _grouped(fuzzed.outcomes).items():
        ends = sum((one.ends for one in outcomes), Counter[str]())
        said = ", ".join(f"{what} × {number:,}" for what, number in ends.most_common())
        lines.append(f"| {name} | {len(outcomes)} | {sum(one.inputs for one in outcomes):,} | {said} | "
                     f"{max(one.slowest for one in outcomes):.1f} s | {sum(len(one.findings) for one in outcomes)} |")
    lines += ["", f"The app grew by {fuzzed.app_grew / 2**20:,.0f} MB at most, the process that reads files by "
              f"{fuzzed.reader_grew / 2**20:,.0f} MB. Calls of a wrong form that Gradio refused and wrote to its log "
              f"as errors: {sum(fuzzed.notes.values()):,}.", "",
              f"The slowest /healthz, asked all the time over another connection: {fuzzed.slowest_health.seconds:.2f} "
              f"s ({fuzzed.slowest_health.cpu:.2f} s of CPU in the app), beside {fuzzed.slowest_health.beside}. Slower "
              f"than {SLOWEST:g} s, and not again with the same input: {fuzzed.slow_once}."]
    return "\n".join(lines) + "\n"


def _shared(targets: Sequence[Target], inputs: int) -> Iterable[tuple[Target, int]]:
    whole = sum(target.weight for target in targets)
    return [(target, max(target.least, -(-int(inputs * target.weight * 1000 / whole) // 1000))) for target in targets]


def _grouped(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    found: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        name = next((group for start, group in _GROUPS if outcome.name.startswith(start)), outcome.name)
        found.setdefault(name, []).append(outcome)
    return found


def _own_peak() -> int:
    """The most memory that this process has ever had, bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
