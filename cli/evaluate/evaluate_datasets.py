"""``cirque evaluate DATASET``: runs and methods under a benchmark's own measures."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cir_core.datasets.records import Benchmark, CaptionMode
from cir_core.evaluation.evaluate_run import evaluate_run
from cir_core.evaluation.evaluators.records import refuse_hidden
from cir_core.registry.kinds import KINDS, Kind, evaluator_of, read_benchmark
from cir_core.settings import get_settings
from cli.console import err, out, progress_bar
from cli.evaluate.answers import (
    Opened,
    check_choice,
    collect,
    file_digest,
    from_files,
    from_methods,
    from_sessions,
    pools_of,
    stored_constraints,
    submit,
    without_filter,
)
from cli.evaluate.captions_first import YesOption
from cli.evaluate.comparing import CompareOption, Evaluated, check_comparable, data_of, read_evaluated
from cli.evaluate.further_metrics import MetricOption, check_metric, further_by, further_by_turn, scorer_in
from cli.evaluate.method_options import DomainOption, ModelChoice, ModelOption, RelevanceOption
from cli.evaluate.score_tables import show
from cli.evaluate.sweeping import (
    ByOption,
    FigureOption,
    SweepOption,
    SweepRequest,
    TurnsOption,
    draw_turns,
    over_benchmark,
    over_sessions,
    show_curves,
    sweep_methods,
    sweep_opened,
)
from cli.tables.output import TablesOption, check_folder

if TYPE_CHECKING:
    from cir_core.relevance.scorer import RelevanceScorer

Annotations = Annotated[Path, typer.Option("--annotations", "-a", help="Folder or annotation file of the data set.")]
Runs = Annotated[list[Path] | None, typer.Option(
    "--run", "-r", help="Run (TREC or JSON) or folder of runs; repeatable.")]
Methods = Annotated[str | None, typer.Option(
    "--methods", "-m", help="Methods, comma-separated, or all.")]
GalleryName = Annotated[str | None, typer.Option("--gallery", "-g", help="Gallery with the images.")]
Partial = Annotated[bool, typer.Option("--partial", help="Count missing queries as 0.")]
Intervals = Annotated[bool, typer.Option(help="Bootstrap intervals; minutes for 100,000 queries.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print only JSON.")]
RunFolder = Annotated[Path | None, typer.Option("--write-run", help="Write runs to this folder (TREC).")]
SplitOption = Annotated[str | None, typer.Option(help="Split: train, val, test, test1.")]
CaptionOption = Annotated[CaptionMode | None, typer.Option(help="How to join a query's two captions.")]
Pool = Annotated[Path | None, typer.Option(help="List of the gallery's images, if needed.")]
Union = Annotated[bool, typer.Option(
    "--union", help="FashionIQ: rank only references and targets (higher figures).")]
Submission = Annotated[Path | None, typer.Option(
    help="Write files for the benchmark's server (circo, cirr) to this folder.")]

Constraints = Annotated[list[Path] | None, typer.Option(
    "--constraints", help="SoFT's constraint files instead of a language model, by category.")]


def register(app: typer.Typer) -> None:
    for kind in KINDS.values():
        if kind.measures:
            app.command(kind.name, help=kind.measures)(_benchmark_command(kind))
    app.command("circled")(circled)
    app.command("trec")(trec)


def _benchmark_command(kind: Kind) -> Callable[..., None]:
    def evaluate(
        annotations: Annotations, run: Runs = None, methods: Methods = None, gallery: GalleryName = None,
        split: SplitOption = None, caption_mode: CaptionOption = None, pool: Pool = None,
        model: ModelOption = ModelChoice.built_in, domain: DomainOption = None, partial: Partial = False,
        intervals: Intervals = True, as_json: AsJson = False, write_run: RunFolder = None,
        submission: Submission = None, union: Union = False, metric: MetricOption = None,
        relevance: RelevanceOption = None, compare: CompareOption = None, sweep: SweepOption = None,
        choose_by: ByOption = None, figure: FigureOption = None,
        constraints: Constraints = None, yes: YesOption = False, tables: TablesOption = None,
    ) -> None:
        request = SweepRequest(sweep, choose_by, figure)
        request.check(methods=not run, other={
            "--write-run": write_run, "--submission": submission, "--metric": metric, "--compare": compare,
            "--partial": partial, "--no-intervals": not intervals})
        check_choice(run or (), methods, gallery)
        if run and constraints:
            raise typer.BadParameter("--constraints are for methods. A run (--run FILE) is measured as it is.")
        check_metric(metric, relevance, gallery, hidden=submission is not None)
        if submission and kind.submit is None:
            servers = " and ".join(sorted(one.name for one in KINDS.values() if one.submit))
            raise typer.BadParameter(f"{kind.name} has no server to submit to; {servers} have.")
        if union and "union" not in kind.options:
            raise typer.BadParameter("--union is a protocol of FashionIQ alone.")
        benchmark = read_benchmark(
            kind.name, annotations, split=split, caption_mode=caption_mode, pool=pool, union=union or None)
        if not submission:
            refuse_hidden(benchmark)  # before methods run for hours, as all that follows
        if sweep:
            stored = stored_constraints(benchmark, constraints or ())
            found = sweep_methods(request, gallery or "", methods or "", model,
                                  over_benchmark(benchmark, choose_by, domain, stored), yes=yes)
            protocol = _of_benchmark(benchmark, True, None)
            if stored:
                protocol |= {"constraints": f"{stored.digest} by {stored.model}",
                             "notes": [*protocol["notes"], *without_filter(stored)]}
            show_curves(protocol, found, figure, as_json=as_json, tables=tables)
            return
        scorer = scorer_in(gallery, relevance) if metric and gallery else None
        asked = _of_benchmark(benchmark, intervals, scorer)
        earlier = _earlier(compare, asked)
        check_folder(write_run, "--write-run")
        check_folder(submission, "--submission")
        source = from_files(run) if run else from_methods(
            benchmark, gallery or "", methods or "", model, domain, constraints=constraints or (), yes=yes)
        say = err.print if as_json else out.print
        answers, early = collect(source, write_run, say)
        hidden = any(not query.target_ids for query in benchmark.queries)
        scores = None if hidden else [
            evaluate_run(benchmark, one.run, evaluator_of(benchmark), partial=partial or one.partial,
                         target_ranks=one.target_ranks, further=further_by(scorer, one.run.system),
                         seed=_seed(intervals))
            for one in answers
        ]
        show(asked, answers, scores, as_json, earlier, tables)
        if submission and kind.submit:  # last: a file that the server would refuse costs no figures
            submit(submission, benchmark, [one.run for one in answers], kind.submit, say)
        if early:
            raise early

    return evaluate


def sweep_sample(
    request: SweepRequest, found: Opened, folder: Path, limit: int | None, json_path: Path | None,
    tables: Path | None = None, *, yes: bool = False,
) -> None:
    """The curves over the sample benchmark, or the first ``limit`` queries of each category."""
    benchmark = read_benchmark("sample", folder)
    if limit is not None:
        first = [query for pool in benchmark.pools for query in
                 [one for one in benchmark.queries if one.pool == pool][:limit]]
        benchmark = replace(benchmark, queries=tuple(first))
    curves = sweep_opened(found, request.wanted(found.methods), over_benchmark(benchmark, request.by, None), yes=yes)
    show_curves(_of_benchmark(benchmark, True, None), curves, request.figure, json_path=json_path,
                tables=tables)


def sample_runs(
    runs: Sequence[Path], partial: bool, json_path: Path | None, compare: Path | None, scorer: RelevanceScorer | None,
    tables: Path | None = None,
) -> None:
    """Evaluate runs on the sample benchmark. Draws it the first time."""
    from cir_core.sample.gallery import ensure_drawn

    with progress_bar("Drawing garments") as drawing:
        paths, _ = ensure_drawn(get_settings().home, progress=drawing)
    benchmark = read_benchmark("sample", paths.folder)
    asked = _of_benchmark(benchmark, True, scorer)
    earlier = _earlier(compare, asked)
    answers = from_files(runs)
    scores = [evaluate_run(benchmark, one.run, evaluator_of(benchmark), partial=partial,
                           further=further_by(scorer, one.run.system), seed=_seed(True))
              for one in answers]
    show(asked, answers, scores, as_json=False, earlier=earlier, tables=tables, json_path=json_path)


def circled(
    annotations: Annotations, run: Runs = None, methods: Methods = None, gallery: GalleryName = None,
    exclude_history: Annotated[bool, typer.Option(
        help="Exclude images of earlier turns (CIRCLED keeps them).")] = False,
    pool: Annotated[Path | None, typer.Option(help="Split file of the subset: images to rank.")] = None,
    model: ModelOption = ModelChoice.built_in, domain: DomainOption = None, partial: Partial = False,
    intervals: Intervals = True, as_json: AsJson = False, write_run: RunFolder = None,
    metric: MetricOption = None, relevance: RelevanceOption = None, compare: CompareOption = None,
    sweep: SweepOption = None, choose_by: ByOption = None, figure: TurnsOption = None, yes: YesOption = False,
    tables: TablesOption = None,
) -> None:
    """CIRCLED's sessions: Hits@10 by turn, Final Recall@10, AUC. Query ids of a run are "session/turn"."""
    from cir_core.datasets.readers.circled import read_sessions
    from cir_core.evaluation.evaluators.sessions import evaluate_sessions

    request = SweepRequest(sweep, choose_by, figure)
    request.check(methods=not run, draws=True, other={
        "--write-run": write_run, "--metric": metric, "--compare": compare, "--partial": partial,
        "--no-intervals": not intervals})
    check_choice(run or (), methods, gallery)
    check_metric(metric, relevance, gallery)
    sessions = read_sessions(annotations)
    protocol = _protocol("circled", "", file_digest(annotations), len(sessions), sessions.notes, intervals)
    if methods:
        protocol["history_images"] = "taken out" if exclude_history else "kept"
    if sweep:
        over = over_sessions(sessions, choose_by, domain, pools_of(sessions, pool), exclude_history)
        found = sweep_methods(request, gallery or "", methods or "", model, over, yes=yes)
        show_curves(protocol, found, figure, as_json=as_json, tables=tables)
        return
    scorer = scorer_in(gallery, relevance) if metric and gallery else None
    if scorer:
        protocol["relevance"] = scorer.revision
    earlier = _earlier(compare, protocol)
    check_folder(write_run, "--write-run")
    source = from_files(run) if run else from_sessions(
        sessions, gallery or "", methods or "", model, exclude_history, pool, domain, yes=yes)
    answers, early = collect(source, write_run, err.print if as_json else out.print)
    scores = [
        evaluate_sessions(sessions, one.run, partial=partial or one.partial,
                          further=further_by_turn(scorer, one.run.system), seed=_seed(intervals))
        for one in answers
    ]
    show(protocol, answers, scores, as_json, earlier, tables)
    if figure:
        draw_turns(figure, protocol["dataset_digest"], sessions, scores)
    if early:
        raise early


def trec(
    annotations: Annotated[Path, typer.Option("--annotations", "-a", help="Qrels: TREC lines, or tabs with a header.")],
    run: Runs = None,
    measures: Annotated[str, typer.Option(
        help="Names of ir-measures, comma-separated.")] = "R@10,R@50,nDCG@10,RR,AP,P@10",
    partial: Partial = False, intervals: Intervals = True, as_json: AsJson = False, tables: TablesOption = None,
) -> None:
    """Evaluate a run against qrels with standard measures."""
    from cir_core.datasets.readers.qrels import read_qrels
    from cir_core.evaluation.evaluators.single_turn import evaluate_qrels

    if not run:
        raise typer.BadParameter("Give a run: --run FILE.")
    qrels = read_qrels(annotations)
    answers = from_files(run)
    names = [name.strip() for name in re.split(r",(?![^(]{0,300}\))", measures) if name.strip()]
    scores = [evaluate_qrels(qrels, one.run, measures=names, partial=partial, seed=_seed(intervals)) for one in answers]
    show(_protocol("trec", "", file_digest(annotations), len(qrels), (), intervals), answers, scores, as_json,
         tables=tables)


def _seed(intervals: bool) -> int | None:
    return get_settings().seed if intervals else None


def _earlier(path: Path | None, asked: dict[str, Any]) -> Evaluated | None:
    """The evaluation to compare with. Raises ``RelevanceMismatch``, ``DatasetError``."""
    if path is None:
        return None
    found = read_evaluated(path)
    check_comparable("this evaluation", data_of(asked), asked.get("relevance", ""), found)
    return found


def _of_benchmark(benchmark: Benchmark, intervals: bool, scorer: RelevanceScorer | None) -> dict[str, Any]:
    kind = f"{benchmark.kind}-{benchmark.dataset}" if benchmark.dataset else benchmark.kind
    found = _protocol(kind, benchmark.split, benchmark.digest, len(benchmark.queries), benchmark.notes, intervals)
    return {**found, "relevance": scorer.revision} if scorer else found


def _protocol(
    kind: str, split: str, digest: str, queries: int, notes: Sequence[str], intervals: bool
) -> dict[str, Any]:
    """What every figure of a command has in common."""
    return {"dataset": kind, "split": split, "dataset_digest": digest, "queries": queries, "seed": _seed(intervals),
            "notes": list(notes)}
