"""Attention checks: a sum, or an instruction to follow."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, Literal, cast

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
