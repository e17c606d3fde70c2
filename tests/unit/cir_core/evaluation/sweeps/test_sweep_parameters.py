"""What a person may write after --sweep."""

import pytest

from cir_core.errors import MethodError
from cir_core.evaluation.sweeps.parameters import MOST_VALUES, read_sweep, sweepable
from cir_core.methods.declared import builtin_methods
from cir_core.types.methods import MethodSettings, Reflection, SoftFilter

METHODS = builtin_methods()


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
    with pytest.raises(MethodError, match="'alpha' acts from the second turn on"):
        read_sweep("alpha=0,1", METHODS["soft"])
    with pytest.raises(MethodError, match="has no number that --sweep could go through in a single turn"):
        read_sweep("alpha=0,1", METHODS["cirevl"])


def test_a_sign_of_two_parameters_has_to_be_written_in_full():
    with pytest.raises(MethodError, match=r"'alpha' is feedback\.alpha or reflection\.history_weight"):
        read_sweep("alpha=0,1", METHODS["corr"], several_turns=True)
    found = read_sweep("reflection.history_weight=0,1", METHODS["corr"], several_turns=True)
    assert found.of(METHODS["corr"].settings) == 0.8


@pytest.mark.parametrize(("written", "said"), [
    ("lambda", "names no values"), ("lambda=0:1:0", "the step is 0"), ("lambda=0:1:-0.1", "the step is -0.1"),
    ("lambda=1:0:0.1", "not above its start"), ("lambda=0:1", "is not a range"), ("lambda=0:1:0.0001", "more than 101"),
    ("lambda=0:1:1e-999999", "more than 101"), ("lambda=0:1:1e999999", "makes one value"),
    ("lambda=0:2:0.1", "2 is outside of λ, 0 to 1"), ("lambda=0.5", "makes no curve"), ("lambda=1,1", "makes no curve"),
    ("lambda=a,b", "'a' is not a number"), ("lambda=nan,1", "'nan' is not a number"),
    ("lambda=" + ",".join(["0.5"] * 10_000), "10,000 values are too many"),
    ("epsilon=0,1", "'epsilon' is a threshold of the filters"),
    ("ε=0,1", "cirque construct filter"), ("tau=0,1", "the page Benchmarks"), ("no=0,1", "there is no number 'no'"),
    ("mode=0,1", "no number 'mode'"), ("=0,1", "no number ''"),
])
def test_an_error_names_the_parameters_there_are(written, said):
    with pytest.raises(MethodError) as error:
        read_sweep(written, METHODS["soft"])
    assert said in str(error.value) and "Method 'soft' has: soft_filter.weight (λ, 0 to 1)." in str(error.value)


def test_what_is_counted_is_whole():
    with pytest.raises(MethodError, match=r"1.5 is no whole number"):
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
