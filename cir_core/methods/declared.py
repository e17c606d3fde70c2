"""Named methods: built-in ones and those of a TOML file.

    [methods.mine]
    title = "Slerp, filtered a little"
    base = "slerp"
    soft_filter = { weight = 0.2 }
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from cir_core.errors import MethodError
from cir_core.methods.step import Step
from cir_core.methods.steps import STEPS
from cir_core.support.texts import quoted
from cir_core.support.toml_files import load_toml
from cir_core.types.methods import MethodSettings

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}\Z")
USUAL = "guided"
RESERVED = frozenset({"custom", "none", "all"})  # words of the screen and the command line


@dataclass(frozen=True)
class Method:
    """A named way to search."""

    name: str
    title: str
    source: str
    settings: MethodSettings


@lru_cache(maxsize=2)
def _declaration(steps: tuple[Step[Any], ...]) -> type[BaseModel]:
    """What a table [methods.NAME] may hold: the method's own fields, and a table of each step's settings."""
    hints = get_type_hints(MethodSettings, include_extras=True)
    own = {field.name: (hints[field.name], field.default) for field in fields(MethodSettings)
           if field.name != "step_parts"}
    of_steps = {step.name: (step.settings | None, None) for step in steps}
    known: dict[str, Any] = {"title": (str, ""), "source": (str, ""), **own, **of_steps}
    return create_model("Declaration", __config__=ConfigDict(extra="forbid"), **known)


def builtin_methods() -> dict[str, Method]:
    """Built-in methods by name, in the order of their file."""
    text = files("cir_core.methods").joinpath("methods.toml").read_text("utf-8")
    return _parse(text, "methods.toml")


@lru_cache(maxsize=1)
def usual_method() -> MethodSettings:
    """Default method of a search."""
    return builtin_methods()[USUAL].settings


def read_methods(path: Path) -> dict[str, Method]:
    """The methods of a TOML file. Raises ``MethodError`` naming method and field."""
    try:
        return _parse(path.read_text("utf-8"), str(path))
    except OSError as error:
        raise MethodError(f"{path} cannot be read: {error.strerror or error}. Check CIRQUE_METHODS.") from error
    except UnicodeDecodeError as error:
        raise MethodError(f"{path} is not UTF-8 text (byte {error.start}). Save it as UTF-8.") from error


def all_methods(path: Path | None = None) -> dict[str, Method]:
    """Built-in methods, then those of ``path``, which must not reuse a name."""
    methods = builtin_methods()
    if path is not None:
        for name, method in read_methods(path).items():
            if name in methods:
                raise MethodError(f"{path}: a method {quoted(name)} already exists. Give yours another name.")
            methods[name] = method
    return methods


def find_method(name: str, methods: Mapping[str, Method]) -> Method:
    """Raises ``MethodError`` listing the known methods."""
    try:
        return methods[name]
    except KeyError:
        raise MethodError(f"No method {quoted(name)}. There are: {', '.join(methods)}.") from None


def name_of(settings: MethodSettings, methods: Mapping[str, Method]) -> str | None:
    """The name of the method with exactly these settings, ignoring its exclusions."""
    for method in methods.values():
        if replace(method.settings, exclude=settings.exclude) == settings:
            return method.name
    return None


def _parse(text: str, where: str) -> dict[str, Method]:
    try:
        content = load_toml(text)
    except ValueError as error:
        raise MethodError(f"{where} is not valid TOML: {error}.") from error
    declared = content.get("methods")
    if not isinstance(declared, dict) or set(content) != {"methods"}:
        raise MethodError(f"{where}: expected tables [methods.NAME] and nothing else.")
    return {name: _method(name, fields, where) for name, fields in declared.items()}


def _method(name: str, declared: Any, where: str) -> Method:
    if not _NAME.match(name):
        raise MethodError(f"{where}: {quoted(name)} cannot be a method's name. Use lower-case letters, digits and '-'.")
    if name in RESERVED:
        raise MethodError(f"{where}: {quoted(name)} is a reserved name. Choose another name.")
    if not isinstance(declared, dict):
        raise MethodError(f"{where}: method {quoted(name)} is a single value. Write a table like [methods.{name}].")
    title, source, settings = _values(declared, f"{where}: method {quoted(name)}")
    return Method(name, title or name, source, settings)


def settings_from(content: Any, where: str) -> MethodSettings:
    """The inverse of :func:`cir_core.types.methods.method_to_dict` for what comes from elsewhere: checked. Raises
    ``MethodError``, which begins with ``where``."""
    if not isinstance(content, dict):
        raise MethodError(f"{where} is not an object.")
    return _values({name: value for name, value in content.items() if value is not None}, where)[2]


def _values(declared: dict[str, Any], where: str) -> tuple[str, str, MethodSettings]:
    """Title, source and settings."""
    if unfit := _unfit(declared, MethodSettings):
        raise MethodError(f"{where}, {unfit}")
    try:
        values = dict(_declaration(tuple(STEPS.values())).model_validate(declared))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "its value"
        raise MethodError(f"{where}, {field}: {first['msg']}.") from error
    title, source, steps = values.pop("title"), values.pop("source"), {key: values.pop(key) for key in STEPS}
    return title, source, MethodSettings(**values).with_parts(steps)


def _unfit(declared: dict[str, Any], record: type[Any], within: str = "") -> str:
    """What the adapter would let pass or say in Python's words: field and sentence, or ""."""
    numbers = {field.name for field in fields(record) if type(field.default) in (int, float)}
    for key, value in declared.items():
        field = f"{within}{key}"
        if key in numbers and (isinstance(value, bool) or not isinstance(value, int | float)):
            shown = str(value).lower() if isinstance(value, bool) else repr(value)
            return f"{field}: {shown} is not a number. Write one."
        if isinstance(value, float) and math.isnan(value):
            return f"{field}: nan is not a number. Write one."
        if key in STEPS and not within:
            if not isinstance(value, dict):
                return f"{field}: a single value. Write a table like {key} = {{ }}."
            if unfit := _unfit(value, STEPS[key].settings, f"{key}."):
                return unfit
    return ""
