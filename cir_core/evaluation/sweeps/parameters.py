"""Which numbers of a method a sweep can go through, and what a person wrote about one of them.

A sweep is written ``lambda=0:1:0.1`` (start, stop, step; the stop is included) or ``lambda=0.1,0.5,1``. A parameter is
named by its field ("weight"), its sign ("λ") or the sign's name ("lambda"), or in full ("soft_filter.weight"), which
is needed where two parameters of a method share a name.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any

from cir_core.errors import MethodError
from cir_core.methods.declared import Method
from cir_core.methods.parameters import Label, Parameter, Section, declare
from cir_core.methods.steps import STEPS, sections
from cir_core.support.texts import quoted
from cir_core.types.methods import MethodSettings

MOST_VALUES = 101
_FORM = "Write it as in lambda=0:1:0.1 (start, stop, step) or lambda=0.1,0.5,1."
_OF_FILTERS = frozenset({"epsilon", "ε", "tau", "τ"})
_SEEN = Section("Feedback", "history", declare(
    MethodSettings, Label("feedback_depth", "results that count as seen", "K")), "feedback")
"""What no form offers but a sweep can go through."""


@dataclass(frozen=True)
class Swept:
    """A parameter with the values of a sweep. ``section`` says whose settings hold it."""

    section: Section
    parameter: Parameter
    values: tuple[float, ...] = ()

    @property
    def key(self) -> str:
        """In full: "soft_filter.weight"."""
        return f"{self.section.step or self.section.value}.{self.parameter.name}"

    @property
    def sign(self) -> str:
        """As short as there is: "λ"."""
        return self.parameter.label.sign or self.parameter.name

    @property
    def title(self) -> str:
        """For a person: "λ (strictness)"."""
        return f"{self.sign} ({self.parameter.label.text})"

    @property
    def from_second_turn(self) -> bool:
        """Whether it changes nothing in the first turn of a session."""
        return not self.section.step and self.section.field == "history"

    @property
    def moves_base(self) -> bool:
        """Whether the turn's own query, before history and steps, depends on it."""
        return not self.section.step and not self.from_second_turn

    @property
    def ranks_only(self) -> bool:
        """Whether queries stay and only their ranking changes."""
        step = STEPS.get(self.section.step)
        return step is not None and step.name in step.keeps and step.name not in step.moves_query

    def of(self, settings: MethodSettings) -> float:
        """The value in ``settings``."""
        record = settings.part(self.section.step) if self.section.step else settings
        return float(getattr(record, self.parameter.name))

    def with_value(self, method: Method, value: float) -> Method:
        """``method`` with another value, which its name says."""
        changed: dict[str, Any] = {self.parameter.name: int(value) if self.parameter.kind == "whole" else value}
        settings, step = method.settings, self.section.step
        settings = (settings.with_parts({step: replace(settings.part(step), **changed)}) if step
                    else replace(settings, **changed))
        setting = f"{self.sign} {value:g}"
        return Method(f"{method.name} {setting}", f"{method.title}, {setting}", method.source, settings)


def sweepable(settings: MethodSettings, *, several_turns: bool) -> list[Swept]:
    """The numbers that change what ``settings`` find, in one turn or in sessions of several."""
    found = []
    for section in (*sections(), _SEEN):
        there = settings.part(section.step) is not None if section.step else (
            getattr(settings, section.field) == section.value)
        if there:
            found += [Swept(section, one) for one in section.parameters if one.kind != "choice"]
    return [one for one in found if several_turns or not one.from_second_turn]


def read_sweep(written: str, method: Method, *, several_turns: bool = False) -> Swept:
    """What ``written`` says of ``method``.

    Raises ``MethodError``, which lists the parameters of the method, for another form, a parameter that the method does
    not have or that is ambiguous, values outside its range, and more than ``MOST_VALUES`` of them.
    """
    there = sweepable(method.settings, several_turns=several_turns)
    if not there:
        raise MethodError(f"Method {quoted(method.name)} has no numeric parameter to sweep"
                          f"{'' if several_turns else ' in a single turn'}. Choose another method.")
    try:
        name, equals, values = written.partition("=")
        if not equals:
            raise MethodError(f"{quoted(written)} does not name values. {_FORM}")
        found = _named(name.strip(), method, there)
        return replace(found, values=_values(values.strip(), found))
    except MethodError as error:
        raise MethodError(f"--sweep: {error} Method {quoted(method.name)} has: {_listed(there)}.") from None


def _named(name: str, method: Method, there: Sequence[Swept]) -> Swept:
    matching = [one for one in there if _folded(name) in _names(one)]
    if len(matching) > 1:
        raise MethodError(f"{quoted(name)} is {' or '.join(one.key for one in matching)}. Write it in full.")
    if matching:
        return matching[0]
    later = [one for one in sweepable(method.settings, several_turns=True) if _folded(name) in _names(one)]
    if later:
        raise MethodError(f"{quoted(name)} only affects turn 2 and later, and these queries have one turn. Sweep it "
                          "over sessions (cirque evaluate circled).")
    if _folded(name) in _OF_FILTERS:
        raise MethodError(f"{quoted(name)} is a threshold of the filters of sessions, not of a method: give it to "
                          "cirque construct filter, or move its slider on the page Benchmarks.")
    raise MethodError(f"there is no numeric parameter {quoted(name)}.")


def _names(one: Swept) -> set[str]:
    label = one.parameter.label
    names = {one.key, one.parameter.name, label.sign, _spelled(label.sign), label.spoken}
    return {_folded(name) for name in names if name}


def _folded(name: str) -> str:
    return " ".join(name.casefold().replace("-", "_").split())


def _spelled(sign: str) -> str:
    """"lambda" of "λ"; "" of anything but one Greek letter."""
    known = unicodedata.name(sign, "") if len(sign) == 1 else ""
    return known.rpartition(" ")[2].casefold().replace("lamda", "lambda") if known.startswith("GREEK SMALL") else ""


def _listed(there: Sequence[Swept]) -> str:
    return ", ".join(
        f"{one.key} ({one.sign + ', ' if one.sign != one.parameter.name else ''}"
        f"{one.parameter.least:g} to {one.parameter.most:g})" for one in there)


def _values(written: str, found: Swept) -> tuple[float, ...]:
    if ":" in written:
        numbers = [_number(part) for part in written.split(":")]
        if len(numbers) != 3:
            raise MethodError(f"{quoted(written)} is not a range. {_FORM}")
        start, stop, step = numbers
        values = _range(start, stop, step, found)
    else:
        values = [_number(part) for part in written.split(",")]
        _check_number(len(values))
    for value in values:
        _check(value, found)
    once = tuple(dict.fromkeys(float(value) for value in values))
    if len(once) < 2:
        raise MethodError(f"{quoted(written)} is a single value; a curve needs two or more. {_FORM}")
    return once


def _range(start: Decimal, stop: Decimal, step: Decimal, found: Swept) -> list[Decimal]:
    if step <= 0:
        raise MethodError(f"the step is {step}, and has to be above 0. {_FORM}")
    if stop <= start:
        raise MethodError(f"the range ends at {stop}, which is not above its start, {start}. {_FORM}")
    for end in (start, stop):
        _check(end, found, whole=False)
    if step > stop - start:
        raise MethodError(f"a step of {step} makes a single value; a curve needs two or more. {_FORM}")
    if stop - start > step * MOST_VALUES:
        raise MethodError(f"a step of {step} makes more than {MOST_VALUES} values. Use a larger one.")
    count = int((stop - start) / step) + 1
    _check_number(count)
    return [start + place * step for place in range(count)]


def _check_number(count: int) -> None:
    if count > MOST_VALUES:
        raise MethodError(f"{count:,} values are too many; the limit is {MOST_VALUES}. Use fewer.")


def _check(value: Decimal, found: Swept, *, whole: bool = True) -> None:
    one = found.parameter
    if not one.least <= float(value) <= one.most:
        raise MethodError(f"{value} is outside the range of {found.sign}, {one.least:g} to {one.most:g}.")
    if whole and one.kind == "whole" and value != int(value):
        raise MethodError(f"{value} is not a whole number, and {found.sign} is counted.")


def _number(written: str) -> Decimal:
    try:
        value = Decimal(written.strip())
    except InvalidOperation:
        raise MethodError(f"{quoted(written)} is not a number. {_FORM}") from None
    if not value.is_finite():
        raise MethodError(f"{quoted(written)} is not a number. {_FORM}")
    return value
