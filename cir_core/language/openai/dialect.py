"""OpenAI features that a server supports, detected from its refusals."""

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
"""Features, with the wording of servers that refuse them."""

FORMS = ("json_schema", "json_object")
_SAYS_NOTHING = re.compile(
    r"(?:error|code|type|message|detail|http|status|none|null|bad|invalid|request|unprocessable|entity|content|"
    r"[\W\d_])*", re.IGNORECASE)


def refused_feature(error: Fault, used: Collection[str]) -> str | None:
    """The feature among ``used`` that ``error`` names, to be omitted on the next try; None if it names none."""
    if isinstance(error, NotStream):
        return "stream"
    if status_of(error) not in (400, 422) or is_final(error):
        return None
    said = f"{words_of(error)} {_param(error)}"
    for feature, pattern in FEATURES.items():
        if feature in used and re.search(pattern, said, re.IGNORECASE):
            return feature
    return None


def says_nothing(error: Fault) -> bool:
    """Whether a refusal gives no reason: nothing but "Bad Request" and the like.

    Servers differ most in the answer format, so such a request is worth one try without it. A refusal with an unknown
    reason is final: a retry would fail again.
    """
    if status_of(error) not in (400, 422) or _param(error):
        return False
    return bool(_SAYS_NOTHING.fullmatch(re.sub(r"<[^<>]*>", " ", words_of(error))))


def mode(refused: Collection[str]) -> str:
    """How answers are requested: ``json_schema``, ``json_object`` or ``plain``."""
    return next((feature for feature in FORMS if feature not in refused), "plain")


def _param(error: Fault) -> str:
    return (isinstance(error, openai.APIError) and error.param) or ""
