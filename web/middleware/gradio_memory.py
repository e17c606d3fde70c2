"""Memory use of Gradio sessions and events: light states, and release of unneeded ones."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import gradio as gr
from fastapi import FastAPI
from gradio import caching
from gradio.routes import App
from gradio.state_holder import SessionState, StateHolder

# Queues of results that wait to be fetched. Beyond that Gradio drops the oldest queue, even that of an open page. There
# are fewer: web.limits.gradio_limits keeps 3,000 sessions, web.middleware.gradio_connections 5,000 unfetched results of
# other calls.
_MOST_PENDING = 10_000
_NEVER = 10**12


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
