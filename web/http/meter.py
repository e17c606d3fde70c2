"""Metrics interface with a no-op default."""

from __future__ import annotations

from collections.abc import Callable


class Meter:
    """No-op metrics sink; :mod:`web.http.prometheus` has the one that counts."""

    waited: Callable[[float], None] | None = None
    """Called with the seconds until a transaction could write; None where nobody wants to know."""

    def answered(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count an answered request. ``route`` is a template, never user input."""

    def judged(self, protocol: str) -> None:
        """Count a newly saved judgement."""

    def asked_model(self, role: str, outcome: str) -> None:
        """Count a request to a language-model server."""

    def running(self, count: Callable[[], int]) -> None:
        """Register ``count`` as the gauge of running searches and other long actions."""

    def unfinished(self, count: Callable[[], int]) -> None:
        """Register ``count`` as the gauge of requests and accepted calls that delay a shutdown."""

    def page(self) -> tuple[bytes, str]:
        """All metrics in exposition format, and its content type."""
        return b"", "text/plain"
