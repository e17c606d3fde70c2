"""One person's progress in a study, with an estimate of the remaining time."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from annotation.records import Workspace

_ENOUGH = 3  # answers before a pace is estimated


@dataclass(frozen=True)
class WorkProgress:
    done: int                        # answered, unsure ones included
    total: int
    unsure: int
    median_seconds: float | None     # per item, over the latest answers; None until there are three
    seconds_left: float | None       # at that pace; None likewise


def progress_of(workspace: Workspace) -> WorkProgress:
    """Counted from what the desk carries: nothing is read again."""
    measured = [seconds for seconds in workspace.seconds if seconds > 0]   # 0: nobody measured it
    pace = median(measured) if len(measured) >= _ENOUGH else None
    left = None if pace is None else pace * (workspace.total - workspace.done)
    return WorkProgress(workspace.done, workspace.total, workspace.unsure, pace, left)
