"""What became of a request that was not answered: one decision, from what the server says before its HTTP status.

Servers tell the same things with different statuses, in different places and under different names. ``complaint_of``
brings every shape into one record, and ``Complaint.kind`` says what it means; nothing else looks at statuses or words.
"""

from __future__ import annotations

import email.utils
import json
import math
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import openai

from cir_core.language.openai.bounded import ReplyRefused

_LOOKED_AT = 20_000    # characters of a server's message that are searched for reasons
_DEEPEST = 4           # errors inside errors: routers pass on those of the server behind them


class Kind(StrEnum):
    """What a complaint means."""

    POLICY = "policy"           # text or images are rejected for what they show or say
    KEY = "key"
    CREDIT = "credit"
    RATE = "rate"               # too many requests: passes
    QUOTA = "quota"             # the request alone is more than the account may use in a minute: does not pass
    BUSY = "busy"               # overloaded, loading, failed: passes
    EMPTY = "empty"             # a reply without an answer: passes
    LOST = "lost"               # no connection, or none that lasted: passes
    MODEL = "model"             # the server has no such model
    ADDRESS = "address"         # nobody here speaks chat completions
    CONTEXT = "context"         # the prompt is longer than the model can read
    CEILING = "ceiling"         # more room for the answer was asked for than the server gives
    TOO_LARGE = "too large"     # the images, or the request
    NO_IMAGES = "no images"
    UNREADABLE = "unreadable"   # a reply that was dropped unread
    OTHER = "other"             # a refusal of the request as it is, perhaps of one of its features


PASSING = frozenset({Kind.RATE, Kind.BUSY, Kind.EMPTY, Kind.LOST})
"""Worth the same request again, after a pause."""


class Dropped(Exception):
    """A stream that ended before its answer was complete."""


class NotChat(Exception):
    """A reply that is not a chat completion."""


class NotStream(NotChat):
    """A whole reply to a streaming request."""


class NoAnswer(Exception):
    """A chat completion without an answer."""


class Complained(Exception):
    """An error that the body of a successful reply, or an event of a stream, consists of. ``wait``: its Retry-After."""

    def __init__(self, body: object, wait: str | None = None) -> None:
        super().__init__("the reply is an error")
        self.body, self.wait = body, wait


Fault = openai.APIError | Dropped | NotChat | NoAnswer | Complained | ReplyRefused

_POLICY = re.compile(r"content[_ -]?(filter|policy|management)|\bmoderation\b|\bsafety\b|invalid_prompt|usage polic|"
                     r"\bflagged\b|responsible.?ai|prohibited[_ ]content", re.IGNORECASE)
_CREDIT = re.compile(r"insufficient[_ ](quota|credits?|balance|funds)|billing_hard_limit|credit balance|"
                     r"\b(out of|no|more|never purchased) credits?\b|payment required", re.IGNORECASE)
_RATE = re.compile(r"rate.?limit|too many (requests|tokens)\b(?!.{0,40}prompt)|"
                   r"(requests|tokens) per (second|min|hour|day)|throttl|resource_exhausted|quota exceeded|"
                   r"exceeded your current quota|capacity exceeded", re.IGNORECASE)
_A_MINUTE = re.compile(r"per (?:min|hour|day)\w*\b.{0,40}limit:? *(\d[\d,]{0,12}).{0,40}requested:? *~?(\d[\d,]{0,12})",
                       re.IGNORECASE | re.DOTALL)
_AGAIN = re.compile(r"(?:try again|retry)\b.{0,20}? (?:in|after) (?:(\d{1,3})m)?(\d[\d.]{0,9}) ?(ms|s\b|sec)",
                    re.IGNORECASE)
_BUSY = re.compile(r"overloaded|unavailable|(loading|starting)( the)? model|model is (currently )?loading|not ready|"
                   r"at capacity|try again later|internal[_ ]?(server[_ ])?error|timed? ?out", re.IGNORECASE)
_KEY = re.compile(r"(invalid|incorrect|missing|expired|no valid) api[_ -]?key|api[_ -]?key.{0,20}"
                  r"(not valid|invalid|missing|expired|required)|unauthenticated|invalid authentication", re.IGNORECASE)
_MODEL = re.compile(r"model\b.{0,80}(not found|not exist|n't exist|not a valid|not available|not loaded|decommissioned)"
                    r"|(unknown|invalid|no such) model|model_not_found|pinned to|no models? (is )?loaded|"
                    r"no endpoints found|deployment.{0,40}not exist|deploymentnotfound|not a valid model",
                    re.IGNORECASE | re.DOTALL)
_ADDRESS = re.compile(r"unexpected endpoint|(invalid|unknown) (url|path|route|endpoint)|no route|cannot post|"
                      r"method not allowed", re.IGNORECASE)
_CONTEXT = re.compile(r"context (length|size|window)|too many tokens|maximum.{0,20}tokens|prompt is too long|"
                      r"exceed_context|context_length|n_ctx", re.IGNORECASE)
_TOO_LARGE = re.compile(
    r"(images?|pictures?)\b.{0,500}\b(too (large|big)|exceed|size|dimension|resolution|pixels)"
    r"|(request|payload|body|entity)\b.{0,20}\btoo (large|big)"
    r"|(too (large|big)|exceed\w{0,3})\b.{0,500}\b(images?|pictures?)", re.IGNORECASE | re.DOTALL)
_BLIND = re.compile(r"(image|vision|multi-?modal)[\w ]{0,30} (is|are) not supported|"
                    r"not support(ed)? (image|vision|multi-?modal)|not a multimodal|mmproj", re.IGNORECASE)
_NO_IMAGES = re.compile(
    r"(not|n't|no)\b.{0,40}\b(image|vision|multi-?modal)|(image|image_url|vision)\b.{0,60}\b(not|n't|only|invalid)\b",
    re.IGNORECASE | re.DOTALL)
_ROOM = re.compile(r"max_(completion_|new_|output_)?tokens|maxoutputtokens|(completion|output) tokens|"
                   r"(in|for) the completion", re.IGNORECASE)
_AT_MOST = re.compile(r"(?:at most|less than or equal to|<=|no more than|up to|between \d+ and|\[\d+,|"
                      r"(?:maximum|max)(?: allowed)?(?: value)?(?: is| of|:)|limit(?: is| of|:)) *[`'\"]?(\d[\d,]*)",
                      re.IGNORECASE)
_WHOLE = re.compile(r"context (?:length|size|window)(?: is| of)?:? *(\d[\d,]*)", re.IGNORECASE)
_READ = re.compile(r"(\d[\d,]{0,12}) (?:tokens )?(?:in the (?:messages|prompt|input)|"
                   r"(?:from the )?(?:input|prompt)(?: tokens| messages)?\b)", re.IGNORECASE)


@dataclass(frozen=True)
class Complaint:
    """What the server says. ``status``: that of the body, or else of HTTP; None where there is none. ``names``: its
    codes and types. ``wait``: seconds it asks to wait."""

    words: str
    status: int | None = None
    names: str = ""
    param: str = ""
    wait: float | None = None
    lost: bool = False
    fixed: Kind | None = None

    @property
    def said(self) -> str:
        return f"{self.names} {self.words}"

    @cached_property
    def kind(self) -> Kind:
        return self.fixed or next(_kinds(self))

    @property
    def of_prompt(self) -> bool:
        """Whether the ceiling is what this prompt leaves of the model's context."""
        return _WHOLE.search(self.words) is not None

    @property
    def ceiling(self) -> int | None:
        """The most tokens of an answer that the server names as possible, for this request."""
        if not _ROOM.search(f"{self.words} {self.param}"):
            return None
        whole, read = _WHOLE.search(self.words), _READ.search(self.words)
        if whole and read:
            return max(0, _number(whole[1]) - _number(read[1]))
        at_most = None if whole else _AT_MOST.search(self.words)
        return _number(at_most[1]) if at_most else None


def _kinds(it: Complaint) -> Iterator[Kind]:
    """The kinds that ``it`` is, the first of which counts. What is said goes before the status, but a server's own
    failure is not looked through for words of a refused request."""
    status, said = it.status, it.said
    refused = status is None or status < 500
    if it.lost:
        yield Kind.LOST
    if refused and status not in (401, 404, 408, 413, 429) and _POLICY.search(said):
        yield Kind.POLICY
    if status == 402 or _CREDIT.search(said):
        yield Kind.CREDIT
    if found := _A_MINUTE.search(it.words):
        yield Kind.QUOTA if _number(found[2]) > _number(found[1]) else Kind.RATE
    if status in (429, 498) or (status != 401 and _RATE.search(said)):
        yield Kind.RATE
    if _KEY.search(said):
        yield Kind.KEY
    if (room := it.ceiling) is not None:
        yield Kind.CEILING if room > 0 else Kind.CONTEXT
    if _BLIND.search(it.words) or (refused and status is not None and _NO_IMAGES.search(it.words)):
        yield Kind.NO_IMAGES
    if refused and _CONTEXT.search(said):
        yield Kind.CONTEXT
    if status == 413 or (refused and _TOO_LARGE.search(it.words)):
        yield Kind.TOO_LARGE
    if refused and _MODEL.search(said):
        yield Kind.MODEL
    if refused and _ADDRESS.search(said):
        yield Kind.ADDRESS
    if status in (401, 403):
        yield Kind.KEY
    if status in (404, 405):
        yield Kind.ADDRESS
    if status is None or status >= 500 or status in (408, 425) or (status != 400 and _BUSY.search(said)):
        yield Kind.BUSY
    yield Kind.OTHER


def complaint_of(error: Fault) -> Complaint:
    """``error`` in one form, whatever its shape."""
    if isinstance(error, NotChat):
        return Complaint(str(error), fixed=Kind.OTHER if isinstance(error, NotStream) else Kind.ADDRESS)
    if isinstance(error, NoAnswer):
        return Complaint(str(error), fixed=Kind.EMPTY)
    if isinstance(error, ReplyRefused):
        return Complaint(str(error), fixed=Kind.UNREADABLE)
    if isinstance(error, Complained):
        return _complaint(error.body, None, "", _seconds(error.wait))
    if isinstance(error, openai.APIStatusError):
        wait = _seconds(error.response.headers.get("retry-after"))
        return _complaint(error.body, error.status_code, error.message, wait)
    if isinstance(error, openai.APIError) and error.body is not None:    # an event of a stream
        return _complaint(error.body, None, error.message, None)
    lost = isinstance(error, Dropped | openai.APIConnectionError)
    return Complaint((error.message if isinstance(error, openai.APIError) else str(error))[:_LOOKED_AT], lost=lost)


def _complaint(body: object, status: int | None, otherwise: str, wait: float | None) -> Complaint:
    layers = list(_layers(body))
    words = list(dict.fromkeys(filter(None, map(_message, layers))))
    names = [str(layer[key]) for layer in layers for key in ("code", "type", "status")
             if isinstance(layer.get(key), str | int)]
    statuses = [int(name) for name in names if re.fullmatch(r"[45]\d\d", name)]
    params = [layer["param"] for layer in layers if isinstance(layer.get("param"), str)]
    text = ": ".join(words) if layers else str(body or "").strip()
    if wait is None and (again := _AGAIN.search(text[:_LOOKED_AT])):
        wait = 60 * int(again[1] or 0) + (_seconds(again[2]) or 0.0) / (1000 if again[3] == "ms" else 1)
    # That of HTTP may be a router's own, or say that all is well.
    return Complaint((text or otherwise)[:_LOOKED_AT], statuses[-1] if statuses else status,
                     " ".join(names)[:_LOOKED_AT], " ".join(params)[:_LOOKED_AT], wait)


def _layers(body: object) -> Iterator[Mapping[str, Any]]:
    """``body`` and the errors in it, from the outside in."""
    for _ in range(_DEEPEST):
        if isinstance(body, list):
            body = next((one for one in body if isinstance(one, Mapping)), None)
        if isinstance(body, str) and body.lstrip()[:1] in ("{", "["):
            with suppress(ValueError, RecursionError):
                body = json.loads(body[:_LOOKED_AT])
                continue
        if not isinstance(body, Mapping):
            return
        yield body
        metadata = body.get("metadata")
        raw = metadata.get("raw") if isinstance(metadata, Mapping) else None
        inner = [body.get("error"), body.get("innererror"), raw, body.get("message")]
        within = [one for one in inner if isinstance(one, Mapping | list)
                  or (isinstance(one, str) and one.lstrip()[:1] in ("{", "["))]
        said = [one for one in inner[:-1] if isinstance(one, str) and one not in within]
        body = within[0] if within else {"message": said[0]} if said else None


def _message(layer: Mapping[str, Any]) -> str:
    """What one layer says itself."""
    for key in ("message", "detail", "msg", "error_msg"):
        value = layer.get(key)
        if isinstance(value, list) and value:     # of FastAPI: what is wrong with each field
            value = "; ".join(str(one.get("msg", one) if isinstance(one, Mapping) else one) for one in value)
        if isinstance(value, str) and value and value.lstrip()[:1] not in ("{", "["):
            return value
    return ""


def error_in(reply: Mapping[str, Any]) -> object:
    """The error that a reply or an event consists of, or None."""
    if reply.get("error"):
        return reply
    choices = reply.get("choices")
    for choice in choices if isinstance(choices, list) else []:
        if isinstance(choice, Mapping) and choice.get("error"):
            return choice
    if choices is None and (reply.get("object") == "error" or reply.keys() & {"detail", "error_msg"}
                            or (reply.get("message") and reply.keys() & {"code", "type", "statusCode"})):
        return reply
    return None


def _seconds(value: str | None) -> float | None:
    """Of a Retry-After, if there is one that can be read."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        date = email.utils.parsedate_tz(value)
        if date is None:
            return None
        seconds = email.utils.mktime_tz(date) - time.time()
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _number(digits: str) -> int:
    return int(digits.replace(",", "")[:12])
