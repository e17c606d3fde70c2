"""Server failures: whether to retry, and the error message."""

from __future__ import annotations

import email.utils
import math
import re
import time

import openai

from cir_core.errors import LanguageModelError, LanguageModelRefused, LanguageModelUnavailable
from cir_core.language.openai.bounded import ReplyRefused
from cir_core.language.openai.server import Server

_LOOKED_AT = 20_000    # characters of a server's message that are searched for reasons
_SHOWN = 300  # characters of a server's message that are shown
_TOO_LARGE = re.compile(
    r"(images?|pictures?)\b.{0,500}\b(too (large|big)|exceed|size|dimension|resolution|pixels)"
    r"|(request|payload|body|entity)\b.{0,20}\btoo (large|big)"
    r"|(too (large|big)|exceed\w{0,3})\b.{0,500}\b(images?|pictures?)", re.IGNORECASE | re.DOTALL)
_NO_IMAGES = re.compile(
    r"(not|n't|no)\b.{0,40}\b(image|vision|multi-?modal)|(image|image_url|vision)\b.{0,60}\b(not|n't|only|invalid)\b"
    r"|not a multimodal", re.IGNORECASE | re.DOTALL)
_CONTEXT = re.compile(r"context (length|size|window)|too many tokens|maximum.{0,20}tokens|prompt is too long",
                      re.IGNORECASE)
_MODEL = re.compile(r"model\b.{0,80}(not found|not exist|n't exist|not a valid|not available)"
                    r"|(unknown|invalid|no such) model|pinned to", re.IGNORECASE | re.DOTALL)
_POLICY = re.compile(r"content[_ -]?(filter|policy|management)|\bmoderation\b|\bsafety\b|invalid_prompt|usage polic|"
                     r"\bflagged\b|responsible.?ai", re.IGNORECASE)
_QUOTA = ("insufficient_quota", "billing_hard_limit_reached")


class Dropped(Exception):
    """A stream that ended before its answer was complete."""


class NotChat(Exception):
    """A reply that is not a chat completion."""


class NotStream(NotChat):
    """A whole reply to a streaming request."""


class ImagesTooLarge(Exception):
    """A request whose images the server rejects; the text is the server's."""


Fault = openai.APIError | Dropped | NotChat | ReplyRefused


def status_of(error: Fault) -> int | None:
    """The HTTP status, even if reported inside a stream that began successfully."""
    if isinstance(error, openai.APIStatusError):
        return error.status_code
    code = error.code if isinstance(error, openai.APIError) else None
    return int(code) if code and re.fullmatch(r"[45]\d\d", code) else None


def passes(error: Fault) -> bool:
    """Whether a retry of the same request is likely to succeed."""
    if isinstance(error, NotChat | ReplyRefused) or _no_credit(error):
        return False
    status = status_of(error)
    return status is None or status in (408, 429) or status >= 500


def retry_after(error: Fault) -> float | None:
    """The server's Retry-After in seconds, if any."""
    if not isinstance(error, openai.APIStatusError):
        return None
    value = error.response.headers.get("retry-after")
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


def words_of(error: Fault) -> str:
    """The server's message, at most the first :data:`_LOOKED_AT` characters."""
    if not isinstance(error, openai.APIError):
        return str(error)[:_LOOKED_AT]
    body: object = error.body
    if isinstance(body, dict):
        body = body.get("message") or body.get("detail") or body.get("error")
    return str(body or error.message)[:_LOOKED_AT]


def is_too_large(error: Fault) -> bool:
    status, said = status_of(error), words_of(error)
    return status == 413 or (status in (400, 422) and bool(_TOO_LARGE.search(said)) and not _CONTEXT.search(said))


def is_policy(error: Fault) -> bool:
    """Whether the server rejects text or images by its content policy. Retrying is useless."""
    if status_of(error) not in (400, 403, 422) or not isinstance(error, openai.APIError):
        return False
    return bool(_POLICY.search(f"{error.code} {error.type} {words_of(error)}"))


def is_final(error: Fault) -> bool:
    """Whether the cause of a 400 or 422 is independent of the request's format."""
    said = words_of(error)
    return bool(_CONTEXT.search(said) or _MODEL.search(said))


def explained(error: Fault, server: Server, tries: int) -> LanguageModelError:
    """The error for the user. It contains no key, and no cause that does."""
    status = status_of(error)
    if status is not None:
        return _by_status(error, status, server, tries)
    if isinstance(error, NotChat):
        return LanguageModelError(f"{server.host} did not return a chat completion ({_short(error, server)}). Check "
                                  "CIRQUE_LLM_BASE_URL; for most servers it ends in /v1.")
    if isinstance(error, ReplyRefused):
        return LanguageModelUnavailable(f"{server.host} sent a reply that cirque stopped reading: {error}. Check that "
                                        "CIRQUE_LLM_BASE_URL is a chat server's address, and look at the server's log.")
    return LanguageModelUnavailable(f"{server.host} {_silence(error, server)}{_tried(tries)}.{_advice(error)}")


def out_of_time(error: Fault | None, server: Server, seconds: float) -> LanguageModelUnavailable:
    """The error for a call that timed out; ``error`` is the last request's fault."""
    why = "" if error is None else f" (last: {_short(error, server)})"
    return LanguageModelUnavailable(f"{server.host} did not answer within {seconds:.0f} s{why}. Check how busy it is, "
                                    "or raise CIRQUE_LLM_TIMEOUT.")


def refused_size(said: str, server: Server) -> LanguageModelError:
    return LanguageModelError(f"{server.host} rejects the request as too large: {_cut(server.redacted(said))} Shorten "
                              "what you typed, or raise the limit of the server.")


def refused_images(said: str, server: Server, edge: int) -> LanguageModelError:
    return LanguageModelError(f"{server.host} does not accept images of {edge} pixels either: "
                              f"{_cut(server.redacted(said))} Lower CIRQUE_LLM_IMAGE_EDGE, or raise the limit of the "
                              "server.")


def _by_status(error: Fault, status: int, server: Server, tries: int) -> LanguageModelError:
    said = _short(error, server)
    if is_policy(error):
        return LanguageModelRefused(f"{server.host} rejected the request by its content policy (HTTP {status}): {said} "
                                    "Word the request differently, or take another image.")
    if status in (401, 403):
        key = "refuses CIRQUE_LLM_API_KEY" if server.key else "requires an API key, and CIRQUE_LLM_API_KEY is empty"
        return LanguageModelError(f"{server.host} {key} (HTTP {status}). Check the key and its permissions.")
    if status == 404 or (status == 400 and _MODEL.search(words_of(error))):
        return LanguageModelError(f"{server.host} has no model '{server.model}' at this address (HTTP {status}: "
                                  f"{said}). Check CIRQUE_LLM_MODEL and CIRQUE_LLM_BASE_URL; for most servers the "
                                  "address ends in /v1.")
    if _no_credit(error):
        return LanguageModelUnavailable(f"{server.host} reports that the account has no credit. Check its billing.")
    if status == 429:
        return LanguageModelUnavailable(f"{server.host} is rate-limiting requests (HTTP 429){_tried(tries)}. Wait a "
                                        "little, or lower CIRQUE_LLM_CONCURRENCY.")
    if status == 408 or status >= 500:
        return LanguageModelUnavailable(f"{server.host} failed (HTTP {status}: {said}){_tried(tries)}. Look at the "
                                        "server's log or status page.")
    return LanguageModelError(f"{server.host} refuses the request (HTTP {status}): {said} {_remedy(error, server)}")


def _no_credit(error: Fault) -> bool:
    return isinstance(error, openai.APIError) and error.code in _QUOTA


def _remedy(error: Fault, server: Server) -> str:
    said = words_of(error)
    if _CONTEXT.search(said):
        return "Give the model a longer context, or show it fewer images (lower CIRQUE_LLM_IMAGE_EDGE)."
    if server.sees and _NO_IMAGES.search(said):
        return "If the model does not see images, set CIRQUE_LLM_SEES=false."
    return "Check that the model suits the request: 'cirque models check' tries it."


def _silence(error: Fault, server: Server) -> str:
    # The client wraps its transport's errors; only their names distinguish an unreachable server from a silent one.
    cause = type(error.__cause__).__name__
    if cause == "ConnectTimeout":
        return f"did not accept a connection within {server.connect_timeout:g} s"
    if isinstance(error, openai.APITimeoutError):
        return f"sent nothing for {server.timeout:g} s"
    if cause == "ConnectError":
        return "cannot be reached"
    if isinstance(error, openai.APIConnectionError | Dropped):
        return "closed the connection"
    return f"failed midway ({_short(error, server)})"


def _advice(error: Fault) -> str:
    if isinstance(error, openai.APITimeoutError) and type(error.__cause__).__name__ != "ConnectTimeout":
        return " Check how busy it is, or raise CIRQUE_LLM_TIMEOUT."
    return " Check that it runs, that it can be reached from here, and CIRQUE_LLM_BASE_URL."


def _tried(tries: int) -> str:
    return f", {tries} times in a row" if tries > 1 else ""


def _short(error: Fault, server: Server) -> str:
    return _cut(server.redacted(words_of(error)))


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else text[:_SHOWN].rstrip() + " …"
