"""Quotas on what a person uploads in a day: pictures, and bytes.

A day is one of UTC. What was counted is kept in a journal in the home folder, one file a day, so that it survives a
restart, and so that all processes on one home count together: each reads what the others have added when an upload
begins or ends, once a second at most. Where the journal cannot be written, this process goes on counting in memory.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cir_core.errors import QuotaExceeded

_log = logging.getLogger("cirque.storage")
_LOOK_EVERY = 1.0   # seconds
_AFTER = "More is taken from 0:00 UTC on. If that is too late, ask whoever runs this cirque to raise"


def _now() -> datetime:
    return datetime.now(UTC)


class UploadQuota:
    """``pictures`` and ``megabytes`` (of 2**20 bytes) of a person in a day; 0: no limit. Thread-safe."""

    def __init__(
        self, folder: Path, *, pictures: int = 0, megabytes: int = 0, now: Callable[[], datetime] = _now,
    ) -> None:
        self._folder, self._most_pictures, self._most_bytes = folder, pictures, megabytes * 2**20
        self._now, self._process = now, secrets.token_hex(8)
        self._lock = threading.Lock()      # of the counts, never held while a file is touched: the event loop takes it
        self._reading = threading.Lock()   # of what is known of the journal
        self._day = ""
        self._read, self._looked = 0, -_LOOK_EVERY
        self._pictures: Counter[str] = Counter()
        self._bytes: Counter[str] = Counter()
        self._unwritten: Counter[str] = Counter()   # bytes of uploads that are still coming
        self._failed = False

    @classmethod
    def unlimited(cls) -> UploadQuota:
        """One that counts nothing, and touches no file."""
        return cls(Path())

    def check(self, person: str) -> None:
        """Raises ``QuotaExceeded`` where no more bytes may come. Reads files, so it is for threads."""
        if not self._most_bytes:
            return
        self._look()
        with self._lock:
            if self._bytes[person] >= self._most_bytes:
                raise self._too_many_bytes()

    def add_bytes(self, person: str, count: int) -> None:
        """Count what has just come. Raises ``QuotaExceeded`` once it is too much.

        For every piece of an upload, on the event loop: it touches no file. What other processes have noted is read by
        the other methods.
        """
        if not self._most_bytes:
            return
        with self._lock:
            self._bytes[person] += count
            self._unwritten[person] += count
            if self._bytes[person] > self._most_bytes:
                raise self._too_many_bytes()

    def end_bytes(self, person: str) -> None:
        """Keep what was counted of this person's uploads, whether they came to their end or not. Writes a file."""
        with self._lock:
            if person not in self._unwritten:
                return
        self._look()   # before: on a new day what is not written yet counts for that
        with self._lock:
            count = self._unwritten.pop(person, 0)
        if count:
            self._write(person, 0, count)

    def add_picture(self, person: str) -> None:
        """Count a picture before it is decoded and kept. One that is kept already counts too: it was decoded all the
        same, and whoever sends it must not learn that somebody else has sent it before. Raises ``QuotaExceeded``."""
        if not self._most_pictures:
            return
        self._look()
        with self._lock:
            self._check_pictures(person)
            self._pictures[person] += 1
        self._write(person, 1, 0)

    def check_pictures(self, person: str) -> None:
        """Raises ``QuotaExceeded`` where no more pictures may come. Reads files, so it is for threads."""
        if not self._most_pictures:
            return
        self._look()
        with self._lock:
            self._check_pictures(person)

    def _check_pictures(self, person: str) -> None:
        if self._pictures[person] >= self._most_pictures:
            raise self._exceeded(f"{self._most_pictures:,} pictures", "CIRQUE_UPLOADS_PER_DAY")

    def _too_many_bytes(self) -> QuotaExceeded:
        return self._exceeded(f"{self._most_bytes // 2**20:,} MB", "CIRQUE_UPLOAD_MB_PER_DAY")

    def _exceeded(self, what: str, setting: str) -> QuotaExceeded:
        now = self._now()
        midnight = datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1)
        problem = f"You have uploaded {what} today, which is what a person may in a day. {_AFTER} {setting}."
        return QuotaExceeded(problem, max(1, round((midnight - now).total_seconds())))

    def _look(self) -> None:
        """Begin a new day where it has come, and count what other processes have noted. Threads take turns at the
        files; whoever only counts does not wait for them."""
        with self._reading:
            day = self._now().strftime("%Y-%m-%d")
            if day != self._day:
                with self._lock:
                    self._day, self._read, self._looked = day, 0, -_LOOK_EVERY
                    self._pictures.clear()
                    self._bytes = self._unwritten.copy()
                self._remove_others()
            if time.monotonic() - self._looked < _LOOK_EVERY:
                return
            self._looked = time.monotonic()
            try:
                with self._path.open("rb") as journal:
                    journal.seek(self._read)
                    content = journal.read()
            except OSError:
                return
            whole = content[:content.rfind(b"\n") + 1]
            self._read += len(whole)
            with self._lock:
                for line in whole.splitlines():
                    self._count(line)

    def _count(self, line: bytes) -> None:
        try:
            process, person, pictures, size = json.loads(line)
            if process != self._process:
                self._pictures[str(person)] += int(pictures)
                self._bytes[str(person)] += int(size)
        except (ValueError, TypeError, RecursionError):   # cut off by a crash, or somebody edited the file
            pass

    def _write(self, person: str, pictures: int, size: int) -> None:
        line = json.dumps([self._process, person, pictures, size]).encode() + b"\n"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            journal = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(journal, line)   # one write, so that lines of several processes do not mix
            finally:
                os.close(journal)
        except OSError as error:
            if not self._failed:
                _log.warning("Uploads are counted in memory only: %s cannot be written (%s).", self._folder,
                             error.strerror or error)
            self._failed = True

    @property
    def _path(self) -> Path:
        return self._folder / f"{self._day}.jsonl"

    def _remove_others(self) -> None:
        for path in self._folder.glob("????-??-??.jsonl"):
            if path != self._path:
                with contextlib.suppress(OSError):   # another process has done it, or nothing can be written here
                    path.unlink()
