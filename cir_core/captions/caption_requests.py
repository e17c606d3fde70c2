"""Request several captions per image from a language model, for a few images concurrently."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import cache

import numpy as np
from PIL import Image

from cir_core.captions.caption_answers import Answers, CaptionAnswers
from cir_core.captions.captions import tidy_caption
from cir_core.errors import ImageUnreadable, LanguageModelError, LanguageModelUnavailable, Stopped, UnsupportedTask
from cir_core.gallery.gallery import Gallery
from cir_core.language.base import LanguageModel
from cir_core.language.observer import Observer
from cir_core.language.tasks import CaptionTask, Domain, Picture

_PATIENCE = 3  # consecutive errors after which an image is given up
_SILENT = "got no caption from the language model."


class CaptionRequests:
    """The requests of one run. ``asked`` counts them."""

    def __init__(self, gallery: Gallery, language: LanguageModel, answers: CaptionAnswers, domain: Domain) -> None:
        self._gallery, self._language, self._answers, self._domain = gallery, language, answers, domain
        self._watch = Observer()
        self.asked = 0

    def work(self, rows: Sequence[int], workers: int, done: Callable[[], None]) -> None:
        """Request the missing captions of the images in ``rows``; ``done`` is called after each.

        A failed image is recorded with the reason and the next one continues. Raises ``LanguageModelUnavailable`` and
        ``UnsupportedTask``; however the run ends, answers received so far are saved.
        """
        waiting: set[Future[tuple[int, bool]]] = set()
        with ThreadPoolExecutor(workers, thread_name_prefix="caption") as pool:
            try:
                for row in rows:
                    if len(waiting) >= 2 * workers:
                        waiting = self._collect(waiting, done)
                    waiting.add(pool.submit(self._ask, row))
                while waiting:
                    waiting = self._collect(waiting, done)
            except BaseException:
                self._watch.stop()
                for future in waiting:
                    future.cancel()
                raise

    def _collect(
        self, waiting: set[Future[tuple[int, bool]]], done: Callable[[], None]
    ) -> set[Future[tuple[int, bool]]]:
        finished, still = wait(waiting, return_when=FIRST_COMPLETED)
        for future in finished:
            asked, over = future.result()
            self.asked += asked
            if over:
                done()
        return still

    def _ask(self, row: int) -> tuple[int, bool]:
        """Request everything missing for one image: the number of calls, and whether it
        completed. It is stopped, incomplete, when another image finds the server unavailable."""
        image = self._gallery.image(row)

        @cache  # once for all samples
        def load() -> Image.Image:
            return self._gallery.load_for_encoder(image.image_id)

        # The manifest's caption is one more candidate; shown to the model it would give the answer away.
        picture = Picture(
            digest=image.sha256, features=np.asarray(self._gallery.features[row], dtype=np.float32), load=load
        )
        before = self._answers.of(image.sha256)
        texts = list(before.texts)
        problem, failures, asked, over = "", 0, 0, True
        try:
            for sample in before.missing:
                if self._watch.stopped:
                    over = False
                    break
                if failures == _PATIENCE:
                    break
                asked += 1
                try:
                    answer = self._language.complete(CaptionTask(picture, self._domain, sample), self._watch)
                except (LanguageModelUnavailable, UnsupportedTask):
                    self._watch.stop()  # at once: otherwise this thread would start the next image
                    raise
                except Stopped:
                    over = False
                    break
                except ImageUnreadable as error:
                    problem = str(error)
                    break
                except LanguageModelError as error:
                    problem, failures = str(error), failures + 1
                else:
                    texts[sample], failures = tidy_caption(answer.caption), 0
                    if not any(texts):
                        problem = " ".join(answer.notes) or _SILENT
        finally:
            after = Answers(tuple(texts), problem)
            if after != before:
                self._answers.put(image.sha256, after)
        return asked, over
