"""Response cache around a language model. Storage interface of cached answers, and one that lasts as long as the
process. Answers in memory, for as long as one evaluation runs. Ask once where several threads ask the same at one
time."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import asdict
from typing import Any, Protocol, cast

from pydantic import ValidationError

from cir_core.errors import LanguageModelError, LanguageModelUnavailable, Stopped, StorageError
from cir_core.language.base import LanguageModel, MeteredWatch, Observer
from cir_core.language.tasks import A, CaptionAnswer, CaptionTask, Picture, Task
from cir_core.language.wrappers.base import Conditions, Wrapper
from cir_core.types.composition import Usage


class AnswerCache(Protocol):
    """Answers by a key over model, role, prompt version and inputs. Thread-safe."""

    def get(self, key: str) -> str | None:
        """The cached answer as JSON, or None."""

    def put(
        self, key: str, answer: str, *, model: str, role: str, prompt_version: str,
        prompt_tokens: int, completion_tokens: int,
    ) -> None:
        """Store ``answer`` (JSON); committed on return. An existing entry is not replaced."""


class MemoryCache:
    """An ``AnswerCache`` in memory, without a limit: for scripts."""

    def __init__(self) -> None:
        self._answers: dict[str, str] = {}

    def get(self, key: str) -> str | None:
        return self._answers.get(key)

    def put(self, key: str, answer: str, **about: Any) -> None:
        self._answers.setdefault(key, answer)


_log = logging.getLogger("cirque.language")


class CachedLanguageModel(Wrapper):
    """Returns stored answers of ``inner``. Wrap a model directly: the answer of a fallback must not be stored under the
    model's name. Answers with notes are not stored either: something prevented a better one. But if ``inner`` has
    adapted its conditions during the call (it sends smaller images), the answer is stored under the new ones.

    A caption from the gallery's manifest is returned here, since every model that costs something
    is wrapped in this class; the built-in model takes such captions by itself.
    """

    def __init__(self, inner: LanguageModel, cache: AnswerCache) -> None:
        super().__init__(inner)
        self._cache = cache

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        if isinstance(task, CaptionTask) and task.picture.caption and task.picture.caption.strip():
            return cast(A, CaptionAnswer(caption=task.picture.caption))
        conditions = self.conditions(task)
        key = answer_key(self.name, task, conditions)
        kept = self._kept(key, task)
        if kept is not None:
            if watch is not None:
                watch.spent(Usage(cached=1, models=(self.name,)))
            return kept
        meter = MeteredWatch(watch or Observer())
        answer = self.inner.complete(task, meter)
        if answer.notes:
            now = self.conditions(task)
            if now == conditions:
                return answer
            key, conditions = answer_key(self.name, task, now), now
        try:
            self._cache.put(
                key, answer.model_dump_json(), model=self.name, role=task.role,
                prompt_version=conditions.prompt_version, prompt_tokens=meter.usage.prompt_tokens,
                completion_tokens=meter.usage.completion_tokens,
            )
        except StorageError as error:  # a failed write must not lose the answer
            _log.warning("An answer could not be kept: %s", error)
        return answer

    def _kept(self, key: str, task: Task[A]) -> A | None:
        try:
            text = self._cache.get(key)
        except StorageError as error:
            _log.warning("Kept answers cannot be read: %s", error)
            return None
        if text is None:
            return None
        try:
            return cast(A, task.answer_type.model_validate_json(text))
        except ValidationError:  # a damaged row counts as missing
            return None


def answer_key(model: str, task: Task[Any], conditions: Conditions) -> str:
    """SHA-256 over everything the answer depends on."""
    parts: Mapping[str, Any] = {
        "model": model, "role": task.role, "inputs": task.inputs(), "conditions": asdict(conditions),
        "pictures": [[_content(picture), picture.caption or ""] for picture in task.pictures()],
    }
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _content(picture: Picture) -> str:
    if picture.digest:
        return picture.digest
    if picture.load is None:
        return ""
    image = picture.load()
    return hashlib.sha256(f"{image.mode} {image.size} ".encode() + image.tobytes()).hexdigest()


class RememberingLanguageModel(Wrapper):
    """Asks ``inner`` once for each task. A refusal is remembered too: what is compared must fail at the same
    queries. An unavailable model is asked again."""

    def __init__(self, inner: LanguageModel) -> None:
        super().__init__(inner)
        self._known: dict[str, Any] = {}

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        key = answer_key(self.name, task, self.conditions(task))
        if key not in self._known:
            try:
                self._known[key] = self.inner.complete(task, watch)
            except (LanguageModelUnavailable, Stopped):
                raise
            except LanguageModelError as error:
                self._known[key] = error
        found = self._known[key]
        if isinstance(found, LanguageModelError):
            raise found
        return cast(A, found)

    def forget(self) -> None:
        """Drop all answers."""
        self._known.clear()


class SingleFlightLanguageModel(Wrapper):
    """While a task is being answered, others with the same key wait for that answer instead of paying for another one,
    which could differ. If it fails, one of them asks in its own name. Wrap it around the cache."""

    def __init__(self, inner: LanguageModel) -> None:
        super().__init__(inner)
        self._lock = threading.Lock()
        self._asked: dict[str, Future[Any]] = {}

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        key = answer_key(self.name, task, self.conditions(task))
        while True:
            with self._lock:
                pending = self._asked.get(key)
                if pending is None:
                    mine = self._asked[key] = Future()
                    break
            if pending.exception() is None:
                return cast(A, pending.result())
        try:
            answer = self.inner.complete(task, watch)
        except BaseException as error:
            self._end(key)
            mine.set_exception(error)
            raise
        self._end(key)
        mine.set_result(answer)
        return answer

    def _end(self, key: str) -> None:
        with self._lock:
            del self._asked[key]
