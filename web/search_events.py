"""Events of the search screen: unpack, act, draw."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from cir_core.errors import CirqueError, SearchError
from web.actions import LONG, arrive, begin, perform, resume
from web.live import follow
from web.screen import PANELS, Screen
from web.services import Services
from web.view import View

# Events that may run the encoder share one queue; it is thread-safe, the cores are few.
ENCODER: dict[str, Any] = {"concurrency_id": "encoder", "concurrency_limit": 4}

_READ_MINE = """(view) => {
  try { return [view, JSON.parse(localStorage.getItem("cirque.sessions") || "[]")]; }
  catch { return [view, []]; }
}"""


def wire_screen(
    demo: gr.Blocks, services: Services, screen: Screen, view_state: gr.State, mine: gr.JSON,
    bus: gr.HTML, outputs: Sequence[gr.components.Component],
) -> None:
    """``bus`` is the panel through which the page sends its actions."""
    service = services.search

    def draw(view: View) -> list[Any]:
        drawn, panels = screen.draw(view)
        return [drawn, *(panels[name] for name in PANELS)]

    def on_load(view: View, known: object, request: gr.Request) -> list[Any]:
        wanted = _session_asked(request)
        known = known if isinstance(known, list) else []
        try:
            return draw(arrive(service, view, wanted, known))
        except CirqueError as error:
            return draw(replace(view, problem=str(error), loaded=True))

    def on_act(view: View, event: gr.EventData, request: gr.Request) -> Iterator[list[Any]]:
        data = event._data if isinstance(event._data, dict) else {}
        try:
            if not view.loaded:  # the server was restarted under an open page
                view = resume(service, view, _session_asked(request), data)
            name = str(data.get("do", ""))
            if name in LONG:
                view = yield from on_long(name, view, data)
            else:
                view = perform(services, view, name, data)
            yield draw(view)
        except CirqueError as error:
            yield draw(replace(view, problem=str(error), notice=""))
            raise as_error(error) from error

    def on_long(name: str, view: View, data: dict[str, Any]) -> Generator[list[Any], None, View]:
        watch, job = begin(services, view, name, data)
        running = follow(job, watch, services.runs)
        while True:
            try:
                progress = next(running)
            except StopIteration as over:
                done: View = over.value
                return done
            shown = [screen.draw_progress(view, progress) if name == "results" else gr.skip() for name in PANELS]
            yield [gr.skip(), *shown]

    demo.load(on_load, [view_state, mine], outputs, js=_READ_MINE, show_progress="hidden",
              api_visibility="private", **ENCODER)
    # "multiple": the page itself sends one action at a time, and may send the next one when this
    # one is drawn, a moment before Gradio counts it as over ("once" would swallow that one).
    acted = bus.act(on_act, [view_state], outputs, show_progress="hidden", api_visibility="private",
                    trigger_mode="multiple", **ENCODER)
    acted.failure(None, js="() => { window.cirque?.done(); }")


def _session_asked(request: gr.Request) -> str:
    """The session in the page's address, which Gradio passes on with every event."""
    return str(request.query_params.get("session", ""))[:64]


def as_error(error: CirqueError) -> gr.Error:
    """A toast with the sentence. Toasts are HTML and sentences quote ids, hence the escaping."""
    return gr.Error(escape(str(error), quote=False), print_exception=False, title="That did not work", duration=5)


def wire_api(services: Services) -> None:
    """The public call ``/search``; everything else on this screen is private."""

    def search(
        reference: str = "", image: str | None = None, text: str = "", session_id: str = "", k: float = 10
    ) -> dict[str, Any]:
        """Search a gallery of images with a reference image and a modification text.

        Several calls with the same session id refine one search turn by turn.

        Args:
            reference: Id of a gallery image to start from. Leave empty when an image is given,
                or to go on with the reference of the session's last turn.
            image: An image file or URL to start from instead of a gallery image.
            text: What should be different from the reference, e.g. "in red, with long sleeves".
            session_id: Session to continue; empty begins a new one.
            k: How many results to return, 1 to 1000.

        Returns:
            The session id, the turn id, the digest of the protocol, and the hits, best first,
            each with image_id, score and rank.
        """
        try:
            return run_search(services, reference, image, text, session_id, k)
        except CirqueError as error:
            raise gr.Error(str(error), print_exception=False) from error

    inputs = [
        # An initial value makes a parameter optional for the clients.
        gr.Textbox("", label="Reference id", visible=False),
        gr.File(label="Reference image", visible=False, type="filepath"),
        gr.Textbox("", label="Modification text", visible=False),
        gr.Textbox("", label="Session id", visible=False),
        gr.Number(10, label="How many results", visible=False),
    ]
    gr.Button(visible=False).click(search, inputs, gr.JSON(visible=False), api_name="search", **ENCODER)


def run_search(
    services: Services, reference: str, image: str | None, text: str, session_id: str, k: float
) -> dict[str, Any]:
    """One turn for a program. Raises ``CirqueError``."""
    from cir_core.search import clean_text

    service, gallery = services.search, services.settings.gallery
    reference_id: str | None = (reference or "").strip() or None
    session = service.session(session_id.strip()) if (session_id or "").strip() else None
    clean_text(text)  # before anything is stored
    count = _whole(k)
    if image:
        reference_id = service.add_upload(Path(image), Path(image).name)
    elif reference_id:
        service.image_path(session.gallery if session else gallery, reference_id)
    elif session is None or session.latest is None:
        raise SearchError("Give a reference: the id of a gallery image, or an image.")
    if session is None:
        session = service.start(gallery)
    parent = session.latest
    turn = service.run_turn(
        session.session_id, text, reference_id=reference_id,
        parent_id=parent.turn_id if parent else None, k=count,
    )
    return {
        "session_id": session.session_id, "turn_id": turn.turn_id, "protocol_digest": turn.protocol_digest,
        "hits": [{"image_id": h.image_id, "score": h.score, "rank": h.rank} for h in turn.hits],
    }


def _whole(k: object) -> int:
    try:
        number = int(k)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        raise SearchError("k must be a whole number, 1 to 1000.") from None
    if not 1 <= number <= 1000:
        raise SearchError(f"k is {number}; ask for 1 to 1000 results.")
    return int(number)
