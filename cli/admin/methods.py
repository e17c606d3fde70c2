"""``cirque methods``: available search methods."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from cir_core.methods.declared import Method, all_methods
from cir_core.methods.steps import STEPS, steps_of
from cir_core.settings import get_settings
from cir_core.types.methods import MethodSettings, method_to_dict
from cli.console import out, write_file


def list_methods(
    json_path: Annotated[Path | None, typer.Option("--json", help="Also write everything to this JSON file.")] = None,
) -> None:
    """List the bundled methods and those of CIRQUE_METHODS."""
    path = get_settings().methods
    methods = all_methods(path)
    table = Table("method", "title", "base → later turns → steps", "source", box=None)
    table.columns[0].no_wrap = True
    for method in methods.values():
        table.add_row(method.name, method.title, _steps(method.settings), method.source)
    out.print(table)
    if path is None:
        out.print("Add your own with CIRQUE_METHODS=FILE (docs/start/own-method.md). The others are at their defaults.")
    if json_path is not None:
        content = [_record(method) for method in methods.values()]
        write_file(json_path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def changed(settings: MethodSettings) -> dict[str, Any]:
    """Parameters that differ from their defaults; those of steps with a dot."""
    found = _differing(settings, MethodSettings(), "", leave_out={"base", "history", "step_parts", *STEPS})
    for step, own in steps_of(settings):
        found |= _differing(own, step.settings(), f"{step.name}.")
    return found


def _differing(
    one: Any, default: Any, prefix: str, leave_out: set[str] | frozenset[str] = frozenset()
) -> dict[str, Any]:
    return {
        prefix + field.name: getattr(one, field.name) for field in fields(one)
        if field.name not in leave_out and getattr(one, field.name) != getattr(default, field.name)
    }


def _steps(settings: MethodSettings) -> str:
    """E.g. "slerp (text_weight = 0.6) → feedback → CoRR (rounds = 4)"."""
    parameters = changed(settings)
    own = {name: parameters.pop(name) for name in ("text_weight",) if name in parameters}
    steps = [settings.base + _brackets(own)]
    steps.append(settings.history + _brackets({k: v for k, v in parameters.items() if "." not in k}))
    for step, own in steps_of(settings):
        labelled = step.labelled_parameters(own)
        shown = {name: value for name, value in _under(parameters, f"{step.name}.").items() if name not in labelled}
        steps.append(step.label_of(own) + _brackets(shown))
    return " → ".join(steps)


def _under(parameters: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): value for name, value in parameters.items() if name.startswith(prefix)}


def _brackets(parameters: dict[str, Any]) -> str:
    return f" ({', '.join(f'{name} = {value}' for name, value in parameters.items())})" if parameters else ""


def _record(method: Method) -> dict[str, Any]:
    return {
        "name": method.name, "title": method.title, "source": method.source,
        "settings": method_to_dict(method.settings, whole=True), "changed": changed(method.settings),
    }
