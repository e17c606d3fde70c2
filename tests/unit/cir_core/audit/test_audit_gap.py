"""Composition Gap by hand, and its intervals against what they must be."""

import math

import numpy as np
import pytest

from cir_core.audit.aggregate import aggregate
from cir_core.audit.gap import composition_gap, gaps, subsets_of
from cir_core.audit.measures import scores
from cir_core.errors import DatasetError
from tests.fakes.audit_ranks import benchmark, run


def test_published_cases():
    assert composition_gap(0.40, text_only=0.30, image_only=0.10) == pytest.approx(0.25)
    assert composition_gap(0.20, text_only=0.30, image_only=0.10) == pytest.approx(-0.50)
    assert composition_gap(0.0, text_only=0.3, image_only=0.1) is None


def test_scores_of_one_target():
    two = benchmark(2)
    found = scores([run(two, "a", [(1, 2, 10), (3, 7, 11)])], ["q0", "q1"])
    assert found.shape == (1, 3, 3, 2)
    recall, ndcg, mrr = found[0, :, :, 0].T
    # ranks 1, 2, 10: 1 / log2(1 + r) = 1, 0.6309, 0.2891
    assert ndcg == pytest.approx([1.0, 0.63093, 0.28906], abs=1e-5)
    assert mrr == pytest.approx([1.0, 0.5, 0.1]) and list(recall) == [1, 1, 1]
    assert found[0, 2, 0, 1] == 0   # rank 11


def test_scores_of_two_targets():
    one = benchmark(1, targets=2)
    found = scores([run(one, "a", [((3, 1), (30, 7), (15, 11))])], ["q0"])[0, :, :, 0]
    # ideal 1 + 0.63093; ranks 3 and 1: (0.5 + 1) / 1.63093 = 0.91972; 7: log2(8) = 3, 30: log2(31) = 4.95420
    assert found[0] == pytest.approx([1, 0.91972, 1.0], abs=1e-5)
    assert found[1] == pytest.approx([1, (1 / 3 + 1 / 4.95420) / 1.63093, 1 / 7], abs=1e-5)
    assert found[2] == pytest.approx([0, (1 / 4 + 1 / math.log2(12)) / 1.63093, 1 / 11], abs=1e-5)


def test_a_ratio_of_means_not_a_mean_of_ratios():
    two = benchmark(2)
    report = gaps([run(two, "a", [(1, 2, 100), (2, 4, 100)])], {"full": ["q0", "q1"]})
    row = report.of("a", "full")
    # MRR: both (1 + ½) / 2 = 0.75, text (½ + ¼) / 2 = 0.375: 1 − 0.375 / 0.75 = ½
    assert row.means["mrr"]["multimodal"] == 0.75 and row.gaps["mrr"].value == pytest.approx(0.5)
    # nDCG: both (1 + 0.63093) / 2, text (0.63093 + 0.43068) / 2: 1 − 1.06161 / 1.63093 = 0.34908
    assert row.gaps["ndcg"].value == pytest.approx(0.34908, abs=1e-5)
    # all three inputs but the image are within 10
    assert row.recall_gap.value == 0


def test_the_mean_over_retrievers_and_a_negative_gap():
    two = benchmark(2)
    good = run(two, "good", [(1, 2, 9), (1, 2, 9)])          # 1 − 0.5 / 1 = 0.5
    poor = run(two, "poor", [(4, 2, 9), (4, 2, 9)])          # 1 − 0.5 / 0.25 = −1
    report = gaps([good, poor], {"full": ["q0", "q1"]})
    assert report.of("poor", "full").gaps["mrr"].value == pytest.approx(-1.0)
    mean = report.mean("full", "mrr")
    assert mean.gap.value == pytest.approx(-0.25) and (mean.retrievers, mean.undefined) == (2, 0)
    # every drawing of equal queries is the same
    assert (mean.gap.low, mean.gap.high) == (pytest.approx(-0.25), pytest.approx(-0.25))


def test_recall_gap_is_a_difference():
    four = benchmark(4)
    report = gaps([run(four, "a", [(1, 50, 50), (10, 50, 50), (11, 3, 50), (2, 50, 50)])],
                  {"full": [f"q{n}" for n in range(4)]})
    assert report.of("a", "full").recall_gap.value == pytest.approx(0.75 - 0.25)


def test_an_empty_subset_is_not_defined_and_one_query_has_no_interval():
    two = benchmark(2)
    report = gaps([run(two, "a", [(1, 2, 9), (1, 2, 9)])], {"none": [], "one": ["q1"]})
    empty, one = report.of("a", "none"), report.of("a", "one")
    assert empty.gaps["ndcg"].value is None and "empty" in empty.gaps["ndcg"].reason and not empty.means
    mean = report.mean("none", "ndcg")
    assert (mean.gap.value, mean.retrievers, mean.undefined) == (None, 0, 1) and mean.gap.reason
    assert one.gaps["mrr"].value == pytest.approx(0.5) and one.gaps["mrr"].low is None
    assert report.subsets == {"none": 0, "one": 1}


def test_the_interval_is_the_one_of_drawing_the_queries_again():
    """Against plain drawing by index, query by query."""
    rng = np.random.default_rng(4)
    some = benchmark(60)
    runs = [run(some, name, [tuple(map(int, rng.integers(1, 200, 3))) for _ in range(60)]) for name in "ab"]
    ids = [query.query_id for query in some.queries]
    report = gaps(runs, {"full": ids}, seed=7)
    found = scores(runs, ids)[:, :, 1]                                       # nDCG: [2, 3, 60]
    draw = np.random.default_rng(8)
    drawn = []
    for _ in range(4_000):
        means = found[:, :, draw.integers(0, 60, 60)].mean(axis=-1)
        drawn.append(1 - np.maximum(means[:, 1], means[:, 2]) / means[:, 0])
    low, high = np.percentile(drawn, [2.5, 97.5], axis=0)
    for row, name in enumerate("ab"):
        gap = report.of(name, "full").gaps["ndcg"]
        width = high[row] - low[row]
        assert gap.low == pytest.approx(low[row], abs=0.1 * width)
        assert gap.high == pytest.approx(high[row], abs=0.1 * width)
    ends = np.percentile(np.mean(drawn, axis=1), [2.5, 97.5])
    mean = report.mean("full", "ndcg").gap
    assert (mean.low, mean.high) == (pytest.approx(ends[0], abs=0.03), pytest.approx(ends[1], abs=0.03))
    assert gaps(runs, {"full": ids}, seed=7) == report != gaps(runs, {"full": ids}, seed=8)


def test_the_interval_of_the_recall_gap_is_that_of_the_difference():
    """Target ranks by both, text and image: 30 queries of 40 are found by both, 10 of those by the text too. So
    recall is 0.75 and 0.25, the gap ½; of a query it is 1 for 20 and 0 for 20, so drawn again it has the standard
    error √(½ · ½ / 40) = 0.0791, and the interval is ½ ± 1.96 · 0.0791 = 0.345 … 0.655."""
    ranks = [(1, 2, 50)] * 10 + [(10, 11, 50)] * 20 + [(11, 50, 50)] * 10
    gap = gaps([run(benchmark(40), "a", ranks)], {"full": [f"q{n}" for n in range(40)]}).of("a", "full").recall_gap
    assert gap.value == pytest.approx(0.5)
    assert (gap.low, gap.high) == (pytest.approx(0.345, abs=0.03), pytest.approx(0.655, abs=0.03))


def test_a_file_with_best_ranks_only_is_told_of():
    one = benchmark(1, targets=2)
    whole, best = run(one, "whole", [((1, 2), (3, 4), (5, 6))]), run(one, "best", [(1, 3, 5)])
    assert gaps([whole, best], {"full": ["q0"]}).notes[0].startswith("best has only the best target's rank")
    assert not gaps([best], {"full": ["q0"]}).notes


def test_one_input_alone_is_told_of():
    """A soft filter or reflection brings the other input back in."""
    two = benchmark(2)

    def of(name, base, **more):
        method = {"base": base, "soft_filter": None, "reflection": None, **more}
        return run(two, name, [(1, 1, 9), (2, 2, 9)], identity={"kind": "method", "method": method})

    text, image, both = of("my text", "text-only"), of("my image", "image-only"), of("slerp", "slerp")
    filtered = of("filtered", "text-only", soft_filter={"weight": 1.0})
    assert gaps([text, image, both, filtered], {"full": ["q0"]}).notes == (
        "my text takes the text alone: its gap is 0 by construction and is left out of the mean.",
        "my image takes the image alone: its gap is 0 by construction and is left out of the mean.",
    )
    assert gaps([text], {"full": ["q0"]}).notes == ("my text takes the text alone: its gap is 0 by construction.",)


def test_the_mean_is_over_the_retrievers_that_compose():
    two = benchmark(2)
    text = run(two, "words", [(1, 1, 9), (2, 2, 9)], identity={"method": {"base": "text-only"}})
    good, poor = run(two, "good", [(1, 2, 9), (1, 4, 9)]), run(two, "poor", [(4, 2, 9), (4, 2, 9)])
    report = gaps([good, text, poor], {"full": ["q0", "q1"]})
    # good: 1 − 0.375 / 1 = 0.625; poor: 1 − 0.5 / 0.25 = −1; words would be 0
    assert report.of("words", "full").gaps["mrr"].value == 0
    mean = report.mean("full", "mrr")
    assert (mean.gap.value, mean.retrievers, mean.undefined, mean.left_out) == (pytest.approx(-0.1875), 2, 0, 1)
    assert report.one_input == ("words",)
    without = gaps([good, poor], {"full": ["q0", "q1"]}).mean("full", "mrr")
    assert (mean.gap.low, mean.gap.high) == (without.gap.low, without.gap.high)
    alone = gaps([text], {"full": ["q0", "q1"]}).mean("full", "mrr")
    assert (alone.gap.value, alone.gap.low, alone.gap.reason) == (None, None, "every retriever takes one input alone")


def test_ranks_from_a_file_that_one_input_explains():
    """A file does not say what its retriever takes; the same ranks on all of 20 queries do."""
    many = benchmark(20)
    ids = [query.query_id for query in many.queries]
    same = [(n + 1, 50, n + 1) for n in range(20)]
    from_file = {"identity": {"file_form": "ranks"}}
    assert gaps([run(many, "picture", same, **from_file)], {"full": ids}).one_input == ("picture",)
    other = [*same[:-1], (20, 50, 21)]
    assert gaps([run(many, "picture", other, **from_file)], {"full": ids}).one_input == ()


LABELLED = benchmark(5)
RUNS = [run(LABELLED, "a", [(3, 50, 70), (11, 90, 11), (1, 10, 30), (3, 11, 11), "unreadable"])]


def test_subsets_follow_the_labels():
    of = subsets_of(aggregate(RUNS), {"q0", "q1", "q2", "q4"})
    assert of == {
        "full": ("q0", "q1", "q2", "q3"), "shortcut_solvable": ("q2",), "shortcut_free": ("q0", "q1", "q3"),
        "composition_required": ("q0", "q3"), "unresolved": ("q1",),
        "validated": ("q0", "q1", "q2"), "validated_solved": ("q0",), "validated_unsolved": ("q1",),
    }
    assert "validated" not in subsets_of(aggregate(RUNS))


def test_validated_queries_of_another_data_set():
    with pytest.raises(DatasetError, match=r"1 of 2 validated queries are not in this audit, 'x' for one"):
        subsets_of(aggregate(RUNS), ["q0", "x"])
    with pytest.raises(DatasetError, match="None of the validated"):
        subsets_of(aggregate(RUNS), ["q4"])


def test_a_query_without_ranks_cannot_be_measured():
    with pytest.raises(DatasetError, match=r"a did not rank query 'q4' under multimodal \(unreadable\)"):
        gaps(RUNS, {"full": ["q4"]})
    with pytest.raises(DatasetError, match="a has no query 'x'"):
        gaps(RUNS, {"full": ["x"]})
