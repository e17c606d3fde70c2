"""Programs that are killed at a stated point of what they do."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

from tests.fakes.forked import start
from tests.fakes.patience import PATIENCE, wait_for


def kill_when(reached: Callable[[], object], *arguments: object) -> None:
    """Run ``python ARGUMENTS``, and kill -9 as soon as ``reached`` gives something true. The program must not come to
    its end by itself, however late that is noticed."""
    with tempfile.TemporaryFile("w+") as output:
        def said() -> str:
            output.seek(0)
            return output.read()

        process = start(*map(str, arguments), environment=os.environ, output=output)
        try:
            wait_for(reached, going=lambda: process.poll() is None, told=said, pause=0.001)
        finally:
            process.kill()
            process.wait(PATIENCE)
        assert process.returncode == -signal.SIGKILL, said()


def lines_of(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def no_further_than(lines: int, path: Path) -> Callable[[object], None]:
    """For a fake that calls it at each request: once the file has so many lines, nothing goes on, until the kill."""
    def look(_: object) -> None:
        if lines_of(path) >= lines:
            threading.Event().wait()

    return look


class Writer:
    """A module of these tests as a program that prints a line for each thing that it has done."""

    def __init__(self, module: str, *arguments: str) -> None:
        read, write = os.pipe()
        with os.fdopen(write, "w") as output:
            self._process = start("-m", f"tests.integration.{module}", *arguments, environment=os.environ,
                                  output=output)
        self._said = os.fdopen(read)

    def kill_after(self, count: int) -> list[str]:
        """The lines until it was killed, which it was once there were so many."""
        with self._said as said:
            first = [said.readline() for _ in range(count)]
            self._process.kill()
            rest = said.read()
        assert self._process.wait(PATIENCE) == -signal.SIGKILL, first
        complete = ("".join(first) + rest).rpartition("\n")[0]    # the last line may have been cut
        return complete.split("\n")
