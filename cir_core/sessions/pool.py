"""Shared pool of open galleries and encoders, each loaded once."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from cir_core.captions.stored import GalleryCaptions, read_captions
from cir_core.encoders import load_encoder
from cir_core.encoders.base import Encoder
from cir_core.errors import EncoderMismatch, GalleryError
from cir_core.gallery.gallery import Gallery, GalleryInfo, list_galleries, open_gallery
from cir_core.gallery.paths import gallery_folder, read_header
from cir_core.index.stored import StoredIndex, open_index, stamp_of, state_of
from cir_core.language.base import LanguageModel
from cir_core.language.tasks import Domain
from cir_core.methods.relevance import RelevanceScores
from cir_core.relevance.configured import configured_scorer
from cir_core.search.searcher import Searcher
from cir_core.support.texts import quoted
from cir_core.types.records import EncoderIdentity

REST = 10.0  # seconds
_log = logging.getLogger("cirque.galleries")


@dataclass(frozen=True)
class _Refused:
    """An encoder's weights differ from those the gallery was indexed with."""

    generation: str
    sentence: str
    until: float


class SearcherPool:
    """Galleries and searchers by name, opened at first use and reopened when the gallery changes.

    Galleries that were indexed with the same weights share their encoder, which is released with the last of them.
    Thread-safe: loading an encoder blocks neither galleries with other encoders nor work that needs none. If an
    encoder's weights no longer match the gallery's, they are checked again every ``rest`` seconds at most. Besides the
    galleries that ``only`` names, there are none.
    """

    def __init__(
        self, home: Path, language_for: Callable[[Encoder], LanguageModel],
        encoder_loader: Callable[[str], Encoder] = load_encoder, *, domain: Domain = "garment",
        rest: float = REST, clock: Callable[[], float] = time.monotonic,
        relevance: Callable[[Gallery], RelevanceScores] = configured_scorer, only: Collection[str] | None = None,
    ) -> None:
        self._home = home
        self._language_for = language_for
        self._load_encoder = encoder_loader
        self._domain = domain
        self._relevance = relevance
        self._only = only
        self._rest, self._clock = rest, clock
        self._lock = threading.Lock()
        self._loading: dict[str, threading.Lock] = {}  # by encoder spec
        self._galleries: dict[str, Gallery] = {}
        self._searchers: dict[str, Searcher] = {}
        self._stamps: dict[str, str] = {}              # of the index that each of these has
        self._refused: dict[str, _Refused] = {}

    def index(self, name: str) -> tuple[str, StoredIndex | None]:
        """What gallery ``name`` is searched with (:func:`cir_core.index.stored.state_of`)."""
        return state_of(gallery_folder(name, self._home))

    def infos(self) -> list[GalleryInfo]:
        return [info for info in list_galleries(self._home) if self._only is None or info.name in self._only]

    def gallery(self, name: str) -> Gallery:
        """Gallery ``name`` without an encoder. Raises ``GalleryError``."""
        if self._only is not None and name not in self._only:
            raise GalleryError(f"There is no gallery {quoted(name)} here.")
        try:
            gallery = open_gallery(name, home=self._home)
        except GalleryError:
            with self._lock:
                self._forget(name)
            raise
        with self._lock:
            self._galleries[name] = gallery
        return gallery

    def opening(self, name: str) -> bool:
        """Whether the encoder of gallery ``name`` is being loaded, so that :meth:`searcher` would wait. Raises
        ``GalleryError``."""
        spec = self.gallery(name).encoder.spec
        with self._lock:
            loading = self._loading.get(spec)
        return loading is not None and loading.locked()

    def searcher(self, name: str) -> Searcher:
        """The searcher over gallery ``name``; without captions if those are damaged.

        Raises:
            GalleryError: there is no such gallery, or it is damaged.
            EncoderMismatch: the encoder's weights are not those the gallery was indexed with.
            EncoderUnavailable: the encoder cannot be loaded.
            IndexUnavailable: the server that has its index cannot be reached.
        """
        gallery = self.gallery(name)
        captions, problem = _captions(gallery)
        with self._lock:
            known = self._known(gallery, captions, problem)
            loading = self._loading.setdefault(gallery.encoder.spec, threading.Lock())
        if known is not None:
            return known
        with loading:
            with self._lock:
                known = self._known(gallery, captions, problem)
                if known is not None:
                    return known
                self._let_go()
                models = self._models(gallery.encoder)
            encoder, language = models or self._loaded(gallery)
            stamp = stamp_of(gallery.folder)
            index, why_exact = open_index(gallery)
            if why_exact:
                _log.warning("%s", why_exact)
            searcher = Searcher(
                gallery, encoder, language, domain=self._domain, captions=captions, captions_problem=problem,
                relevance=self._relevance, index=index,
            )
            with self._lock:
                # The gallery may have been indexed again or removed while the encoder was loaded.
                if (held := self._galleries.get(name)) and held.generation == gallery.generation:
                    self._searchers[name] = searcher
                    self._stamps[name] = stamp
                    self._refused.pop(name, None)
            return searcher

    def _known(self, gallery: Gallery, captions: GalleryCaptions | None, problem: str) -> Searcher | None:
        known = self._searchers.get(gallery.name)
        if known is None or known.gallery.generation != gallery.generation:
            return None
        if self._stamps.get(gallery.name) != stamp_of(gallery.folder):
            return None
        return known if known.captions is captions and known.captions_problem == problem else None

    def _models(self, wanted: EncoderIdentity) -> tuple[Encoder, LanguageModel] | None:
        # Keyed by the galleries' own spec, which the loader takes.
        for searcher in self._searchers.values():
            if _key(searcher.gallery.encoder) == _key(wanted):
                return searcher.encoder, searcher.language
        return None

    def _loaded(self, gallery: Gallery) -> tuple[Encoder, LanguageModel]:
        """The encoder, and the language model to go with it. Called while holding the lock of the encoder's spec,
        not the pool's."""
        refused = self._refused.get(gallery.name)
        if refused is not None and refused.generation == gallery.generation and self._clock() < refused.until:
            raise EncoderMismatch(refused.sentence)
        encoder = self._load_encoder(gallery.encoder.spec)
        try:
            gallery.check_encoder(encoder)
        except EncoderMismatch as error:
            with self._lock:
                self._refused[gallery.name] = _Refused(gallery.generation, str(error), self._clock() + self._rest)
            raise
        return encoder, self._language_for(encoder)

    def _let_go(self) -> None:
        """Release removed galleries, and searchers whose gallery was indexed with another encoder since, with their
        models. Called before a load, so that the old model need not fit in memory beside the new one."""
        for name in list(self._galleries):
            try:
                header = read_header(gallery_folder(name, self._home))
            except GalleryError:
                header = None
            known = self._searchers.get(name)
            if header is None:
                self._forget(name)
            elif known is not None and _key(known.gallery.encoder) != _key(header.encoder):
                del self._searchers[name]

    def _forget(self, name: str) -> None:
        for held in (self._galleries, self._searchers, self._stamps, self._refused):
            held.pop(name, None)


def _captions(gallery: Gallery) -> tuple[GalleryCaptions | None, str]:
    """Captions, or why they are unreadable. Only reflection needs them, so damaged ones must not end a search."""
    try:
        return read_captions(gallery), ""
    except GalleryError as error:
        return None, str(error)


def _key(encoder: EncoderIdentity) -> tuple[str, str]:
    return encoder.spec, encoder.revision
