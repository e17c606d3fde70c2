"""A participant's position in a survey: current step or question, form, and which answers may still change. Current
layout of a preference study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotation.kinds.preference.survey import flow
from annotation.kinds.preference.survey.texts import SETTINGS, set_names, survey_of
from annotation.records import AnswerContext, Assignment, EventKind, Item, Study, SurveyPosition, Workspace
from annotation.studies.kinds import GateResult, OwnAssignments
from annotation.studies.overview import WorkProgress
from cir_core.errors import GateStands, IncompleteJudgement

_FIRST = {
    "guidelines": "Read the guidelines first: reload the page. Nothing was saved yet.",
    "consent": "This study asks for your consent first: reload the page. Nothing was saved yet.",
    "check": "A short check comes first: reload the page. Nothing was saved yet.",
}


@dataclass(frozen=True)
class SurveyFlow:
    """:class:`annotation.studies.kinds.Flow` of preference studies, with the steps of
    :mod:`annotation.kinds.preference.survey.flow`."""

    def position(
        self, workspace: Workspace, annotator: str, mine: OwnAssignments, share: Callable[[], int]
    ) -> SurveyPosition:
        """Current position. Steps come before new questions, not before a person's own earlier answers.

        Without any question there is no step. A person whose questions were reassigned gets no code until they have
        answered a seat's ``share``.
        """
        here = None if workspace.item is None else workspace.item.item_id
        own = [one for one in mine if one.state != "handed_on" or one.item_id == here]
        places = {one.item_id: index for index, one in enumerate(own)}
        at = None if here is None else places.get(here)
        handed_on = sum(one.state == "handed_on" for one in mine)
        gate = None if workspace.judgement is not None or not workspace.total else _gate(workspace, annotator)
        if gate and gate["kind"] == "finished" and handed_on and workspace.done < min(workspace.total + handed_on,
                                                                                      share()):
            gate = None
        forms = sorted({_form(one) for one in own})   # a form may be missing if it was reassigned
        form = None if at is None else _form(own[at])
        position = SurveyPosition(
            gate=gate, number=None if at is None else at + 1, of=len(own),
            form=None if form is None else forms.index(form) + 1, forms=len(forms), handed_on=handed_on,
            locked=workspace.judgement is not None and form is not None and _is_over(form, own, workspace, annotator))
        return replace(position, ahead=tuple(
            replace(position, number=places[item.item_id] + 1, form=forms.index(_form(own[places[item.item_id]])) + 1,
                    locked=False) for item in self._free(workspace, annotator)))

    def _free(self, workspace: Workspace, annotator: str) -> Iterator[Item]:
        """The next questions, as far as no step comes before them once those before have an answer."""
        answered = workspace.done + (workspace.judgement is None)
        for number, item in enumerate(workspace.ahead):
            if _gate(replace(workspace, done=answered + number), annotator) is not None:
                return
            yield item

    def admit(self, context: AnswerContext, annotator: str, token: str) -> None:
        """A late answer to a reassigned question is accepted even if a check is due."""
        if context.token is not None:
            if context.token == token:
                return
            own = [one for one in context.overview() if one.state != "handed_on"]
            form = next((_form(one) for one in own if one.item_id == context.item_id), None)
            if form is not None and _is_over(form, own, context, annotator):
                raise IncompleteJudgement("This question is of a form that you have finished. Its answer is final; "
                                          "the change was not saved.")
            return
        gate = _gate(context, annotator)
        if gate is None or gate["kind"] == "finished" or (gate["kind"] == "check" and context.state == "handed_on"):
            return
        raise GateStands(_FIRST[gate["kind"]])

    def pass_gate(
        self, workspace: Workspace, annotator: str, kind: EventKind, token: str, *, number: int | None,
        attempt: int | None, answer: object,
    ) -> GateResult:
        return flow.pass_gate(workspace.study, annotator, _progress(workspace), workspace.events, kind, token,
                                     number=number, attempt=attempt, answer=answer)


def _gate(where: Workspace | AnswerContext, annotator: str) -> dict[str, Any] | None:
    return flow.gate(where.study, annotator, _progress(where), where.events)


def _progress(where: Workspace | AnswerContext) -> WorkProgress:
    """As far as gates need it: without the pace."""
    return WorkProgress(where.done, where.total, 0, None, None)


def _is_over(form: int, own: Sequence[Assignment], where: Workspace | AnswerContext, annotator: str) -> bool:
    """Whether a form is over: when the next one begins, after the check at its end, if any."""
    waiting = next((_form(one) for one in own if one.state == "open"), None)
    now = max(map(_form, own)) if waiting is None else waiting
    if form >= now:
        return False
    answered = {_form(one) for one in own if one.state != "open"}
    if now in answered or form < max(answered):
        return True
    gate = _gate(where, annotator)
    return gate is None or gate["kind"] != "check"


def _form(one: Assignment) -> int:
    return int(one.extra.get("form", 1))


_SHOWN = ("set_names", "per_person", "form_size", "shared_every", "shared_by", "check", "check_every", "reason_every",
          "allow_tie", "consent")


@dataclass(frozen=True)
class SurveyOverview:
    """``shared`` questions go to up to ``shared_by`` people, others to one. ``per_person`` and ``forms`` are maxima.
    ``check`` is "none" without checks."""

    questions: int
    people: int
    shared: int
    shared_by: int
    per_person: int
    forms: int
    form_size: int
    check: str
    check_every: int   # questions, and at the end of a form


def survey_overview(study: Study, assignments: Iterable[Assignment]) -> SurveyOverview:
    """The layout, with reassigned work counted at its new seat."""
    places = [one for one in assignments if one.state != "handed_on"]
    people = Counter(one.item_id for one in places)
    several = [count for count in people.values() if count > 1]
    of_seats = Counter(one.seat for one in places)
    of_forms = Counter((one.seat, one.extra.get("form") or 1) for one in places)
    every = int(study.settings.get("check_every", SETTINGS["check_every"]))
    check = str(study.settings.get("check", SETTINGS["check"])) if every else "none"
    return SurveyOverview(
        len(people), len(of_seats), len(several), max(several, default=1), max(of_seats.values(), default=0),
        max((form for _, form in of_forms), default=0), max(of_forms.values(), default=0), check, every)


def settings_shown(study: Study) -> dict[str, Any]:
    """The settings that screens name, as plain JSON; of the consent only whether there is one."""
    of = {**SETTINGS, **study.settings, "consent": bool(study.settings.get("consent")),
          "set_names": list(set_names(survey_of(study), study.settings))}
    return {name: of.get(name) for name in _SHOWN}
