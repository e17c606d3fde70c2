"""What the long jobs of ``cirque construct`` share: options, budget, progress, and how they end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.text import Text

from cir_core.errors import EncoderUnavailable, LanguageModelError, SettingsError
from cir_core.settings import get_settings
from cli.console import bars, err

if TYPE_CHECKING:
    from cir_core.jobs.estimate import Pace, Prices
    from cir_core.jobs.job import JobOptions
    from cir_core.jobs.journal import JobProgress
    from cir_core.types.composition import Usage

ResumeOption = Annotated[bool, typer.Option("--resume", help="Go on with what is in the folder.")]
RetryOption = Annotated[bool, typer.Option("--retry-failed", help="With --resume: try what failed again.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only estimate requests, tokens, cost and time.")]
BudgetOption = Annotated[float | None, typer.Option(min=0, help="Stop at this cost, of all runs together.")]
CallsOption = Annotated[int | None, typer.Option(min=1, help="Stop at this many requests, of all runs.")]
WorkersOption = Annotated[int | None, typer.Option(
    min=1, max=64, help="How many at a time (default: CIRQUE_LLM_CONCURRENCY; built-in model: 1).")]


def check_budget(budget: float | None) -> None:
    """Raises ``SettingsError`` for a budget without prices."""
    settings = get_settings()
    if budget is not None and (settings.llm_prompt_price is None or settings.llm_completion_price is None):
        raise SettingsError("--budget needs prices. Set CIRQUE_LLM_PROMPT_PRICE and CIRQUE_LLM_COMPLETION_PRICE (per "
                            "million tokens), or limit the requests with --max-calls.")


def left_to_do(folder: Path, wanted: Sequence[int], resume: bool) -> tuple[list[int], JobProgress, Prices]:
    """Of ``wanted`` the items that are not over, what the journal to resume says, and the settings' prices."""
    from cir_core.jobs.estimate import Prices
    from cir_core.jobs.journal import JobProgress, read_progress

    settings = get_settings()
    before = read_progress(folder / "journal.jsonl") if resume else JobProgress()
    return before.left(wanted), before, Prices(settings.llm_prompt_price, settings.llm_completion_price)


class _Pace(ProgressColumn):
    """The rate, and the time that is left."""

    def __init__(self, pace: Pace) -> None:
        super().__init__()
        self._pace = pace

    def render(self, task: Task) -> Text:
        rate = self._pace.rate
        if rate is None or task.remaining is None:
            return Text("")
        return Text(f"{rate * 60:.0f}/min, {timedelta(seconds=round(task.remaining / rate))} left")


@contextmanager
def job_run(
    label: str, folder: Path, kept: str, *, workers: int, budget: float | None, max_calls: int | None, resume: bool,
    retry_failed: bool,
) -> Iterator[JobOptions]:
    """A run whose bar shows items done, rate, time left, and what was asked so far; silent without a terminal. However
    it ends, it says that what is finished is ``kept`` in ``folder``: "sessions"."""
    from cir_core.jobs.estimate import Pace
    from cir_core.jobs.job import JobOptions
    from cir_core.jobs.spending import Budget

    try:
        pace = Pace(workers)
        with bars(TimeElapsedColumn(), _Pace(pace), TextColumn("{task.fields[asked]}")) as bar:
            task = bar.add_task(label, total=None, asked="")

            def update(done: int, total: int, usage: Usage) -> None:
                cost = f", cost {usage.cost:.2f}" if usage.cost is not None else ""
                asked = f"{usage.calls:,} requests{cost}" if usage.calls else ""
                pace.update(done)
                bar.update(task, completed=done, total=total, asked=asked)

            yield JobOptions(workers, Budget(budget, max_calls), resume, retry_failed, update)
    except KeyboardInterrupt:
        err.print(f"\nStopped. Finished {kept} are kept in {folder}: add --resume to go on.", soft_wrap=True)
        raise typer.Exit(1) from None
    except (LanguageModelError, EncoderUnavailable) as error:
        raise type(error)(f"{error} Finished {kept} are kept in {folder}: --resume goes on with them.") from error
