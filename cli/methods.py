"""``cirque methods``: what there is to search with."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from cir_core.method_types import MethodSettings, Reflection, SoftFilter, method_to_dict
from cir_core.methods.declared import Method, all_methods
from cir_core.settings import get_settings
from cli.console import out, write_file

_SHOWN = {"base", "history", "reflection", "soft_filter"}  # have a column of their own


def register(app: typer.Typer) -> None:
    app.command("methods")(list_methods)


def list_methods(
    json_path: Annotated[Path | None, typer.Option("--json", help="Also write everything to this file.")] = None,
) -> None:
    """The methods cirque comes with, and those of the file that CIRQUE_METHODS names."""
    path = get_settings().methods
    methods = all_methods(path)
    table = Table("method", "title", "base", "later turns", "refiner", "reranker", "parameters", "source", box=None)
    table.columns[0].no_wrap = True
    for method in methods.values():
        settings = method.settings
        table.add_row(
            method.name, method.title, settings.base, settings.history,
            _refiner(settings.reflection), "SoFT" if settings.soft_filter else "",
            ", ".join(f"{name} = {value}" for name, value in changed(settings).items()), method.source,
        )
    out.print(table)
    if path is None:
        out.print("Add your own with CIRQUE_METHODS=FILE (docs/methods.md). Parameters not shown have their defaults.")
    if json_path is not None:
        content = [_record(method) for method in methods.values()]
        write_file(json_path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def changed(settings: MethodSettings) -> dict[str, Any]:
    """Parameters that differ from their defaults; those of refiner and reranker with a dot."""
    found = _differing(settings, MethodSettings(), "", leave_out=_SHOWN)
    if settings.reflection is not None:
        found |= _differing(settings.reflection, Reflection(), "reflection.")
    if settings.soft_filter is not None:
        found |= _differing(settings.soft_filter, SoftFilter(), "soft_filter.")
    return found


def _differing(
    one: Any, default: Any, prefix: str, leave_out: set[str] | frozenset[str] = frozenset()
) -> dict[str, Any]:
    return {
        prefix + field.name: getattr(one, field.name) for field in fields(one)
        if field.name not in leave_out and getattr(one, field.name) != getattr(default, field.name)
    }


def _refiner(reflection: Reflection | None) -> str:
    if reflection is None:
        return ""
    return "pseudo-feedback" if reflection.fusion == "pseudo-feedback" else "CoRR"


def _record(method: Method) -> dict[str, Any]:
    return {
        "name": method.name, "title": method.title, "source": method.source,
        "settings": method_to_dict(method.settings), "changed": changed(method.settings),
    }
