"""Storage interface of cached answers, and one that lasts as long as the process."""

from __future__ import annotations

from typing import Any, Protocol


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
