"""Progress bar of an audit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from cli.console import err

if TYPE_CHECKING:
    from cir_core.audit.runner import AuditProgress
    from cir_core.gallery.progress import IndexProgress


@contextmanager
def run_bar() -> Iterator[tuple[Callable[[AuditProgress], None], Callable[[str, IndexProgress], None]]]:
    """Progress bar for ranking and indexing. Silent without a terminal."""
    from cir_core.audit.runner import INPUTS

    with Progress(
        SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        console=err, transient=True, disable=not err.is_terminal,
    ) as bar:
        task = bar.add_task("Auditing", total=None)

        def ranked(progress: AuditProgress) -> None:
            bar.update(task, description=f"{progress.retriever}: {INPUTS[progress.variant]}",
                       completed=progress.done, total=progress.total)

        def indexed(name: str, progress: IndexProgress) -> None:
            bar.update(task, description=f"Indexing {name}", completed=progress.done, total=progress.total)

        yield ranked, indexed
