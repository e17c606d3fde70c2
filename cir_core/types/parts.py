"""Records in which kinds of steps keep something, each under a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Self, cast

Parts = tuple[tuple[str, Any], ...]
"""Name and value, in the order of the names. A tuple, so that the record can be hashed."""


class StepParts:
    """Mix-in of a frozen dataclass with a field ``step_parts``. Soft filter and reflection have typed fields of their
    own; what any other kind of step keeps is in ``step_parts``. Here both are reached by name."""

    step_parts: Parts

    def part(self, name: str) -> Any:
        """What is kept under ``name``; None if nothing is."""
        return getattr(self, name) if name in _typed(self) else dict(self.step_parts).get(name)

    def with_parts(self, parts: Mapping[str, Any]) -> Self:
        """A copy with ``parts`` in place of those of the same names; None takes one away."""
        typed = {name: value for name, value in parts.items() if name in _typed(self)}
        others = dict(self.step_parts) | {name: value for name, value in parts.items() if name not in typed}
        left = tuple((name, others[name]) for name in sorted(others) if others[name] is not None)
        return cast(Self, replace(cast(Any, self), **typed, step_parts=left))


_LATER = {"reasoning": "steps", "stop": "never"}
"""Settings that records got after digests were made of them, with their defaults."""


def flat(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """A ``dict_factory`` for :func:`dataclasses.asdict`: the names in ``step_parts`` become keys beside the fields.
    Where there are none, nothing shows that there could be, nor do settings that were added later show at their
    defaults: digests of methods without them do not change."""
    return {name: value for name, value in flat_whole(pairs).items() if name not in _LATER or value != _LATER[name]}


def flat_whole(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """:func:`flat` with every setting."""
    content = dict(pairs)
    parts = dict(content.pop("step_parts", ()))
    return content | parts


def tuples(content: Mapping[str, Any]) -> dict[str, Any]:
    """Lists as the tuples that they were before JSON."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in content.items()}


def _typed(record: Any) -> set[str]:
    return {field.name for field in fields(record)} - {"step_parts"}
