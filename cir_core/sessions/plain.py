"""Records as plain JSON values and back, exactly: every field of every record, by the types that records declare.

A field that is added to a record is written and read without a line here. One with a default may be missing, as in
files of earlier versions; one that no record has comes from a later version and is refused rather than lost."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from cir_core.errors import MethodError, SearchError
from cir_core.methods.declared import settings_from
from cir_core.methods.steps import STEPS
from cir_core.support.texts import can_be_stored, quoted
from cir_core.types.methods import MethodSettings, Parts, method_to_dict
from cir_core.types.vectors import Vector

_MOST = 2**53   # beyond it, other readers of JSON change whole numbers


def to_plain(value: Any) -> Any:
    """``value``, of records, tuples, mappings, float32 vectors, times and plain values, as JSON has it. Vectors become
    their bytes in base64 (float32, little-endian)."""
    if isinstance(value, MethodSettings):
        return method_to_dict(value, whole=True)
    if isinstance(value, np.ndarray):
        return base64.b64encode(value.astype("<f4", copy=False).tobytes()).decode("ascii")
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, datetime):
        return value.isoformat()
    if is_dataclass(value) and not isinstance(value, type):
        return {name: _parts(value) if hint == Parts else to_plain(getattr(value, name))
                for name, hint in _hints(type(value)).items()}
    if isinstance(value, Mapping):
        return {str(key): to_plain(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [to_plain(one) for one in value]
    return value


def _parts(record: Any) -> dict[str, Any]:
    return {name: to_plain(part) for name, part in record.step_parts}


def from_plain(hint: Any, value: Any, where: str) -> Any:
    """The inverse of :func:`to_plain` for a value of the type ``hint``. Raises ``SearchError`` for what is none, which
    names its place by ``where``."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint == Vector:
        return _vector(value, where)
    if hint == Parts:
        return _read_parts(value, where)
    if hint is MethodSettings:
        return _method(value, where)
    if hint is datetime:
        return _time(value, where)
    if origin in (Union, UnionType):
        return None if value is None and NoneType in inner else from_plain(
            next(one for one in inner if one is not NoneType), value, where)
    if origin is Literal:
        return value if value in inner else _refuse(where, f"one of {', '.join(map(repr, inner))}")
    if origin is tuple:
        return _tuple(inner, value, where)
    if origin is not None and issubclass(origin, Mapping):
        content = value if isinstance(value, dict) else _refuse(where, "an object")
        return {from_plain(str, key, where): from_plain(inner[1], one, f"{where}.{key}")
                for key, one in content.items()}
    if is_dataclass(hint):
        return _record(hint, value, where)
    return _simple(hint, value, where)


@lru_cache
def _hints(record: type[Any]) -> dict[str, Any]:
    hints = get_type_hints(record)
    return {field.name: hints[field.name] for field in fields(record)}


def _record(kind: Any, value: Any, where: str) -> Any:
    content = value if isinstance(value, dict) else _refuse(where, "an object")
    hints = _hints(kind)
    if unknown := sorted(content.keys() - hints):
        raise SearchError(f"{where} has {quoted(unknown[0])}, which this version of cirque does not know: the file was "
                          "written by a later one. Update cirque, then import it again.")
    for field in fields(kind):
        if field.name not in content and field.default is MISSING and field.default_factory is MISSING:
            raise SearchError(f"{where} has no {quoted(field.name)}.")
    return kind(**{name: from_plain(hints[name], one, f"{where}.{name}") for name, one in content.items()})


def _read_parts(value: Any, where: str) -> Parts:
    content = value if isinstance(value, dict) else _refuse(where, "an object")
    kinds = {name: kind for step in STEPS.values() for name, kind in step.keeps.items()}
    for name in content:
        if name not in kinds:
            raise SearchError(f"{where} has {quoted(name)}, of a kind of step that this version of cirque does not "
                              "have. Update cirque, then import it again.")
    return tuple((name, _tuple((kinds[name], ...), part, f"{where}.{name}") if isinstance(part, list)
                  else from_plain(kinds[name], part, f"{where}.{name}")) for name, part in sorted(content.items()))


def _method(value: Any, where: str) -> MethodSettings:
    try:
        return settings_from(value, where)
    except MethodError as error:
        raise SearchError(str(error)) from error


def _tuple(inner: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    content = value if isinstance(value, list) else _refuse(where, "a list")
    if inner[1:] == (Ellipsis,):
        return tuple(from_plain(inner[0], one, f"{where}[{place}]") for place, one in enumerate(content))
    if len(content) != len(inner):
        _refuse(where, f"a list of {len(inner)}")
    return tuple(from_plain(kind, one, f"{where}[{place}]")
                 for place, (kind, one) in enumerate(zip(inner, content, strict=True)))


def _vector(value: Any, where: str) -> Vector:
    try:
        block = base64.b64decode(value if isinstance(value, str) else "", validate=True)
    except (binascii.Error, ValueError):
        block = b""
    if not block or len(block) % 4:
        _refuse(where, "a vector (float32 numbers in base64)")
    vector = np.frombuffer(block, dtype="<f4").astype(np.float32, copy=False)
    if not np.isfinite(vector).all():
        _refuse(where, "a vector of finite numbers")
    vector.setflags(write=False)
    return vector


def _time(value: Any, where: str) -> Any:
    try:
        moment = datetime.fromisoformat(value if isinstance(value, str) else "")
    except ValueError:
        return _refuse(where, "a time")
    return moment if moment.tzinfo else _refuse(where, "a time with its zone")


def _simple(hint: Any, value: Any, where: str) -> Any:
    if hint is str and isinstance(value, str):
        return value if can_be_stored(value) else _refuse(where, "a text that can be stored")
    if hint is bool and isinstance(value, bool):
        return value
    if hint in (int, float) and isinstance(value, int) and not isinstance(value, bool) and abs(value) < _MOST:
        return hint(value)
    if hint is float and isinstance(value, float) and math.isfinite(value):
        return value
    names = {str: "a text", bool: "true or false", int: "a whole number", float: "a finite number"}
    return _refuse(where, names[hint])


def _refuse(where: str, kind: str) -> Any:
    raise SearchError(f"{where} is not {kind}.")
