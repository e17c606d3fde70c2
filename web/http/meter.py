"""What is counted while cirque runs. Whoever counts is told through this; it costs nothing where nobody does."""

from __future__ import annotations

from collections.abc import Callable


class Meter:
    """Hears of what happens and does nothing about it. :mod:`web.http.prometheus` has the one that counts."""

    waited: Callable[[float], None] | None = None
    """Called with the seconds until a transaction could write; None where nobody wants to know."""

    def answered(self, route: str, method: str, status: int, seconds: float) -> None:
        """A request was answered. ``route`` is a template, never what somebody typed."""

    def judged(self, protocol: str) -> None:
        """A judgement was kept that is new."""

    def asked_model(self, role: str, outcome: str) -> None:
        """A language model on a server was asked."""

    def running(self, count: Callable[[], int]) -> None:
        """From now on ``count`` tells how many searches and other long actions are running."""

    def unfinished(self, count: Callable[[], int]) -> None:
        """From now on ``count`` tells how many requests and accepted calls a stop would wait for."""

    def page(self) -> tuple[bytes, str]:
        """All numbers and the type of this content."""
        return b"", "text/plain"
