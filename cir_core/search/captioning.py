"""Captions of images as methods need them: a language model is asked once for each image."""

from __future__ import annotations

import threading
from collections import OrderedDict

from cir_core.language.base import LanguageModel
from cir_core.language.observer import Observer
from cir_core.language.tasks import CaptionAnswer, CaptionTask, Domain, Picture

_KEPT = 4096


class Captioner:
    """Asks a language model for each image once. Thread-safe.

    An answer with remarks is asked for again next time: it may come from a stand-in, and
    what it says should be said every time. So is a picture without a digest: nothing tells
    it from another one of the same name.
    """

    def __init__(self, language: LanguageModel, domain: Domain) -> None:
        self._language = language
        self._domain = domain
        self._answers: OrderedDict[str, CaptionAnswer] = OrderedDict()
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
                while len(self._answers) > _KEPT:
                    self._answers.popitem(last=False)
        return answer
