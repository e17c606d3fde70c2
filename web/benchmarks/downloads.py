"""The filtered sessions of a benchmark as a zip file: what ``cirque construct filter`` writes."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from starlette.responses import Response

from annotation.tables.files import as_zip
from cir_core.construct.browse.folders import ConstructionFolder
from cir_core.construct.filtering.files import filter_sessions, raw_files
from cir_core.construct.filtering.stages import FilterSettings
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
        files = {path.relative_to(out).as_posix(): path.read_bytes() for path in sorted(out.rglob("*"))
                 if path.is_file()}
    name = f"{file_stem(folder.name)} epsilon {settings.epsilon} tau {settings.tau:g}.zip"
    return Response(as_zip(files), media_type="application/zip", headers={
        "Content-Disposition": disposition(name), "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"})
