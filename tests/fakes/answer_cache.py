"""An answer cache in a dict."""

from __future__ import annotations

from typing import Any


class DictCache:
    """By the contract: a known key keeps its answer. ``puts`` holds what came with each."""

    def __init__(self) -> None:
        self.rows: dict[str, str] = {}
        self.puts: list[dict[str, Any]] = []

    def get(self, key: str) -> str | None:
        return self.rows.get(key)

    def put(self, key: str, answer: str, **about: Any) -> None:
        self.rows.setdefault(key, answer)
        self.puts.append(about)
