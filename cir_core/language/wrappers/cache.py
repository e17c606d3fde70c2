"""Storage interface of cached answers."""

from __future__ import annotations

from typing import Protocol


class AnswerCache(Protocol):
    """Answers by a key over model, role, prompt version and inputs. Thread-safe."""

    def get(self, key: str) -> str | None:
        """The cached answer as JSON, or None."""

    def put(
        self, key: str, answer: str, *, model: str, role: str, prompt_version: str,
        prompt_tokens: int, completion_tokens: int,
    ) -> None:
        """Store ``answer`` (JSON); committed on return. An existing entry is not replaced."""
