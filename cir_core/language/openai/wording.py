"""Strip quotes, labels and openings such as "the image shows" from a model's sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from cir_core.language.tasks import DifferenceTask, Task

_SENTENCES = {"caption", "query", "instruction", "refined_caption"}
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»", "„": "“"}
# Known labels only, and up to their first colon: a caption may contain colons.
_LABEL = re.compile(
    r"(?:(?:edited|refined|rewritten|new|final|target|image|search|relative)\s+)?"
    r"(?:captions?|descriptions?|instructions?|modifications?|quer(?:y|ies)|results?|answers?|outputs?|requests?)"
    r"\s*:\s*", re.IGNORECASE,
)
_PICTURE = r"(?:image|picture|photo|photograph)"
_OPENING = re.compile(
    rf"(?:(?:in\s+)?(?:the|this)\s+{_PICTURE},?\s+"
    r"(?:shows|depicts|displays|features|contains|portrays|presents|is\s+of|there\s+(?:is|are)|(?:we|you)\s+(?:can\s+)?see)"
    rf"|this\s+is\s+an?\s+{_PICTURE}\s+of|an?\s+{_PICTURE}\s+of)\s+", re.IGNORECASE,
)


_LAYERS = 20     # of quotes, labels and openings; each copies the text


def clean(task: Task[Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """``fields`` with normalised white space, empty list entries dropped and sentences stripped."""
    cleaned = {name: _tidied(value) for name, value in fields.items()}
    for name in _SENTENCES & cleaned.keys():
        if isinstance(cleaned[name], str):
            cleaned[name] = bare(cleaned[name])
    if isinstance(task, DifferenceTask) and isinstance(cleaned.get("instruction"), str):
        text = cleaned["instruction"]
        cleaned["instruction"] = text[:1].upper() + text[1:]
    return cleaned


def bare(text: str) -> str:
    """``text`` without outer quotes, a leading label and an opening such as "the image shows"."""
    for _ in range(_LAYERS):
        before = text
        text = _unquoted(text)
        for pattern in (_LABEL, _OPENING):
            match = pattern.match(text)
            text = text[match.end():] if match and match.end() < len(text) else text
        if text == before:
            break
    return text


def _tidied(value: Any) -> Any:
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, list):
        entries = [_tidied(entry) for entry in value]
        return [entry for entry in entries if entry != ""]
    return value


def _unquoted(text: str) -> str:
    closing = _QUOTES.get(text[:1])
    inner = text[1:-1].strip()
    # "red" and "blue" begins and ends with quotes that are not a pair.
    if closing and len(text) >= 2 and text.endswith(closing) and closing not in inner:
        return inner
    return text
