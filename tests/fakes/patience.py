"""One limit for whatever a test waits for. It is generous, for the machine may be busy: only what never comes is out of
time. PYTEST_CIRQUE_PATIENCE sets another, for those who expect tests to fail."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
PATIENCE = float(os.environ.get("PYTEST_CIRQUE_PATIENCE", 180))     # seconds


def wait_for(
    look: Callable[[], T | None], *, going: Callable[[], object] = lambda: True,
    told: Callable[[], object] = lambda: "", pause: float = 0.02,
) -> T:
    """What ``look`` gives, once that is true. Fails, with what ``told`` gives, as soon as ``going`` gives nothing true,
    for then it never will be."""
    until = time.monotonic() + PATIENCE
    while True:
        goes_on = going()     # first, for what ends may have done it last of all
        if found := look():
            return found
        assert goes_on and time.monotonic() < until, told()
        time.sleep(pause)
