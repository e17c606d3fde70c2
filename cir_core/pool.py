"""Open galleries and encoders, each loaded once and shared by everybody."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from cir_core.encoders import load_encoder
from cir_core.encoders.base import Encoder
from cir_core.gallery import GalleryInfo, list_galleries, open_gallery
from cir_core.gallery_captions import read_captions
from cir_core.language.base import LanguageModel
from cir_core.search import Searcher


class SearcherPool:
    """Searchers by gallery name, opened at first use and again when the gallery changed."""

    def __init__(
        self, home: Path, language_for: Callable[[Encoder], LanguageModel],
        encoder_loader: Callable[[str], Encoder] = load_encoder, *, domain: str = "garment",
    ) -> None:
        self._home = home
        self._language_for = language_for
        self._load_encoder = encoder_loader
        self._domain = domain
        self._lock = threading.RLock()
        self._models_by_spec: dict[str, tuple[Encoder, LanguageModel]] = {}
        self._searchers: dict[str, tuple[str, Searcher]] = {}

    def infos(self) -> list[GalleryInfo]:
        return list(list_galleries(self._home))

    def searcher(self, name: str) -> Searcher:
        """The searcher over gallery ``name``. Raises ``GalleryError``, ``EncoderUnavailable``."""
        with self._lock:
            gallery = open_gallery(name, home=self._home)
            captions = read_captions(gallery)
            known = self._searchers.get(name)
            if known is not None and known[0] == gallery.generation and known[1].captions is captions:
                return known[1]
            encoder, language = self._models(gallery.encoder.spec)
            searcher = Searcher(gallery, encoder, language, domain=self._domain, captions=captions)
            self._searchers[name] = (gallery.generation, searcher)
            return searcher

    def _models(self, spec: str) -> tuple[Encoder, LanguageModel]:
        if spec not in self._models_by_spec:
            encoder = self._load_encoder(spec)
            self._models_by_spec[spec] = (encoder, self._language_for(encoder))
        return self._models_by_spec[spec]
