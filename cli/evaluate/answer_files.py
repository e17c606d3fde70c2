"""Output files of runs: TREC runs and benchmark submissions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cir_core.errors import SettingsError
from cir_core.support.files import write_atomically

if TYPE_CHECKING:
    from cir_core.datasets.records import Benchmark
    from cir_core.evaluation.runs.records import Run
    from cir_core.registry.kinds import Submit


_LONGEST = 120  # bytes of a name; file systems take 255, and endings come behind it


def write_run(folder: Path, run: Run, say: Callable[[str], Any]) -> None:
    """Write a TREC run, which `--run` reads again; a run with lists of image sets becomes a folder of two files. Raises
    ``SettingsError`` if it cannot be written."""
    from cir_core.evaluation.runs.trec import write_trec_run

    name = safe_name(run.system)
    path = folder / (name if run.subset_rankings else f"{name}.trec")
    whole = path / "recall.trec" if run.subset_rankings else path
    try:
        write_trec_run(whole, replace(run, subset_rankings={}))
        if run.subset_rankings:
            content = {"version": "rc2", "metric": "recall_subset", **run.subset_rankings}
            write_atomically(path / "recall_subset.json", json.dumps(content).encode() + b"\n")
    except OSError as error:
        raise SettingsError(f"The run {run.system!r} could not be written to {folder}: {error.strerror or error}. Make "
                            "room there, or name another folder with --write-run.") from error
    say(f"Run written to {path}")


def submit(folder: Path, benchmark: Benchmark, runs: Sequence[Run], write: Submit, say: Callable[[str], Any]) -> None:
    """Files for the benchmark's server; several systems get a folder each."""
    for run in runs:
        written = write(folder / safe_name(run.system) if len(runs) > 1 else folder, run, benchmark)
        say(f"Submission written: {', '.join(map(str, written.paths))}")
        for note in written.notes:
            say(f"Note: {note}")


def safe_name(system: str) -> str:
    """A system's name as a file name, shortened with a digest if long. Raises ``SettingsError`` if nothing remains."""
    name = "".join(letter if letter.isalnum() or letter in "-_.+" else "_" for letter in system).strip("._")
    if not name:
        raise SettingsError(f"The system {system!r} cannot be the name of a file. Rename the run.")
    if len(name.encode()) > _LONGEST:
        digest = hashlib.sha256(name.encode()).hexdigest()[:8]
        return f"{name.encode()[:_LONGEST - 9].decode(errors='ignore')}-{digest}"
    return name


def apart(systems: Sequence[str]) -> list[str]:
    """Unique file names: duplicates get " (2)", " (3)" …."""
    taken = {safe_name(system).casefold() for system in systems}
    given: set[str] = set()
    found = []
    for system in systems:
        name, number = system, 1
        while (file := safe_name(name).casefold()) in given or (number > 1 and file in taken):
            number += 1
            name = f"{system} ({number})"
        given.add(file)
        found.append(name)
    return found
