"""Answer format: a JSON schema for the server, a description for the model."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import BaseModel

from cir_core.language.tasks import ConfidenceTask, Task

# Strict servers refuse a schema with an unknown keyword; pydantic checks these anyway.
_KEYWORDS = ("type", "description", "items", "properties", "required", "enum")
_IN_WORDS = {"string": "text", "array": "list of texts", "integer": "whole number", "number": "number",
             "object": "object"}


def schema(task: Task[Any]) -> dict[str, Any]:
    """The JSON schema of the answer to ``task``, without ``notes``, every field required."""
    properties = {name: dict(table) for name, table in _fields(task.answer_type).items()}
    if isinstance(task, ConfidenceTask):
        properties["scores"] |= _object({name: {"type": "number"} for name in task.names})
    return _object(properties)


def in_words(task: Task[Any]) -> str:
    """One line per field."""
    lines = []
    for name, table in schema(task)["properties"].items():
        about = f": {table['description']}" if "description" in table else ""
        lines.append(f'- "{name}" ({_IN_WORDS[table["type"]]}){about}')
    return "\n".join(lines)


@cache
def _fields(answer_type: type[BaseModel]) -> dict[str, dict[str, Any]]:
    return {name: _plain(table) for name, table in answer_type.model_json_schema()["properties"].items()
            if name != "notes"}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _plain(table: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in table.items() if key in _KEYWORDS}
    if "items" in kept:
        kept["items"] = _plain(kept["items"])
    return kept
