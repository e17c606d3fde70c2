"""The numbers of this process in Prometheus's form.

Own code: prometheus-fastapi-instrumentator counts requests alone, and by other names than the documented ones.
"""

from __future__ import annotations

import platform
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from cir_core.version import __version__
from web.http.meter import Meter

_QUICK = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class PrometheusMeter(Meter):
    """Meter with its own Prometheus registry."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        build = Info("cirque_build", "The running version.", registry=registry)
        build.info({"version": __version__, "python": platform.python_version()})
        self._requests = Counter("cirque_requests", "Answered requests.", ["route", "method", "status"],
                                 registry=registry)
        self._seconds = Histogram("cirque_request_seconds", "Time from request to end of response.",
                                  ["route", "method"], buckets=_QUICK, registry=registry)
        self._judgements = Counter("cirque_judgements_saved", "Judgements and ratings that were kept; a repeated call "
                                   "counts once.", ["protocol"], registry=registry)
        self._models = Counter("cirque_language_model_calls", "Requests to the language model's server.",
                               ["role", "outcome"], registry=registry)
        wait = Histogram("cirque_write_wait_seconds", "Waiting time for the database write lock.",
                         buckets=_QUICK, registry=registry)
        self._running = Gauge("cirque_running_searches", "Running searches and other long actions.", registry=registry)
        self._unfinished = Gauge("cirque_unfinished_requests", "Requests, with the one that asks, and accepted calls "
                                 "that a stop would wait for.", registry=registry)
        self.waited = wait.observe

    def answered(self, route: str, method: str, status: int, seconds: float) -> None:
        method = method if method in _METHODS else "other"
        self._requests.labels(route, method, str(status)).inc()
        self._seconds.labels(route, method).observe(seconds)

    def judged(self, protocol: str) -> None:
        self._judgements.labels(protocol).inc()

    def asked_model(self, role: str, outcome: str) -> None:
        self._models.labels(role, outcome).inc()

    def running(self, count: Callable[[], int]) -> None:
        self._running.set_function(count)

    def unfinished(self, count: Callable[[], int]) -> None:
        self._unfinished.set_function(count)

    def page(self) -> tuple[bytes, str]:
        return generate_latest(self._registry), CONTENT_TYPE_PLAIN_0_0_4
