"""Cached captions: the language model is called once per image."""

from __future__ import annotations

import threading

from cachetools import LRUCache

from cir_core.language.base import LanguageModel
from cir_core.language.observer import Observer
from cir_core.language.tasks import CaptionAnswer, CaptionTask, Domain, Picture

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
