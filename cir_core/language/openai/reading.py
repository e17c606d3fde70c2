"""Parse a model's text into a validated answer. Strip quotes, labels and openings such as "the image shows" from a
model's sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import from_json

from cir_core.language.openai.mending import mended, scan
from cir_core.language.tasks import A, CaptionAnswer, DifferenceTask, Task
from cir_core.language.tasks.base import CUT_OFF

_SENTENCES = {"caption", "query", "instruction", "refined_caption"}
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»", "„": "“"}
# Known labels only, and up to their first colon: a caption may contain colons.
_LABEL = re.compile(
    r"(?:(?:edited|refined|rewritten|new|final|target|image|search|relative)\s+)?"
    r"(?:captions?|descriptions?|instructions?|modifications?|quer(?:y|ies)|results?|answers?|outputs?|requests?)"
    r"\s*:\s*", re.IGNORECASE,
)
_PICTURE = r"(?:image|picture|photo|photograph)"
_OPENING = re.compile(
    rf"(?:(?:in\s+)?(?:the|this)\s+{_PICTURE},?\s+"
    r"(?:shows|depicts|displays|features|contains|portrays|presents|is\s+of|there\s+(?:is|are)|(?:we|you)\s+(?:can\s+)?see)"
    rf"|this\s+is\s+an?\s+{_PICTURE}\s+of|an?\s+{_PICTURE}\s+of)\s+", re.IGNORECASE,
)


_LAYERS = 20     # of quotes, labels and openings; each copies the text


def clean(task: Task[Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """``fields`` with normalised white space, empty list entries dropped and sentences stripped."""
    cleaned = {name: _tidied(value) for name, value in fields.items()}
    for name in _SENTENCES & cleaned.keys():
        if isinstance(cleaned[name], str):
            cleaned[name] = bare(cleaned[name])
    if isinstance(task, DifferenceTask) and isinstance(cleaned.get("instruction"), str):
        text = cleaned["instruction"]
        cleaned["instruction"] = text[:1].upper() + text[1:]
    return cleaned


def bare(text: str) -> str:
    """``text`` without outer quotes, a leading label and an opening such as "the image shows"."""
    for _ in range(_LAYERS):
        before = text
        text = _unquoted(text)
        for pattern in (_LABEL, _OPENING):
            match = pattern.match(text)
            text = text[match.end():] if match and match.end() < len(text) else text
        if text == before:
            break
    return text


def _tidied(value: Any) -> Any:
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, list):
        entries = [_tidied(entry) for entry in value]
        return [entry for entry in entries if entry != ""]
    return value


def _unquoted(text: str) -> str:
    closing = _QUOTES.get(text[:1])
    inner = text[1:-1].strip()
    # "red" and "blue" begins and ends with quotes that are not a pair.
    if closing and len(text) >= 2 and text.endswith(closing) and closing not in inner:
        return inner
    return text


# Where models that think begin and end it, if their server leaves it in the text.
_TAG = re.compile(r"<(?P<close>/)?(?:(?:seed:)?think(?:ing)?|thought|reasoning)>|\[(?P<off>/)?THINK\]|"
                  r"◁(?P<out>/)?think▷|<\|channel\|>(?P<channel>analysis|commentary|final)\b", re.IGNORECASE)
_TAGS = 50               # looked at
_DECODER = json.JSONDecoder(strict=False)   # models put line breaks inside strings
_CALLED = ("arguments", "parameters", "input")     # of an answer in the shape of a tool call
_STARTS = 100            # opening braces tried before a text is rejected as not JSON
_LONGEST = 100_000       # characters parsed
_BEGUN = re.compile(r"""\{\s*["']([^"'\n]+)["']\s*:""")   # an object's beginning, with its first key


class WrongForm(Exception):
    """An invalid answer: the ``field``, and its ``fault`` in words for model and user."""

    def __init__(self, field: str, fault: str) -> None:
        super().__init__(f"{field}: {fault}")
        self.field, self.fault = field, fault


def read_answer(task: Task[A], text: str) -> A:
    """The answer in ``text``, which may have reasoning, prose or a code fence around its JSON. What is not quite JSON
    is mended (:mod:`cir_core.language.openai.mending`); an answer that was cut off says so in its notes.

    Raises:
        WrongForm: no JSON object, or not a valid answer to ``task``.
    """
    text, fields = spoken(text), _fields(task)
    try:
        return _answer(task, _chosen(text, task))
    except WrongForm as wrong:
        mend = mended(text, fields)
        if mend is None:
            raise
        try:
            answer = _answer(task, _requested(mend.content, fields))
        except WrongForm:
            raise wrong from None
    return answer.model_copy(update={"notes": (*answer.notes, CUT_OFF)}) if mend.cut_off else answer


def _answer(task: Task[A], content: dict[str, Any]) -> A:
    """Raises ``WrongForm``."""
    found = clean(task, content)
    try:
        answer = task.answer_type.model_validate(found)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise WrongForm(".".join(map(str, first["loc"])) or "the answer", first["msg"]) from None
    if isinstance(answer, CaptionAnswer) and not answer.caption:
        raise WrongForm("caption", "it is empty")
    if fault := task.fault(cast(A, answer)):
        raise WrongForm(*fault)
    return cast(A, answer)


def partial_fields(task: Task[Any], text: str) -> dict[str, Any]:
    """The fields of a partial answer; the last text may be truncated anywhere."""
    text = spoken(text, ended=False)
    start = text.find("{")
    if start < 0:
        return {}
    try:
        found = from_json(text[start:], allow_partial="trailing-strings")
    except ValueError:
        return {}
    fields = _fields(task)
    return {name: value for name, value in found.items() if name in fields} if isinstance(found, dict) else {}


def spoken(text: str, *, ended: bool = True) -> str:
    """``text`` without what a model thought in it. A tag inside a whole JSON object is a part of the answer; one that
    is not closed hides nothing, unless the text goes on (not ``ended``). If nothing else was said, what was thought
    is kept: some servers take the answer for a thought."""
    if not _TAG.search(text):
        return text
    spans = [(end - length, end) for _, end, length in _spans(text)]
    kept, at, thinks_from = "", 0, None
    for tag in list(_TAG.finditer(text))[:_TAGS]:
        if any(start < tag.start() < end for start, end in spans):
            continue
        closes = tag["close"] or tag["off"] or tag["out"] or (tag["channel"] or "").lower() == "final"
        if thinks_from is None and not closes:
            kept, thinks_from = kept + text[at:tag.start()], tag.end()
        elif thinks_from is None and "{" in text[tag.end():]:
            kept = ""      # the prompt had begun the thought
        elif thinks_from is None:
            kept += text[at:tag.start()]
        elif closes:
            thinks_from = None
        at = tag.end()
    if thinks_from is None or ended:
        kept += text[thinks_from or at:]
    return kept if kept.strip() or not ended else text


def has_object(text: str) -> bool:
    """Whether ``text`` contains a complete JSON object, and no other one begins after it."""
    text = spoken(text, ended=False)
    ends = [end for _, end in _objects(text)]
    return bool(ends) and _BEGUN.search(text, ends[-1]) is None


def _fields(task: Task[Any]) -> set[str]:
    return set(task.answer_type.model_fields) - {"notes"}


def _chosen(text: str, task: Task[Any]) -> dict[str, Any]:
    """The last object with a requested field: models draft first and answer last."""
    fields = _fields(task)
    if not text.strip():
        raise WrongForm("the answer", "there is no text")
    found = list(_objects(text))
    if not found:
        raise WrongForm("the answer", "there is no whole JSON object in it")
    # Some models wrap the answer in another object.
    wrapped = [(inner, end) for outer, end in found for inner in (outer, *_only_inner(outer))]
    chosen, end = next(((one, end) for one, end in reversed(wrapped) if fields & one.keys()), ({}, 0))
    if not chosen:
        missing = [name for name, field in task.answer_type.model_fields.items() if field.is_required()]
        raise WrongForm(", ".join(missing), "required, but the answer's JSON object has no field of that name")
    if any(begun[1] in fields for begun in _BEGUN.finditer(text, end)):
        raise WrongForm("the answer", "it begins again after its JSON object, and what it begins is not whole")
    return _requested(chosen, fields)


def _requested(content: Mapping[str, Any], fields: set[str]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name in fields and value is not None}


def _only_inner(outer: Mapping[str, Any]) -> list[dict[str, Any]]:
    values = list(outer.values())
    if len(values) != 1:
        values = [value for name, value in outer.items() if name in _CALLED]
    values = [(_parsed(value) if isinstance(value, str) else value) for value in values]
    return values if len(values) == 1 and isinstance(values[0], dict) else []


def _objects(text: str) -> Iterator[tuple[dict[str, Any], int]]:
    """The JSON objects in ``text``, outermost, in order, each with the position after it. What is inside an object
    that does not end is none: its outer one was cut off."""
    return ((found, end) for found, end, _ in _spans(text))


def _spans(text: str) -> Iterator[tuple[dict[str, Any], int, int]]:
    """As :func:`_objects`, with the length of each."""
    text = text[:_LONGEST]
    start = text.find("{")
    for _ in range(_STARTS):
        if start < 0:
            return
        try:
            found, end = _DECODER.raw_decode(text, start)
            yield found, end, end - start
        except (ValueError, RecursionError):
            if _BEGUN.match(text, start) and not scan(text[start:]).closes:
                return
            end = start + 1
        start = text.find("{", end)


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        found = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
