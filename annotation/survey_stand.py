"""Where somebody is in a survey: before which gate or question, in which form, and what they may still change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from annotation import survey_flow
from annotation.kinds import Mine, Passage
from annotation.progress import progress_of
from annotation.records import Assignment, Desk, EventKind, Stand
from cir_core.errors import GateStands, IncompleteJudgement

_FIRST = {
    "guidelines": "Read the guidelines first: reload the page. Nothing was saved yet.",
    "consent": "This study asks for your consent first: reload the page. Nothing was saved yet.",
    "check": "A short check comes first: reload the page. Nothing was saved yet.",
}


@dataclass(frozen=True)
class SurveyFlow:
    """:class:`annotation.kinds.Flow` of preference studies. Gates are those of :mod:`annotation.survey_flow`."""

    def stand(self, desk: Desk, annotator: str, mine: Mine, share: Callable[[], int]) -> Stand:
        """Somebody who looks at an answer of theirs again sees it; the gate stands before what is new.

        Without any question there is no gate. Who came back when others had taken over their questions has no
        code yet: they take more, until they have answered a seat's ``share``.
        """
        here = None if desk.item is None else desk.item.item_id
        own = [one for one in mine if one.state != "handed_on" or one.item_id == here]
        at = next((index for index, one in enumerate(own) if one.item_id == here), None)
        handed_on = sum(one.state == "handed_on" for one in mine)
        gate = None if desk.judgement is not None or not desk.total else _gate(desk, annotator)
        if gate and gate["kind"] == "finished" and handed_on and desk.done < min(desk.total + handed_on, share()):
            gate = None
        forms = sorted({_form(one) for one in own})   # one may be missing that others have taken over
        form = None if at is None else _form(own[at])
        return Stand(
            gate=gate, number=None if at is None else at + 1, of=len(own),
            form=None if form is None else forms.index(form) + 1, forms=len(forms), handed_on=handed_on,
            locked=desk.judgement is not None and form is not None and _is_over(form, own, desk, annotator),
        )

    def admit(self, desk: Desk, annotator: str, mine: Callable[[], Mine], token: str) -> None:
        """An answer to a question that others have taken over is kept although a check stands: the
        person was at it."""
        assert desk.item is not None, "an answer is to an item"
        item_id = desk.item.item_id
        if desk.judgement is not None:
            if desk.judgement.token == token:
                return
            own = [one for one in mine() if one.state != "handed_on"]
            form = next((_form(one) for one in own if one.item_id == item_id), None)
            if form is not None and _is_over(form, own, desk, annotator):
                raise IncompleteJudgement("This question is of a form that you have finished. Its answer stays as it "
                                          "is; the change was not kept.")
            return
        gate = _gate(desk, annotator)
        if gate is None or gate["kind"] == "finished":
            return
        if gate["kind"] == "check" and any(
            one.item_id == item_id and one.state == "handed_on" for one in mine()
        ):
            return
        raise GateStands(_FIRST[gate["kind"]])

    def pass_gate(
        self, desk: Desk, annotator: str, kind: EventKind, token: str, *, number: int | None, attempt: int | None,
        answer: object,
    ) -> Passage:
        return survey_flow.pass_gate(desk.study, annotator, progress_of(desk), desk.events, kind, token,
                                     number=number, attempt=attempt, answer=answer)


def _gate(desk: Desk, annotator: str) -> dict[str, Any] | None:
    return survey_flow.gate(desk.study, annotator, progress_of(desk), desk.events)


def _is_over(form: int, own: Sequence[Assignment], desk: Desk, annotator: str) -> bool:
    """A form ends when the next one begins: behind the check at its end, where there is one."""
    waiting = next((_form(one) for one in own if one.state == "open"), None)
    now = max(map(_form, own)) if waiting is None else waiting
    if form >= now:
        return False
    answered = {_form(one) for one in own if one.state != "open"}
    if now in answered or form < max(answered):
        return True
    gate = _gate(desk, annotator)
    return gate is None or gate["kind"] != "check"


def _form(one: Assignment) -> int:
    return int(one.extra.get("form", 1))
