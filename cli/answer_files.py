"""Files that runs are written to: TREC lines to measure again, submissions to a benchmark's server."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cir_core.errors import SettingsError
from cir_core.files import write_atomically

if TYPE_CHECKING:
    from cir_core.datasets.records import Benchmark
    from cir_core.runs.records import Run


def write_run(folder: Path, run: Run, say: Callable[[str], Any]) -> None:
    """The run as TREC lines, which `--run` reads again. One with lists of image sets becomes a
    folder of two files."""
    from cir_core.runs.trec import write_trec_run

    name = safe_name(run.system)
    path = folder / (name if run.subset_rankings else f"{name}.trec")
    whole = path / "recall.trec" if run.subset_rankings else path
    write_trec_run(whole, replace(run, subset_rankings={}))
    if run.subset_rankings:
        content = {"version": "rc2", "metric": "recall_subset", **run.subset_rankings}
        write_atomically(path / "recall_subset.json", json.dumps(content).encode() + b"\n")
    say(f"Run written to {path}")


def submit(folder: Path, benchmark: Benchmark, runs: Sequence[Run], say: Callable[[str], Any]) -> None:
    """Files for the server of CIRCO or CIRR; several systems get a folder each."""
    from cir_core.runs.submissions import write_circo, write_cirr

    for run in runs:
        place = folder / safe_name(run.system) if len(runs) > 1 else folder
        if benchmark.kind == "circo":
            written = write_circo(place / "circo.json", run, benchmark)
        else:
            written = write_cirr(place, run, benchmark)
        say(f"Submission written: {', '.join(map(str, written.paths))}")
        for note in written.notes:
            say(f"Note: {note}")


def safe_name(system: str) -> str:
    """A system's name as a file name. Raises ``SettingsError`` if nothing is left of it."""
    name = "".join(letter if letter.isalnum() or letter in "-_.+" else "_" for letter in system).strip("._")
    if not name:
        raise SettingsError(f"The system {system!r} cannot be the name of a file. Rename the run.")
    return name
