"""The seam to where answers are kept."""

from __future__ import annotations

from typing import Protocol


class AnswerCache(Protocol):
    """Answers by a key that names model, role, prompt version and inputs. Thread-safe."""

    def get(self, key: str) -> str | None:
        """The answer's JSON, or None."""
        ...

    def put(
        self, key: str, answer: str, *, model: str, role: str, prompt_version: str,
        prompt_tokens: int, completion_tokens: int,
    ) -> None:
        """Keep ``answer`` (JSON); committed on return. A key that is known keeps its answer."""
        ...
