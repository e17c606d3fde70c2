"""Run a method with every value of a parameter: what does not depend on it is computed once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from cir_core.datasets.readers.circled import CircledSession
from cir_core.datasets.readers.soft_constraints import StoredConstraints
from cir_core.datasets.records import Benchmark, BenchmarkQuery, group_of
from cir_core.encoders.base import Encoder
from cir_core.errors import SearchError
from cir_core.evaluation.evaluate_benchmark import asked, composed, run_together, searchers_for
from cir_core.evaluation.evaluate_circled import run_sessions
from cir_core.evaluation.evaluate_replay import RememberingEncoder
from cir_core.evaluation.evaluate_run import evaluate_run
from cir_core.evaluation.evaluators.sessions import evaluate_sessions
from cir_core.evaluation.evaluators.single_turn import Evaluator
from cir_core.evaluation.method_runs import DEPTH, MethodRun, Progress, SessionsRun
from cir_core.evaluation.query_steps import Based, Problem, based_together, completed_together
from cir_core.evaluation.sweeps.curve import Curve, Measured, curve, halves
from cir_core.evaluation.sweeps.parameters import Swept
from cir_core.gallery.gallery import Gallery
from cir_core.language.base import LanguageModel
from cir_core.language.wrappers.cached import RememberingLanguageModel
from cir_core.methods.declared import Method
from cir_core.methods.observer import QueryWatch, StageTimer
from cir_core.search.prepare import Composed
from cir_core.search.searcher import Searcher
from cir_core.types.records import Domain, MethodSettings


def sweep_benchmark(
    benchmark: Benchmark, gallery: Gallery, encoder: Encoder, language: LanguageModel, method: Method, swept: Swept, *,
    evaluator: Evaluator, domain: Domain = "garment", constraints: StoredConstraints | None = None,
    by: str | None = None, seed: int = 0, progress: Progress | None = None,
) -> Curve:
    """The curve over a benchmark's queries, as :func:`~cir_core.evaluation.evaluate_benchmark.run_methods` ranks them,
    which also says what ``constraints`` are. Queries of one reference image are in one half.

    Raises:
        DatasetError: hidden targets, too few queries, an unknown measure ``by``.
        GalleryError: the gallery lacks images of the benchmark.
        SearchError: some value answered no query.
        LanguageModelUnavailable, EncoderUnavailable: as of ``run_methods``.
    """
    groups = [group_of(query.pool) if evaluator.by_category else "" for query in benchmark.queries]
    split = halves(groups, seed, [query.reference_id for query in benchmark.queries])   # before anything is encoded
    given = constraints if method.settings.soft_filter is not None else None
    answers, vectors = RememberingLanguageModel(language), RememberingEncoder(encoder)
    searcher_of = searchers_for(benchmark, gallery, cast(Encoder, vectors), answers, domain)
    runs = run_together(
        benchmark, [swept.with_value(method, value) for value in swept.values], searcher_of, DEPTH, progress,
        compose=_Shared(swept, given, answers, vectors), constraints=given, keep_scores=False)
    return curve(method, swept, [_of_benchmark(benchmark, one, evaluator) for one in runs], groups, by=by, seed=seed,
                 split=split)


def sweep_sessions(
    sessions: Sequence[CircledSession], gallery: Gallery, encoder: Encoder, language: LanguageModel, method: Method,
    swept: Swept, *, pools: Mapping[str, Sequence[str]] | None = None, exclude_history_images: bool = False,
    domain: Callable[[str], Domain] = lambda subset: "garment", by: str | None = None, seed: int = 0,
    progress: Progress | None = None,
) -> Curve:
    """The curve over CIRCLED's sessions, split within each subset; those with one first reference and the same targets
    are in one half. The longest session, which AUC depends on, is that of both halves together. Raises as
    :func:`sweep_benchmark`."""
    split = halves([one.subset for one in sessions], seed,
                   [(one.turns[0].reference_id, frozenset(one.target_ids)) for one in sessions])
    runs = run_sessions(
        sessions, gallery, cast(Encoder, RememberingEncoder(encoder)), RememberingLanguageModel(language),
        [swept.with_value(method, value) for value in swept.values], pools=pools,
        exclude_history_images=exclude_history_images, domain=domain, progress=progress)
    return curve(method, swept, [_of_sessions(sessions, one) for one in runs], [""] * len(sessions), by=by, seed=seed,
                 split=split)


class _Shared:
    """Composes a batch of queries once and changes, for every further value, only what depends on it. Answers and
    vectors are kept for one batch."""

    def __init__(self, swept: Swept, constraints: StoredConstraints | None,
                 *kept: RememberingLanguageModel | RememberingEncoder) -> None:
        self._swept, self._constraints, self._kept = swept, constraints, kept
        self._queries: Sequence[BenchmarkQuery] = ()
        self._made: Sequence[Composed | Problem] = ()
        self._based: list[Based | Problem] = []

    def __call__(
        self, searchers: Sequence[Searcher], queries: Sequence[BenchmarkQuery], settings: MethodSettings
    ) -> Sequence[Composed | Problem]:
        begins = queries is not self._queries
        if begins:
            self._queries = queries
            for one in self._kept:
                one.forget()
        how = self._ranked_otherwise if self._swept.ranks_only else self._composed_otherwise
        return how(searchers, settings, begins)

    def _ranked_otherwise(
        self, searchers: Sequence[Searcher], settings: MethodSettings, begins: bool
    ) -> Sequence[Composed | Problem]:
        if begins:
            self._made = composed(searchers, self._queries, settings, self._constraints)
            return self._made
        step = self._swept.section.step
        parts = {step: settings.part(step)}
        return [one if isinstance(one, Problem) else
                replace(one, composition=one.composition.with_parts(parts)) for one in self._made]

    def _composed_otherwise(
        self, searchers: Sequence[Searcher], settings: MethodSettings, begins: bool
    ) -> Sequence[Composed | Problem]:
        if begins:
            self._based = based_together(
                asked(searchers, self._queries, settings, self._constraints), searchers, settings)
        elif self._swept.moves_base:
            prepared = [one if isinstance(one, Problem) else one.asked for one in self._based]
            return completed_together(
                [_anew(one) for one in based_together(prepared, searchers, settings)], searchers, settings)
        return completed_together([_anew(one) for one in self._based], searchers, settings)


def _anew(one: Based | Problem) -> Based | Problem:
    """With an observer of its own: it keeps the first failure, and one value's is not another's."""
    if isinstance(one, Problem):
        return one
    watch, before = QueryWatch(), one.asked.stages.watch
    watch.error = before.error if isinstance(before, QueryWatch) else None
    return replace(one, asked=replace(one.asked, stages=StageTimer(watch)))


def _of_benchmark(benchmark: Benchmark, one: MethodRun, evaluator: Evaluator) -> Measured:
    _refuse_empty(one)
    scores = evaluate_run(benchmark, one.run, evaluator, partial=bool(one.failures), target_ranks=one.target_ranks,
                          seed=None)
    return Measured(scores.columns, one.card.digest, _failed(one),
                    _rows(one, [query.query_id for query in benchmark.queries]))


def _of_sessions(sessions: Sequence[CircledSession], one: SessionsRun) -> Measured:
    _refuse_empty(one)
    scores = evaluate_sessions(sessions, one.run, partial=bool(one.failures), seed=None)
    return Measured(scores.columns, one.card.digest, _failed(one), _rows(one, [of.session_id for of in sessions]))


def _refuse_empty(one: MethodRun | SessionsRun) -> None:
    if not one.run.rankings:
        raise SearchError(f"{one.method} failed on every query: {next(iter(one.failures.values()), '')}")


def _rows(one: MethodRun | SessionsRun, names: Sequence[str]) -> frozenset[int]:
    return frozenset(row for row, name in enumerate(names) if name in one.failures)


def _failed(one: MethodRun | SessionsRun) -> tuple[str, ...]:
    return tuple(f"{count} could not be answered: {reason}"
                 for reason, count in Counter(one.failures.values()).most_common())
