"""Keep the record of a job while it runs: how far it is, its last lines, how it ended; and hear that it is to stop.

Nothing that happens to the record ends or delays the job. The disk is written by a thread of its own, at most once a
second.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from statistics import fmean
from time import monotonic, time

from cir_core.jobs.records import JobRecord, JobRecords, State

_log = logging.getLogger("cirque.jobs")
LINES = 40              # of the log
_LINE, _LONGEST = 400, 4000     # characters of one, and of an error
_TICK = 1.0             # seconds between looks at the file that stops it, and between writes at least
_HEARTBEAT = 15         # ticks after which it is written although nothing has changed
_BLOCKS = 120           # that the rate is taken from
_ENOUGH = 3             # blocks, for a time that is left


class RecentRate:
    """Items a second and the time left, from the last blocks of a second or more: how long the first took, which loaded
    models or met what was done before, says nothing about the others."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._blocks: deque[tuple[int, float]] = deque(maxlen=_BLOCKS)   # items, seconds
        self._total = self._done = self._at_block = 0
        self._began = -1.0      # of the block; below 0: the first item is still to come

    def update(self, done: int, total: int) -> None:
        """The first call of a stage says how much earlier runs have done."""
        now = self._clock()
        if total != self._total or done < self._done:
            self._blocks.clear()
            self._began, self._at_block = -1.0, done
        self._done, self._total = done, total
        if self._began < 0 and done > self._at_block:
            self._began, self._at_block = now, done
        elif self._began >= 0 and done > self._at_block and now - self._began >= _TICK:
            self._blocks.append((done - self._at_block, now - self._began))
            self._began, self._at_block = now, done

    @property
    def rate(self) -> float | None:
        seconds = sum(took for _, took in self._blocks)
        return sum(items for items, _ in self._blocks) / seconds if seconds else None

    @property
    def left(self) -> tuple[float, float, float] | None:
        """Seconds: expected, shortest, longest."""
        if len(self._blocks) < _ENOUGH or self._total <= self._done:
            return None
        from cir_core.jobs.estimate import time_left  # brings language models with it

        size = fmean(items for items, _ in self._blocks)
        found = time_left(max(1, round((self._total - self._done) / size)), 1,
                          [took * size / items for items, took in tuple(self._blocks)])
        return found.expected, found.shortest, found.longest


class JobRecorder:
    """``begin`` makes the record, once there is something to tell: :meth:`begin` or the first :meth:`progress`.
    ``on_stop`` is called once, from another thread, when somebody asks the job to stop. Thread-safe."""

    def __init__(
        self, records: JobRecords, begin: Callable[[], JobRecord], on_stop: Callable[[], object] = lambda: None,
        tick: float = _TICK,
    ) -> None:
        self._records, self._make, self._on_stop, self._tick = records, begin, on_stop, tick
        self._record: JobRecord | None = None
        self._lines: deque[str] = deque(maxlen=LINES)
        self._rate = RecentRate()
        self._lock, self._writing = threading.Lock(), threading.Lock()
        self._over, self._stop = threading.Event(), threading.Event()
        self._changed = self._failed = False

    @property
    def record(self) -> JobRecord | None:
        return self._record

    @property
    def stopping(self) -> bool:
        """Whether it was asked to stop."""
        return self._stop.is_set()

    def begin(self) -> None:
        """Raises ``CirqueError`` if it may not run, such as a second time."""
        if self._record is not None or self._failed:
            return
        try:
            self._record = self._make()
        except (OSError, ValueError) as error:  # a home that is full or read-only: the job has its own words for that;
            # or a path whose bytes are no text, which JSON cannot hold
            self._failed = True
            _log.info("There will be no record of this job: %s", error)
            return
        self._lines.extendleft(reversed((*self._record.log, f"Begun {datetime.now():%Y-%m-%d %H:%M}")))
        threading.Thread(target=self._watch, name="cirque-job", daemon=True).start()

    def progress(self, stage: str, done: int | None, total: int | None) -> None:
        """``total`` is None or 0 where it is not known."""
        self.begin()
        if (record := self._record) is None:
            return
        with self._lock:
            if stage != record.stage and stage not in self._lines:   # an audit comes back to each again and again
                self._say(stage)
            self._rate.update(done or 0, total or 0)
            self._record = replace(record, stage=stage, done=done or 0, total=total or 0)
            self._changed = True

    def log(self, line: str) -> None:
        with self._lock:
            self._say(line)
            self._changed = True

    def end(self, state: State, error: str = "") -> None:
        self._over.set()
        if self._record is None:
            return
        with self._lock:
            self._record = replace(self._now(), state=state, error=error[:_LONGEST], left=None)
        self._write()

    @property
    def last_line(self) -> str:
        return self._lines[-1] if self._lines else ""

    def _say(self, text: str) -> None:
        self._lines.extend(line.rstrip()[:_LINE] for line in text.splitlines() if line.strip())

    def _now(self) -> JobRecord:
        assert self._record is not None
        return replace(self._record, alive_at=time(), log=tuple(self._lines), rate=self._rate.rate,
                       left=self._rate.left)

    def _watch(self) -> None:
        silent = 0
        while not self._over.wait(self._tick):
            if not self._stop.is_set() and self._record and self._records.asked_to_stop(self._record.job_id):
                self._stop.set()
                self.log("Asked to stop")
                self._on_stop()
            silent += 1
            with self._lock:
                due = self._changed or silent >= _HEARTBEAT
                if due and not self._over.is_set():
                    self._record, self._changed, silent = self._now(), False, 0
            if due and not self._over.is_set():
                self._write()

    def _write(self) -> None:
        with self._writing:
            record = self._record   # the latest: the last write has it, whichever thread writes last
            assert record is not None
            with suppress(OSError, ValueError):     # the next one may be written
                self._records.write(record)

