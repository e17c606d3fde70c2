"""Checks that many may ask for: each made at most once a second, side by side, and not waited for long.

Own code: cachetools has threads wait as long as it takes; here an event loop waits, for seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from time import monotonic

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

Check = Callable[[], str]
"""What is wrong; empty where nothing is."""

_FRESH_SECONDS = 1.0
_PATIENCE = 3.0


class Checks:
    """For one event loop."""

    def __init__(self, checks: Mapping[str, Check], patience: float = _PATIENCE) -> None:
        self._checks, self._patience = checks, patience
        self._found: dict[str, str] = {}
        self._at: dict[str, float] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        # Threads of their own: those of the app may all wait for what is looked at here.
        self._threads = CapacityLimiter(max(1, len(checks)))

    async def look(self) -> Mapping[str, str]:
        """Problems by name of check. A check that times out counts as failed, and is not started again until it ends;
        the others continue."""
        for name in self._checks:
            if name not in self._running and monotonic() - self._at.get(name, float("-inf")) > _FRESH_SECONDS:
                self._found.pop(name, None)
                self._running[name] = asyncio.create_task(self._make(name))
        if self._running:
            await asyncio.wait(self._running.values(), timeout=self._patience)
        return {name: self._found.get(name, "this takes too long to find out") for name in self._checks}

    async def _make(self, name: str) -> None:
        try:
            self._found[name] = await run_sync(self._checks[name], limiter=self._threads)
            self._at[name] = monotonic()
        finally:
            del self._running[name]
