"""Preloading of the default gallery's model, and its state."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Literal

from cir_core.errors import CirqueError, EncoderMismatch, EncoderUnavailable, GalleryError
from cir_core.gallery.paths import gallery_folder, read_header
from cir_core.methods.declared import usual_method
from cir_core.settings import Settings
from cir_core.support.texts import counted
from cir_core.types.records import MethodSettings
from web.services import Services

_log = logging.getLogger("cirque.server")
_FIRST, _LONGEST = 10.0, 300.0   # seconds until a load that failed is tried again, doubled each time
_GALLERY = 15.0                  # seconds between looks for a gallery that is not there yet
_WARMING_SECONDS = 120.0         # seconds for which a process that loads is called not ready

State = Literal["idle", "no gallery", "warming", "ready", "failed"]


@dataclass(frozen=True)
class ModelState:
    """``idle``: loading has not started. ``reason`` of a failure is public: it contains no path."""

    state: State
    reason: str = ""


class Warming:
    """Loads the model of ``settings.gallery`` in a separate thread, by a search in it.

    Concurrent searches wait for the same load, as the pool loads each model once. Failed loads are retried after a
    while; a missing gallery is looked up again.
    """

    def __init__(self, services: Services, *, clock: Callable[[], float] = monotonic) -> None:
        self._services, self._clock = services, clock
        self._found, self._since = ModelState("idle"), clock()
        self._over, self._busy = threading.Event(), threading.Lock()
        self._logged = ""

    @property
    def found(self) -> ModelState:
        return self._found

    @property
    def delays_readiness(self) -> bool:
        """Whether ``/readyz`` reports not ready: while the model loads, two minutes at most (annotation needs none)."""
        return self._found.state == "warming" and self._clock() - self._since < _WARMING_SECONDS

    @property
    def loading(self) -> bool:
        """Whether a load is running, retries included."""
        return self._busy.locked()

    def gallery_problem(self) -> str:
        """What is damaged of the default gallery, in public words; "" if nothing is, or it is not loaded yet. Costs a
        look at its files while they are as they were."""
        if self._found.state not in ("ready", "failed"):
            return ""
        try:
            lost = self._services.search.gallery(self._services.settings.gallery).lost
        except GalleryError:
            return "the default gallery cannot be opened"
        return f"{counted(lost, 'image')} of the default gallery left out: damaged vectors" if lost else ""

    def start(self) -> None:
        self._change("warming")
        threading.Thread(target=self._run, name="cirque-warming", daemon=True).start()

    def stop(self) -> None:
        """Start no further attempt."""
        self._over.set()

    def _run(self) -> None:
        wait = _FIRST
        while not self._over.is_set():
            found = self.attempt()
            if found.state == "ready":
                return
            self._over.wait(_GALLERY if found.state == "no gallery" else wait)
            wait = _FIRST if found.state == "no gallery" else min(2 * wait, _LONGEST)

    def attempt(self) -> ModelState:
        """Load the model now, if there is a gallery."""
        try:
            settings = self._services.settings
            if read_header(gallery_folder(settings.gallery, settings.home)) is None:
                return self._change("no gallery")
            # A try after a failed one is not called warming: balancers would turn away from it again and again.
            if self._found.state != "failed":
                self._change("warming")
            with self._busy:
                searcher = self._services.search.searcher(settings.gallery)
                _ = searcher.reader     # chosen by what the images show, which encodes some texts
                for image_id in searcher.gallery.ids[:1]:
                    searcher.turn(searcher.gallery_reference(image_id), "in red", _first_search(settings), k=1)
        except CirqueError as error:
            return self._failed(_told(error), error)
        except Exception as error:
            return self._failed("the model could not be loaded", error)
        return self._change("ready")

    def _change(self, state: State, reason: str = "") -> ModelState:
        if state != self._found.state:
            self._since = self._clock()
        self._found = ModelState(state, reason)
        return self._found

    def _failed(self, reason: str, error: Exception) -> ModelState:
        if (kind := f"{type(error).__name__}: {error}") != self._logged:
            _log.warning("The model could not be loaded ahead of the first search (%s). It will be retried, also by "
                         "the first search, which will report the cause.", kind)
            _log.debug("Error while loading it:", exc_info=True)
            self._logged = kind
        return self._change("failed", reason)


def _first_search(settings: Settings) -> MethodSettings:
    """The search that loads the model. The default method also prepares the built-in language model, but would send a
    gallery image to a configured server: an unrequested and perhaps paid request at each start."""
    return MethodSettings(base="text-only") if settings.llm_base_url.strip() else usual_method()


def _told(error: CirqueError) -> str:
    if isinstance(error, EncoderMismatch):
        return "the model's weights differ from those the default gallery was indexed with"
    if isinstance(error, EncoderUnavailable):
        return "the model of the default gallery is not available"
    if isinstance(error, GalleryError):
        return "the default gallery cannot be opened"
    return "the first search failed"
