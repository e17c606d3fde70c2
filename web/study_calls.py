"""The named calls of studies: a script can judge as the person it has signed in as."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from cir_core.errors import CirqueError
from web import study_present as present
from web.json_calls import in_thread
from web.services import Services
from web.visitor import require


def wire_study_calls(services: Services) -> None:
    """``/next_item``, ``/save_judgement`` and ``/progress``, for the one who is signed in. Inside a ``gr.Blocks``."""
    studies = services.studies

    async def next_item(request: gr.Request, study: str, item: str = "") -> dict[str, Any]:
        """The next item to judge in a study, or one of one's own again. The first call joins the study.

        Args:
            study: The study's name.
            item: Id of an item of one's own to look at again; empty takes the first open one.

        Returns:
            The study, one's progress, the item (null when nothing is left) with its text and the
            addresses of its pictures, relative to this server, one's answer to it if there is one
            with its revision, and one's draft.
        """
        name = _who(request)
        return await _run(lambda: present.desk(studies.desk(study, name, item_id=item or None)))

    async def save_judgement(
        request: gr.Request, study: str, item: str, answer: dict[str, Any], token: str, seconds: float = 0,
    ) -> dict[str, Any]:
        """Keep a judgement of one's own; it is on disk when the call returns. Saving an item again revises it.

        Args:
            study: The study's name.
            item: The item's id.
            answer: The judgement. In a validity study: validated (true, false or null), flags, reasons,
                note, alternatives, unsure.
            token: 8 to 64 letters, digits, hyphens and underscores, new for every judgement. A call that
                is repeated with the same token is kept once.
            seconds: How long one looked at the item; 0 if nobody measured it.

        Returns:
            What was saved (its revision; repeated, if nothing was new) and the desk with the next
            open item, as next_item gives it.
        """
        name = _who(request)

        def save() -> dict[str, Any]:
            saved, desk = studies.save(study, name, item, answer, token, seconds=seconds)
            return {"saved": present.saved(saved), "desk": present.desk(desk)}

        return await _run(save)

    async def progress(request: gr.Request, study: str) -> dict[str, Any]:
        """How far one is in a study.

        Args:
            study: The study's name.

        Returns:
            How many of one's items are done, how many there are, how many one was unsure of, the
            median of the seconds per item and the seconds left at that pace (null before three answers).
        """
        name = _who(request)

        def ask() -> dict[str, Any]:
            found, how_far = studies.progress(study, name)
            return {"study": present.study(found), **present.progress(how_far)}

        return await _run(ask)

    def text(label: str) -> gr.Textbox:
        return gr.Textbox(label=label, visible=False)

    # An initial value makes a parameter optional for the clients.
    again, seconds = gr.Textbox("", label="Item", visible=False), gr.Number(0, label="Seconds", visible=False)
    answer = gr.JSON(label="Answer", visible=False)
    for call, inputs in (
        (next_item, [text("Study"), again]),
        (save_judgement, [text("Study"), text("Item"), answer, text("Token"), seconds]),
        (progress, [text("Study")]),
    ):
        gr.Button(visible=False).click(
            call, inputs, gr.JSON(visible=False), api_name=call.__name__, queue=False, show_progress="hidden")


def _who(request: gr.Request) -> str:
    try:
        return require(request, "annotate").name
    except CirqueError as error:
        raise gr.Error(str(error), print_exception=False) from error


async def _run(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return await in_thread(work)
    except CirqueError as error:
        raise gr.Error(str(error), print_exception=False) from error
