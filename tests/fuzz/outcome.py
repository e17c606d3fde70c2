"""Trying inputs one after the other: how many, how slow, how much memory, and what should not have happened."""

from __future__ import annotations

import faulthandler
import re
import signal
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.fakes.patience import PATIENCE

_NAMED = 3          # inputs shown of each kind of finding
_LONGEST = 300      # characters of an input that is shown
_OURS = re.compile(r"^(?!.*site-packages).*/(cir_core|annotation|storage|web|cli)/")


class Bad(Exception):
    """An input led to what must not be. The text says what."""


class TooSlow(Bad):
    """Nothing came back in time."""


@dataclass(frozen=True)
class Target:
    """``attempt`` says in a word or two how an input ended, and raises for what must not be: :class:`Bad`, or any error
    that nobody raised on purpose. ``begin`` is called once before. ``weight``: its share of all inputs, and
    ``least`` of them at any rate. ``deadline``: seconds of CPU for one input. ``of_app``: whether the app is asked."""

    name: str
    inputs: st.SearchStrategy[Any]
    attempt: Callable[[Any], str]
    weight: float = 1.0
    deadline: float = 10.0
    begin: Callable[[], None] = lambda: None
    least: int = 1
    of_app: bool = False


@dataclass
class Outcome:
    """Of one target. ``ends``: how many ended how; ``findings`` by what happened."""

    name: str
    inputs: int = 0
    slowest: float = 0.0
    ends: Counter[str] = field(default_factory=Counter)
    findings: dict[str, list[str]] = field(default_factory=dict)


def attempt_all(target: Target, count: int, number: int = 0) -> Outcome:
    """Try ``count`` inputs, drawn from the seed ``number``. Goes on after a finding."""
    outcome = Outcome(target.name)

    @seed(number)
    @settings(max_examples=count, deadline=None, database=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))
    @given(target.inputs)
    def try_one(given_input: Any) -> None:
        outcome.inputs += 1
        began = time.perf_counter()
        try:
            with within(target.deadline):
                outcome.ends[target.attempt(given_input)] += 1
        except Exception as error:
            shown = outcome.findings.setdefault(_what(error), [])
            if len(shown) < _NAMED:
                shown.append(repr(given_input)[:_LONGEST])
        outcome.slowest = max(outcome.slowest, time.perf_counter() - began)

    target.begin()
    try_one()
    return outcome


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raises :class:`TooSlow` in the main thread after ``seconds`` of this process's CPU, or where something is waited
    for that does not come. What cannot be interrupted ends the process with every thread's stack."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def late(number: int, _frame: FrameType | None) -> None:
        raise TooSlow(f"no end after {seconds:g} s of CPU" if number == signal.SIGPROF else "it waits without an end")

    timers = ((signal.ITIMER_PROF, signal.SIGPROF, seconds), (signal.ITIMER_REAL, signal.SIGALRM, PATIENCE))
    before = [signal.signal(number, late) for _, number, _ in timers]
    for timer, _, limit in timers:
        signal.setitimer(timer, limit)
    faulthandler.dump_traceback_later(3 * PATIENCE, exit=True)
    try:
        yield
    finally:
        for (timer, number, _), handler in zip(timers, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)
        faulthandler.cancel_dump_traceback_later()


def _what(error: Exception) -> str:
    """One line for all inputs that end alike."""
    if isinstance(error, Bad):
        return str(error)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/tests/" not in frame.filename]
    where = f" at {frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno}" if frames else ""
    ours = [frame for frame in frames if _OURS.search(frame.filename)]
    through = ""
    if ours and ours[-1] != frames[-1]:
        through = f", from {ours[-1].filename.rpartition('/')[2]}:{ours[-1].lineno}"
    return f"{type(error).__name__}{where}{through}: {str(error)[:120]}"
