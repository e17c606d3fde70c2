"""What the search screen sends with an action, read and checked. Declared parameters as fields of a form, and what
comes back from it."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from cir_core.errors import SearchError
from cir_core.methods.parameters import Parameter, Section
from cir_core.methods.steps import sections
from cir_core.support.texts import quoted
from cir_core.types.methods import MethodSettings

Data = Mapping[str, Any]


def text_of(data: Data, key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""


def number_of(data: Data, key: str) -> float:
    """Raises ``SearchError`` for anything that is no finite number."""
    try:
        value = float(data.get(key, "nan"))
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise SearchError(f"{key} must be a number.")
    return value


def fraction_of(data: Data, key: str, most: float = 1, least: float = 0) -> float:
    """A number from ``least`` to ``most``."""
    value = number_of(data, key)
    if not least <= value <= most:
        raise SearchError(f"{key} is {value:g}; it goes from {least:g} to {most:g}.")
    return value


def whole_of(data: Data, key: str, least: float, most: float) -> int:
    """A whole number from ``least`` to ``most``."""
    value = number_of(data, key)
    if value != int(value) or not least <= value <= most:
        raise SearchError(f"{key} is {value:g}; it is a whole number from {least} to {most}.")
    return int(value)


def one_of(allowed: Collection[str], value: str) -> str:
    """``value``, which is one of ``allowed``."""
    if value not in allowed:
        raise SearchError(f"{quoted(value)} is not one of {', '.join(allowed)}.")
    return value


def fieldsets(method: MethodSettings) -> list[dict[str, Any]]:
    """The parts of the settings drawer that belong to some methods only; defaults where ``method`` lacks a step."""
    return [
        {"title": section.title, "part_of": f"{section.field}={section.value}" if section.value else section.field,
         "fields": fields_of(section, method.part(section.step) if section.step else method)}
        for section in sections() if section.parameters
    ]


def fields_of(section: Section, record: Any) -> list[dict[str, Any]]:
    """``record`` has the values; None for the defaults."""
    return [_field(section, parameter, record) for parameter in section.parameters]


def _field(section: Section, parameter: Parameter, record: Any) -> dict[str, Any]:
    label = parameter.label
    value = getattr(record, parameter.name) if record else parameter.default
    whole = parameter.kind == "whole"
    path = f"{section.step}.{parameter.name}" if section.step else parameter.name
    return {
        "name": _name(section, parameter), "path": path, "kind": parameter.kind, "value": value, "sign": label.sign,
        "text": label.text, "spoken": label.spoken or parameter.name, "choices": list(label.choices.items()),
        "least": f"{parameter.least:g}", "step": 1 if whole else label.step,
        "most": max(label.most or parameter.most, value) if parameter.kind != "choice" else None,
        "shown": f"{value}" if whole or parameter.kind == "choice" else f"{value:.2f}",
    }


def _name(section: Section, parameter: Parameter) -> str:
    """Of the input: two kinds of steps may have parameters of one name."""
    return parameter.name if section.bare else f"{section.step}.{parameter.name}"


def changes_of(section: Section, data: Data) -> dict[str, Any]:
    """The fields of ``section`` that are in ``data``, checked. Raises ``SearchError``."""
    found: dict[str, Any] = {}
    for parameter in section.parameters:
        key = _name(section, parameter)
        if parameter.kind == "choice":
            if said := text_of(data, key):
                found[parameter.name] = one_of(parameter.label.choices, said)
        elif key in data:
            read = whole_of if parameter.kind == "whole" else _number_of
            found[parameter.name] = read(data, key, parameter.least, parameter.most)
    return found


def _number_of(data: Data, key: str, least: float, most: float) -> float:
    return fraction_of(data, key, most, least)
