"""What the last run of a construction was to do: ``run.json``, so that it can be watched and resumed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from cir_core.datasets.readers.soft import Confidence
from cir_core.jobs.spending import Budget
from cir_core.support.files import open_regular, write_atomically

RUN_FILE = "run.json"
_MOST_BYTES = 2**20


@dataclass(frozen=True)
class RunRecord:
    """``subsets``: (): all. ``limit``: queries of each subset. ``total`` of them all; ``complete``: all are over.
    ``others``: queries in the journal that this run did not want. ``thresholds``: of the files of targets that this run
    and earlier ones wrote, by their name."""

    subsets: tuple[str, ...] = ()
    limit: int | None = None
    total: int = 0
    workers: int = 1
    budget: Budget = Budget()
    complete: bool = False
    others: int = 0
    thresholds: Mapping[str, Confidence] = field(default_factory=dict)


_ADAPTER = TypeAdapter(RunRecord)


def write_run(folder: Path, record: RunRecord) -> None:
    write_atomically(folder / RUN_FILE, json.dumps(asdict(record), indent=1, ensure_ascii=False).encode() + b"\n")


def read_run(folder: Path) -> RunRecord | None:
    """None if there is none that can be read: constructions of earlier versions have none."""
    path = folder / RUN_FILE
    try:
        if path.is_symlink() or path.stat().st_size > _MOST_BYTES:
            return None
        with open_regular(path) as file:
            return _ADAPTER.validate_json(file.read(_MOST_BYTES))
    except (OSError, ValidationError):
        return None
