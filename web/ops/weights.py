"""Endpoints that fetch an encoder's weights for one's own photos. Only an admin may begin it; nothing else does."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter

from cir_core.encoders.weights import Weights, fetch_weights, weights_of
from cir_core.errors import CirqueError, EncoderUnavailable, Stopped
from web.http.json_api import Fields, get_endpoint, json_routes, post_endpoint
from web.http.public_errors import public_message
from web.http.request_ids import carried
from web.http.visitor import Visitor, check
from web.services import Services


class WeightsDownload:
    """At most one download at a time. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: threading.Thread | None = None
        self._stop = threading.Event()
        self._done = self._total = 0
        self._problem = ""

    def start(self, weights: Weights) -> None:
        """Begin, unless it is under way already."""
        with self._lock:
            if self.running:
                return
            self._stop.clear()
            self._done, self._total, self._problem = 0, 0, ""
            self._running = threading.Thread(target=carried(lambda: self._fetch(weights)), name="cirque-weights",
                                             daemon=True)
            self._running.start()

    def stop(self) -> None:
        self._stop.set()

    @property
    def running(self) -> bool:
        return self._running is not None and self._running.is_alive()

    def status(self) -> dict[str, Any]:
        return {"running": self.running, "done": self._done, "total": self._total, "problem": self._problem,
                "stopping": self.running and self._stop.is_set()}

    def _fetch(self, weights: Weights) -> None:
        try:
            fetch_weights(weights, self._came, self._stop.is_set)
        except Stopped as stop:
            self._problem = str(stop)
        except CirqueError as error:
            self._problem = public_message(error)
        except Exception:
            self._problem = "The download failed unexpectedly. Nothing was kept. The server's log has the error."
            raise

    def _came(self, done: int, total: int) -> None:
        self._done, self._total = done, total


def weights_routes(services: Services) -> APIRouter:
    """``/weights``: what can be fetched and how far it is; ``/weights/fetch`` and ``/weights/stop`` for admins."""
    download = WeightsDownload()
    settings = services.settings

    def offered() -> Weights:
        return weights_of(settings.photo_encoder, settings.home)

    def state(visitor: Visitor) -> dict[str, Any]:
        may = "people" in visitor.may
        weights = offered()
        shown = {"may": may, "spec": weights.spec, "megabytes": weights.megabytes, "host": weights.host,
                 "ready": weights.ready, **download.status()}
        # Where in the home folder is for admins; where that is, for nobody: without accounts everybody is one.
        folder = weights.folder.relative_to(settings.home)
        return shown | ({"url": weights.url, "file": str(folder / weights.file.name),
                         "encoder": f"local-dir:HOME/{folder}", "there": weights.file.is_file()} if may else {})

    def see(visitor: Visitor, query: Mapping[str, str]) -> dict[str, Any]:
        return state(visitor)

    def fetch(visitor: Visitor, fields: Fields) -> dict[str, Any]:
        check(visitor, "people")
        weights = offered()
        if weights.ready:
            raise EncoderUnavailable(f"{weights.spec} is already on this machine.")
        download.start(weights)
        return state(visitor)

    def stop(visitor: Visitor, fields: Fields) -> dict[str, Any]:
        check(visitor, "people")
        download.stop()
        return state(visitor)

    return json_routes("/weights", {"": get_endpoint(see)},
                       {"/fetch": post_endpoint(fetch, ()), "/stop": post_endpoint(stop, ())})
