"""Prompts: one TOML file per role.

A file contains ``version``, ``max_tokens``, ``labels`` of the images, ``system`` and ``user``; ``[domains]`` words
``{domain}`` for each image domain (files without it use common.toml's); a text under ``[parts]`` is added to ``user``
when the input it is named after differs from the task's default. ``{name}`` is replaced by an input: texts appear as
JSON strings, so user input cannot pass for the prompt.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from cir_core.errors import SettingsError
from cir_core.language.tasks import ROLES, Task
from cir_core.language.tasks.base import Wording
from cir_core.types.records import DOMAINS

_PLACE = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True)
class Prompt:
    """One role's prompt."""

    role: str
    number: str                # maintained by hand
    max_tokens: int            # of the answer
    system: str
    user: str
    labels: Sequence[str] = () # of the images, in their order; one with a placeholder applies to any number of them
    domains: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)
    common: Sequence[str] = () # text after ``system``
    form: Mapping[str, Any] = field(default_factory=dict)  # JSON schema of the answer's fields

    @cached_property
    def version(self) -> str:
        """The number, and 8 hex of a SHA-256 over the whole prompt: part of the cache key of answers."""
        words = (self.system, self.user, self.labels, self.domains, self.parts, self.common, self.form)
        content = json.dumps(words, ensure_ascii=False, separators=(",", ":"))
        return f"{self.number}.{hashlib.sha256(content.encode()).hexdigest()[:8]}"

    def fill(self, task: Task[Any], fields: str) -> tuple[str, str]:
        """System and user text for ``task``; ``fields`` describes the answer's format. Raises ``SettingsError`` for an
        unknown domain."""
        inputs, usual = task.inputs(), type(task)().inputs()
        values = {name: quoted(value) for name, value in inputs.items()}
        values |= {"domain": self._domain(inputs), "fields": fields}
        system = "\n\n".join((self.system, *self.common))
        user = [self.user, *(text for name, text in self.parts.items() if inputs[name] != usual[name])]
        return substitute(system, values).strip(), substitute("\n\n".join(user), values).strip()

    def labels_of(self, task: Task[Any]) -> list[str]:
        """Label of each of the task's images, in their order."""
        several = len(task.pictures()) - sum(not _PLACE.search(label) for label in self.labels)
        names, found = task.inputs().get("names", ()), list[str]()
        for label in self.labels:
            if _PLACE.search(label):
                found += [
                    substitute(label, {"number": str(n + 1), "name": quoted(names[n]) if n < len(names) else ""})
                    for n in range(several)
                ]
            else:
                found.append(label)
        return found

    def _domain(self, inputs: Mapping[str, Any]) -> str:
        if "domain" not in inputs:
            return ""
        try:
            return self.domains[inputs["domain"]]
        except KeyError:
            raise SettingsError(f"There is no domain '{inputs['domain']}'. Choose one of {', '.join(DOMAINS)} "
                                "(CIRQUE_DOMAIN).") from None


def load(role: str) -> Prompt | None:
    """The prompt of ``role``; None for a role without one."""
    return _all().get(role)


def quoted(value: object) -> str:
    """``value`` as written in a prompt: JSON strings, numbered lines for lists; :class:`Wording` as it is."""
    if value is None or value == "" or value == []:
        return "(none)"
    if isinstance(value, Wording):
        return value
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Sequence):
        return "\n".join(f"{number}. {quoted(item)}" for number, item in enumerate(value, 1))
    return str(value)


def substitute(template: str, values: Mapping[str, str]) -> str:
    """``template`` with each ``{name}`` replaced once; braces in the values remain."""
    return _PLACE.sub(lambda place: values[place[1]], template)


@cache
def _all() -> dict[str, Prompt]:
    return {role: _prompt(role, task) for role, task in ROLES.items() if _file(role).is_file()}


def _prompt(role: str, task: type[Task[Any]]) -> Prompt:
    table, common = _read(role), _read("common")
    form = task.answer_type.model_json_schema()
    form = {name: value for name, value in form.items() if name in ("properties", "$defs")}
    form["properties"].pop("notes")
    return Prompt(
        role=role, number=table["version"], max_tokens=table["max_tokens"], system=table["system"].strip(),
        user=table["user"].strip(), labels=table.get("labels", ()),
        domains=_stripped(table.get("domains", common["domains"])), parts=_stripped(table.get("parts", {})),
        common=(common["data"].strip(), common["form"].strip()), form=form,
    )


def _stripped(texts: Mapping[str, str]) -> dict[str, str]:
    return {name: text.strip() for name, text in texts.items()}


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(_file(name).read_text("utf-8"))


def _file(name: str) -> Any:
    return files(__name__).joinpath(f"{name}.toml")
