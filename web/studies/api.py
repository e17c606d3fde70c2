"""Calls of studies: a script can annotate as the person it has signed in as."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import gradio as gr

from web.http.call_answers import GateAnswer, ProgressAnswer, SaveAnswer
from web.http.calls import Call, name_call
from web.http.json_api import in_shared_thread
from web.http.visitor import Visitor
from web.services import Services
from web.studies import annotate_json as present

_AT_ONCE = 8   # of each call; they share the threads of json_calls with the screens


def study_calls(services: Services) -> list[Call]:
    """``/next_item`` and ``/save_judgement``, ``/next_question``, ``/save_rating`` and ``/pass_gate``, and
    ``/progress``, for the signed-in user."""
    studies = services.studies

    def look(visitor: Visitor, study: str, item: str) -> dict[str, Any]:
        return present.workspace(studies.join(study, visitor.name, item_id=item or None))

    def keep(
        visitor: Visitor, study: str, item: str, answer: dict[str, Any], token: str, seconds: float,
    ) -> SaveAnswer:
        saved, workspace = studies.save(study, visitor.name, item, answer, token, seconds=seconds)
        if not saved.repeated:
            services.meter.judged(saved.judgement.protocol)
        return cast(SaveAnswer, {"saved": present.saved(saved), "desk": present.workspace(workspace)})

    def next_item(visitor: Visitor, study: str, item: str = "") -> dict[str, Any]:
        """Get the next item of a validity, session or target study, or an own item again. The
        first call joins the study.

        Args:
            study: The study's name or id.
            item: Id of one's own item to see again; empty takes the first open one.

        Returns:
            The study, one's progress, the item (null when nothing is left) with its id, texts and relative addresses of
            images, and one's stored answer with its revision, or draft.
        """
        return look(visitor, study, item)

    def save_judgement(
        visitor: Visitor, study: str, item: str, answer: dict[str, Any], token: str, seconds: float = 0,
    ) -> SaveAnswer:
        """Save one's judgement of an item; it is on disk when the call returns. Saving again revises it.

        Args:
            study: The study's name or id.
            item: The item's id, as next_item gives it.
            answer: An object. Validity: validated (true, false or null), flags (codes such as "INVALID_TEXT_QUERY";
                none if valid), reasons (such as "1a"), note, alternatives (tokens of panel images that fit just as
                well), unsure (true leaves the item to an adjudicator). Sessions: ratings (1 to 5 for naturalness,
                coherence, progress, redundancy, overall) and reason. Targets: marks ("yes", "no" or "unsure" by
                token of each candidate) and note.
            token: 8 to 64 letters, digits, hyphens and underscores, new for every judgement. A repeated call
                with the same token is saved once.
            seconds: Seconds spent on it; 0: not measured.

        Returns:
            The stored revision (repeated: nothing was new) and the desk with the next open item, as from next_item.
        """
        return keep(visitor, study, item, answer, token, seconds)

    def next_question(visitor: Visitor, study: str, item: str = "") -> dict[str, Any]:
        """Get the next question of a preference study, or an own one again. The first call joins the study.

        Args:
            study: The study's name or id.
            item: Id of one's own question to see again; empty takes the first open one.

        Returns:
            As next_item; the item has reference, text and two sets, A and B. Before a gate the item is null, and gate
            names it: guidelines, consent, a check (pass_gate), or finished, with the code.
        """
        return look(visitor, study, item)

    def save_rating(
        visitor: Visitor, study: str, item: str, answer: dict[str, Any], token: str, seconds: float = 0,
    ) -> SaveAnswer:
        """Save one's answer to a question; it is on disk when the call returns. Saving again revises it.

        Args:
            study: The study's name or id.
            item: The question's id, as next_question gives it.
            answer: An object of ratings ({"A": 1 to 5, "B": 1 to 5}), preferred ("A", "B", or "tie" if allowed),
                irrelevant ({"either": false}), reason, and
                confirmed (true to prefer the set that is rated lower).
            token: As for save_judgement.
            seconds: Seconds spent on it; 0: not measured.

        Returns:
            The stored revision (repeated: nothing was new) and the desk, as from next_question.
        """
        return keep(visitor, study, item, answer, token, seconds)

    def pass_gate(
        visitor: Visitor, study: str, kind: str, token: str, number: int | None = None,
        attempt: int | None = None, answer: bool | int | str | None = None,
    ) -> GateAnswer:
        """Pass the gate that next_question names, in a preference study.

        Args:
            study: The study's name or id.
            kind: The gate's kind: "guidelines", "consent" or "check".
            token: As for save_judgement.
            number: The check's number, from the gate.
            attempt: The check's attempt, from the gate.
            answer: Consent: true; check: the number; guidelines: empty.

        Returns:
            Whether it is passed, and the desk, as from next_question.
        """
        passed, workspace = studies.pass_gate(study, visitor.name, kind, token, number=number, attempt=attempt,
                                              answer=answer)
        return {"passed": passed, "desk": present.workspace(workspace)}

    def progress(visitor: Visitor, study: str) -> ProgressAnswer:
        """Show one's progress in a study, without joining it.

        Args:
            study: The study's name or id.

        Returns:
            Whether one has joined; items done, in total and unsure; median seconds per item and seconds left (null
            before three answers).
        """
        workspace, how_far = studies.progress(study, visitor.name)
        answer = {"study": present.study(workspace.study), "joined": workspace.joined, **present.progress(how_far)}
        return cast(ProgressAnswer, answer)

    calls = (next_item, save_judgement, next_question, save_rating, pass_gate, progress)
    return [Call(work, "annotate", _among_studies) for work in calls]


async def _among_studies(work: Callable[[], Any], visitor: Visitor, given: Mapping[str, Any]) -> Any:
    return await in_shared_thread(work, visitor.name, given["study"])


def wire_study_calls(calls: Sequence[Call]) -> None:
    """Register the calls of :func:`study_calls` as named ones. Inside a ``gr.Blocks``."""

    def text(label: str) -> gr.Textbox:
        return gr.Textbox(label=label, visible=False)

    # An initial value makes a parameter optional for the clients.
    again, seconds = gr.Textbox("", label="Item", visible=False), gr.Number(0, label="Seconds", visible=False)
    number, attempt = (gr.Number(0, label=label, visible=False, precision=0) for label in ("Number", "Attempt"))
    answer, given = gr.JSON(label="Answer", visible=False), gr.JSON({}, label="Answer", visible=False)
    saving = [text("Study"), text("Item"), answer, text("Token"), seconds]
    inputs: dict[str, list[Any]] = {
        "next_item": [text("Study"), again], "next_question": [text("Study"), again],
        "save_judgement": saving, "save_rating": saving,
        "pass_gate": [text("Study"), text("Kind"), text("Token"), number, attempt, given],
        "progress": [text("Study")],
    }
    for call in calls:
        # Clients that ask by /call stand in a queue all the same: not each of them behind one who waits.
        name_call(call, inputs[call.name], queue=False, show_progress="hidden", concurrency_limit=_AT_ONCE)
