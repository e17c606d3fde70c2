"""Progress of the long jobs of ``cirque construct``, and their budget."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import ProgressColumn, Task, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from cir_core.errors import SettingsError
from cir_core.settings import get_settings
from cli.console import bars

if TYPE_CHECKING:
    from cir_core.construct.sessions.run import Progress
    from cir_core.types.composition import Usage


def check_budget(budget: float | None) -> None:
    """Raises ``SettingsError`` for a budget without prices."""
    settings = get_settings()
    if budget is not None and (settings.llm_prompt_price is None or settings.llm_completion_price is None):
        raise SettingsError("--budget needs prices. Set CIRQUE_LLM_PROMPT_PRICE and CIRQUE_LLM_COMPLETION_PRICE (per "
                            "million tokens), or limit the requests with --max-calls.")


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed * 60:.0f}/min" if task.speed else "")


@contextmanager
def session_bar(label: str) -> Iterator[Progress]:
    """Sessions done, rate, time left, and what was asked so far. Silent without a terminal."""
    with bars(_Rate(), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
              TextColumn("{task.fields[asked]}")) as bar:
        task = bar.add_task(label, total=None, asked="")

        def update(done: int, total: int, usage: Usage) -> None:
            cost = f", cost {usage.cost:.2f}" if usage.cost is not None else ""
            asked = f"{usage.calls:,} requests{cost}" if usage.calls else ""
            bar.update(task, completed=done, total=total, asked=asked)

        yield update
