"""``cirque models``: check the configured language model."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import typer

from cir_core.errors import ImagesRefused, LanguageModelError, SettingsError
from cir_core.settings import get_settings
from cir_core.support.files import why_not_written
from cli.console import out

if TYPE_CHECKING:
    from cir_core.language.openai.model import OpenAILanguageModel
    from cir_core.language.openai.server import Abilities

_AT_ONCE = 6     # images: a reference and five results, as reflection sends them

app = typer.Typer(help="Check the connected language model.", no_args_is_help=True)


@app.callback()
def models() -> None:
    """Check the connected language model."""


@app.command()
def check() -> None:
    """Check what the connected model and its server can do; searches use the result.

    Sends a short text and, unless CIRQUE_LLM_SEES is false, a small image and a request with six of them. Prints the
    answers, their time and tokens, and how answers are asked for from now on.
    """
    from cir_core.language.connect import connected
    from cir_core.language.openai.server import keep

    settings = get_settings()
    model = connected(settings, checked=False)
    if model is None:
        raise SettingsError(
            "No language model is connected; the built-in one needs no check. Set CIRQUE_LLM_BASE_URL and "
            "CIRQUE_LLM_MODEL to connect one (docs/how-to/language-models.md).")
    out.print(f"{model.name}: {'text and images' if model.sees else 'text only'}")
    try:
        _text(model)
        sees = model.sees and _images(model)
        found = replace(model.learned, sees=sees, checked=datetime.now(UTC).isoformat(timespec="seconds"))
    finally:
        model.close()
    for line in _in_words(found, model):
        out.print(line)
    try:
        out.print(f"Kept in {keep(settings.home, model.server, found)}. Searches use it from the next start of cirque.")
    except OSError as error:
        out.print(f"Not kept: {why_not_written(error)}. Searches find it out by themselves, each time cirque starts.")


def _text(model: OpenAILanguageModel) -> None:
    from cir_core.language.tasks import MergeTask

    merged = _ask(model, "text", MergeTask("a red dress with short sleeves", "make it blue", "dress"))
    out.print(f"  answer: {merged.query}")


def _images(model: OpenAILanguageModel) -> bool:
    """Whether the model takes images. Any other failure is an error."""
    from PIL import Image

    from cir_core.language.tasks import CaptionTask, Picture, ReflectTask

    red, blue = (Picture.of(Image.new("RGB", (64, 64), colour)) for colour in ("red", "blue"))
    try:
        seen = _ask(model, "image of a red square", CaptionTask(red, "scene"))
    except ImagesRefused as error:
        out.print(f"image of a red square: {error}")
        out.print("  From now on it gets captions instead of images.")
        return False
    out.print(f"  answer: {seen.caption}")
    if "red" not in seen.caption.lower():
        out.print("  It does not name the colour. Perhaps the server drops images: then set CIRQUE_LLM_SEES=false.")
    task = ReflectTask(red, modification_text="make it blue", candidates=(blue,) * (_AT_ONCE - 1))
    try:
        _ask(model, f"{_AT_ONCE} images at once", task)
    except LanguageModelError as error:
        out.print(f"{_AT_ONCE} images at once: {error}")
        out.print("  Methods that look at results (reflection) need this; the others do not.")
    return True


def _in_words(found: Abilities, model: OpenAILanguageModel) -> Iterator[str]:
    yield f"Answers are requested as: {model.answer_mode}"
    left_out = [name for name in found.refused if name not in ("json_schema", "json_object")]
    if left_out:
        yield f"Left out, as the server does not take it: {', '.join(left_out)}"
    if found.thinking:
        yield f"It thinks before it answers: {found.thinking:,} tokens more are allowed for that"
    if found.ceiling is not None:
        yield f"The server allows at most {found.ceiling:,} tokens an answer"


def _ask(model: OpenAILanguageModel, what: str, task: Any) -> Any:
    from cir_core.language.base import Observer

    watch, started = Observer(), time.perf_counter()
    answer = model.complete(task, watch)
    usage, seconds = watch.usage, time.perf_counter() - started
    tokens = f"{usage.prompt_tokens} + {usage.completion_tokens} tokens" if usage.prompt_tokens else "tokens unknown"
    speed = f" ({usage.completion_tokens / seconds:.0f} a second)" if usage.completion_tokens and seconds else ""
    cost = f", cost {usage.cost:.6f}" if usage.cost is not None else ""
    plural = "request" if usage.calls == 1 else "requests"
    out.print(f"{what}: {seconds:.2f} s, {usage.calls} {plural}, {tokens}{speed}{cost}")
    for note in answer.notes:
        out.print(f"  note: {note}")
    return answer
