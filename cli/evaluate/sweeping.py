"""``--sweep``: a measure as a function of one parameter; ``--figure``: curves as an HTML page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cir_core.errors import SettingsError
from cir_core.methods.declared import Method, all_methods
from cir_core.settings import get_settings
from cli.console import out, write_file
from cli.evaluate.answers import Opened, check_filters, opened
from cli.evaluate.captions_first import captions_first
from cli.evaluate.method_options import ModelChoice, chosen_methods, named_bar
from cli.tables.output import give

if TYPE_CHECKING:
    from cir_core.datasets.readers.circled import CircledSession
    from cir_core.datasets.readers.soft_constraints import StoredConstraints
    from cir_core.datasets.records import Benchmark
    from cir_core.evaluation.evaluators.records import Measure, Scores
    from cir_core.evaluation.method_runs import Progress
    from cir_core.evaluation.metrics.bootstrap import MeanEstimate
    from cir_core.evaluation.sweeps.curve import Curve
    from cir_core.evaluation.sweeps.parameters import Swept
    from cir_core.reports.records import Section
    from cir_core.sample.evaluate_sample import SampleReport
    from cir_core.types.records import Domain

SweepOption = Annotated[str | None, typer.Option(
    "--sweep", metavar="NAME=START:STOP:STEP", help=(
        "Evaluate values of a parameter: lambda=0:1:0.1, rounds=1,2,3; the best is "
        "reported on other queries than it was chosen on."))]
ByOption = Annotated[str | None, typer.Option(
    "--choose-by", metavar="MEASURE", help=(
        "Measure for --sweep (default: average, AUC, or the first at 10)."))]
FigureOption = Annotated[Path | None, typer.Option(
    "--figure", metavar="FILE.html", help="Write curves of --sweep (HTML, SVG, PDF, PNG).")]
TurnsOption = Annotated[Path | None, typer.Option(
    "--figure", metavar="FILE.html",
    help="Write Hits@10 by turn, or curves of --sweep (HTML, SVG, PDF, PNG).")]
MakeCurve = Callable[[Opened, Method, "Swept", "Progress"], "Curve"]


@dataclass(frozen=True)
class SweepRequest:
    """What a person asked for. ``other`` are options that do not go with a sweep, by name."""

    sweep: str | None
    by: str | None
    figure: Path | None

    def check(self, *, methods: bool, other: Mapping[str, object], draws: bool = False) -> None:
        """Raises ``BadParameter`` for options that do not go together. ``draws``: there is a figure without a sweep."""
        if self.sweep is None:
            if self.by is not None:
                raise typer.BadParameter("--choose-by needs --sweep. Name a parameter, too.")
            if self.figure is not None and not draws:
                raise typer.BadParameter("--figure draws the curves of --sweep. Name a parameter, too.")
            return
        if not methods:
            raise typer.BadParameter("--sweep varies parameters of methods: --methods NAMES. A run is measured as "
                                     "it is.")
        for name, value in other.items():
            if value:
                raise typer.BadParameter(f"{name} cannot be combined with --sweep, which has many runs. Leave it out.")

    def wanted(self, methods: Sequence[Method], *, several_turns: bool = False) -> list[tuple[Method, Swept]]:
        """What is swept of each method. Raises ``MethodError``."""
        from cir_core.evaluation.sweeps.parameters import read_sweep

        return [(one, read_sweep(self.sweep or "", one, several_turns=several_turns)) for one in methods]


@dataclass(frozen=True)
class Sweepable:
    """What is swept over: ``turns`` are searches of one value, ``domain`` is what prompts say the images show."""

    make: MakeCurve
    turns: int
    domain: Domain
    several_turns: bool = False
    constraints: StoredConstraints | None = None


def sweep_methods(
    request: SweepRequest, gallery: str, methods: str, model: ModelChoice, over: Sweepable, *, yes: bool = False
) -> list[Curve]:
    """A curve for each method. Raises ``MethodError``, before anything is opened. ``yes`` as of
    :func:`~cli.evaluate.captions_first.captions_first`."""
    chosen = chosen_methods(methods, None, all_methods(get_settings().methods))
    wanted = request.wanted(chosen, several_turns=over.several_turns)
    check_filters(over.constraints, chosen)
    with opened(gallery, methods, model) as found:
        return sweep_opened(found, wanted, over, yes=yes)


def sweep_opened(
    found: Opened, wanted: Sequence[tuple[Method, Swept]], over: Sweepable, *, yes: bool = False
) -> list[Curve]:
    # With the largest value, since it may be the number of captions that is swept.
    largest = [replace(swept.with_value(method, max(swept.values)), name=method.name) for method, swept in wanted]
    captions_first(found.gallery, found.encoder, found.language, largest, over.domain, over.turns, yes=yes)
    with named_bar() as progress:
        return [over.make(found, method, swept, progress) for method, swept in wanted]


def over_benchmark(
    benchmark: Benchmark, by: str | None, domain: Domain | None, constraints: StoredConstraints | None = None
) -> Sweepable:
    from cir_core.evaluation.sweeps.run import sweep_benchmark
    from cir_core.registry.kinds import domain_of, evaluator_of

    settings = get_settings()
    said = domain or domain_of(benchmark) or settings.domain
    return Sweepable(lambda found, method, swept, progress: sweep_benchmark(
        benchmark, found.gallery, found.encoder, found.language, method, swept, evaluator=evaluator_of(benchmark),
        domain=said, constraints=constraints, by=by, seed=settings.seed, progress=progress),
        len(benchmark.queries), said, constraints=constraints)


def over_sessions(
    sessions: Sequence[CircledSession], by: str | None, domain: Domain | None, pools: Mapping[str, Sequence[str]],
    exclude_history: bool,
) -> Sweepable:
    from cir_core.evaluation.sweeps.run import sweep_sessions
    from cir_core.registry.kinds import domain_named

    settings = get_settings()

    def shows(subset: str) -> Domain:
        return domain or domain_named(subset) or settings.domain

    return Sweepable(lambda found, method, swept, progress: sweep_sessions(
        sessions, found.gallery, found.encoder, found.language, method, swept, pools=pools,
        exclude_history_images=exclude_history, by=by, seed=settings.seed, progress=progress, domain=shows),
        sum(len(one.turns) for one in sessions), shows(sessions[0].subset if sessions else ""), several_turns=True)


def show_curves(
    protocol: Mapping[str, Any], found: Sequence[Curve], figure: Path | None, *, as_json: bool = False,
    json_path: Path | None = None, tables: Path | None = None,
) -> None:
    """Print a table for each curve, or only JSON, and write the page."""
    from cir_core.evaluation.sweeps.curve import curve_json
    from cir_core.evaluation.sweeps.page import sweep_page, sweep_sections

    content = {"protocol": dict(protocol), "sweeps": [curve_json(one) for one in found]}
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    facts = f"{protocol['queries']} {'sessions' if protocol['dataset'] == 'circled' else 'queries'}, digest " \
            f"{protocol['dataset_digest']}; 95 % bootstrap intervals (seed {protocol['seed']})"
    name = ", ".join(filter(None, (protocol["dataset"], protocol["split"])))
    if as_json:
        typer.echo(text)
    give([f"{name}: {facts}; in percent.", *(f"Note: {note}" for note in protocol["notes"]), *sweep_sections(found)],
         tables, quiet=as_json, between=lambda: write_file(json_path, text + "\n"))
    if figure is not None:
        _write_page(figure, sweep_page(name, facts, found), sweep_sections(found))
        if not as_json:
            out.print(f"Figure written to {figure}", soft_wrap=True)


def draw_turns(path: Path, digest: str, sessions: Sequence[CircledSession], every: Sequence[Scores]) -> None:
    """CIRCLED's plot: Hits@10 by turn of every system, and for each subset where there are several."""
    from cir_core.evaluation.sweeps.page import TurnSet, turns_page, turns_sections

    subsets = Counter(one.subset for one in sessions)
    sets = [TurnSet("All sessions", len(sessions), {one.system: _by_turn(one.figures) for one in every})]
    sets += [TurnSet(name, subsets[name], {one.system: _by_turn(one.by_group[name]) for one in every})
             for name in every[0].by_group]
    _write_page(path, turns_page("CIRCLED", f"digest {digest}", sets), turns_sections(sets))


def draw_sample_turns(path: Path, report: SampleReport) -> None:
    """:func:`draw_turns` of the sample's sessions."""
    from cir_core.evaluation.sweeps.page import TurnSet, turns_page, turns_sections

    sets = [TurnSet(f"{one.fixed.kind.capitalize()} sessions", len(one.fixed.sessions), {
        scores.title: {turn: scores.measures[f"Hits@10({turn})"] for turn in range(1, one.fixed.longest + 1)}
        for scores in one.scores}) for one in report.sessions]
    digests = ", ".join(f"{one.fixed.kind} {one.fixed.digest}" for one in report.sessions)
    _write_page(path, turns_page("Sample", f"sessions {digests}", sets), turns_sections(sets))


def _write_page(path: Path, page: str, sections: Sequence[Section]) -> None:
    """The page, and its figures in a folder of its name."""
    from cir_core.reports.paper import write_figures

    write_file(path, page)
    folder = path.with_name(f"{path.stem}-figures")
    try:
        write_figures(folder, sections)
    except OSError as error:
        raise SettingsError(f"{folder} cannot be written: {error.strerror or error}. Choose another --figure."
                            ) from error


def _by_turn(figures: Mapping[Measure, MeanEstimate]) -> dict[int, MeanEstimate]:
    return {int(measure.at): one for measure, one in figures.items() if measure.family == "hits_at_10"}
