"""Number of processor cores."""

from __future__ import annotations

import os


def cores() -> int:
    """Those that this process may use, at least 1."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
