"""``cirque construct own`` and ``cirque construct compare``: sessions of people, beside constructed ones. NAME=VALUE
arguments of ``cirque construct``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cir_core.errors import DatasetError, SettingsError
from cir_core.evaluation.metrics.consistency import EPSILON, TAU
from cir_core.settings import get_settings
from cir_core.support.texts import counted, quoted
from cli.console import open_encoder, out, progress_bar
from cli.construct.tables import count_table
from cli.tables.output import TablesOption, check_folder, give

if TYPE_CHECKING:
    from cir_core.construct.own import OwnReport
    from cir_core.datasets.readers.circled_raw import RawFile

def named_paths(given: Sequence[str]) -> dict[str, list[Path]]:
    """Paths by the name of their source: of "NAME=PATH" NAME, which several may share, else the file's or folder's own
    name. Raises ``SettingsError`` for two unnamed ones of one name."""
    found: dict[str, list[Path]] = {}
    unnamed = set()
    for one in given:
        name, equals, path = one.partition("=")
        if not equals or Path(one).exists():
            name, path = Path(one).resolve().stem, one
            if name in found:
                raise SettingsError(f"Two of the sources would be called {quoted(name)}. Name them: NAME={one}")
            unnamed.add(name)
        elif not name.strip() or not path:
            raise SettingsError(f"{quoted(one)} is neither a file nor NAME=FILE.")
        elif name in unnamed:
            raise SettingsError(f"Two of the sources would be called {quoted(name)}. Name both: NAME=FILE")
        found.setdefault(name.strip(), []).append(Path(path))
    return found


def named_values(given: Sequence[str], option: str) -> Mapping[str, str]:
    """Values of "NAME=VALUE" by name, of "VALUE" under "". Raises ``SettingsError`` for two of one name."""
    found: dict[str, str] = {}
    for one in given:
        name, equals, value = one.rpartition("=")
        if name in found:
            raise SettingsError(f"{option} is given twice for {name or 'all sources'}. Give it once.")
        if not value or (equals and not name):
            raise SettingsError(f"{option} {quoted(one)} is neither a gallery nor NAME=GALLERY.")
        found[name] = value
    return found


OWN = "own"


def own(
    folder: Annotated[Path, typer.Option("--out", "-o", help="Output folder.")],
    gallery: Annotated[str | None, typer.Option("--gallery", "-g", help="Only searches of this gallery.")] = None,
    k: Annotated[int, typer.Option("--k", min=1, max=60, help="A target up to this rank counts as found.")] = 10,
    encoder: Annotated[str | None, typer.Option(
        "--encoder", "-e", help="Encoder to compare texts (default: the search's).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON.")] = False,
    tables: TablesOption = None,
) -> None:
    """Write finished target searches of this installation in CIRCLED's raw format."""
    check_folder(folder, "--out")
    report = _export(folder, gallery, k, encoder)
    _log_export(report.written)
    if as_json:
        typer.echo(json.dumps({"sessions": dict(report.sessions), "left_out": dict(report.left_out),
                               "notes": list(report.notes)}, indent=1))
    sessions = count_table("sessions", "subset", ("sessions",), {name: [n] for name, n in report.sessions.items()},
                           sums=True)
    give([sessions if report.sessions else "No search here can be used.",
          *(f"Note: {note}" for note in (*_said_of_left_out(report), *report.notes))], tables, quiet=as_json,
         between=lambda: None if as_json else _tell_files(report, folder))


def _tell_files(report: OwnReport, folder: Path) -> None:
    for path in report.outputs:
        out.print(f"Wrote {path}", soft_wrap=True)
    out.print(f"The others, with reasons: {folder / 'left_out.json'}", soft_wrap=True)


def compare(
    raw: Annotated[list[str], typer.Argument(
        metavar="RAW...", help="Constructions' folders, or raw files; NAME=RAW names a source.")],
    with_own: Annotated[bool, typer.Option(
        "--own", help="Also searches of this installation, as source 'own'.")] = False,
    gallery: Annotated[str | None, typer.Option("--gallery", "-g", help="With --own: only this gallery.")] = None,
    judged: Annotated[Path | None, typer.Option(
        help="Their scores: folder or file of `cirque construct judge`.")] = None,
    encoder: Annotated[str | None, typer.Option(
        "--encoder", "-e", help="Encoder to compare texts (default: the files').")] = None,
    epsilon: Annotated[int, typer.Option(min=0, help="Ranks that a turn may lose.")] = EPSILON,
    tau: Annotated[float, typer.Option(min=-1, max=2, help="Cosine with an earlier text that drops a session.")] = TAU,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON.")] = False,
    tables: TablesOption = None,
) -> None:
    """Compare sources of sessions, such as simulated and real ones."""
    from cir_core.construct.comparison import (
        Comparison,
        filter_table,
        judged_rows,
        measure,
        measure_table,
    )
    from cir_core.construct.filtering.files import raw_files
    from cir_core.construct.filtering.stages import FilterSettings
    from cir_core.construct.judging.scores import score_table

    found = {name: [one for path in paths for one in raw_files(path)] for name, paths in named_paths(raw).items()}
    spec = encoder or _common_encoder([one for raws in found.values() for one in raws])
    scores, settings = _scores(judged), FilterSettings(epsilon, tau)
    with _own_sessions(with_own, gallery, spec, found) as (raws, notes), progress_bar("Comparing") as progress:
        loaded = open_encoder(spec)
        sources = tuple(measure(name, some, loaded, settings, lambda done: progress(done, 0))
                        for name, some in raws.items())
    names = [one.name for one in sources]
    rows = judged_rows(scores, names) if judged else []
    comparison = Comparison(sources, settings, loaded.identity.spec, tuple(rows), tuple(notes))
    if as_json:
        typer.echo(json.dumps(comparison.as_json(), indent=1, ensure_ascii=False))
    give([filter_table(comparison), measure_table(comparison), *([score_table(rows)] if judged else []), "",
          *(f"Note: {note}" for note in notes)], tables, quiet=as_json)


@contextmanager
def _own_sessions(
    wanted: bool, gallery: str | None, spec: str, found: dict[str, list[RawFile]]
) -> Iterator[tuple[dict[str, list[RawFile]], list[str]]]:
    """``found``, with the own sessions if they are ``wanted``, and notes on those."""
    from cir_core.construct.filtering.files import raw_files

    if not wanted:
        yield found, []
        return
    if OWN in found:
        raise SettingsError(f"A source is called '{OWN}' already. Choose another name: NAME=RAW")
    with TemporaryDirectory(prefix="cirque-own-") as folder:
        report = _export(Path(folder), gallery, 10, spec)
        if not report.outputs:
            raise DatasetError("No search here has a target that was found or given up. Search for a target first "
                               "(docs/reference/results.md).")
        yield {**found, OWN: raw_files(Path(folder))}, [*report.notes, *_said_of_left_out(report)]


def _export(folder: Path, gallery: str | None, k: int, encoder: str | None) -> OwnReport:
    from cir_core.construct.own import export_own
    from cir_core.gallery.gallery import open_gallery
    from storage.sessions.store import open_store

    settings = get_settings()
    load: Callable[[str], Any] = cache(open_encoder)
    with closing(open_store(settings)) as store:
        return export_own(store, folder, encoder_of=lambda spec: load(encoder or spec), gallery=gallery, k=k,
                          open_gallery=lambda name: open_gallery(name, home=settings.home))


def _log_export(session_ids: Sequence[str]) -> None:
    from annotation.records import LOCAL, AuditEvent
    from storage.accounts.audit_log import SqlAuditLog
    from storage.sessions.store import open_store

    with closing(open_store(get_settings())) as store:
        log = SqlAuditLog(store.engine)
        for session_id in session_ids:
            log.note(AuditEvent("session.exported", LOCAL, session_id))


def _said_of_left_out(report: OwnReport) -> list[str]:
    from cir_core.construct.own import LEFT_OUT

    return [f"{counted(report.left_out[reason], 'search was', 'searches were')} left out: {why}."
            for reason, why in LEFT_OUT.items() if report.left_out.get(reason)]


def _common_encoder(raws: Sequence[RawFile]) -> str:
    """The encoder that all files name as the one that compared texts. Raises ``SettingsError``."""
    from cir_core.construct.filtering.files import named_encoder

    named = {named_encoder(raw) for raw in raws}
    if len(named) != 1 or "" in named:
        raise SettingsError("The files do not name one encoder for their texts. Name one that compares all of them, "
                            "for example --encoder ViT-B-32/openai.")
    return named.pop()


def _scores(path: Path | None) -> Any:
    if path is None:
        return None
    file = path / "judged.json" if path.is_dir() else path
    try:
        return json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DatasetError(f"{file} is not a readable file of scores. Give the folder of cirque construct judge.") \
            from error
