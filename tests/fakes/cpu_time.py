"""CPU seconds of processes and all that they have started, a browser's included."""

from __future__ import annotations

import os
import resource
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_LISTED = Path("/proc/thread-self/children")
_GONE = (0, 0.0)


def used_here() -> float:
    """By this process, those of its children that it has waited for, and those that run below it."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime + used_by_trees([os.getpid()], roots=False)


def used_by(pid: int) -> float:
    """By this process alone; 0 once it is gone."""
    try:
        # Behind the name, which may hold anything: the state is field 3, utime and stime are 14 and 15.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:13])) / _TICKS


def used_by_trees(pids: Iterable[int], *, roots: bool = True) -> float:
    """By these processes, unless ``roots`` is false, and by those that run below them; each with the children that it
    has waited for. 0 for what is gone."""
    found, waiting, below = 0.0, [(pid, roots) for pid in pids], _children()
    while waiting:
        pid, counts = waiting.pop()
        found += (_fields(pid) or _GONE)[1] if counts else 0.0
        waiting += [(child, True) for child in below(pid)]
    return found


def _children() -> Callable[[int], Iterable[int]]:
    """What finds the children of a process. Most kernels list them; looking through all processes takes 15 ms, and the
    tests ask thousands of times."""
    if _LISTED.exists():
        return _listed
    below: dict[int, list[int]] = defaultdict(list)
    for folder in Path("/proc").glob("[0-9]*"):
        if fields := _fields(int(folder.name)):
            below[fields[0]].append(int(folder.name))
    return lambda pid: below[pid]


def _listed(pid: int) -> list[int]:
    try:
        return [int(child) for thread in Path(f"/proc/{pid}/task").iterdir()
                for child in (thread / "children").read_text().split()]
    except OSError:     # it, or a thread of it, is gone
        return []


def _fields(pid: int) -> tuple[int, float] | None:
    """Its parent, and its CPU seconds with those of the children that it has waited for."""
    try:
        # Behind the name, which may hold anything: the state is field 3, the parent 4, utime to cstime 14 to 17.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return int(fields[1]), sum(map(int, fields[11:15])) / _TICKS
