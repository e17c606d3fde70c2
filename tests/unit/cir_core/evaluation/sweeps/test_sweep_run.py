"""A sweep finds what evaluations of its values find, and asks and encodes what one of them does."""

from dataclasses import replace

import numpy as np
import pytest

from cir_core.datasets.readers.circled import CircledSession, CircledTurn
from cir_core.datasets.readers.soft_constraints import StoredConstraints
from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.errors import DatasetError, LanguageModelError, LanguageModelUnavailable, SearchError
from cir_core.evaluation.evaluate_benchmark import run_methods
from cir_core.evaluation.evaluate_circled import run_sessions
from cir_core.evaluation.evaluate_run import evaluate_run
from cir_core.evaluation.evaluators.evaluator import Evaluator
from cir_core.evaluation.evaluators.sessions import evaluate_sessions
from cir_core.evaluation.sweeps.curve import halves
from cir_core.evaluation.sweeps.parameters import read_sweep
from cir_core.evaluation.sweeps.run import sweep_benchmark, sweep_sessions
from cir_core.language.tasks import (
    AspectAnswer,
    AspectsAnswer,
    ConstraintsAnswer,
    ConstraintsTask,
    MergeTask,
    ReflectAnswer,
)
from cir_core.language.wrappers.remembering import RememberingLanguageModel
from cir_core.methods.declared import builtin_methods
from cir_core.registry.kinds import evaluator_of
from cir_core.types.composition import Constraints
from tests.fakes.encoder import CountingEncoder, FakeEncoder
from tests.fakes.language import ReplayingLanguageModel, ScriptedLanguageModel

METHODS = builtin_methods()
EVALUATOR = Evaluator()


def benchmark(gallery, count=12):
    ids = gallery.ids
    queries = tuple(BenchmarkQuery(str(n), ids[n * 5 % 64], ("red", "blue", "green")[n % 3], (ids[(n * 7 + 3) % 64],))
                    for n in range(count))
    return Benchmark("circo", "val", queries, {"": None}, lambda image_id: ())


def language():
    return ReplayingLanguageModel({
        "constraints": [lambda task: ConstraintsAnswer(prescriptive="red", proscriptive="green")],
        "reflect": [lambda task: ReflectAnswer(query=f"blue {len(task.candidates)}", intent="blue")],
        "aspects": [lambda task: AspectsAnswer(aspects=(AspectAnswer(
            name="colour", label="red", wanted=("red",), others=("green", "blue"), asked=True),))],
    }, caption="green")


@pytest.mark.parametrize(("method", "sweep"), [
    ("slerp-soft", "lambda=0:1:0.25"), ("soft", "lambda=0,1"), ("slerp", "text_weight=0:1:0.25"),
    ("slerp-corr", "alpha=0:1:0.5"), ("corr", "rounds=1,2,3"), ("guided", "asked=0,1,2"), ("guided", "picture=0,1"),
])
def test_every_value_is_what_its_own_evaluation_finds(gallery, method, sweep):
    of, method = benchmark(gallery), METHODS[method]
    swept = read_sweep(sweep, method)
    found = sweep_benchmark(of, gallery, FakeEncoder(), language(), method, swept, evaluator=EVALUATOR, seed=3)
    split = halves([""] * 12, 3, [query.reference_id for query in of.queries])
    first, second = split.first, split.second
    assert found.sizes == (6, 6) and len(found.points) == len(swept.values)
    for value, point in zip(swept.values, found.points, strict=True):
        [alone] = run_methods(of, gallery, FakeEncoder(), language(), [swept.with_value(method, value)])
        scores = evaluate_run(of, alone.run, EVALUATOR, target_ranks=alone.target_ranks, seed=None)
        for measure, column in scores.columns.items():
            assert point.choosing[measure].value == np.mean(column[first]), (value, measure)
            assert point.reporting[measure].value == np.mean(column[second]), (value, measure)
        assert point.protocol == alone.card.digest


@pytest.mark.parametrize(("method", "sweep"), [
    ("slerp-soft", "lambda=0:1:0.1"), ("slerp", "text_weight=0:1:0.1"), ("guided", "asked=0:2:0.2")])
def test_eleven_values_ask_and_encode_as_much_as_one(gallery, method, sweep):
    of, method = benchmark(gallery), METHODS[method]
    swept = read_sweep(sweep, method)
    assert len(swept.values) == 11
    once, eleven = (CountingEncoder(), language()), (CountingEncoder(), language())
    list(run_methods(of, gallery, *once, [method]))
    sweep_benchmark(of, gallery, *eleven, method, swept, evaluator=EVALUATOR)
    # Fewer where two queries say the same: within a sweep they share vectors and answers.
    assert 0 < eleven[0].texts <= once[0].texts and len(eleven[1].asked) <= len(once[1].asked)


def test_sessions(gallery):
    turns = (CircledTurn("r0g3b0", "green"), CircledTurn("r0g0b3", "blue"), CircledTurn("r3g3b0", "red"))
    sessions = [CircledSession(f"s{n}", "cirr_val", (gallery.ids[n * 9 % 64],), turns) for n in range(6)]
    twins = [CircledSession(f"t{n}", "cirr_val", (gallery.ids[n * 9 % 64],), turns[:1]) for n in range(6)]
    method = METHODS["cirevl"]
    swept = read_sweep("gamma=0:1:0.5", method, several_turns=True)
    found = sweep_sessions(sessions, gallery, FakeEncoder(), ScriptedLanguageModel(""), method, swept, seed=1)
    first = halves([""] * 6, 1).first
    for value, point in zip(swept.values, found.points, strict=True):
        [alone] = run_sessions(sessions, gallery, FakeEncoder(), ScriptedLanguageModel(""),
                               [swept.with_value(method, value)])
        scores = evaluate_sessions(sessions, alone.run, seed=None)
        assert {measure: one.value for measure, one in point.choosing.items()} == {
            measure: np.mean(column[first]) for measure, column in scores.columns.items()}


    both = sweep_sessions([*sessions, *twins, replace(sessions[0], session_id="o0", subset="other"),
                           replace(sessions[1], session_id="o1", subset="other")], gallery, FakeEncoder(),
                          ScriptedLanguageModel(""), method, swept, seed=1)
    assert both.sizes == (7, 7)
    with pytest.raises(DatasetError, match="all 2 of 'cirr_val' belong to one reference image"):
        sweep_sessions([sessions[0], twins[0]], gallery, FakeEncoder(), ScriptedLanguageModel(""), method, swept)


def test_queries_with_galleries_of_their_own(gallery):
    """As GeneCIS has them: every query has its own pool, and its task is what it counts with."""
    ids = gallery.ids
    queries = tuple(BenchmarkQuery(str(n), ids[n], ("red", "blue")[n % 2], (ids[n + 20],), pool=f"task{n % 2}/{n}")
                    for n in range(8))
    of = Benchmark("genecis", "val", queries, {f"task{n % 2}/{n}": ids[n + 19:n + 22] for n in range(8)},
                   lambda image_id: ())
    method = METHODS["slerp"]
    swept = read_sweep("text_weight=0,0.5", method)
    evaluator = evaluator_of(of)
    found = sweep_benchmark(of, gallery, FakeEncoder(), language(), method, swept, evaluator=evaluator, seed=3)
    assert found.sizes == (4, 4)
    split = halves([f"task{n % 2}" for n in range(8)], 3)
    [alone] = run_methods(of, gallery, FakeEncoder(), language(), [swept.with_value(method, 0.5)])
    column = evaluate_run(of, alone.run, evaluator, target_ranks=alone.target_ranks, seed=None).columns[found.measure]
    assert found.points[1].reporting[found.measure].value == np.mean(column[split.second])


def test_stored_constraints_are_swept_without_a_language_model(gallery):
    class Mute(ScriptedLanguageModel):
        def complete(self, task, watch=None):
            assert not isinstance(task, ConstraintsTask)
            return super().complete(task, watch)

    of, method = benchmark(gallery), METHODS["soft"]
    swept = read_sweep("lambda=0,0.5,1", method)
    given = Constraints(prescriptive=("red",), proscriptive=("green",))
    stored = StoredConstraints({query.query_id: given for query in of.queries}, "some-model", "0123456789abcdef", 0)
    found = sweep_benchmark(of, gallery, FakeEncoder(), Mute("blue"), method, swept, evaluator=EVALUATOR, seed=3,
                            constraints=stored)
    for value, point in zip(swept.values, found.points, strict=True):
        [alone] = run_methods(of, gallery, FakeEncoder(), Mute("blue"), [swept.with_value(method, value)],
                              constraints=stored)
        assert point.protocol == alone.card.digest
        column = evaluate_run(of, alone.run, EVALUATOR, target_ranks=alone.target_ranks, seed=None).columns
        second = halves([""] * 12, 3, [query.reference_id for query in of.queries]).second
        assert point.reporting[found.measure].value == np.mean(column[found.measure][second])
    assert found.points[0].protocol not in {one.protocol for one in sweep_benchmark(
        of, gallery, FakeEncoder(), language(), method, swept, evaluator=EVALUATOR).points}


def test_a_query_that_one_refusal_costs_counts_for_no_value(gallery):
    said = iter(range(99))

    class Refusing(ScriptedLanguageModel):
        def complete(self, task, watch=None):
            if isinstance(task, MergeTask) and next(said) == 0:
                raise LanguageModelError("refused")
            return super().complete(task, watch)

    method = METHODS["corr-prf"]
    found = sweep_benchmark(benchmark(gallery), gallery, FakeEncoder(), Refusing("green"), method,
                            read_sweep("alpha=0,1", method), evaluator=EVALUATOR)
    assert found.notes[:3] == ("α 0: 4 could not be answered: refused", "α 1: 4 could not be answered: refused",
                               "4 could not be answered with some value of α and count with none.")
    assert found.dropped == 4 and sum(found.sizes) == 8


def test_a_method_that_answers_nothing(gallery):
    class Mute(ScriptedLanguageModel):
        def complete(self, task, watch=None):
            raise LanguageModelError("mute")

    with pytest.raises(SearchError, match="soft λ 0 could not answer anything: mute"):
        sweep_benchmark(benchmark(gallery), gallery, FakeEncoder(), Mute(), METHODS["soft"],
                        read_sweep("lambda=0,1", METHODS["soft"]), evaluator=EVALUATOR)


def test_too_few_queries_are_refused_before_anything_is_encoded(gallery):
    encoder = CountingEncoder()
    with pytest.raises(DatasetError, match="there is only 1"):
        sweep_benchmark(benchmark(gallery, 1), gallery, encoder, language(), METHODS["soft"],
                        read_sweep("lambda=0,1", METHODS["soft"]), evaluator=EVALUATOR)
    assert encoder.texts == 0


def test_answers_and_refusals_are_remembered_but_not_an_absence():
    answer = ConstraintsAnswer(prescriptive="x", proscriptive="")
    inner = ReplayingLanguageModel({"constraints": [
        LanguageModelError("no"), LanguageModelUnavailable("away"), answer]})
    remembering = RememberingLanguageModel(inner)
    first, second = ConstraintsTask(modification_text="a"), ConstraintsTask(modification_text="b")
    for _ in range(2):
        with pytest.raises(LanguageModelError, match="no"):
            remembering.complete(first)
    with pytest.raises(LanguageModelUnavailable):
        remembering.complete(second)
    assert remembering.complete(second) is remembering.complete(second) and len(inner.asked) == 3
    remembering.forget()
    assert remembering.complete(first).prescriptive == "x"
