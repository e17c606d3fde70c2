"""``cirque models``: check the configured language model."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import typer

from cir_core.errors import SettingsError
from cir_core.settings import get_settings
from cli.console import out

if TYPE_CHECKING:
    from cir_core.language.openai.model import OpenAILanguageModel

app = typer.Typer(help="Check the connected language model.", no_args_is_help=True)


@app.callback()
def models() -> None:
    """Check the connected language model."""


@app.command()
def check() -> None:
    """Send one short text and, if the model sees, one small image; print what came back."""
    from PIL import Image

    from cir_core.language.connect import connected
    from cir_core.language.tasks import CaptionTask, MergeTask, Picture

    model = connected(get_settings())
    if model is None:
        raise SettingsError(
            "No language model is connected; the built-in one needs no check. Set CIRQUE_LLM_BASE_URL and "
            "CIRQUE_LLM_MODEL to connect one (docs/language-models.md).")
    out.print(f"{model.name}: {'text and images' if model.sees else 'text only'}")
    try:
        merged = _ask(model, "merge", MergeTask("a red dress with short sleeves", "make it blue", "dress"))
        out.print(f"  answer: {merged.query}")
        if model.sees:
            square = Picture.of(Image.new("RGB", (64, 64), "red"))
            seen = _ask(model, "caption of a red square", CaptionTask(square, "scene"))
            out.print(f"  answer: {seen.caption}")
        out.print(f"Answers are requested as: {model.answer_mode}")
    finally:
        model.close()


def _ask(model: OpenAILanguageModel, what: str, task: Any) -> Any:
    from cir_core.language.observer import Observer

    watch, started = Observer(), time.perf_counter()
    answer = model.complete(task, watch)
    usage = watch.usage
    tokens = f"{usage.prompt_tokens} + {usage.completion_tokens} tokens" if usage.prompt_tokens else "tokens unknown"
    cost = f", cost {usage.cost:.6f}" if usage.cost is not None else ""
    plural = "request" if usage.calls == 1 else "requests"
    out.print(f"{what}: {time.perf_counter() - started:.2f} s, {usage.calls} {plural}, {tokens}{cost}")
    for note in answer.notes:
        out.print(f"  note: {note}")
    return answer
