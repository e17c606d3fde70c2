"""OpenAI features that a server supports, detected from its refusals."""

from __future__ import annotations

import re
from collections.abc import Collection

from cir_core.language.openai.replies.complaints import Complaint, Kind

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
_OF_THE_FORM = (400, 422, 501)   # statuses of requests that the server does not take as they are
_SAYS_NOTHING = re.compile(
    r"(?:error|code|type|message|detail|http|status|none|null|bad|invalid|request|unprocessable|entity|content|"
    r"[\W\d_])*", re.IGNORECASE)


def refused_feature(complaint: Complaint, used: Collection[str]) -> str | None:
    """The feature among ``used`` that ``complaint`` names, to be omitted on the next try; None if it names none."""
    if complaint.kind not in (Kind.OTHER, Kind.NO_IMAGES) and complaint.status != 501:
        return None
    said = f"{complaint.words} {complaint.param}"
    return next((feature for feature, pattern in FEATURES.items()
                 if feature in used and re.search(pattern, said, re.IGNORECASE)), None)


def says_nothing(complaint: Complaint) -> bool:
    """Whether a refusal gives no reason: nothing but "Bad Request" and the like.

    Servers differ most in the answer format, so such a request is worth one try without it. A refusal with an unknown
    reason is final: a retry would fail again.
    """
    if complaint.status not in _OF_THE_FORM or complaint.kind is not Kind.OTHER or complaint.param:
        return False
    return bool(_SAYS_NOTHING.fullmatch(re.sub(r"<[^<>]*>", " ", complaint.words)))


def mode(refused: Collection[str]) -> str:
    """How answers are requested: ``json_schema``, ``json_object`` or ``plain``."""
    return next((feature for feature in FORMS if feature not in refused), "plain")
