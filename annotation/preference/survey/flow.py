"""What stands between the questions of a survey: guidelines, consent, checks, and the code at its end.

Pure: all follows from the study, the person, how far they are and what was noted of them, so a
reload, another device or a second window shows the same. Of :data:`annotation.preference.survey.texts.SETTINGS` it
reads ``consent``, ``check``, ``check_every`` (0: no checks), ``form_size`` (0: one form) and
``completion_prefix``.

What is noted, by kind of :class:`~annotation.records.StudyEvent`:

- ``guidelines``: ``{}``
- ``consent``: ``{"text"}``, what was agreed to. Another text later asks again.
- ``check``: ``{"number", "attempt", "check", "question" or "instruction", "answer", "right"}``
- ``finish``: ``{"code"}``, null where the study has no codes
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from typing import Any

from annotation.preference.survey.attention_checks import Check, draw_check, given_number
from annotation.preference.survey.texts import SETTINGS
from annotation.records import EventKind, Study, StudyEvent, name_key
from annotation.studies.kinds import GateResult
from annotation.studies.progress import Progress
from cir_core.errors import IncompleteJudgement

CODE_LENGTH = 8   # hex digits, behind the prefix
SECRET = "code_secret"
"""Of ``Study.settings``: what codes are made with. It never leaves the server. Studies without one have no codes."""

_MOVED_ON = ("This page was answered already, perhaps in another window. Reload it to see what stands here now; "
             "this answer was not counted.")


def gate(study: Study, annotator: str, progress: Progress, events: Sequence[StudyEvent]) -> dict[str, Any] | None:
    """What stands before this person's next question, as plain JSON; None if nothing does.

    ``{"kind": "guidelines"}``, ``{"kind": "consent", "text"}``, ``{"kind": "check", "number",
    "attempt", "check", "question" | "instruction" and "options"}`` or ``{"kind": "finished",
    "code"}`` (a text, or None). ``number``: after how many answers the check stands; ``attempt`` from 0. ``events``
    are the person's own. In a closed study only what leads to the code of a person who is done.
    """
    over = 0 < progress.total <= progress.done
    if not study.accepting and not (over and events):   # no events: a study that was imported
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
    study: Study, annotator: str, progress: Progress, events: Sequence[StudyEvent],
) -> Check | None:
    """The check that this person has to pass now.

    It is the latest one due: who has answered past several, with a script, passes one for all.
    Each wrong answer brings another question at the same place.
    """
    form = _setting(study, "check")
    number = 0 if form == "none" else check_due(
        progress.done, progress.total, every=_setting(study, "check_every"), form_size=_setting(study, "form_size"))
    answered = [event.payload for event in events if event.kind == "check"]
    if number == 0 or any(one["right"] and one["number"] >= number for one in answered):
        return None
    attempt = sum(one["number"] == number for one in answered)
    return draw_check(form, f"{study.plan.seed}/check/{name_key(annotator)}", number, attempt)


def check_due(done: int, total: int, *, every: int, form_size: int) -> int:
    """After how many answers the latest check stood that somebody with ``done`` of ``total`` has come to;
    0 for none yet.

    Checks stand after every ``every`` answers of a form and at its end. Forms have ``form_size``
    questions, the last one what is left.
    """
    if every <= 0:
        return 0
    if done >= total:
        return done
    in_form = done % form_size if form_size > 0 else done
    return done - in_form % every


def pass_gate(
    study: Study, annotator: str, progress: Progress, events: Sequence[StudyEvent], kind: EventKind, token: str, *,
    number: int | None = None, attempt: int | None = None, answer: object = None,
) -> GateResult:
    """What to note, under ``token``, of an answer to the gate that this person was shown.

    A call that is repeated gives what was noted first. ``number`` and ``attempt`` are those of the
    check that was shown. Consent is ``answer=True``. A wrong answer to a check is a passage that is
    not ``passed``; it is to be noted too.

    Raises ``IncompleteJudgement``, and nothing is to be noted, for a missing answer, and where
    something else stands here by now.
    """
    for event in events:
        if event.token == token:
            return GateResult(event.kind, event.payload, event.payload.get("right") is not False)
    standing = gate(study, annotator, progress, events)
    if standing is None or {"finished": "finish"}.get(standing["kind"], standing["kind"]) != kind:
        raise IncompleteJudgement(_MOVED_ON)
    if kind == "guidelines":
        return GateResult(kind, {}, True)
    if kind == "consent":
        if answer is not True:
            raise IncompleteJudgement("Tick that you agree, or close the page if you would rather not take part.")
        return GateResult(kind, {"text": standing["text"]}, True)
    if kind == "finish":
        return GateResult(kind, {"code": standing["code"]}, True)
    check = standing_check(study, annotator, progress, events)
    assert check is not None, "the gate is this check"
    if (number, attempt) != (check.number, check.attempt):
        raise IncompleteJudgement(_MOVED_ON)
    given = given_number(answer, check)
    right = given == check.expected
    asked = {key: value for key, value in check.shown.items() if key != "options"}
    return GateResult(kind, {**asked, "answer": given, "right": right}, right)


def new_secret() -> str:
    """For :data:`SECRET`. Not drawn from the seed: whoever knows that could make codes."""
    return secrets.token_hex(32)


def completion_code(study: Study, annotator: str) -> str | None:
    """The same each time, another one for each person and study. None where the study has no secret."""
    secret = study.settings.get(SECRET)
    if not isinstance(secret, str) or not secret:
        return None
    digest = hmac.new(secret.encode(), f"{study.study_id}/{name_key(annotator)}".encode(), hashlib.sha256)
    return str(_setting(study, "completion_prefix")) + digest.hexdigest()[:CODE_LENGTH].upper()


def finished_code(study: Study, annotator: str, events: Sequence[StudyEvent]) -> str | None:
    """The code that this person was given when they finished, else the one they would be given."""
    given = next((event.payload.get("code") for event in events if event.kind == "finish"), None)
    return given if isinstance(given, str) else completion_code(study, annotator)


def _setting(study: Study, name: str) -> Any:
    return study.settings.get(name, SETTINGS[name])
