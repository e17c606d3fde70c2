"""Language model wrapper that makes failures visible to evaluations.

A search tolerates a failed filter or round, with a note. A measurement that
did would report the base method under the name of another.
"""

from __future__ import annotations

from cir_core.errors import RULES_CAN, CirqueError, LanguageModelRefused
from cir_core.language.observer import Observer
from cir_core.language.tasks import A, Task
from cir_core.language.tasks.base import CUT_OFF
from cir_core.language.wrappers.base import Wrapper
from cir_core.methods.observer import QueryWatch

_ALL_BY_RULES = "For all queries: --model built-in."


class StrictLanguageModel(Wrapper):
    """Reports every error of ``inner`` to a :class:`QueryWatch`, including those a method tolerates. A refusal says how
    to evaluate with the built-in rules: here they do not answer for single queries, which would mix two models. Half an
    answer, which a search would use with a note, is a refusal."""

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        try:
            answer = self.inner.complete(task, watch)
            if CUT_OFF in answer.notes:
                raise LanguageModelRefused(f"{self.name}'s answer for the role '{task.role}' was cut off. ")
            return answer
        except CirqueError as error:
            if isinstance(error, LanguageModelRefused):
                error = LanguageModelRefused(f"{str(error).removesuffix(RULES_CAN)}{_ALL_BY_RULES} {RULES_CAN}")
            if isinstance(watch, QueryWatch) and watch.error is None:
                watch.error = error
            raise error
