"""What language models are told: one TOML file per role, with a version.

A file holds ``version``, ``max_tokens``, ``system`` and ``user``; ``[domains]`` words
``{domain}`` for each kind of gallery; a text under ``[parts]`` is added to ``user`` when
the input it is named after differs from the task's default. ``{name}`` stands for an
input: texts appear as JSON strings, so nothing a person types can pass for the prompt.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from cir_core.language.tasks import Task

_PLACE = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True)
class Prompt:
    """One role's prompt. ``version`` changes with its words: answers are cached by it."""

    role: str
    version: str
    max_tokens: int            # of the answer
    system: str
    user: str
    domains: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)

    def fill(self, task: Task[Any], fields: str) -> tuple[str, str]:
        """System and user text for ``task``; ``fields`` describes the answer's form."""
        inputs, usual = task.inputs(), type(task)().inputs()
        values = {name: quoted(value) for name, value in inputs.items()}
        values |= {"domain": self.domains.get(str(inputs.get("domain")), ""), "fields": fields}
        system = "\n\n".join((self.system, common()["data"].strip(), common()["form"].strip()))
        user = [self.user, *(text for name, text in self.parts.items() if inputs[name] != usual[name])]
        return substitute(system, values).strip(), substitute("\n\n".join(user), values).strip()


def load(role: str) -> Prompt | None:
    """The prompt of ``role``; None for a role without one."""
    return _all().get(role)


def quoted(value: object) -> str:
    """``value`` as it stands in a prompt: JSON strings, numbered lines for lists."""
    if value is None or value == "" or value == []:
        return "(none)"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Sequence):
        return "\n".join(f"{number}. {quoted(item)}" for number, item in enumerate(value, 1))
    return str(value)


def substitute(template: str, values: Mapping[str, str]) -> str:
    """``template`` with each ``{name}`` replaced once; braces in the values stay as they are."""
    return _PLACE.sub(lambda place: values[place[1]], template)


@cache
def common() -> dict[str, str]:
    """What every prompt says, with its version."""
    return _read("common")


@cache
def _all() -> dict[str, Prompt]:
    names = (entry.name for entry in files(__name__).iterdir())
    roles = sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))
    return {role: _prompt(role) for role in roles if role != "common"}


def _prompt(role: str) -> Prompt:
    table = _read(role)
    version = f"{common()['version']}.{table.pop('version')}"
    texts = {name: {key: text.strip() for key, text in table.pop(name, {}).items()} for name in ("domains", "parts")}
    return Prompt(role=role, version=version, max_tokens=table["max_tokens"], system=table["system"].strip(),
                  user=table["user"].strip(), **texts)


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__name__).joinpath(f"{name}.toml").read_text("utf-8"))
