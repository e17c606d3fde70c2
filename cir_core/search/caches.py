"""What a searcher keeps: captions, for which the language model is called once per image, what images show in words,
and vectors of texts, for repeated ranking by the same short texts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from cachetools import LRUCache

from cir_core.encoders.base import Encoder
from cir_core.gallery.gallery import Gallery
from cir_core.language.base import LanguageModel, Observer
from cir_core.language.readers.choosing import described
from cir_core.language.tasks import CaptionAnswer, CaptionTask, Domain, Picture
from cir_core.types.records import Matrix, Vector

_KEPT = 4096


class Captioner:
    """Caption images, each once. Thread-safe.

    Answers with notes are not cached: they may come from a fallback, whose notes
    should be shown every time. Nor are images without a digest: nothing distinguishes
    them from others of the same name.
    """

    def __init__(self, language: LanguageModel, domain: Domain) -> None:
        self._language = language
        self._domain = domain
        self._answers: LRUCache[str, CaptionAnswer] = LRUCache(_KEPT)
        self._lock = threading.Lock()

    def caption(self, image_id: str, picture: Picture, watch: Observer | None = None) -> CaptionAnswer:
        """The caption of one image. Raises ``LanguageModelError``."""
        with self._lock:
            known = self._answers.get(image_id)
        if known is not None:
            return known
        answer = self._language.complete(CaptionTask(picture, self._domain), watch)
        if answer.caption and not answer.notes and picture.digest:
            with self._lock:
                self._answers[image_id] = answer
        return answer


class Descriptions:
    """What images of a gallery show, in words for people who cannot see them: their captions, or what the built-in
    rules read (:func:`cir_core.language.readers.choosing.described`). Thread-safe; each image is read once."""

    def __init__(self, gallery: Gallery, encoder: Encoder, domain: Domain) -> None:
        self._gallery, self._encoder, self._domain = gallery, encoder, domain
        self._texts: LRUCache[str, str] = LRUCache(_KEPT)
        self._lock = threading.Lock()

    def of(self, image_ids: Iterable[str]) -> dict[str, str]:
        """Those of ``image_ids`` that are in the gallery and can be described."""
        ids = [image_id for image_id in dict.fromkeys(image_ids) if image_id in self._gallery]
        with self._lock:
            found = {image_id: text for image_id in ids if (text := self._texts.get(image_id)) is not None}
        new = [image_id for image_id in ids if image_id not in found]
        if new:
            read = {image_id: (self._gallery.caption_of(image_id) or "").strip() for image_id in new}
            bare = [image_id for image_id in new if not read[image_id]]
            if bare:
                rows = [self._gallery.row_of(image_id) for image_id in bare]
                features = np.asarray(self._gallery.features[rows], dtype=np.float32)
                read.update(zip(bare, described(features, self._encoder, self._domain), strict=True))
            with self._lock:
                self._texts.update(read)
            found |= read
        return {image_id: text for image_id, text in found.items() if text}


class Marked:
    """Which images something is true of. Thread-safe; each image is asked of once, as long as there is room."""

    def __init__(self) -> None:
        self._known: LRUCache[str, bool] = LRUCache(_KEPT)
        self._lock = threading.Lock()

    def among(self, image_ids: Sequence[str], ask: Callable[[Sequence[str]], Iterable[bool]]) -> frozenset[str]:
        """Those of ``image_ids`` that it is true of. ``ask`` tells, for images in their order."""
        with self._lock:
            found = {image_id: self._known[image_id] for image_id in image_ids if image_id in self._known}
        new = [image_id for image_id in dict.fromkeys(image_ids) if image_id not in found]
        if new:
            told = {image_id: bool(one) for image_id, one in zip(new, ask(new), strict=True)}
            with self._lock:
                self._known.update(told)
            found |= told
        return frozenset(image_id for image_id, is_marked in found.items() if is_marked)


_TEXTS = 512


class TextVectors:
    """Cached text encoder. Thread-safe."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._vectors: LRUCache[str, Vector] = LRUCache(_TEXTS)
        self._lock = threading.Lock()
        self.identity = encoder.identity

    def encode_texts(self, texts: Sequence[str]) -> Matrix:
        """``[n, dim]``, as from the encoder; only new texts are encoded."""
        with self._lock:
            known = {text: self._vectors[text] for text in texts if text in self._vectors}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known |= dict(zip(new, self._encoder.encode_texts(new), strict=True))
            with self._lock:
                self._vectors.update((text, known[text]) for text in new)
        return np.stack([known[text] for text in texts])
