"""Checks that many may ask for: made at most once a second, one after the other, and not waited for long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from time import monotonic

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
        self._at = float("-inf")
        self._running: asyncio.Task[None] | None = None

    async def look(self) -> Mapping[str, str]:
        """By name, what is wrong. A check that does not come back counts as wrong, and is not begun again before
        it has."""
        if monotonic() - self._at > _FRESH_SECONDS:
            if self._running is None or self._running.done():
                self._found = {}
                self._running = asyncio.create_task(self._make())
            await asyncio.wait({self._running}, timeout=self._patience)
        return {name: self._found.get(name, "this takes too long to find out") for name in self._checks}

    async def _make(self) -> None:
        for name, check in self._checks.items():
            self._found[name] = await run_sync(check)
        self._at = monotonic()
