"""What the long jobs of ``cirque construct`` share: options, budget, progress, and how they end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass
from datetime import timedelta
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.progress import ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.text import Text

from cir_core.errors import EncoderUnavailable, LanguageModelError, SettingsError
from cir_core.settings import get_settings
from cli.console import bars, err
from cli.evaluate.method_options import DomainOption
from cli.galleries.datasets import CaptionOption, PoolOption, SplitOption
from cli.tables.output import TablesOption

if TYPE_CHECKING:
    from cir_core.jobs.estimate import Pace
    from cir_core.jobs.job import JobOptions
    from cir_core.jobs.journal import JobCard
    from cir_core.types.composition import Usage

Done = TypeVar("Done")


@dataclass(frozen=True)
class JobFlags:
    """Options of every long job. Raises ``SettingsError`` for a budget without prices."""

    folder: Annotated[Path, typer.Option("--out", "-o", help="Output folder.")]
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first queries of each subset or file.")] = None
    resume: Annotated[bool, typer.Option("--resume", help="Continue an earlier run.")] = False
    retry_failed: Annotated[bool, typer.Option(
        "--retry-failed", help="With --resume: retry failures.")] = False
    dry_run: Annotated[bool, typer.Option(
        "--dry-run", help="Only estimate requests, tokens, cost and time.")] = False
    budget: Annotated[float | None, typer.Option(min=0, help="Stop at this cost, over all runs.")] = None
    max_calls: Annotated[int | None, typer.Option(min=1, help="Stop at this many requests, over all runs.")] = None
    workers: Annotated[int | None, typer.Option(
        min=1, max=64, help="Parallel requests (default: CIRQUE_LLM_CONCURRENCY; built-in model: 1).")] = None
    domain: DomainOption = None
    tables: TablesOption = None

    def __post_init__(self) -> None:
        settings = get_settings()
        if self.budget is not None and (settings.llm_prompt_price is None or settings.llm_completion_price is None):
            raise SettingsError("--budget needs prices. Set CIRQUE_LLM_PROMPT_PRICE and CIRQUE_LLM_COMPLETION_PRICE "
                                "(per million tokens), or limit the requests with --max-calls.")

    def run(
        self, label: str, kept: str, card: JobCard, wanted: Sequence[int], workers: int, tell: Callable[..., None],
        work: Callable[[JobOptions], Done],
    ) -> Done | None:
        """``tell`` what is ahead (of the items of ``wanted`` that are not over, with ``workers``, ``prices`` and what
        is known from ``before``), and ``work``; None for a dry run. However it ends, it says that what is finished is
        ``kept`` in the folder: "sessions"."""
        from cir_core.jobs.estimate import Prices
        from cir_core.jobs.journal import JobProgress, check_card, read_progress

        check_card(self.folder / "journal.jsonl", card, resume=self.resume)
        settings, before = get_settings(), JobProgress()
        if self.resume:
            before = read_progress(self.folder / "journal.jsonl")
        tell(before.left(wanted), workers=workers, before=before,
             prices=Prices(settings.llm_prompt_price, settings.llm_completion_price))
        if self.dry_run:
            return None
        try:
            with self._watched(label, workers) as options:
                done = work(options)
        except KeyboardInterrupt:
            err.print(f"\nStopped. Finished {kept} are kept in {self.folder}: --resume continues.", soft_wrap=True)
            raise typer.Exit(1) from None
        except (LanguageModelError, EncoderUnavailable) as error:
            raise type(error)(f"{error} Finished {kept} are kept in {self.folder}: --resume continues.") \
                from error
        return done

    @contextmanager
    def _watched(self, label: str, workers: int) -> Iterator[JobOptions]:
        """A bar shows items done, rate, time left, and what was asked so far; silent without a terminal."""
        from cir_core.jobs.estimate import Pace
        from cir_core.jobs.job import JobOptions
        from cir_core.jobs.spending import Budget

        pace = Pace(workers)
        with bars(TimeElapsedColumn(), _Pace(pace), TextColumn("{task.fields[asked]}")) as bar:
            task = bar.add_task(label, total=None, asked="")

            def update(done: int, total: int, usage: Usage) -> None:
                cost = f", cost {usage.cost:.2f}" if usage.cost is not None else ""
                asked = f"{usage.calls:,} requests{cost}" if usage.calls else ""
                pace.update(done)
                bar.update(task, completed=done, total=total, asked=asked)

            yield JobOptions(workers, Budget(self.budget, self.max_calls), self.resume, self.retry_failed, update)


@dataclass(frozen=True)
class DatasetFlags:
    """Which queries of which data set."""

    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="Benchmark from `cirque datasets list`.")]
    path: Annotated[Path | None, typer.Argument(metavar="PATH", help="Its file or folder.")] = None
    subset: Annotated[list[str] | None, typer.Option(help="Only this subset; repeatable.")] = None
    split: SplitOption = None
    caption_mode: CaptionOption = None
    pool: PoolOption = None


def with_flags(command: Callable[..., None]) -> Callable[..., None]:
    """``command`` for typer, which gets the fields of those of its parameters that are dataclasses."""
    own = signature(command, eval_str=True).parameters
    groups: dict[str, Any] = {name: one.annotation for name, one in own.items() if is_dataclass(one.annotation)}
    fields = {name: signature(kind, eval_str=True).parameters for name, kind in groups.items()}

    @wraps(command)
    def flat(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{field: given.pop(field) for field in fields[name]})
        command(**given)

    vars(flat)["__signature__"] = Signature([
        part.replace(kind=Parameter.KEYWORD_ONLY)
        for name, one in own.items() for part in (fields[name].values() if name in fields else (one,))])
    return flat


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
