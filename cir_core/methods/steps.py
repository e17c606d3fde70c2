"""The table of steps, and what follows from it. A new kind of step is one more line in :data:`STEPS`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from cir_core.errors import SearchError
from cir_core.language.tasks import Domain, Task
from cir_core.methods.base_query import BASE_SECTION
from cir_core.methods.feedback import FEEDBACK_SECTION, HISTORY_SECTION
from cir_core.methods.guidance import GuidanceStep
from cir_core.methods.observer import StageTimer
from cir_core.methods.parameters import Section
from cir_core.methods.reflection import ReflectionStep
from cir_core.methods.relevance import RelevanceStep
from cir_core.methods.soft_filter import SoftFilterStep
from cir_core.methods.step import Rerank, Step, StepScore
from cir_core.types.composition import Composition
from cir_core.types.methods import MethodSettings, tuples
from cir_core.types.records import Vector
from cir_core.types.vectors import TextEncoder

_Found = TypeVar("_Found")

STEPS: dict[str, Step[Any]] = {
    step.name: step for step in (ReflectionStep(), SoftFilterStep(), GuidanceStep(), RelevanceStep())}
"""By name, in the order they run in, after base and history."""


def steps_of(method: MethodSettings) -> Iterator[tuple[Step[Any], Any]]:
    """The steps of a method with their settings, in order."""
    for step in STEPS.values():
        if (settings := step.of(method)) is not None:
            yield step, settings


def without_steps(method: MethodSettings) -> MethodSettings:
    """Base and history alone."""
    return method.with_parts(dict.fromkeys(STEPS))


def sections() -> tuple[Section, ...]:
    """All parameters a form offers, in order."""
    own = (BASE_SECTION, FEEDBACK_SECTION, HISTORY_SECTION)
    return (*own, *(step.section for step in STEPS.values()))


def method_from_dict(content: dict[str, Any]) -> MethodSettings:
    """The inverse of :func:`cir_core.types.methods.method_to_dict`; fields that older versions did not write take
    their defaults."""
    fields = {name: value for name, value in content.items() if name not in STEPS}
    steps = {name: step.settings(**tuples(content[name])) for name, step in STEPS.items() if content.get(name)}
    return MethodSettings(**fields).with_parts(steps)


def step_tasks(method: MethodSettings, domain: Domain) -> list[Task[Any]]:
    """What the method's steps may ask a language model."""
    return [task for step, settings in steps_of(method) for task in step.tasks(settings, domain)]


def reads_captions(method: MethodSettings) -> bool:
    """Whether results depend on the gallery's stored captions."""
    return any(step.reads_captions for step, _ in steps_of(method))


def counts_marks(method: MethodSettings) -> bool:
    """Whether results marked "more" and "less" change what ``method`` finds next: by eq. 9, or by one of its steps."""
    return method.history == "feedback" or any(step.reads_marks for step, _ in steps_of(method))


def ranked_with(method: MethodSettings, composition: Composition) -> MethodSettings:
    """``method`` with the settings that a turn was ranked with: a person may have adjusted them."""
    return method.with_parts({name: composition.part(name) for name, step in STEPS.items() if name in step.keeps})


def same_query(one: Composition, other: Composition) -> bool:
    """Whether all steps that move the query move both alike."""
    return all(one.part(name) == other.part(name) for step in STEPS.values() for name in step.moves_query)


def step_score(
    query: Vector, composition: Composition, encoder: TextEncoder, stages: StageTimer | None = None
) -> StepScore | None:
    """The score to rank by; None is the product with ``query``. Raises ``SearchError`` if two steps give one."""
    timer = stages or StageTimer()
    return _only_one("rank the gallery", lambda step: step.score(query, composition, encoder, timer))


def step_rerank(
    composition: Composition, relevance: Callable[[], Any], stages: StageTimer | None = None
) -> Rerank | None:
    """How to order the results again after they are ranked; None if they stay. Raises ``SearchError`` if two steps
    do, and what ``relevance`` raises."""
    timer = stages or StageTimer()
    return _only_one("order the results again", lambda step: step.rerank(composition, relevance, timer))


def _only_one(does: str, of: Callable[[Step[Any]], _Found | None]) -> _Found | None:
    found = {step.label: one for step in STEPS.values() if (one := of(step)) is not None}
    if len(found) > 1:
        raise SearchError(f"{' and '.join(found)} both {does}. Remove one of them.")
    return next(iter(found.values()), None)
