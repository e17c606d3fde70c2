"""Ownership and lifetime of Gradio session and event ids, which Gradio gives to anybody who knows them. Memory use
of Gradio sessions and events: light states, and release of unneeded ones."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from hashlib import blake2b
from types import SimpleNamespace
from typing import Any

import gradio as gr
from fastapi import FastAPI
from gradio import caching
from gradio.routes import App
from gradio.state_holder import SessionState, StateHolder

from web.limits.gradio_limits import ConnectionTable, TooManyRequests

# Queues of results that wait to be fetched. Beyond that Gradio drops the oldest queue, even that of an open page. There
# are fewer: web.limits.gradio_limits keeps 3,000 sessions, web.middleware.gradio_connections 5,000 unfetched results of
# other calls.
_MOST_PENDING = 10_000
_NEVER = 10**12
_IDLE = 0.02    # seconds between looks at an empty queue. Gradio looks each millisecond, which takes a tenth of a core
_NO_PROGRESS = 1.0    # the same for progress reports of Gradio's own, which cirque does not make


class LightState(SessionState):
    """Session state without the configuration of every component.

    Gradio copies it for deep links, which cirque does not serve: 8 ms and 110 kB per session.
    """

    def __init__(self, blocks: gr.Blocks) -> None:
        super().__init__(SimpleNamespace(default_config=blocks.default_config, blocks=()))  # type: ignore[arg-type]

    def _update_config(self, key: int) -> None: ...

    def _update_value_in_config(self, key: int, value: Any) -> None: ...


class LightStates(StateHolder):
    """Gradio's session table with :class:`LightState` entries."""

    def __getitem__(self, session_id: str) -> SessionState:
        if session_id not in self.session_data:
            self.session_data[session_id] = LightState(self.blocks)
        return super().__getitem__(session_id)


class GradioMemory:
    """Sessions and events of a mounted Gradio app. For its event loop."""

    def __init__(self, app: App) -> None:
        self._blocks, self._queue = app.get_blocks(), app.get_blocks()._queue
        app.state_holder = self._states = LightStates()
        self._states.set_blocks(self._blocks)
        self._queue.pending_messages_per_session.max_size = _MOST_PENDING
        # After every event Gradio would compute statistics over the last 10,000 of them for a page that is turned off.
        self._queue.ANAYLTICS_CACHE_FREQUENCY = _NEVER
        self._queue.ANALYTICS_MAX_EVENTS = 1
        self._queue.sleep_when_free = _IDLE
        self._queue.progress_update_sleep_when_free = _NO_PROGRESS

    @classmethod
    def of(cls, app: FastAPI) -> GradioMemory:
        """For the Gradio app mounted on ``app``."""
        return cls(next(found for route in app.routes if isinstance(found := getattr(route, "app", None), App)))

    def is_running(self, event: str) -> bool:
        """Whether ``event`` is queued or running."""
        return event in self._queue.event_ids_to_events

    def is_busy(self, session: str) -> bool:
        """Whether ``session`` has a running event."""
        return any(map(self.is_running, self._queue.pending_event_ids_session.get(session, ())))

    def is_delivered(self, event: str) -> bool:
        """Whether the result of ``event``, which has its own session, was sent to its caller."""
        return self._queue.pending_event_ids_session.get(event) == set()

    def release(self, session: str) -> None:
        """Drop all state of ``session``, which must not be busy."""
        self._states.delete_state(session)
        for kept in (self._states.session_data, self._states.time_last_used, self._queue.pending_messages_per_session,
                     self._queue.pending_event_ids_session, self._blocks.pending_streams,
                     self._blocks.pending_diff_streams):
            kept.pop(session, None)
        caching.clear_session_caches(session)


_MOST = 1000    # events of a person that are remembered: each is asked for soon or never. No more may be unfinished
_MOST_PEOPLE = 5000      # whose events are remembered: visitors of a public demo have a name for each browser
_MOST_UNFETCHED = 5000   # events with a session of their own, of all people, whose result has not been fetched
_AGAIN = 10     # seconds after which to look whether some have ended


class GradioConnections:
    """Maps client session names to per-user Gradio names: the same name of two users denotes two sessions.

    Events are named by Gradio, so those of each person are remembered, as long as they run: cachetools would let go of
    the oldest. Of one process, as Gradio's queue is. With
    ``memory``, which is known once Gradio is mounted, what is no longer needed is released.
    """

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._events: OrderedDict[str, OrderedDict[str, None]] = OrderedDict()    # who was there longest ago first
        self._unfetched: OrderedDict[str, str] = OrderedDict()    # event to person, the oldest first
        self._table = ConnectionTable()
        self.memory: GradioMemory | None = None

    def of(self, person: str, session: str) -> str:
        """Gradio's name of ``person``'s session."""
        both = f"{person}\0{session}".encode("utf-8", "surrogatepass")
        return blake2b(both, key=self._key, digest_size=16).hexdigest()

    def used(self, person: str, session: str) -> str:
        """Gradio's name of a session in use. Raises ``TooManyRequests`` for too many new sessions."""
        name = self.of(person, session)
        self._table.use(person, name)
        if self.memory is not None:
            for surplus in self._table.surplus(self.memory.is_busy):
                self.memory.release(surplus)
        return name

    def opened(self, person: str, session: str) -> AbstractContextManager[None]:
        """Context of an open stream of this session, which delays its eviction."""
        return self._table.opened(self.of(person, session))

    @contextmanager
    def for_one_call(self) -> Iterator[str]:
        """Unique name of a session that ends with the call."""
        name = secrets.token_hex(16)
        try:
            yield name
        finally:
            if self.memory is not None:
                self.memory.release(name)

    def check_room(self, person: str) -> None:
        """Raises ``TooManyRequests`` for too many unfinished calls of ``person``, or in total."""
        if self.memory is None:
            return
        events = self._events.get(person, ())
        if len(events) >= _MOST and all(map(self.memory.is_running, events)):
            raise TooManyRequests(f"{_MOST:,} of your calls are waiting or running. Fetch their "
                                  "results before you make more.", _AGAIN)
        if len(self._unfetched) >= _MOST_UNFETCHED and all(map(self.memory.is_running, self._unfetched)):
            raise TooManyRequests(f"{_MOST_UNFETCHED:,} calls of all people are waiting or running. Call again in "
                                  f"{_AGAIN} s.", _AGAIN)

    def began(self, person: str, event: str, *, own_session: bool = False) -> None:
        """Remember ``event``, replacing the oldest finished one of this user, or of all. ``own_session``: Gradio keeps
        its result under the event id until it is fetched."""
        events = self._events.setdefault(person, OrderedDict())
        self._events.move_to_end(person)
        events[event] = None
        if own_session:
            self._unfetched[event] = person
        if len(events) > _MOST:
            self._drop(self._oldest_finished(events) or next(iter(events)), person)
        if len(self._events) > _MOST_PEOPLE:
            self._forget_one()
        if len(self._unfetched) > _MOST_UNFETCHED and (oldest := self._oldest_finished(self._unfetched)):
            self._drop(oldest, self._unfetched[oldest])

    def _oldest_finished(self, events: Iterable[str]) -> str | None:
        memory = self.memory
        return next((one for one in events if memory is None or not memory.is_running(one)), None)

    def _forget_one(self) -> None:
        """The events of who was there longest ago, unless one of them runs: then that person counts as here."""
        person = next(iter(self._events))
        if self.memory is not None and any(map(self.memory.is_running, self._events[person])):
            self._events.move_to_end(person)
            return
        for event in list(self._events[person]):
            self._drop(event, person)
        del self._events[person]

    def _drop(self, event: str, person: str) -> None:
        self._events.get(person, OrderedDict[str, None]()).pop(event, None)
        self._unfetched.pop(event, None)
        if self.memory is not None and not self.memory.is_running(event):
            self.memory.release(event)

    def has(self, person: str, event: str) -> bool:
        """Whether ``person`` started this event recently."""
        return person in self._events and event in self._events[person]

    @contextmanager
    def fetched(self, event: str) -> Iterator[None]:
        """Context of fetching the result of a sessionless ``event``; its state is dropped afterwards."""
        try:
            yield
        finally:
            if self.memory is not None and self.memory.is_delivered(event):
                self._unfetched.pop(event, None)
                self.memory.release(event)
