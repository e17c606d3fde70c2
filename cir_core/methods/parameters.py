"""Parameters of methods and steps as a form offers them: ranges from the records' types, words from their labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from annotated_types import Ge, Le
from pydantic.fields import FieldInfo

Kind = Literal["number", "whole", "choice"]


@dataclass(frozen=True)
class Label:
    """Label of the field ``name``."""

    name: str
    text: str                       # "how strict"
    sign: str = ""                  # "λ"
    spoken: str = ""                # the sign for a screen reader; the name if empty
    step: float = 0.01              # of a slider, for numbers that are not whole
    most: float | None = None       # where a slider ends, if before the largest value there can be
    choices: Mapping[str, str] = field(default_factory=dict)   # of a choice: value to words, in this order


@dataclass(frozen=True)
class Parameter:
    """A field of a record of settings with its label. ``least`` and ``most`` bound a number."""

    label: Label
    kind: Kind
    default: Any
    least: float = 0
    most: float = 0

    @property
    def name(self) -> str:
        return self.label.name


@dataclass(frozen=True)
class Section:
    """Parameters that stand together: those of a step, or of methods where one ``field`` is ``value``."""

    title: str
    field: str
    parameters: tuple[Parameter, ...]
    value: str = ""
    step: str = ""                  # whose settings they are in; "" for the method's own fields
    bare: bool = True               # whether form fields are named as the parameters, without "STEP." before them


def declare(record: type[Any], *labels: Label) -> tuple[Parameter, ...]:
    """The parameters of a dataclass that have a label. Raises ``TypeError`` for one that no form could offer."""
    hints, defaults = get_type_hints(record, include_extras=True), {one.name: one.default for one in fields(record)}
    return tuple(_declared(label, hints[label.name], defaults[label.name]) for label in labels)


def _declared(label: Label, hint: Any, default: Any) -> Parameter:
    of, *extras = get_args(hint) if hasattr(hint, "__metadata__") else (hint,)
    if get_origin(of) is Literal:
        if set(label.choices) != set(get_args(of)):
            raise TypeError(f"{label.name}: every choice of {get_args(of)} needs its words.")
        return Parameter(label, "choice", default)
    bounds = [bound for extra in extras for bound in (extra.metadata if isinstance(extra, FieldInfo) else [extra])]
    least: Any = next((bound.ge for bound in bounds if isinstance(bound, Ge)), None)
    most: Any = next((bound.le for bound in bounds if isinstance(bound, Le)), None)
    if of not in (int, float) or least is None or most is None:
        raise TypeError(f"{label.name}: a form offers Literals, and numbers with both Field(ge=…) and Field(le=…).")
    return Parameter(label, "whole" if of is int else "number", default, least, most)
