"""Exclusion rules of a study, of any kind. Without a rule no answer is excluded.

``irrelevant`` is HS-FashionIQ's: 307 of its 3,050 questions were flagged, and 2,743 count (CIRQRS).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any, Protocol

from annotation.records import Judgement, name_key
from cir_core.errors import StudyError
from cir_core.support.texts import quoted


class Person(Protocol):
    """What rules ask of a person. None: not recorded, or there is no such thing in this kind of study."""

    @property
    def annotator(self) -> str: ...
    @property
    def failed_checks(self) -> int | None: ...
    @property
    def median_seconds(self) -> float | None: ...
    @property
    def longest_run(self) -> int: ...
    @property
    def one_side(self) -> float | None: ...
    @property
    def contradiction_rate(self) -> float | None: ...
    @property
    def gold(self) -> float | None: ...


def flagged(answer: Mapping[str, Any]) -> bool | None:
    """Whether results are flagged as irrelevant, to image or text; None if not recorded."""
    marks = (answer.get("irrelevant") or {}).values()
    return None if all(mark is None for mark in marks) else any(marks)


@dataclass(frozen=True)
class Rules:
    """Exclusion rules; None and False exclude nothing. Rules other than ``irrelevant`` exclude all answers of a person.
    Missing metadata (seconds, sides) never excludes anyone."""

    irrelevant: bool = False                # answers that flag the results as irrelevant, to image or text
    failed_checks: int | None = None        # people with more wrong answers to checks, or gold items
    median_seconds: float | None = None     # people with a lower median, in seconds per question
    straight_lining: int | None = None      # people with at least so many identical ratings in a row
    one_side: float | None = None           # people who chose the same side in at least this share of answers
    contradictions: float | None = None     # people with at least this share of answers that contradict themselves
    gold: float | None = None               # people with a lower score of gold items

    def __post_init__(self) -> None:
        for name, least in (("failed_checks", 0), ("straight_lining", 2)):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
                raise StudyError(f"The rule {shown(name)} takes a whole number from {least}, not {quoted(value)}.")
        if self.median_seconds is not None and not (_is_number(self.median_seconds) and self.median_seconds > 0):
            raise StudyError(f"The rule median-seconds takes a number above 0, not {quoted(self.median_seconds)}.")
        if self.one_side is not None and not (_is_number(self.one_side) and 0.5 < self.one_side <= 1):
            raise StudyError(f"The rule one-side takes a share above 0.5, up to 1, not {quoted(self.one_side)}.")
        for name in ("contradictions", "gold"):
            value = getattr(self, name)
            if value is not None and not (_is_number(value) and 0 < value <= 1):
                raise StudyError(f"The rule {name} takes a share above 0, up to 1, not {quoted(value)}.")
        if not isinstance(self.irrelevant, bool):
            raise StudyError(f"The rule irrelevant is on or off, not {quoted(self.irrelevant)}.")

    @property
    def set(self) -> tuple[str, ...]:
        """Names of the active rules."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return tuple(name for name, value in values.items() if value is not None and value is not False)

    def as_settings(self) -> dict[str, Any]:
        """Plain JSON for ``Study.settings["exclude"]``."""
        return {name: getattr(self, name) for name in self.set}


@dataclass(frozen=True)
class Removal:
    """Answers excluded by a rule. ``judgements`` by id. ``people``: without any remaining answer. ``recorded``: False
    if the rule's metadata is missing for all answers and people."""

    judgements: frozenset[str]
    people: tuple[str, ...]
    recorded: bool = True


@dataclass(frozen=True)
class Removed:
    """Answers excluded by each rule alone, and by all of them. ``excluded``: the rules by judgement id."""

    by_rule: Mapping[str, Removal]
    together: Removal
    kept: tuple[Judgement, ...]
    excluded: Mapping[str, tuple[str, ...]]


def apply_rules(rules: Rules, judgements: Sequence[Judgement], people: Iterable[Person]) -> Removed:
    """Apply all rules to all answers, independent of their order.

    Args:
        judgements: current ones.
        people: with numbers over the same judgements.
    """
    people = list(people)
    by_rule = {name: _removal(_excluded_by(name, rules, judgements, people), judgements,
                              recorded=not judgements or _recorded(name, judgements, people)) for name in rules.set}
    excluded = {
        judgement.judgement_id: names for judgement in judgements
        if (names := tuple(name for name, one in by_rule.items() if judgement.judgement_id in one.judgements))
    }
    together = _removal(set(excluded), judgements)
    kept = tuple(judgement for judgement in judgements if judgement.judgement_id not in excluded)
    return Removed(by_rule, together, kept, excluded)


def rules_of(settings: Mapping[str, Any]) -> Rules:
    """The rules in a study's settings. Raises ``StudyError`` for an unknown one."""
    kept = settings.get("exclude") or {}
    if not isinstance(kept, Mapping):
        raise StudyError("The study's rules (exclude) are not an object. Set them again: cirque study quality")
    _check_names(kept)
    return Rules(**kept)


def parse_rules(texts: Iterable[str]) -> Rules:
    """Parse rules: ``irrelevant``, ``failed-checks=2``. ``none`` alone means no rules. Raises ``StudyError``."""
    given: dict[str, Any] = {}
    texts = list(texts)
    for text in [] if texts == ["none"] else texts:
        name, has_value, value = text.partition("=")
        name = name.strip().replace("-", "_")
        _check_names([name])
        if name in given:
            raise StudyError(f"The rule {shown(name)} is given twice. Give it once.")
        if (name == "irrelevant") == bool(has_value):
            raise StudyError(f"Write the rule as {'irrelevant' if name == 'irrelevant' else shown(name) + '=NUMBER'}, "
                             f"not {quoted(text)}.")
        given[name] = True if name == "irrelevant" else _number(name, value.strip())
    return Rules(**given)


def shown(name: str) -> str:
    """Name of a rule on the command line."""
    return name.replace("_", "-")


def _excluded_by(name: str, rules: Rules, judgements: Sequence[Judgement], people: Sequence[Person]) -> set[str]:
    if name == "irrelevant":
        return {one.judgement_id for one in judgements if flagged(one.answer)}
    limit = getattr(rules, name)
    out = {name_key(person.annotator) for person in people if _is_out(name, limit, person)}
    return {one.judgement_id for one in judgements if name_key(one.annotator) in out}


def _recorded(name: str, judgements: Sequence[Judgement], people: Sequence[Person]) -> bool:
    if name == "irrelevant":
        return any(flagged(one.answer) is not None for one in judgements)
    of = "contradiction_rate" if name == "contradictions" else name
    return name == "straight_lining" or any(getattr(person, of) is not None for person in people)


def _is_out(name: str, limit: float, person: Person) -> bool:
    if name == "failed_checks":
        return person.failed_checks is not None and person.failed_checks > limit
    if name == "median_seconds":
        return person.median_seconds is not None and person.median_seconds < limit
    if name == "straight_lining":
        return person.longest_run >= limit
    if name == "contradictions":
        return person.contradiction_rate is not None and person.contradiction_rate >= limit
    if name == "gold":
        return person.gold is not None and person.gold < limit
    return person.one_side is not None and person.one_side >= limit


def _removal(excluded_ids: set[str], judgements: Sequence[Judgement], *, recorded: bool = True) -> Removal:
    left = {name_key(one.annotator) for one in judgements if one.judgement_id not in excluded_ids}
    gone = {name_key(one.annotator): one.annotator for one in judgements if name_key(one.annotator) not in left}
    return Removal(frozenset(excluded_ids), tuple(gone.values()), recorded)


def _check_names(names: Iterable[str]) -> None:
    known = [field.name for field in fields(Rules)]
    if unknown := next((name for name in names if name not in known), None):
        raise StudyError(f"There is no rule {quoted(unknown)}. There are: {', '.join(map(shown, known))}.")


def _number(name: str, text: str) -> float:
    try:
        return int(text) if name in ("failed_checks", "straight_lining") else float(text)
    except ValueError:
        raise StudyError(f"The rule {shown(name)} takes a number, not {quoted(text)}.") from None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
