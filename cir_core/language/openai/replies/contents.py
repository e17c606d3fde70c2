"""What a chat completion, or a piece of a streamed one, says: text, thoughts, refusal, end, in whatever shape."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cir_core.language.openai.replies.complaints import Complained, NoAnswer, NotChat, error_in

_FILTERED = re.compile(r"content.?filter|safety|prohibited|blocklist|recitation|sensitive|refusal|spii", re.IGNORECASE)
_LENGTH = re.compile(r"(max|model|output)?_?(length|tokens)", re.IGNORECASE)
_TEXT, _THOUGHT = ("text", "output_text"), ("thinking", "reasoning", "reasoning.text", "thought")


@dataclass(frozen=True)
class Said:
    """``arguments``: those of tool calls, for some models call the answer a tool. ``finish``: ``length`` if the room
    for the answer was used up, else as the server says it."""

    text: str = ""
    thought: str = ""
    arguments: str = ""
    refused: bool = False
    finish: str | None = None
    tokens: tuple[int, int] | None = None     # of the prompt and of the completion

    def __add__(self, later: Said) -> Said:
        return Said(self.text + later.text, self.thought + later.thought, self.arguments + later.arguments,
                    self.refused or later.refused, later.finish or self.finish, later.tokens or self.tokens)


def said_in(reply: object, *, piece: bool = False) -> Said:
    """What ``reply``, the JSON of a completion, says; ``piece``: that of one event of a stream.

    Raises:
        Complained: it is an error.
        NoAnswer: it has no choices.
        NotChat: it is something else.
    """
    if not isinstance(reply, Mapping):
        raise NotChat("no JSON object in the reply")
    if error := error_in(reply):
        raise Complained(error)
    choices = reply.get("choices")
    if not choices and not piece:
        if _blocked(reply):
            return Said(refused=True, tokens=_tokens(reply))
        if "choices" in reply:
            raise NoAnswer("no choices in the reply")
        raise NotChat("no choices in the reply")
    choice = choices[0] if isinstance(choices, Sequence) and choices and isinstance(choices[0], Mapping) else {}
    message = choice.get("delta") or choice.get("message")
    if message is None and choice and not piece:
        message = choice.get("text")     # of completions that are no chats
        if message is None and not choice.get("finish_reason"):
            raise NotChat("no message in the reply")
    finish = choice.get("finish_reason")
    finish = str(finish) if finish else None
    refused = bool(finish and _FILTERED.search(finish)) or _blocked(choice)
    if finish == "error":
        raise NoAnswer("the answer ended with an error")
    if finish and _LENGTH.fullmatch(finish):
        finish = "length"
    if not isinstance(message, Mapping):
        return Said(_text(message), refused=refused, finish=finish, tokens=_tokens(reply))
    thought = next((_text(message[name], _THOUGHT + _TEXT) for name in ("reasoning_content", "reasoning", "thinking",
                                                                         "reasoning_details") if message.get(name)), "")
    content = message.get("content")
    return Said(_text(content), thought + _text(content, _THOUGHT, bare=False), _arguments(message),
                refused or bool(message.get("refusal")) or _has(content, "refusal"), finish, _tokens(reply))


def _text(content: object, kinds: Sequence[str] = _TEXT, *, bare: bool = True) -> str:
    """The texts of these kinds in ``content``: a text, a list of parts, or an object that some servers have parsed
    already. ``bare``: what has no kind counts."""
    if isinstance(content, str):
        return content if bare else ""
    if isinstance(content, list):
        return "".join(_text(one, kinds, bare=bare) for one in content)
    if not isinstance(content, Mapping):
        return ""
    kind = content.get("type")
    if not isinstance(kind, str) or not (kind in kinds or content.keys() & {"text", *_THOUGHT}):
        return json.dumps(content, ensure_ascii=False) if bare and kinds is _TEXT and content else ""
    if kind not in kinds:
        return ""
    within = next((content[name] for name in ("text", kind, "thinking", "reasoning", "summary") if name in content), "")
    if isinstance(within, Mapping):
        within = within.get("value", "")
    return _text(within, _THOUGHT + _TEXT)


def _has(content: object, kind: str) -> bool:
    return isinstance(content, list) and any(isinstance(one, Mapping) and one.get("type") == kind for one in content)


def _arguments(message: Mapping[str, Any]) -> str:
    calls = message.get("tool_calls") or [{"function": message.get("function_call")}]
    function = calls[0].get("function") if isinstance(calls, list) and isinstance(calls[0], Mapping) else None
    given = function.get("arguments") if isinstance(function, Mapping) else None
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False) if given else ""


def _blocked(of: Mapping[str, Any]) -> bool:
    """Whether a filter has marked the prompt or the answer."""
    marks = of.get("content_filter_results") or of.get("prompt_filter_results") or of.get("promptFeedback") or {}
    if isinstance(marks, list):
        marks = {str(place): one.get("content_filter_results", {}) if isinstance(one, Mapping) else {}
                 for place, one in enumerate(marks)}
    found = list(marks.values()) if isinstance(marks, Mapping) else []
    found += [one for mark in found if isinstance(mark, Mapping) for one in mark.values()]
    return any(isinstance(mark, Mapping) and mark.get("filtered") is True for mark in found) or (
        isinstance(marks, Mapping) and bool(marks.get("blockReason")))


def _tokens(reply: Mapping[str, Any]) -> tuple[int, int] | None:
    usage = reply.get("usage")
    if not isinstance(usage, Mapping):
        return None
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    return (prompt, completion) if isinstance(prompt, int) and isinstance(completion, int) else None
