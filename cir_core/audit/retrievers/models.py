"""The models of an audit: one encoder at a time, shared by the retrievers that can."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable

from cir_core.audit.retrievers.late_encoder import LateEncoder, Load
from cir_core.encoders.base import Encoder
from cir_core.gallery.gallery import Gallery
from cir_core.language.base import LanguageModel
from cir_core.language.tasks import Domain


class OneAtATime:
    """``load``, but the same spec again gives the same encoder, and it is let go before another
    is loaded: retrievers over one gallery share theirs, and two large ones need not fit side
    by side. Nobody else keeps an encoder, see :class:`LateEncoder`. Thread-safe."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._spec = ""
        self._encoder: Encoder | None = None
        self._lock = threading.Lock()

    def __call__(self, spec: str) -> Encoder:
        with self._lock:
            if self._encoder is None or self._spec != spec:
                self._encoder = None
                gc.collect()  # a model's parts may refer to one another
                self._spec, self._encoder = spec, self._load(spec)
            return self._encoder


class Models:
    """How retrievers come by their models. ``domain`` is what language models are told that the
    images show, ``workers`` how many queries may wait for them at a time.

    Retrievers that follow one another over one gallery share theirs, so that what a language
    model learned of the images' words is learned once.
    """

    def __init__(
        self, load_encoder: Load, language_for: Callable[[Encoder], LanguageModel], domain: Domain = "garment",
        workers: int = 1,
    ) -> None:
        self.load_encoder = OneAtATime(load_encoder)
        self.domain, self.workers = domain, workers
        self._language_for = language_for
        self._generation = ""
        self._latest: tuple[LateEncoder, LanguageModel] | None = None

    def of(self, gallery: Gallery) -> tuple[LateEncoder, LanguageModel]:
        """Of ``gallery``; nothing is loaded yet."""
        if self._latest is None or self._generation != gallery.generation:
            self._latest = None
            encoder = LateEncoder(gallery, self.load_encoder)
            self._latest = encoder, self._language_for(encoder)
            self._generation = gallery.generation
        return self._latest
