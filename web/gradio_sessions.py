"""Whose Gradio's sessions and events are. Gradio gives them to whoever knows their names."""

from __future__ import annotations

import secrets
from collections import OrderedDict, defaultdict
from hashlib import blake2b

_MOST = 1000   # events of a person that are remembered: each is asked for soon or never


class Sessions:
    """What a page or a program calls its session, Gradio gets under another name, which is this person's own: under
    the same name two people have two sessions. Nothing is kept of that.

    Events are named by Gradio, so those of each person are remembered. Of one process, as Gradio's queue is.
    """

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._events: defaultdict[str, OrderedDict[str, None]] = defaultdict(OrderedDict)

    def of(self, person: str, session: str) -> str:
        """Gradio's name for what ``person`` calls ``session``."""
        both = f"{person}\0{session}".encode("utf-8", "surrogatepass")
        return blake2b(both, key=self._key, digest_size=16).hexdigest()

    def began(self, person: str, event: str) -> None:
        events = self._events[person]
        events[event] = None
        if len(events) > _MOST:
            events.popitem(last=False)

    def has(self, person: str, event: str) -> bool:
        """Whether ``person`` began this event, not too long ago."""
        return person in self._events and event in self._events[person]
