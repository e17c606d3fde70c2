"""Shared helpers of the commands: terminal, progress bars, encoders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from typer.core import TyperCommand, TyperGroup

from cir_core.encoders.base import Encoder
from cir_core.encoders.specs import EncoderLoader
from cir_core.errors import SettingsError
from cir_core.settings import get_settings
from cli import recorded

if TYPE_CHECKING:
    from cir_core.bulk.places import Place
    from cir_core.relevance.model import RelevanceModel
    from storage.stores import Stores


class CommandGroup(TyperGroup):
    """A group that is a command of its own, beside its commands: ``cirque audit DATASET`` and ``cirque audit join``."""

    def own(self) -> tuple[str, Callable[..., None]]:
        """Name and function of that command."""
        raise NotImplementedError

    @property
    def alone(self) -> TyperCommand:
        name, function = self.own()
        app = typer.Typer(add_completion=False)
        app.command(name)(function)
        found = typer.main.get_command(app)
        assert isinstance(found, TyperCommand)
        return found

    def make_context(self, info_name: Any, args: list[str], parent: Any = None, **extra: Any) -> Any:
        if args[:1] and args[0] in self.commands:
            return super().make_context(info_name, args, parent, **extra)
        return self.alone.make_context(info_name, args, parent, **extra)


class ModelChoice(StrEnum):
    """Which language model a command asks."""

    built_in = "built-in"
    settings = "settings"


class _RecordedConsole(Console):
    """Sentences are also in the record of a long command; tables are not."""

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*objects, **options)
        if objects and all(isinstance(one, str) for one in objects):
            recorded.log(" ".join(objects))


class _RecordedProgress(Progress):
    """What bars show is also in the record of a long command, also where there is no terminal."""

    def update(self, task_id: TaskID, **fields: Any) -> None:
        super().update(task_id, **fields)
        task = self._tasks[task_id]
        recorded.progress(task.description, task.completed, task.total)


# What is printed holds paths and people's words; "[/b]" and ":cat:" in them mean nothing.
out = _RecordedConsole(highlight=False, markup=False, emoji=False)
err = _RecordedConsole(stderr=True, highlight=False, markup=False, emoji=False)


RayOption = Annotated[str | None, typer.Option(
    "--ray", metavar="ADDRESS", help="Ray cluster to use: HOST:PORT, auto, or local[:PROCESSORS].")]


def place_of(ray: str | None) -> Place:
    """Where bulk work runs, by the option ``--ray``."""
    if ray is None:
        from cir_core.bulk.places import Here

        return Here()
    from cir_core.bulk.cluster import RayCluster

    settings = get_settings()
    return RayCluster(ray, storage=settings.ray_storage, cpus=settings.ray_cpus, gpus=settings.ray_gpus)


def encoder_loader(encoder: Encoder) -> EncoderLoader:
    """How ``encoder`` is loaded elsewhere."""
    settings = get_settings()
    return EncoderLoader(encoder.identity.spec, settings.device, settings.precision, settings.allow_downloads)


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None]]:
    """Progress bar on standard error; yields ``update(done, total)``. Silent without a terminal."""
    with bars(TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn()) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def bars(*columns: ProgressColumn) -> Progress:
    """Progress bars on standard error, with ``columns`` at their end. Silent without a terminal."""
    return _RecordedProgress(SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
                             *columns, console=err, transient=True, disable=not err.is_terminal)


def open_stores(*, without_accounts: bool = False) -> closing[Stores]:
    """The stores of the settings' database, closed at the end of the block."""
    from storage import stores

    return closing(stores.open_stores(get_settings(), without_accounts=without_accounts))


def print_notes(notes: Iterable[str], *, soft_wrap: bool = True) -> None:
    for note in notes:
        out.print(f"Note: {note}", soft_wrap=soft_wrap)


def open_encoder(spec: str, *, allow_downloads: bool | None = None) -> Encoder:
    """The encoder ``spec`` on the configured device."""
    from cir_core.encoders import load_encoder

    settings = get_settings()
    return load_encoder(
        spec, device=settings.device, precision=settings.precision,
        allow_downloads=settings.allow_downloads if allow_downloads is None else allow_downloads)


def open_relevance(spec: str | None) -> RelevanceModel:
    """The relevance model ``spec`` (None: that of CIRQUE_RELEVANCE) on the configured device. Raises
    ``RelevanceUnavailable``, ``EncoderUnavailable``."""
    from cir_core.relevance.configured import configured_model
    from cir_core.relevance.model import load_relevance

    if spec is None:
        return configured_model()
    settings = get_settings()
    return load_relevance(spec, device=settings.device, precision=settings.precision,
                          allow_downloads=settings.allow_downloads)


def write_file(path: Path | None, text: str) -> None:
    """Write an output file, if one is wanted. Raises ``SettingsError`` if it cannot be written."""
    if path is None:
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error.strerror}. Choose another file.") from error
