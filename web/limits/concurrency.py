"""Per-person and per-study concurrency limits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from weakref import WeakValueDictionary

from cir_core.errors import StorageError

_PATIENCE = 15.0   # seconds; with what the call itself waits for a lock, less than pages wait
_CROWDED = "Too many requests of this kind are waiting. Nothing was done; try again in a moment."


@dataclass(frozen=True)
class ConcurrencyLimit:
    """At most ``most`` concurrent threads for calls of one ``kind`` and ``name``."""

    kind: str
    name: str
    most: int


class ConcurrencyLimits:
    """Calls above their limit wait in order, without a thread."""

    def __init__(self, patience: float = _PATIENCE) -> None:
        self._patience = patience
        # Only what is in use is kept: by the calls that hold it or wait for it.
        self._gates: WeakValueDictionary[ConcurrencyLimit, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def within(self, *shares: ConcurrencyLimit) -> AsyncIterator[None]:
        """Raises ``StorageError`` on timeout."""
        gates = [self._gates.setdefault(share, asyncio.Semaphore(share.most)) for share in shares]
        async with AsyncExitStack() as held:
            try:
                async with asyncio.timeout(self._patience):
                    for gate in gates:
                        await held.enter_async_context(gate)
            except TimeoutError:
                raise StorageError(_CROWDED, _CROWDED) from None
            yield
