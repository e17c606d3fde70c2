"""Response cache around a language model."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

from pydantic import ValidationError

from cir_core.errors import StorageError
from cir_core.language.base import LanguageModel
from cir_core.language.observer import MeteredWatch, Observer
from cir_core.language.tasks import A, CaptionAnswer, CaptionTask, Picture, Task
from cir_core.language.wrappers.base import Wrapper
from cir_core.language.wrappers.cache import AnswerCache
from cir_core.language.wrappers.conditions import Conditions
from cir_core.types.composition import Usage

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
