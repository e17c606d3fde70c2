"""Declared parameters as fields of a form, and what comes back from it."""

from __future__ import annotations

from typing import Any

from cir_core.methods.parameters import Parameter, Section
from cir_core.methods.steps import sections
from cir_core.types.methods import MethodSettings
from web.search.inputs import Data, fraction_of, one_of, text_of, whole_of


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
