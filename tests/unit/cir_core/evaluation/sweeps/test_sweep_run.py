"""A sweep finds what evaluations of its values find, and asks and encodes what one of them does."""

from dataclasses import replace

import numpy as np
import pytest

from cir_core.datasets.readers.circled import CircledSession, CircledTurn
from cir_core.datasets.readers.soft_constraints import StoredConstraints
from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.errors import DatasetError, LanguageModelError, LanguageModelUnavailable, MethodError, SearchError
from cir_core.evaluation.evaluate_benchmark import run_methods
from cir_core.evaluation.evaluate_circled import run_sessions
from cir_core.evaluation.evaluate_run import evaluate_run
from cir_core.evaluation.evaluators.records import Measure
from cir_core.evaluation.evaluators.sessions import evaluate_sessions
from cir_core.evaluation.evaluators.single_turn import Evaluator
from cir_core.evaluation.metrics.bootstrap import estimates, estimates_of_many
from cir_core.evaluation.sweeps.curve import Measured, curve, curve_json, halves, measure_named
from cir_core.evaluation.sweeps.page import TurnSet, sentence, sweep_page, turns_page
from cir_core.evaluation.sweeps.parameters import MOST_VALUES, read_sweep, sweepable
from cir_core.evaluation.sweeps.run import sweep_benchmark, sweep_sessions
from cir_core.language.tasks import (
    AspectAnswer,
    AspectsAnswer,
    ConstraintsAnswer,
    ConstraintsTask,
    MergeTask,
    ReflectAnswer,
)
from cir_core.language.wrappers.cached import RememberingLanguageModel
from cir_core.methods.declared import builtin_methods
from cir_core.registry.kinds import evaluator_of
from cir_core.types.composition import Constraints
from cir_core.types.methods import MethodSettings, Reflection, SoftFilter
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

    with pytest.raises(SearchError, match="soft λ 0 failed on every query: mute"):
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


# --- chosen on one half, reported on the other -----------------------------------------------

SOFT = builtin_methods()["soft"]
R10, R1 = Measure("recall", "10"), Measure("recall", "1")
GROUPS = [""] * 8


def swept(values="0,0.5,1"):
    return read_sweep(f"lambda={values}", SOFT)


def on(first, second, groups=GROUPS, seed=0):
    """A column that is ``first`` on the half for choosing and ``second`` on the other."""
    rows = halves(groups, seed)
    column = np.empty(len(groups))
    column[rows.first], column[rows.second] = first, second
    return Measured({R10: column, R1: np.zeros(len(groups))})


def test_halves_are_of_every_category_and_depend_on_the_seed():
    groups = ["a"] * 10 + ["b"] * 5
    split = halves(groups, 3)
    first, second = split.first, split.second
    assert sorted([*first, *second]) == list(range(15))
    assert [groups[row] for row in first] == ["a"] * 5 + ["b"] * 2    # of an odd number the second has one more
    assert tuple(halves(groups, 3).first) == tuple(first)
    assert len({tuple(halves(groups, seed).first) for seed in range(9)}) > 1
    with pytest.raises(DatasetError, match="only 1 of 'b'"):
        halves(["a", "a", "b"], 0)
    with pytest.raises(DatasetError, match=r"there is only 1\. Sweep over more"):
        halves([""], 0)


def test_queries_of_one_unit_are_in_one_half():
    groups, units = ["a"] * 9 + ["b"] * 4, [*"xxxyyzzww", *"xxyy"]
    for seed in range(20):
        split = halves(groups, seed, units)
        first = {(groups[row], units[row]) for row in split.first}
        assert first.isdisjoint((groups[row], units[row]) for row in split.second)
        assert sorted([*split.first, *split.second]) == list(range(13))
        assert 3 <= sum(row < 9 for row in split.first) <= 4 and sum(row >= 9 for row in split.first) == 2
    with pytest.raises(DatasetError, match="all 4 of 'b' belong to one reference image"):
        halves(groups, 0, [*"xxxyyzzww", *"xxxx"])


def test_a_query_that_fails_with_one_value_counts_with_none():
    measured = [on(1, 1), on(0.5, 0.25), on(0, 0)]
    gone = int(halves(GROUPS, 0).second[0])
    measured[2] = Measured(measured[2].columns, notes=("1 could not be answered: no",), failed=frozenset({gone}))
    measured[0].columns[R10][gone] = -7.0
    found = curve(SOFT, swept(), measured, GROUPS, by=None, seed=0)
    assert found.sizes == (4, 3) and found.dropped == 1 and found.best.reporting[R10].value == 1
    assert curve_json(found)["queries"] == {"choosing": 4, "reporting": 3, "dropped": 1}
    assert found.notes == ("λ 1: 1 could not be answered: no",
                           "1 could not be answered with some value of λ and count with none.")


def test_what_the_second_half_likes_is_not_chosen():
    """On the first half 0.5 is best (3 of 4), on the second 0 (all of 4): it is chosen for the first alone."""
    measured = [on([0, 0, 1, 1], 1), on([1, 1, 1, 0], [1, 0, 0, 0]), on([1, 0, 0, 0], [1, 1, 0, 0])]
    found = curve(SOFT, swept(), measured, GROUPS, by=None, seed=0)
    assert found.best.value == 0.5 and found.sizes == (4, 4) and found.measure == R10
    assert [one.choosing[R10].value for one in found.points] == [0.5, 0.75, 0.25]
    assert [one.reporting[R10].value for one in found.points] == [1, 0.25, 0.5]
    # Own is λ = 1: on the second half 0.5 has one hit of four less, and no query the other way round.
    assert found.own == 1 and found.gained is not None and found.gained.value == -0.25
    assert found.gained.low >= -1 and found.gained.high == 0
    content = curve_json(found)
    assert content["best"]["value"] == 0.5 and content["best"]["reporting"]["recall"] == {"1": 0, "10": 0.25}
    assert content["queries"] == {"choosing": 4, "reporting": 4, "dropped": 0}
    assert content["parameter"] == "soft_filter.weight"
    said = sentence(found)
    assert "chosen by recall@10 on 4 queries and is reported on the other 4" in said
    assert "λ = 0.5, recall@10 25.00" in said and "75.00" not in said


def test_of_equal_values_the_nearest_to_the_methods_own():
    found = curve(SOFT, swept("0,0.2,0.6"), [on(1, 0), on(1, 1), on(1, 0)], GROUPS, by=None, seed=0)
    assert found.best.value == 0.6 and found.gained is None   # own is 1, which is not among the values
    assert "1, is not among the values" in sentence(found)


def test_a_parameter_that_changes_nothing_is_said_to():
    found = curve(SOFT, swept(), [on(1, 0)] * 3, GROUPS, by="recall@10", seed=0)
    assert found.notes == ("λ changes recall@10 of no query.",) and found.best.value == found.own == 1


def test_categories_count_the_same():
    groups = ["a"] * 4 + ["b"] * 40
    column = np.array([1.0] * 4 + [0.0] * 40)
    found = curve(SOFT, swept("0,1"), [Measured({R10: column})] * 2, groups, by=None, seed=0)
    assert found.best.reporting[R10].value == 0.5 and found.best.reporting[R10].low == 0.5


def test_queries_that_a_measure_does_not_count_are_left_out():
    aspect = Measure("semantic_map_at_10", "addition")
    column = np.full(8, np.nan)
    split = halves(GROUPS, 0)
    column[[split.first[0], split.second[0]]] = 0.25   # one of either half
    measured = Measured({aspect: column, R10: np.ones(8)})
    found = curve(SOFT, swept("0,1"), [measured] * 2, GROUPS, by="semantic_map_at_10 addition", seed=0)
    assert found.best.reporting[aspect].value == 0.25 and found.best.reporting[R10].value == 1
    empty = Measured({aspect: np.full(8, np.nan), R10: np.ones(8)})
    with pytest.raises(DatasetError, match="counts too few queries"):
        curve(SOFT, swept("0,1"), [empty] * 2, GROUPS, by="semantic_map_at_10 addition", seed=0)


def test_the_measure_to_choose_by():
    average, auc = Measure("average"), Measure("auc")
    assert measure_named(None, [R1, R10, average]) == average and measure_named(None, [R1, auc]) == auc
    assert measure_named(None, [R1, R10]) == R10 and measure_named(None, [R1]) == R1
    with pytest.raises(DatasetError, match=r"no measure 'r@1' to choose by\. There are: recall@1, recall@10, average"):
        measure_named("r@1", [R1, R10, average])


def test_intervals_of_many_measures():
    # Two queries, 0 and 1: a resampled mean is 0, ½ or 1, each end with probability ¼.
    [one] = estimates_of_many([[[0.0], [1.0]]], seed=4)
    assert (one.value, one.low, one.high) == (0.5, 0, 1)
    values = np.random.default_rng(0).random((300, 3)) ** [1, 2, 3]
    groups = [values[:100], values[100:]]
    for ours, scipys in zip(estimates_of_many(groups, seed=1), estimates(groups, seed=1), strict=True):
        assert ours.value == scipys.value
        width = scipys.high - scipys.low
        assert abs(ours.low - scipys.low) < width / 24 and abs(ours.high - scipys.high) < width / 24
    assert estimates_of_many([[[0.25]]], seed=0)[0].low is None
    # Two units, of one query (0) and of three (1): a resampled mean is 0, 3/4 or 1.
    [together] = estimates_of_many([[[0.0], [1.0], [1.0], [1.0]]], seed=4, units=["xyyy"])
    assert (together.value, together.low, together.high) == (0.75, 0, 1)
    assert estimates_of_many([[[0.0], [1.0]]], seed=4, units=["xx"])[0].low is None
    alike = [[[0.0]] * 50 + [[1.0]] * 50]
    [rows], [units] = (estimates_of_many(alike, seed=1, units=of) for of in (None, [[n // 10 for n in range(100)]]))
    assert units.high - units.low > 2 * (rows.high - rows.low)
    with pytest.raises(ValueError, match="every group needs queries"):
        estimates_of_many([[]], seed=0)


def test_the_page_has_both_halves_and_needs_no_network():
    measured = [on([0, 0, 1, 1], 1), on([1, 1, 1, 0], [1, 0, 0, 0]), on([1, 0, 0, 0], [1, 1, 0, 0])]
    found = curve(SOFT, swept(), measured, GROUPS, by=None, seed=0)
    page = sweep_page("dress <b>", "8 queries", [found])
    assert "half it is chosen on" in page and "half it is reported on" in page and "dress &lt;b&gt;" in page
    assert "The dotted line is the chosen value, 0.5." in page and 'src="http' not in page


def test_the_page_by_turn():
    figures = dict(enumerate(estimates([[[0.0, 1.0], [1.0, 1.0]]], seed=0), start=1))
    page = turns_page("CIRCLED", "digest x", [TurnSet("All sessions", 2, {"latest": figures})])
    assert "Hits@10 by turn, All sessions. latest: 50.0 %, 100.0 %" in page and "2 sessions." in page


# --- what a person may write after --sweep ---------------------------------------------------

def test_a_range_holds_its_stop_and_no_rounding():
    found = read_sweep("lambda=0:1:0.1", METHODS["soft"])
    assert found.values == (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)   # 3 · 0.1 is not 0.3 in binary
    assert read_sweep("lambda=0:1:0.3", METHODS["soft"]).values == (0, 0.3, 0.6, 0.9)
    assert read_sweep("lambda=0.1,0.3,0.5,0.7,0.9,1.0", METHODS["soft"]).values == (0.1, 0.3, 0.5, 0.7, 0.9, 1)
    assert read_sweep(" rounds = 1:3:1 ", METHODS["corr"]).values == (1, 2, 3)
    assert len(read_sweep("lambda=0:1:0.01", METHODS["soft"]).values) == MOST_VALUES == 101


@pytest.mark.parametrize("name", ["weight", "λ", "lambda", "LAMBDA", "soft_filter.weight", "Λ"])
def test_names_of_a_parameter(name):
    assert read_sweep(f"{name}=0,1", METHODS["soft"]).key == "soft_filter.weight"


@pytest.mark.parametrize(("method", "name", "key"), [
    ("corr", "alpha", "reflection.history_weight"), ("corr", "K", "reflection.images"),
    ("corr", "N", "reflection.captions"), ("corr", "T", "reflection.rounds"), ("slerp", "text-weight",
    "slerp.text_weight"), ("guided", "tau", "guidance.temperature"), ("cirqrs", "w", "relevance.weight"),
])
def test_signs_of_the_papers(method, name, key):
    values = "0.05,0.1" if key.endswith(("temperature", "weight")) else "1,2"
    assert read_sweep(f"{name}={values}", METHODS[method]).key == key


def test_what_acts_later_is_there_in_sessions_alone():
    settings = METHODS["cirevl"].settings
    assert sweepable(settings, several_turns=False) == []
    assert [one.key for one in sweepable(settings, several_turns=True)] == [
        "feedback.alpha", "feedback.beta", "feedback.gamma", "feedback.feedback_depth"]
    assert [one.key for one in sweepable(METHODS["weighted"].settings, several_turns=True)] == ["weighted.decay"]
    with pytest.raises(MethodError, match="'alpha' only affects turn 2 and later"):
        read_sweep("alpha=0,1", METHODS["soft"])
    with pytest.raises(MethodError, match="has no numeric parameter to sweep in a single turn"):
        read_sweep("alpha=0,1", METHODS["cirevl"])


def test_a_sign_of_two_parameters_has_to_be_written_in_full():
    with pytest.raises(MethodError, match=r"'alpha' is feedback\.alpha or reflection\.history_weight"):
        read_sweep("alpha=0,1", METHODS["corr"], several_turns=True)
    found = read_sweep("reflection.history_weight=0,1", METHODS["corr"], several_turns=True)
    assert found.of(METHODS["corr"].settings) == 0.8


@pytest.mark.parametrize(("written", "said"), [
    ("lambda", "does not name values"), ("lambda=0:1:0", "the step is 0"), ("lambda=0:1:-0.1", "the step is -0.1"),
    ("lambda=1:0:0.1", "not above its start"), ("lambda=0:1", "is not a range"), ("lambda=0:1:0.0001", "more than 101"),
    ("lambda=0:1:1e-999999", "more than 101"), ("lambda=0:1:1e999999", "a single value"),
    ("lambda=0:2:0.1", "2 is outside the range of λ, 0 to 1"), ("lambda=0.5", "a single value"),
    ("lambda=1,1", "a single value"),
    ("lambda=a,b", "'a' is not a number"), ("lambda=nan,1", "'nan' is not a number"),
    ("lambda=" + ",".join(["0.5"] * 10_000), "10,000 values are too many"),
    ("epsilon=0,1", "'epsilon' is a threshold of the filters"),
    ("ε=0,1", "cirque construct filter"), ("tau=0,1", "the page Benchmarks"),
    ("no=0,1", "there is no numeric parameter 'no'"),
    ("mode=0,1", "no numeric parameter 'mode'"), ("=0,1", "no numeric parameter ''"),
])
def test_an_error_names_the_parameters_there_are(written, said):
    with pytest.raises(MethodError) as error:
        read_sweep(written, METHODS["soft"])
    assert said in str(error.value) and "Method 'soft' has: soft_filter.weight (λ, 0 to 1)." in str(error.value)


def test_what_is_counted_is_whole():
    with pytest.raises(MethodError, match=r"1.5 is not a whole number"):
        read_sweep("rounds=1:3:0.5", METHODS["corr"])
    with pytest.raises(MethodError, match=r"reflection.rounds \(T, 1 to 10\), reflection.images \(K, 1 to 20\)"):
        read_sweep("rounds=0:3:1", METHODS["corr"])


def test_a_value_changes_one_number():
    found = read_sweep("lambda=0.2,0.4", METHODS["corr-soft"])
    changed = found.with_value(METHODS["corr-soft"], 0.2)
    assert changed.settings == MethodSettings(reflection=Reflection(), soft_filter=SoftFilter(weight=0.2))
    assert changed.name == "corr-soft λ 0.2" and found.of(METHODS["corr-soft"].settings) == 1
    rounds = read_sweep("rounds=1,3", METHODS["corr"]).with_value(METHODS["corr"], 3.0).settings.reflection
    assert rounds == Reflection(rounds=3) and isinstance(rounds.rounds, int)
    base = read_sweep("text_weight=0.2,0.4", METHODS["slerp"]).with_value(METHODS["slerp"], 0.4)
    assert base.settings == MethodSettings(base="slerp", text_weight=0.4)


def test_what_a_parameter_leaves_as_it_is():
    kinds = {name: read_sweep(f"{name}=0.1,0.2", METHODS[method]) for method, name in (
        ("soft", "lambda"), ("guided", "picture"), ("slerp", "text_weight"), ("cirqrs", "w"))}
    assert {name: one.ranks_only for name, one in kinds.items()} == {
        "lambda": True, "picture": False, "text_weight": False, "w": True}
    assert [name for name, one in kinds.items() if one.moves_base] == ["text_weight"]
