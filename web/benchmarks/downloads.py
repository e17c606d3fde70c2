"""Downloads of a benchmark: its filtered sessions as ``cirque construct filter`` writes them, and its queries with the
targets at a threshold as ``cirque construct multi-target`` does."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO

from starlette.responses import Response, StreamingResponse

from annotation.tables.files import write_zip
from cir_core.construct.browse.folders import ConstructionFolder
from cir_core.construct.browse.targets import broken_lines
from cir_core.construct.filtering.files import filter_sessions, raw_files
from cir_core.construct.filtering.stages import FilterSettings
from cir_core.construct.targets.files import multi_targets, selection_of
from cir_core.construct.targets.provenance import read_provenance
from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.readers.soft import write_multi_target
from cir_core.errors import DatasetError
from cir_core.support.texts import quoted
from web.http.file_names import disposition, file_stem


def filtered_files(folder: ConstructionFolder, settings: FilterSettings) -> Response:
    """Public and raw form, counts and the dropped sessions. Raises ``DatasetError``, also before the end of the
    construction."""
    if not folder.raws:
        raise DatasetError(f"{quoted(folder.name)} is not finished: its files are written when all sessions are done.")
    with TemporaryDirectory(prefix="cirque-benchmark-") as made:
        out = Path(made) / "filtered"
        filter_sessions(raw_files(folder.path), out, settings, explain=True)
        return _zip_answer(out, f"{file_stem(folder.name)} epsilon {settings.epsilon} tau {settings.tau:g}.zip")


def target_files(folder: ConstructionFolder, threshold: float) -> Response:
    """SoFT's multi-target file of each subset; what the page leaves out is left out, which ``NOTES.txt`` says. Raises
    ``DatasetError``, also before the end of the construction."""
    if not folder.provenance:
        raise DatasetError(f"{quoted(folder.name)} is not finished: its files are written when all queries are done.")
    with TemporaryDirectory(prefix="cirque-benchmark-") as made:
        out, notes = Path(made), []
        for path in folder.provenance:
            faults = ValidationIssues(collect=True)
            write_multi_target(selection_of(out, path.stem), multi_targets(read_provenance(path, faults), threshold))
            notes += [f"{path.stem}: {broken_lines(faults.count)}\n"] if faults.count else []
        if notes:
            (out / "NOTES.txt").write_text("".join(notes), "utf-8")
        return _zip_answer(out, f"{file_stem(folder.name)} threshold {threshold:g}.zip")


def _zip_answer(folder: Path, name: str) -> Response:
    """The files in ``folder``, which may be large: the archive is on the disk while it is sent."""
    archive = TemporaryFile()   # noqa: SIM115  closed when it is sent; a killed process leaves nothing either
    write_zip(archive, {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*"))
                        if path.is_file()})
    size = archive.tell()
    archive.seek(0)
    return StreamingResponse(_sent(archive), media_type="application/zip", headers={
        "Content-Length": str(size), "Content-Disposition": disposition(name), "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff"})


def _sent(archive: IO[bytes]) -> Iterator[bytes]:
    with archive:
        yield from iter(partial(archive.read, 2**18), b"")
