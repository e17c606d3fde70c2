"""What a server takes of what OpenAI's interface has, found out from what it refuses."""

from __future__ import annotations

import re
from collections.abc import Collection

import openai

from cir_core.language.openai.failures import Fault, NotStream, is_final, status_of, words_of

FEATURES = {
    "json_schema": r"response_format|json_?schema|guided|grammar|structured",
    "json_object": r"response_format|json_?object|guided|grammar|structured",
    "usage": r"stream_options|include_usage",
    "stream": r"\bstream(ing)?\b(?!_)",
    "max_tokens": r"max_tokens|max_completion_tokens",
    "temperature": r"temperature",
    "seed": r"\bseed\b",
    "system": r"system (role|message|prompt)|role.{0,20}system|roles must alternate",
}
"""Each with how servers speak of it when they refuse it."""

_VAGUE = ("json_schema", "json_object")


def refused_feature(error: Fault, used: Collection[str]) -> str | None:
    """The feature among ``used`` to go without on the next try; None if that is not the matter.

    A refusal that names nothing we know is put down to the form of the answer: that is
    what servers differ in most.
    """
    if isinstance(error, NotStream):
        return "stream"
    if status_of(error) not in (400, 422) or is_final(error):
        return None
    said = f"{words_of(error)} {(isinstance(error, openai.APIError) and error.param) or ''}"
    for feature, pattern in FEATURES.items():
        if feature in used and re.search(pattern, said, re.IGNORECASE):
            return feature
    return next((feature for feature in _VAGUE if feature in used), None)


def mode(refused: Collection[str]) -> str:
    """How answers are asked for: ``json_schema``, ``json_object`` or ``plain``."""
    return next((feature for feature in _VAGUE if feature not in refused), "plain")
