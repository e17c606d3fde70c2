"""How much of one construction is held in memory, whatever its files hold."""

from __future__ import annotations

from cir_core.support.texts import counted

_BYTES = 180 * 2**20    # CIRCLED's 22,608 sessions of three or four turns take about 160 MB


class MemoryAllowance:
    """Counts what is kept. What no longer fits is passed over, which :meth:`notes` says."""

    def __init__(self, most: int = _BYTES) -> None:
        self._left, self._passed_over = most, 0

    def takes(self, size: int) -> bool:
        """Whether ``size`` bytes more are kept."""
        if size > self._left:
            self._passed_over += 1
            return False
        self._left -= size
        return True

    def notes(self, thing: str, things: str) -> tuple[str, ...]:
        if not self._passed_over:
            return ()
        return (f"{counted(self._passed_over, thing, things)} more would not fit into memory and "
                f"{'is' if self._passed_over == 1 else 'are'} not shown. The command line reads all: cirque construct "
                "describe.",)
