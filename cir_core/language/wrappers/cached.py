"""Answers that were paid for once."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, cast

from pydantic import ValidationError

from cir_core.errors import StorageError
from cir_core.language.base import LanguageModel
from cir_core.language.observer import MeteredWatch, Observer
from cir_core.language.tasks import A, Picture, Task
from cir_core.language.wrappers.cache import AnswerCache
from cir_core.language.wrappers.conditions import Conditions as Conditions
from cir_core.language.wrappers.given import given_answer
from cir_core.types.composition import Usage

_log = logging.getLogger("cirque.language")


class CachedLanguageModel:
    """Answers again what ``inner`` answered before. Put it directly around a model: what a
    fallback answers in its place must not be kept under its name. Answers with notes are not
    kept either: something was in the way of a better one. But if ``inner`` has drawn its
    conclusions, so that its conditions are others now (it sends smaller images), the answer is
    what those conditions give, and kept under them.

    ``conditions`` tells what else ``inner`` depends on for a task. A caption from the gallery's
    manifest is given here, for every model that costs something is wrapped in this one.
    """

    def __init__(
        self, inner: LanguageModel, cache: AnswerCache,
        conditions: Callable[[Task[Any]], Conditions] = lambda task: Conditions(),
    ) -> None:
        self._inner, self._cache, self._conditions = inner, cache, conditions

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def sees(self) -> bool:
        return self._inner.sees

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        """See :class:`~cir_core.language.base.LanguageModel`."""
        given = given_answer(task)
        if given is not None:
            return given
        conditions = self.conditions(task)
        key = answer_key(self.name, task, conditions)
        kept = self._kept(key, task)
        if kept is not None:
            if watch is not None:
                watch.spent(Usage(cached=1, models=(self.name,)))
            return kept
        meter = MeteredWatch(watch or Observer())
        answer = self._inner.complete(task, meter)
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
        except StorageError as error:  # an answer that is there is worth more than one that is kept
            _log.warning("An answer could not be kept: %s", error)
        return answer

    def conditions(self, task: Task[Any]) -> Conditions:
        """What the answer to ``task`` depends on besides its inputs and the model."""
        return self._conditions(task)

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
        except ValidationError:  # a damaged row is as good as none
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
