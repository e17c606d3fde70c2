"""Request, reply and limits of a call to a server."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from cir_core.language.openai.messages import Message


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
