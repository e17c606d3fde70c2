"""Systems to evaluate: run files, or methods over a gallery. Output files of runs: TREC runs and benchmark
submissions."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from cir_core.errors import CirqueError, DatasetError, MethodError, SearchError, SettingsError
from cir_core.methods.declared import Method, all_methods
from cir_core.settings import get_settings
from cir_core.support.files import write_atomically
from cli.console import open_encoder
from cli.evaluate.captions_first import captions_first
from cli.evaluate.method_options import ModelChoice, chosen_methods, language_model, named_bar

if TYPE_CHECKING:
    from cir_core.datasets.readers.circled import CircledSession
    from cir_core.datasets.readers.soft_constraints import StoredConstraints
    from cir_core.datasets.records import Benchmark
    from cir_core.encoders.base import Encoder
    from cir_core.evaluation.method_runs import MethodRun, SessionsRun
    from cir_core.evaluation.runs.records import Run
    from cir_core.gallery.gallery import Gallery
    from cir_core.language.base import LanguageModel
    from cir_core.registry.kinds import Submit
    from cir_core.types.records import Domain

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
        raise SettingsError(f"The run {run.system!r} could not be written to {folder}: {error.strerror or error}. "
                            "Free some space there, or choose another folder with --write-run.") from error
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


_DIGITS = 16


@dataclass(frozen=True)
class SystemRun:
    """``source`` says what the run depends on. ``target_ranks`` are over the whole pool, where a
    method was at hand. ``partial``: queries that the run lacks are ones the method failed at."""

    run: Run
    source: Mapping[str, str]
    target_ranks: Mapping[str, Sequence[int]] | None = None
    partial: bool = False


@dataclass(frozen=True)
class Opened:
    """A gallery with its encoder and the language model."""

    gallery: Gallery
    encoder: Encoder
    language: LanguageModel
    methods: Sequence[Method]


def check_choice(runs: Sequence[Path], methods: str | None, gallery: str | None) -> None:
    """Raises ``BadParameter`` unless either runs, or methods with their gallery, are given."""
    if bool(runs) == bool(methods):
        raise typer.BadParameter("Give run files (--run FILE) or methods (--methods NAMES --gallery NAME), one of the "
                                 "two.")
    if methods and not gallery:
        raise typer.BadParameter("Methods need images: --gallery NAME. `cirque datasets index` makes one of a "
                                 "benchmark.")


def from_files(paths: Sequence[Path]) -> list[SystemRun]:
    """One run for each file, or folder of files that belong together. Of systems of one name the
    later ones are numbered; each answer's ``source`` names its file."""
    from cir_core.evaluation.runs.files import read_run

    for path in paths:
        if not path.exists():
            raise DatasetError(f"{path} is missing. Check the path of the run.")
    runs = [read_run(path) for path in dict.fromkeys(paths)]
    names = apart([run.system for run in runs])
    return [
        SystemRun(replace(run, system=name), {"run_file": path.name, "run_digest": file_digest(path)})
        for path, run, name in zip(dict.fromkeys(paths), runs, names, strict=True)
    ]


def file_digest(path: Path) -> str:
    """16 hex digits of the digest of a file, or of all files of a folder in name order."""
    sha = hashlib.sha256()
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        if file.is_file() and (file == path or not file.name.startswith(".")):
            with file.open("rb") as source:
                sha.update(hashlib.file_digest(source, "sha256").digest())
    return sha.hexdigest()[:_DIGITS]


@contextmanager
def opened(gallery: str, methods: str, model: ModelChoice) -> Iterator[Opened]:
    """The gallery a person named, its encoder, and the methods they want of it."""
    from cir_core.gallery.gallery import open_gallery

    settings = get_settings()
    chosen = chosen_methods(methods, None, all_methods(settings.methods))
    found = open_gallery(gallery, home=settings.home)
    encoder = open_encoder(found.encoder.spec)
    with language_model(model, encoder) as language:
        yield Opened(found, encoder, language, chosen)


def collect(answers: Iterable[SystemRun], folder: Path | None, say: Callable[[str], Any]) -> tuple[
    list[SystemRun], CirqueError | None
]:
    """All answers, each written to ``folder`` as it comes, and what went wrong: a server that goes
    away does not lose the methods before, nor does a run that cannot be written lose its figures.
    Raises what ends the first."""
    done: list[SystemRun] = []
    problem: CirqueError | None = None
    try:
        for answer in answers:
            done.append(answer)
            if folder:
                try:
                    write_run(folder, answer.run, say)
                except CirqueError as error:
                    if problem:
                        say(str(error))
                    problem = problem or error
    except CirqueError as error:
        if not done:
            raise
        if problem:
            say(str(problem))
        problem = error
    return done, problem


def from_methods(
    benchmark: Benchmark, gallery: str, methods: str, model: ModelChoice, domain: Domain | None = None, *,
    constraints: Sequence[Path] = (), yes: bool = False,
) -> Iterator[SystemRun]:
    """Every method over every query, each handed out as it ends. Without a ``domain`` it is the
    benchmark's own, or that of the settings where it does not say. Soft filters take the
    ``constraints`` of SoFT's files, if there are any; ``yes`` as of
    :func:`~cli.evaluate.captions_first.captions_first`."""
    from cir_core.evaluation.evaluate_benchmark import run_methods
    from cir_core.registry.kinds import domain_of

    stored = stored_constraints(benchmark, constraints)
    with opened(gallery, methods, model) as found:
        check_filters(stored, found.methods)
        shows = domain or domain_of(benchmark) or get_settings().domain
        captions_first(found.gallery, found.encoder, found.language, found.methods, shows, len(benchmark.queries),
                       yes=yes)
        with named_bar() as progress:
            yield from _answers(found, run_methods(
                benchmark, found.gallery, found.encoder, found.language, found.methods, domain=shows,
                constraints=stored, progress=progress), stored)


def check_filters(stored: StoredConstraints | None, methods: Sequence[Method]) -> None:
    """Raises ``MethodError`` for constraints that no method takes."""
    if stored and all(method.settings.soft_filter is None for method in methods):
        raise MethodError("--constraints are for soft filters, and none of these methods has one. Name one, such as "
                          "soft, or leave the files out.")


def without_filter(stored: StoredConstraints | None) -> tuple[str, ...]:
    """A note on queries that the files have no text for."""
    return ((f"the constraint file has no text for {stored.empty} queries, which are not filtered",)
            if stored and stored.empty else ())


def stored_constraints(benchmark: Benchmark, paths: Sequence[Path]) -> StoredConstraints | None:
    """Raises ``DatasetError``."""
    if not paths:
        return None
    from cir_core.datasets.readers.soft_constraints import constraints_of

    return constraints_of(benchmark, paths)


def from_sessions(
    sessions: Sequence[CircledSession], gallery: str, methods: str, model: ModelChoice, exclude_history: bool,
    pool: Path | None, domain: Domain | None = None, *, yes: bool = False,
) -> Iterator[SystemRun]:
    """Every method over every session. Without a ``pool`` the whole gallery is ranked; ``domain``
    as in :func:`from_methods`."""
    from cir_core.evaluation.evaluate_circled import run_sessions
    from cir_core.registry.kinds import domain_named

    def shows(subset: str) -> Domain:
        return domain or domain_named(subset) or get_settings().domain

    with opened(gallery, methods, model) as found:
        # The gallery's captions are of one domain.
        captions_first(found.gallery, found.encoder, found.language, found.methods,
                       shows(sessions[0].subset if sessions else ""), sum(len(one.turns) for one in sessions), yes=yes)
        with named_bar() as progress:
            yield from _answers(found, run_sessions(
                sessions, found.gallery, found.encoder, found.language, found.methods,
                pools=pools_of(sessions, pool), exclude_history_images=exclude_history, domain=shows,
                progress=progress))


def _answers(
    found: Opened, runs: Iterable[MethodRun | SessionsRun], stored: StoredConstraints | None = None
) -> Iterator[SystemRun]:
    """Raises ``SearchError`` at the end for methods that answered nothing at all."""
    from cir_core.evaluation.method_runs import MethodRun

    empty = []
    for one in runs:
        if one.run.rankings:
            ranks = one.target_ranks if isinstance(one, MethodRun) else None
            filtered = stored if one.card.method.soft_filter is not None else None
            yield SystemRun(_with_notes(one, filtered), _source(found, one, filtered), ranks, bool(one.failures))
        else:
            empty.append(f"{one.method} failed on every query: {next(iter(one.failures.values()), '')}")
    if empty:
        raise SearchError(" ".join(empty))


def _source(found: Opened, one: MethodRun | SessionsRun, stored: StoredConstraints | None) -> dict[str, str]:
    given = {"constraints": f"{stored.digest} by {stored.model}"} if stored else {}
    return {"gallery": found.gallery.name, "encoder": found.encoder.name, "language_model": found.language.name,
            **given, "protocol": one.card.digest}


def _with_notes(one: MethodRun | SessionsRun, stored: StoredConstraints | None) -> Run:
    """The run, with the reasons of failed queries and the notes of most others."""
    reasons = Counter(one.failures.values()).most_common()
    answered = len(one.run.rankings)
    return replace(one.run, notes=(
        *one.run.notes,
        *without_filter(stored),
        *(f"{count} could not be answered: {reason}" for reason, count in reasons),
        *(f"{count} of {answered} queries: {note}" for note, count in one.notes.items() if 2 * count > answered)))


def pools_of(sessions: Sequence[CircledSession], path: Path | None) -> dict[str, tuple[str, ...]]:
    """The subset's images in the file at ``path``; {} without one. Raises ``DatasetError`` for several subsets."""
    from cir_core.datasets.content import read_pool
    from cir_core.datasets.files.issues import RAISE

    if path is None:
        return {}
    subsets = {session.subset for session in sessions}
    if len(subsets) != 1:
        raise DatasetError(f"--pool is the image list of one subset; these sessions are of {len(subsets)}. "
                           "Evaluate each subset's file by itself.")
    return {subsets.pop(): read_pool(path, RAISE) or ()}
