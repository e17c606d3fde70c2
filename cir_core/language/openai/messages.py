"""Build the chat messages of a task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cir_core.errors import UnsupportedTask
from cir_core.language.openai.form import in_words
from cir_core.language.openai.pictures import data_url
from cir_core.language.prompts import Prompt, quoted
from cir_core.language.tasks import Picture, Task

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
