"""``cirque reproduce``: what the five papers report, over one data set, as one paper."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cir_core.datasets.records import CaptionMode
from cir_core.errors import GalleryError, SettingsError
from cir_core.settings import Settings, get_settings
from cir_core.support.files import write_atomically
from cir_core.support.texts import counted
from cir_core.version import __version__
from cli.console import ModelChoice, err, open_stores, out
from cli.evaluate.audit import SAMPLE_GALLERY, data_set, sample_gallery
from cli.galleries.datasets import CaptionOption, PoolOption, SplitOption
from cli.reproduce.journal import Journal, digests
from cli.reproduce.paper import ahead, facts_of, paper, write_paper
from cli.reproduce.plan import SAMPLE, WORK, Step, Subject, chosen, plan
from cli.reproduce.running import Outcome, run_in, run_steps
from cli.tables.output import check_folder

if TYPE_CHECKING:
    from cir_core.datasets.records import Benchmark
    from cir_core.gallery.gallery import Gallery

_MOST = 99      # exit status
_PREPARED = 0.1     # processor seconds to draw and index a garment
_MB_FIGURE, _MB_QUERY = 0.4, 0.03   # of disk: figures and tables of a step, files of a query


def reproduce(
    context: typer.Context,
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="Name from `cirque datasets list`.")],
    folder: Annotated[Path, typer.Option("--out", "-o", help="Output folder; the same command continues there.")],
    annotations: Annotated[Path | None, typer.Option(
        "--annotations", "-a", help="Folder or annotation file of the data set.")] = None,
    gallery: Annotated[str | None, typer.Option(
        "--gallery", "-g", help="Gallery with the images (default: the data set's name).")] = None,
    split: SplitOption = None,
    caption_mode: CaptionOption = None,
    pool: PoolOption = None,
    model: Annotated[ModelChoice | None, typer.Option(
        help="The built-in language model, or the one in the settings (default: built-in for the sample).")]
    = None,
    only: Annotated[list[str] | None, typer.Option(metavar="STEP", help="Only this step; repeatable.")] = None,
    skip: Annotated[list[str] | None, typer.Option(metavar="STEP", help="Not this step; repeatable.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Trial: fewer queries and values.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list steps and estimate.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Run the five papers' experiments on a data set, and write a paper with all figures and tables.

    A step that cannot be run says why in its place; the exit code is the number of those.
    """
    settings = get_settings()
    folder = folder.expanduser().absolute()
    check_folder(folder, "--out", create=False)
    undrawn = _is_undrawn(dataset, annotations, gallery, settings)
    found = None if undrawn else data_set(dataset, annotations, split, caption_mode, pool, settings)
    subject = Subject(
        dataset, gallery or (found.name if found and dataset != SAMPLE else SAMPLE_GALLERY),
        str(annotations.expanduser().absolute()) if annotations else "", _options(split, caption_mode, pool),
        (model or (ModelChoice.built_in if dataset == SAMPLE else ModelChoice.settings)).value, _studies(), quick)
    steps = plan(subject)
    wanted = chosen(steps, only or (), skip or ())

    def begin(finished: Callable[[Step], bool], queries: int | None) -> None:
        left = [step for step in steps if step.name in wanted and not step.missing and not finished(step)]
        _tell(steps, wanted, left, queries, subject, settings)
        if dry_run:
            raise typer.Exit
        if left and not yes:
            _agreed()

    with ExitStack() as stack:
        if not dry_run:
            _check_own(folder, subject)
            stack.enter_context(_locked(folder))
        if found is None:
            begin(lambda step: False, None)
            found = data_set(dataset, None, split, caption_mode, pool, settings)
        images = _open_gallery(subject, settings)
        inputs = _inputs(subject, found, images, settings)
        of = digests(steps, inputs)
        if not undrawn:
            journal = Journal(folder)
            begin(lambda step: journal.finished(step, of[step.name]), len(found.queries))
        outcomes = _run(context, steps, wanted, of, folder, subject)
        facts = (f"gallery {subject.gallery}, {len(images):,} images, digest {images.digest}",
                 f"encoder {images.encoder.spec}, revision {images.encoder.revision}",
                 f"language model {inputs['language_model']}", f"seed {settings.seed}", f"cirque {__version__}")
        err.print("Writing figures and tables …")
        write_paper(folder, paper(subject, outcomes, facts_of(subject, len(found.queries), facts, outcomes)))
    _end(outcomes, wanted, folder)


def _run(
    context: typer.Context, steps: Sequence[Step], wanted: frozenset[str], of: dict[str, str], folder: Path,
    subject: Subject,
) -> list[Outcome]:
    log, outcomes = _RunFile(folder, subject), []
    for outcome in run_steps(steps, wanted, of, folder, run_in(context.find_root().command)):
        outcomes.append(outcome)
        log.put(outcome)
        more = f" {outcome.cpu:.0f} s of processor time" if outcome.state == "finished" else (
            f" {outcome.result.failure}" if outcome.result.failure and outcome.state != "left out" else "")
        out.print(f"{len(outcomes):2}/{len(steps)} {outcome.step.name}: {outcome.state}.{more}", soft_wrap=True)
    return outcomes


class _RunFile:
    """``run.json``: what is reproduced; of each step when it ended, its time and memory. Nothing reads the times."""

    def __init__(self, folder: Path, subject: Subject) -> None:
        self._path = folder / "run.json"
        self._content = {"of": _identity(subject), "cirque": __version__,
                         "steps": (_read_run(folder) or {}).get("steps", {})}
        self._write()

    def put(self, outcome: Outcome) -> None:
        if outcome.state in ("finished", "failed"):
            self._content["steps"][outcome.step.name] = {
                "state": outcome.state, "ended": datetime.now(UTC).isoformat(timespec="seconds"),
                "seconds": round(outcome.seconds, 1), "processor_seconds": round(outcome.cpu, 1),
                "memory_mb": round(outcome.megabytes)}
            self._write()

    def _write(self) -> None:
        write_atomically(self._path, (json.dumps(self._content, indent=1, ensure_ascii=False) + "\n").encode())


def _read_run(folder: Path) -> dict[str, Any] | None:
    try:
        found = json.loads((folder / "run.json").read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _identity(subject: Subject) -> dict[str, Any]:
    return {"dataset": subject.dataset, "path": subject.path, "options": list(subject.options),
            "gallery": subject.gallery, "model": subject.model, "quick": subject.quick}


def _check_own(folder: Path, subject: Subject) -> None:
    """Raises ``SettingsError`` for a folder with other files, or of another reproduction."""
    known = _read_run(folder)
    if known is None:
        if folder.is_dir() and any(path.name != WORK for path in folder.iterdir()):
            raise SettingsError(f"{folder} has files of something else. Name an empty folder with --out.")
        return
    if known.get("of") != _identity(subject):
        raise SettingsError(f"{folder} has another reproduction: {known.get('of')}. Choose another folder with --out, "
                            "or give the same options to continue.")


def _is_undrawn(dataset: str, annotations: Path | None, gallery: str | None, settings: Settings) -> bool:
    """Whether the sample has to be drawn or indexed first, which takes minutes."""
    from cir_core.sample.atelier.build import is_complete
    from cir_core.sample.gallery import is_ready, sample_folder

    if dataset != SAMPLE or annotations is not None:
        return False
    return not (is_ready(settings.home) if gallery in (None, SAMPLE_GALLERY)
                else is_complete(sample_folder(settings.home)))


def _locked(folder: Path) -> Any:
    from cir_core.jobs.journal import lock_folder

    return lock_folder(folder / WORK, "reproduces")


def _open_gallery(subject: Subject, settings: Settings) -> Gallery:
    from cir_core.gallery.gallery import open_gallery

    if subject.is_sample and not subject.path and subject.gallery == SAMPLE_GALLERY:
        return sample_gallery(settings)
    try:
        return open_gallery(subject.gallery, home=settings.home)
    except GalleryError as error:
        raise GalleryError(f"{error} Index the data set's images first: cirque datasets index {subject.dataset} PATH "
                           "--images ROOT; or name a gallery with --gallery.") from error


def _inputs(subject: Subject, found: Benchmark, images: Gallery, settings: Settings) -> dict[str, Any]:
    """What every step depends on."""
    language = settings.llm_model if subject.model == "settings" and settings.llm_model else "built-in"
    return {"cirque": __version__, "queries": found.digest, "gallery": images.digest,
            "encoder": images.encoder.revision, "language_model": language,
            "connected": settings.llm_model or "", "seed": settings.seed,
            "methods": settings.methods.read_text("utf-8") if settings.methods else "",
            "relevance": str(settings.relevance)}


def _options(split: str | None, caption_mode: CaptionMode | None, pool: Path | None) -> tuple[str, ...]:
    return (*(("--split", split) if split else ()), *(("--caption-mode", caption_mode) if caption_mode else ()),
            *(("--pool", str(pool.expanduser().absolute())) if pool else ()))


def _studies() -> tuple[tuple[str, str], ...]:
    with open_stores() as stores:
        return tuple(sorted((study.name, study.kind) for study in stores.studies.studies()))


def _tell(
    steps: Sequence[Step], wanted: frozenset[str], left: Sequence[Step], queries: int | None, subject: Subject,
    settings: Settings,
) -> None:
    """The steps and the estimate. ``queries`` is None for the sample before it is drawn."""
    from cir_core.sample.atelier.catalogue import DEFAULT_SIZES
    from cir_core.sample.gallery import SPLIT, sample_queries

    for step in steps:
        state = ("not now" if step.name not in wanted else "cannot run" if step.missing else
                 "to run" if step in left else "finished")
        out.print(f"  {step.name:18} {step.paper:8} {step.shows}: {state}", soft_wrap=True)
    number = sample_queries() if queries is None else queries
    counts = min(number, 45) if subject.quick and subject.is_sample else number
    minutes, requests = ahead(left, counts)
    said = ""
    if queries is None:
        minutes += DEFAULT_SIZES[SPLIT] * _PREPARED / 60
        said = f"The {DEFAULT_SIZES[SPLIT]:,} garments of the sample are drawn and indexed first. "
    disk = len(left) * _MB_FIGURE + counts * _MB_QUERY
    said += (f"{counted(len(left), 'step')} to run over {counted(number, 'query', 'queries')}: about "
             f"{minutes:.0f} minutes of processor time with the bundled encoder, {disk:.0f} MB of disk.")
    if settings.llm_model and subject.model == "settings":
        said += (f" At most {requests:,} requests of {settings.llm_model} come on top; cirque construct … --dry-run "
                 "prints their cost.")
    out.print(said, soft_wrap=True)


def _agreed() -> None:
    """Raises ``SettingsError`` where nobody can answer."""
    if not sys.stdin.isatty():
        raise SettingsError("Without a terminal, the command cannot ask whether to begin. Add --yes.")
    if not typer.confirm("Begin?", default=True, err=True):
        raise typer.Exit(1)


def _end(outcomes: Sequence[Outcome], wanted: frozenset[str], folder: Path) -> None:
    without = [one for one in outcomes if not one.ran and one.step.name in wanted]
    out.print(f"Wrote {folder / 'report.tex'}: compile it in its folder with pdflatex or lualatex.", soft_wrap=True)
    if without:
        out.print(f"{counted(len(without), 'step')} could not be run; the report says why in their places. The same "
                  "command tries them again.", soft_wrap=True)
        raise typer.Exit(min(len(without), _MOST))
