"""Request, reply and limits of a call to a server. OpenAI features that a server supports, detected from its
refusals. Cancellable waiting for server requests.

A thread blocked in a socket cannot be cancelled, so requests run in an event loop on a separate thread, one per
process. The caller waits in short intervals and checks between them whether to continue; an abandoned request is
cancelled in any state, and its connection closed.
"""

from __future__ import annotations

import asyncio
import queue
import random
import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Generator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

from cir_core.language.openai.messages import Message
from cir_core.language.openai.replies.complaints import Complaint, Kind


@dataclass(frozen=True)
class Clock:
    """Clock used by retries."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random   # in [0, 1)


@dataclass(frozen=True)
class Request:
    messages: Sequence[Message]
    role: str
    schema: dict[str, Any]
    max_tokens: int
    temperature: float
    seed: int | None = None


@dataclass(frozen=True)
class Reply:
    text: str
    finish: str | None = None                 # the server's finish reason
    tokens: tuple[int, int] | None = None     # prompt, completion; None if not reported
    declined: bool = False
    thought_only: bool = False                # the room was used up before there was an answer


@dataclass
class Call:
    """One ``complete``: its limits and callbacks."""

    until: float                                     # by the clock
    seconds: float
    stopped: Callable[[], bool] = lambda: False
    seen: Callable[[str], None] | None = None        # the text so far; None: do not stream
    sent: Callable[[Reply | None], None] = field(default=lambda reply: None)  # every request; None: it failed


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


T = TypeVar("T")

NAP = 0.1   # seconds between two checks whether to continue
_CLOSING = 5.0
_AHEAD = 64   # items queued for the caller
_END = object()

_starting = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def pieces(source: AsyncIterator[T], still: Callable[[], None]) -> Generator[T, None, None]:
    """The items of ``source`` as they arrive. ``still`` is called before each and in every interval;
    its exception ends the waiting, and ``source`` with it."""
    items: queue.SimpleQueue[Any] = queue.SimpleQueue()

    async def run() -> None:
        async for item in source:
            while items.qsize() >= _AHEAD:   # a server may send faster than the caller reads
                await asyncio.sleep(0.005)
            items.put(item)

    future = _started(run())
    future.add_done_callback(lambda _: items.put(_END))
    try:
        while True:
            still()
            try:
                item = items.get(timeout=NAP)
            except queue.Empty:
                continue
            if item is _END:
                future.result()
                return
            yield item
    finally:
        future.cancel()


def release(end: Callable[[], Coroutine[Any, Any, None]], *, wait: bool) -> None:
    """Run ``end``, which closes open connections. A no-op if there was no request."""
    if _loop is None:
        return
    future = _started(end())
    if wait:
        future.result(_CLOSING)


def _started(work: Coroutine[Any, Any, None]) -> Future[None]:
    global _loop
    with _starting:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="language", daemon=True).start()
    return asyncio.run_coroutine_threadsafe(work, _loop)
