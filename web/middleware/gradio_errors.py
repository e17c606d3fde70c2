"""Unhandled errors in Gradio events: log them, and show a message with the request id."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import gradio as gr

from web.http.call_answers import ADDED_LATER
from web.http.request_ids import go_on_with, id_of, request_id, unexpected
from web.http.visitor import browser_of, works_for

_log = logging.getLogger("cirque.events")
_CHECK = "Check it against docs/reference/api.md, or reload the page."
# How Gradio refuses a value: not of the form it takes (ValueError has pydantic's, and those for files that were not
# uploaded and for addresses inside), or a file that is gone.
_REFUSED = (ValueError, TypeError, LookupError, AttributeError, FileNotFoundError)


class Screens(gr.Blocks):
    """Blocks that hide event errors, which Gradio would send to the page, and print with the input past the log."""

    def begin_page(self, title: str, path: str) -> None:
        """Add the components that follow to another page. Call it inside the context: Gradio's ``route`` opens a
        context for each page, and each one that is left builds an application of 90 routes (70 ms)."""
        self.pages.append((path.strip("/"), title, False))   # False: not in Gradio's own navigation bar
        self.current_page = path.strip("/")

    @property
    def unfinished(self) -> int:
        """Number of accepted events that have not ended, queued ones included. The request of an API call ends when its
        event is accepted."""
        waiting = list(self._queue.event_queue_per_concurrency_id.values())   # a copy: metrics ask from a thread
        return sum(len(one.queue) for one in waiting) + self._queue.get_active_worker_count()

    async def process_api(self, *given: Any, **named: Any) -> dict[str, Any]:
        """Run an event with the id of its request, which has ended by then."""
        go_on_with(id_of(named.get("request")) or request_id())
        works_for(browser_of(named.get("request")))
        try:
            return await super().process_api(*given, **named)
        except gr.Error as error:
            error.print_exception = False
            raise
        except Exception as error:
            _log.error("An event of request %s ended in an unexpected error.", request_id(), exc_info=True)
            raise gr.Error(unexpected(request_id()), print_exception=False, title="That did not work") from error

    async def preprocess_data(self, block_fn: Any, inputs: Any, *given: Any, **named: Any) -> Any:
        """Validate the input first: invalid input is the client's error."""
        wanted = len(block_fn.inputs)
        if block_fn.fn is None:
            raise _mistake("There is no such call.", "no function")
        if isinstance(inputs, list):
            inputs = [*inputs, *_left_out(block_fn.inputs[len(inputs):])]
        if len(inputs) < wanted:
            raise _mistake(f"This call takes {wanted} values and got {len(inputs)}.", "too few values")
        try:
            return await super().preprocess_data(block_fn, inputs, *given, **named)
        except gr.Error:
            raise
        except _REFUSED as error:
            cause = error.__cause__ if isinstance(error, gr.exceptions.ComponentProcessingError) else error
            if not isinstance(cause, _REFUSED):
                raise
            raise _mistake("A value of this call is invalid: it has the wrong type, or is a file that was not "
                           "uploaded here, or an address that cannot be opened.", type(cause).__name__) from error


def _mistake(problem: str, kind: str) -> gr.Error:
    _log.info("An event of request %s was refused: %s.", request_id(), kind)
    return gr.Error(f"{problem} {_CHECK}", print_exception=False, title="That did not work")


def _left_out(missing: Sequence[Any]) -> list[Any]:
    """Initial values of the last inputs of a call, if all of them came with a later version."""
    later = all(ADDED_LATER in (getattr(one, "elem_classes", None) or ()) for one in missing)
    return [one.value for one in missing] if later else []
