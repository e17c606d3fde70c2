"""Request several captions per image from a language model, for a few images concurrently. Language-model captions
of images, stored by the images' content hash."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from PIL import Image

from cir_core.captions.captions import tidy_caption
from cir_core.encoders.base import Encoder
from cir_core.errors import (
    GalleryError,
    ImageUnreadable,
    LanguageModelError,
    LanguageModelUnavailable,
    Stopped,
    UnsupportedTask,
)
from cir_core.gallery.gallery import Gallery
from cir_core.language.base import LanguageModel, Observer
from cir_core.language.tasks import CaptionTask, Domain, Picture
from cir_core.language.wrappers.base import conditions_of
from cir_core.support.json_lines import Lines, read_heading

FORMAT = 1


@dataclass(frozen=True)
class CaptionPlan:
    """Everything generated captions depend on; answers under different plans are never mixed."""

    model: str
    samples: int            # M
    domain: str
    encoder_revision: str   # of the features described; "" for a model that sees the images
    prompt_version: str = ""    # "" for a model without prompts

    def differences(self, other: CaptionPlan) -> tuple[str, str]:
        """Readable differences: the values here and in ``other``."""
        words = {"model": "model {}", "samples": "{} samples", "domain": "domain {}",
                 "encoder_revision": "encoder revision {}", "prompt_version": "prompt version {}"}
        mine, theirs = asdict(self), asdict(other)
        changed = [key for key in words if mine[key] != theirs[key]]
        here, there = (", ".join(words[key].format(plan[key] or "none") for key in changed) for plan in (mine, theirs))
        return here, there


def plan_of(language: LanguageModel, encoder: Encoder, samples: int, domain: Domain) -> CaptionPlan:
    """The plan of ``samples`` captions by ``language``, of what ``encoder`` has made features of."""
    revision = "" if language.sees else encoder.identity.revision
    prompt_version = conditions_of(language, CaptionTask(domain=domain)).prompt_version
    return CaptionPlan(language.name, samples, domain, revision, prompt_version)


@dataclass(frozen=True)
class Answers:
    """``texts[i]`` is the answer to sample i, tidied; "" if empty, None if
    missing. ``problem`` is the last error, "" if there was none."""

    texts: tuple[str | None, ...]
    problem: str = ""

    @property
    def missing(self) -> list[int]:
        """Samples to request: all of them again as long as every answer is empty."""
        every = not any(self.texts)
        return [i for i, text in enumerate(self.texts) if every or text is None]


class KeptAnswers(Protocol):
    """Answers by the SHA-256 of the image file. Thread-safe."""

    def of(self, sha256: str) -> Answers: ...

    def put(self, sha256: str, answers: Answers) -> None: ...


class CaptionAnswers:
    """Answers by the SHA-256 of the image file, on disk. Thread-safe, one process at a time."""

    def __init__(self, path: Path, plan: CaptionPlan) -> None:
        """Continue the file at ``path``, or start a new one if it has another plan (see :func:`read_plan`)."""
        self._none = Answers((None,) * plan.samples)
        self._lines = Lines(path, {"format": FORMAT, **asdict(plan)})
        self._lock = threading.Lock()
        self._offsets: dict[str, int] = {}      # the texts stay on disk: there may be millions
        self._unfinished: set[str] = set()
        for offset, line in self._lines:
            self._note(line["sha256"], offset, _answers(line))

    def of(self, sha256: str) -> Answers:
        offset = self._offsets.get(sha256)
        return self._none if offset is None else _answers(self._lines.read(offset))

    def is_complete(self, sha256: str) -> bool:
        return sha256 in self._offsets and sha256 not in self._unfinished

    def put(self, sha256: str, answers: Answers) -> None:
        """Replace the answers for an image. They survive a killed process once this returns."""
        line = {"sha256": sha256, "texts": answers.texts, "problem": answers.problem}
        offset = self._lines.append(line)
        with self._lock:
            self._note(sha256, offset, answers)

    def close(self) -> None:
        self._lines.close()

    def _note(self, sha256: str, offset: int, answers: Answers) -> None:
        self._offsets[sha256] = offset
        if answers.missing:
            self._unfinished.add(sha256)
        else:
            self._unfinished.discard(sha256)


def read_plan(path: Path) -> CaptionPlan | None:
    """The plan of the answers at ``path``; None if there are none. Raises ``GalleryError`` for answers without a
    readable plan: they may have cost money, so they are not overwritten without consent."""
    heading = read_heading(path)
    if heading is None and (not path.exists() or path.stat().st_size == 0):
        return None
    try:
        if heading is None or heading.pop("format") != FORMAT:
            raise KeyError("format")
        return CaptionPlan(**heading)
    except (KeyError, TypeError) as error:
        raise GalleryError(f"The generated captions in {path} are damaged or were written by another version of "
                           "cirque. Move the file away to keep it, or add --restart to start again.") from error


def _answers(line: dict[str, Any]) -> Answers:
    return Answers(tuple(line["texts"]), line["problem"])


_PATIENCE = 3  # consecutive errors after which an image is given up
_SILENT = "got no caption from the language model."


class CaptionRequests:
    """The requests of one run. ``asked`` counts them."""

    def __init__(self, gallery: Gallery, language: LanguageModel, answers: KeptAnswers, domain: Domain) -> None:
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
