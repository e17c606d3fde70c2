"""Progress bar of an audit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import TimeElapsedColumn

from cli.console import bars

if TYPE_CHECKING:
    from cir_core.audit.runner import AuditProgress
    from cir_core.gallery.progress import IndexProgress


@contextmanager
def run_bar() -> Iterator[tuple[Callable[[AuditProgress], None], Callable[[str, IndexProgress], None]]]:
    """Progress bar for ranking and indexing. Silent without a terminal."""
    from cir_core.audit.runner import INPUTS

    with bars(TimeElapsedColumn()) as bar:
        task = bar.add_task("Auditing", total=None)

        def ranked(progress: AuditProgress) -> None:
            bar.update(task, description=f"{progress.retriever}: {INPUTS[progress.variant]}",
                       completed=progress.done, total=progress.total)

        def indexed(name: str, progress: IndexProgress) -> None:
            bar.update(task, description=f"Indexing {name}", completed=progress.done, total=progress.total)

        yield ranked, indexed
