"""Steps (gates) between the questions of a survey: guidelines, consent, attention checks, and the completion code.
Attention checks: a sum, or an instruction to follow.

Pure: determined by the study, the person, their progress and events, so that a reload, another device or a
second window shows the same. It reads these of :data:`annotation.kinds.preference.survey.texts.SETTINGS`: ``consent``,
``check``, ``check_every`` (0: no checks), ``form_size`` (0: one form) and ``completion_prefix``.

Payloads of events, by kind of :class:`~annotation.records.StudyEvent`:

- ``guidelines``: ``{}``
- ``consent``: ``{"text"}``, the accepted text. If it is changed later, consent is asked for again.
- ``check``: ``{"number", "attempt", "check", "question" or "instruction", "answer", "right"}``
- ``finish``: ``{"code"}``, null if the study has no codes
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from annotation.kinds.preference.survey.texts import SETTINGS
from annotation.records import EventKind, Study, StudyEvent, name_key
from annotation.studies.completion import person_code
from annotation.studies.kinds import GateResult
from annotation.studies.overview import WorkProgress
from cir_core.errors import IncompleteJudgement, StudyError
from cir_core.support.texts import quoted

CheckForm = Literal["sum", "instruction"]
ADDENDS = range(2, 10)
OPTIONS = range(1, 6)   # as ratings

_LONGEST = 9   # digits of an answer


@dataclass(frozen=True)
class AttentionCheck:
    form: CheckForm
    number: int          # number of answers before it
    attempt: int         # from 0; wrong answers so far
    task: str            # "7 + 5", or "Please choose 4."
    expected: int

    @property
    def shown(self) -> dict[str, Any]:
        """JSON for the screen."""
        common = {"number": self.number, "attempt": self.attempt, "check": self.form}
        if self.form == "sum":
            return {**common, "question": self.task}
        return {**common, "instruction": self.task, "options": list(OPTIONS)}


def draw_check(form: object, seed: str, number: int, attempt: int) -> AttentionCheck:
    """The same for the same arguments. Right answers of attempts that follow each other differ. Raises ``StudyError``
    for an unknown form."""
    rng = random.Random(f"{seed}/{number}")
    if form == "sum":
        totals = list(range(2 * ADDENDS[0], 2 * ADDENDS[-1] + 1))
        rng.shuffle(totals)
        total = totals[attempt % len(totals)]
        first = random.Random(f"{seed}/{number}/{attempt}").choice([one for one in ADDENDS if total - one in ADDENDS])
        return AttentionCheck("sum", number, attempt, f"{first} + {total - first}", total)
    if form == "instruction":
        options = list(OPTIONS)
        rng.shuffle(options)
        expected = options[attempt % len(options)]
        return AttentionCheck("instruction", number, attempt, f"Please choose {expected}.", expected)
    raise StudyError(f"The study asks for checks of the form {quoted(form)}. Set check to sum, instruction or none.")


def given_number(answer: object, check: AttentionCheck) -> int:
    """What somebody answered, a whole number as such or as text. Raises ``IncompleteJudgement``
    for anything else: that is no wrong answer yet."""
    if isinstance(answer, str):
        text = answer.strip()
        if text.isdecimal() and len(text) <= _LONGEST:
            answer = int(text)
    if isinstance(answer, float) and answer.is_integer():
        answer = int(answer)
    whole = isinstance(answer, int) and not isinstance(answer, bool) and abs(answer) < 10**_LONGEST
    if check.form == "instruction":
        if not whole or answer not in OPTIONS:
            raise IncompleteJudgement(f"Choose one of {OPTIONS[0]} to {OPTIONS[-1]}.")
    elif not whole:
        raise IncompleteJudgement(f"Type the sum of {check.task} in digits.")
    return cast(int, answer)


SECRET = "code_secret"
"""Key in ``Study.settings`` of the secret for completion codes, which never leaves the server. Without it there are no
codes."""

_OUTDATED_PAGE = ("This page was answered already, perhaps in another window. Reload it to see the current step; "
             "this answer was not counted.")


def gate(study: Study, annotator: str, progress: WorkProgress, events: Sequence[StudyEvent]) -> dict[str, Any] | None:
    """What stands before this person's next question, as plain JSON; None if nothing does.

    ``{"kind": "guidelines"}``, ``{"kind": "consent", "text"}``, ``{"kind": "check", "number",
    "attempt", "check", "question" | "instruction" and "options"}`` or ``{"kind": "finished",
    "code"}`` (a text, or None). ``number``: number of answers before the check; ``attempt`` from 0. ``events``
    are the person's. In a closed study, only the steps to the code of a person who is done.
    """
    over = 0 < progress.total <= progress.done
    if not study.accepting and not (over and events):   # no events: an imported study
        return None
    if not any(event.kind == "guidelines" for event in events):
        return {"kind": "guidelines"}
    consent = _setting(study, "consent")
    if consent and not any(event.kind == "consent" and event.payload.get("text") == consent for event in events):
        return {"kind": "consent", "text": consent}
    check = standing_check(study, annotator, progress, events)
    if check is not None:
        return {"kind": "check", **check.shown}
    return {"kind": "finished", "code": finished_code(study, annotator, events)} if over else None


def standing_check(
    study: Study, annotator: str, progress: WorkProgress, events: Sequence[StudyEvent],
) -> AttentionCheck | None:
    """The check that this person has to pass now. Only the latest one due: a script that skipped several passes one for
    all. Each wrong answer brings another task at the same point."""
    form = _setting(study, "check")
    number = 0 if form == "none" else check_due(
        progress.done, progress.total, every=_setting(study, "check_every"), form_size=_setting(study, "form_size"))
    answered = [event.payload for event in events if event.kind == "check"]
    if number == 0 or any(one["right"] and one["number"] >= number for one in answered):
        return None
    attempt = sum(one["number"] == number for one in answered)
    return draw_check(form, f"{study.plan.seed}/check/{name_key(annotator)}", number, attempt)


def check_due(done: int, total: int, *, every: int, form_size: int) -> int:
    """Number of answers before the latest check due after ``done`` of ``total`` answers; 0 if there is none yet.

    Checks come after every ``every`` answers of a form and at its end. Forms have ``form_size`` questions, the
    last one the remainder.
    """
    if every <= 0:
        return 0
    if done >= total:
        return done
    in_form = done % form_size if form_size > 0 else done
    return done - in_form % every


def pass_gate(
    study: Study, annotator: str, progress: WorkProgress, events: Sequence[StudyEvent], kind: EventKind, token: str, *,
    number: int | None = None, attempt: int | None = None, answer: object = None,
) -> GateResult:
    """Result of an answer to the current step, to record under ``token``.

    A repeated call returns the first result. ``number`` and ``attempt`` are of the check that was shown.
    Consent is ``answer=True``. A wrong answer to a check is not ``passed``, but recorded too.

    Raises ``IncompleteJudgement`` for a missing answer, and if another step is due now; then nothing is recorded.
    """
    for event in events:
        if event.token == token:
            return GateResult(event.kind, event.payload, event.payload.get("right") is not False)
    step = gate(study, annotator, progress, events)
    if step is None or {"finished": "finish"}.get(step["kind"], step["kind"]) != kind:
        raise IncompleteJudgement(_OUTDATED_PAGE)
    if kind == "guidelines":
        return GateResult(kind, {}, True)
    if kind == "consent":
        if answer is not True:
            raise IncompleteJudgement("Tick that you agree, or close the page if you do not want to take part.")
        return GateResult(kind, {"text": step["text"]}, True)
    if kind == "finish":
        return GateResult(kind, {"code": step["code"]}, True)
    check = standing_check(study, annotator, progress, events)
    assert check is not None, "the step is this check"
    if (number, attempt) != (check.number, check.attempt):
        raise IncompleteJudgement(_OUTDATED_PAGE)
    given = given_number(answer, check)
    right = given == check.expected
    asked = {key: value for key, value in check.shown.items() if key != "options"}
    return GateResult(kind, {**asked, "answer": given, "right": right}, right)


def completion_code(study: Study, annotator: str) -> str | None:
    """Deterministic code per person and study. None if the study has no secret."""
    secret = study.settings.get(SECRET)
    if not isinstance(secret, str) or not secret:
        return None
    return str(_setting(study, "completion_prefix")) + person_code(secret, study.study_id, annotator)


def finished_code(study: Study, annotator: str, events: Sequence[StudyEvent]) -> str | None:
    """The code that was issued to this person, else the one that would be issued. None for whom the study has ended
    below the mark of its training or gold items."""
    if any(event.ends_study for event in events):
        return None
    given = next((event.payload.get("code") for event in events if event.kind == "finish"), None)
    return given if isinstance(given, str) else completion_code(study, annotator)


def _setting(study: Study, name: str) -> Any:
    return study.settings.get(name, SETTINGS[name])
