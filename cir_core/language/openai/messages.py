"""Build the chat messages of a task. Answer format: a JSON schema for the server, a description for the model.
Encode images as data URLs."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from functools import cache
from typing import Any

from PIL import Image
from pydantic import BaseModel

from cir_core.errors import UnsupportedTask
from cir_core.language.prompts import Prompt, quoted
from cir_core.language.tasks import Picture, Task

_TINY = 64      # pixels on the longer edge up to which JPEG's blocks would be visible
_FLAT = 64      # colours up to which PNG is small and JPEG blurs the edges
_QUALITY = 85


def data_url(image: Image.Image, edge: int) -> str:
    """``image`` (RGB) at most ``edge`` pixels on its longer side: JPEG, or PNG if tiny or flat."""
    if max(image.size) > edge:
        image = image.copy()
        image.thumbnail((edge, edge), Image.Resampling.LANCZOS)
    image = image.convert("RGB")
    content = io.BytesIO()
    kind = "png" if max(image.size) <= _TINY or image.getcolors(_FLAT) else "jpeg"
    # Pixels only: metadata on place, camera or owner is not sent.
    image.info = {}
    if kind == "png":
        image.save(content, "PNG")
    else:
        image.save(content, "JPEG", quality=_QUALITY)
    return f"data:image/{kind};base64,{base64.b64encode(content.getvalue()).decode()}"


# Strict servers refuse a schema with an unknown keyword; pydantic checks these anyway.
_KEYWORDS = ("type", "description", "items", "properties", "required", "enum")
_IN_WORDS = {"string": "text", "array": "list of texts", "integer": "whole number", "number": "number",
             "object": "object"}


def schema(task: Task[Any]) -> dict[str, Any]:
    """The JSON schema of the answer to ``task``, without ``notes``, every field required."""
    properties = {name: dict(table) for name, table in _fields(task.answer_type).items()}
    for name, inner in task.schemas().items():
        properties[name] |= _object({key: dict(one) for key, one in inner.items()})
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


Message = dict[str, Any]
_LOW_DETAIL = 512  # pixels: OpenAI's "low" uses no more, and costs least


def messages(task: Task[Any], prompt: Prompt, *, sees: bool, edge: int) -> list[Message]:
    """System and user message. Each image follows its label, scaled to ``edge`` pixels; a
    text-only model gets the images' captions instead.

    Raises:
        UnsupportedTask: there is neither image nor caption.
    """
    system, user = prompt.fill(task, in_words(task))
    labels = prompt.labels_of(task)
    shown = [_shown(label, picture, sees, edge) for label, picture in zip(labels, task.pictures(), strict=True)]
    if shown and not any(isinstance(one, list) or one for one in shown) and not _captions(task):
        raise UnsupportedTask(f"The role '{task.role}' needs images or their captions, and there are none that can be "
                              "sent. Add captions to the gallery's manifest, or connect a model that sees "
                              "(CIRQUE_LLM_SEES).")
    parts: list[Message] = []
    for label, one in zip(labels, shown, strict=True):
        parts += one if isinstance(one, list) else [_text(f"{label}: {one or '(no caption)'}")]
    parts.append(_text(user))
    if all(part["type"] == "text" for part in parts):
        # Servers of text models often accept plain strings only.
        return [_message("system", system), _message("user", "\n\n".join(part["text"] for part in parts))]
    return [_message("system", system), _message("user", parts)]


def repair(answer: str, fault: str) -> list[Message]:
    """Messages that show the model its own answer and the fault in it."""
    return [
        _message("assistant", answer or "(no text)"),
        _message("user", f"This answer cannot be used: {fault}. Answer again with the whole JSON object, in the "
                         "form that was asked for, and nothing else."),
    ]


def without_system(given: Sequence[Message]) -> list[Message]:
    """``given`` with the system text at the start of the first user message, for chat templates
    without a system role."""
    system, user, *rest = given
    content = user["content"]
    if isinstance(content, str):
        return [_message("user", f"{system['content']}\n\n{content}"), *rest]
    return [_message("user", [_text(system["content"]), *content]), *rest]


def _shown(label: str, picture: Picture, sees: bool, edge: int) -> list[Message] | str:
    if not sees or picture.load is None:
        return quoted(picture.caption) if picture.caption else ""
    image = {"url": data_url(picture.load(), edge), "detail": "low" if edge <= _LOW_DETAIL else "auto"}
    return [_text(f"{label}:"), {"type": "image_url", "image_url": image}]


def _captions(task: Task[Any]) -> bool:
    """Whether the prompt itself contains a caption."""
    given = [value for name, value in task.inputs().items() if "caption" in name]
    return any(any(value) if isinstance(value, list) else value for value in given)


def _text(text: str) -> Message:
    return {"type": "text", "text": text}


def _message(role: str, content: str | list[Message]) -> Message:
    return {"role": role, "content": content}
