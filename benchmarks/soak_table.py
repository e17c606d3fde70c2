"""Format the results of a soak as a table."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import psutil

from benchmarks.soak_ledger import Verdict
from benchmarks.soak_waiting import Waiting

_NAMED = 20      # lost, doubled or changed records to list


@dataclass(frozen=True)
class Soaked:
    """``done``: actions acknowledged in the ``seconds`` in which the app was killed; the verdict is about all.
    ``milliseconds`` by kind of call, of uninterrupted calls. ``retried``: interrupted calls."""

    done: int
    seconds: float
    verdict: Verdict
    milliseconds: Mapping[str, Sequence[float]]
    kills: int
    seconds_to_ready: Sequence[float]
    seconds_to_warm: Sequence[float]
    retried: int
    replays: int
    most_memory_mb: float
    complaints: Sequence[str]
    waiting: Waiting
    annotators: int
    searchers: int
    database: str

    def problems(self, actions: int) -> list[str]:
        """Why this run proves nothing; empty if it is valid."""
        found, verdict = [], self.verdict
        for what, names in (("lost", verdict.lost), ("doubled", verdict.doubled), ("changed", verdict.changed),
                            ("damaged", verdict.faults), ("unexpected", self.complaints)):
            found += [f"{what}: {name}" for name in names[:_NAMED]]
        if self.done < actions:
            found.append(f"Only {self.done:,} of {actions:,} actions were acknowledged. Give it more minutes.")
        if self.kills < 2:
            found.append("The app was hardly killed.")
        return found


def machine() -> str:
    """Description of the machine, with the date."""
    memory = psutil.virtual_memory().total / 2**30
    return (f"{os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}, Python {platform.python_version()}, "
            f"{datetime.now(UTC).date().isoformat()}")


def as_markdown(soaked: Soaked) -> str:
    verdict = soaked.verdict
    lines = [
        f"{soaked.annotators} annotators and {soaked.searchers} searchers, {soaked.database}, {machine()}.", "",
        "| Call | answered | p50 | p95 |", "|---|--:|--:|--:|",
        *(f"| {kind} | {len(times):,} | {_quantile(times, 0.5):,.0f} ms | {_quantile(times, 0.95):,.0f} ms |"
          for kind, times in sorted(soaked.milliseconds.items())),
        "", "| | |", "|---|--:|",
    ]
    kinds = ", ".join(f"{number:,} {what}s" for what, number in sorted(verdict.acknowledged.items()))
    rows = [
        ("Acknowledged actions while the app was killed", f"{soaked.done:,}"),
        ("Seconds, starts included", f"{soaked.seconds:,.0f}"),
        ("Actions per second, starts included",
         f"{soaked.done / soaked.seconds:,.1f}" if soaked.seconds else "–"),
        ("kill -9", f"{soaked.kills}"), ("Starts", f"{len(soaked.seconds_to_ready)}"),
        ("Seconds from start to the first answer", _middle_and_most(soaked.seconds_to_ready)),
        (f"Seconds from start until the model is loaded, of {len(soaked.seconds_to_warm)} starts that lasted so long",
         _middle_and_most(soaked.seconds_to_warm)),
        ("Calls that met a kill and were made again", f"{soaked.retried:,}"),
        ("Saves sent twice on purpose", f"{soaked.replays:,}"),
        ("Turns kept whose answer a kill cut off", f"{verdict.cut_off:,}"),
        ("Held against the database", f"{verdict.acknowledged.total():,} ({kinds})"),
        ("**Lost**", f"**{len(verdict.lost)}**"), ("**Doubled**", f"**{len(verdict.doubled)}**"),
        ("**Changed**", f"**{len(verdict.changed)}**"),
        ("Faults of the database", f"{len(verdict.faults)}"),
        ("Refusals that nobody expected", f"{len(soaked.complaints)}"),
        ("Most memory of the app", f"{soaked.most_memory_mb:,.0f} MB"),
    ]
    lines += [f"| {name} | {value} |" for name, value in rows]
    if soaked.waiting.without:
        without, waiting = soaked.waiting.without, soaked.waiting.waiting
        lines += ["", f"Annotators alone, and while {soaked.waiting.searches} searches wait for a language-model "
                  "server that does not answer:", "", "| | saves per second | p50 | p95 |", "|---|--:|--:|--:|"]
        for name, timings in (("alone", without), ("while searches wait", waiting)):
            lines.append(f"| {name} | {timings.rate:,.0f} | {timings.quantile(0.5):,.0f} ms | "
                         f"{timings.quantile(0.95):,.0f} ms |")
    return "\n".join(lines) + "\n"


def _middle_and_most(seconds: Sequence[float]) -> str:
    return f"median {statistics.median(seconds):.1f}, longest {max(seconds):.1f}" if seconds else "–"


def _quantile(times: Sequence[float], share: float) -> float:
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
