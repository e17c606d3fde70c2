"""Labels of queries whose ranks can be followed by eye. K is 10, M is 1 unless said."""

import dataclasses

import pytest

from cir_core.audit.aggregate import aggregate
from cir_core.audit.panel import in_turn, panel
from cir_core.audit.records import RetrieverRun
from cir_core.audit.summary import summarise
from cir_core.errors import DatasetError
from tests.fakes.audit_ranks import benchmark, run

FIVE = benchmark(5)
# Best over a and b:  (both, text, image)
#   q0: (3, 50, 60)   only both inputs                     → composition_required
#   q1: (11, 11, 11)  11 is not among the first 10         → unresolved
#   q2: (1, 10, 11)   10 is: the text, by b                → shortcut_solvable, text_only
#   q3: (2, 11, 10)                                        → shortcut_solvable, image_only
#   q4: (40, 10, 9)   text by a, image by b, both by none  → shortcut_solvable, both_unimodal
A = run(FIVE, "a", [(3, 50, 70), (11, 90, 11), (1, 11, 30), (7, 11, 10), (40, 10, 500)])
B = run(FIVE, "b", [(9, 80, 60), (12, 11, 12), (5, 10, 11), (2, 12, 13), (41, 600, 9)])


def test_each_detail_and_the_edge_of_k():
    found = aggregate([B, A])
    assert [(q.label, q.detail, q.legacy) for q in found.labels] == [
        ("composition_required", "composition_required", "multimodal_needed"),
        ("unresolved", "unresolved", "multimodal_needed"),
        ("shortcut_solvable", "text_only", "text_only"),
        ("shortcut_solvable", "image_only", "image_only"),
        ("shortcut_solvable", "both_unimodal", "either"),
    ]
    assert found.retrievers == ("a", "b") and not found.skipped
    assert [q.shortcut_free for q in found.labels] == [True, True, False, False, False]


def test_best_ranks_whose_they_are_and_support():
    first, *_, last = aggregate([A, B]).labels
    assert first.ranks == {"multimodal": 3, "text_only": 50, "image_only": 60}
    assert first.best_retriever == {"multimodal": "a", "text_only": "a", "image_only": "b"}
    assert first.support == {"multimodal": 2, "text_only": 0, "image_only": 0, "either_unimodal": 0}
    # a has the text, b the image: one each, and both find it one way or the other
    assert last.support == {"multimodal": 0, "text_only": 1, "image_only": 1, "either_unimodal": 2}


def test_equal_ranks_belong_to_the_first_by_name():
    one = benchmark(1)
    zebra, ant = run(one, "zebra", [(4, 70, 80)]), run(one, "ant", [(4, 70, 90)])
    (label,) = aggregate([zebra, ant]).labels
    assert label.best_retriever == {"multimodal": "ant", "text_only": "ant", "image_only": "zebra"}


def test_two_must_succeed_where_m_is_two():
    two = benchmark(2)
    a, b = run(two, "a", [(10, 50, 50), (10, 50, 50)]), run(two, "b", [(10, 50, 50), (11, 50, 50)])
    assert [q.label for q in aggregate([a, b], min_support=2).labels] == ["composition_required", "unresolved"]
    assert [q.label for q in aggregate([a, b]).labels] == ["composition_required"] * 2


def test_another_k():
    assert aggregate([A, B], k=9).labels[2].detail == "composition_required"      # the text was at 10
    assert aggregate([A, B], k=11).labels[1].detail == "both_unimodal"            # all three were at 11


def test_the_best_of_several_targets_counts():
    one = benchmark(1, targets=3)
    (label,) = aggregate([run(one, "a", [((40, 8, 300), (50, 11, 70), (90, 80, 70))])]).labels
    assert label.ranks == {"multimodal": 8, "text_only": 11, "image_only": 70}
    assert label.label == "composition_required"


def test_a_query_with_a_problem_is_skipped_and_says_whose():
    b = run(FIVE, "b", [(9, 80, 60), "image 'i001' cannot be read", (5, 10, 11), (2, 12, 13), "no target"])
    a = run(FIVE, "a", [(3, 50, 70), (11, 90, 11), (1, 11, 30), (7, 11, 10), "no target"])
    found = aggregate([a, b])
    assert [q.query_id for q in found.labels] == ["q0", "q2", "q3"]
    assert found.skipped == {"q1": "b: image 'i001' cannot be read", "q4": "a: no target; b: no target"}


@pytest.mark.parametrize(("field", "value", "words"), [
    ("dataset", "cirr-val", "the data set"),
    ("dataset_digest", "0000", "queries or images"),
    ("pools_digest", "0000", "images that were ranked"),
    ("ablation", "drop", "ablated"),
    ("caption_mode", "joined", "caption mode"),
])
def test_runs_that_do_not_belong_together(field, value, words):
    other = RetrieverRun(dataclasses.replace(B.card, **{field: value}), B.queries)
    with pytest.raises(DatasetError, match=rf"^a and b differ in .*{words}"):
        aggregate([A, other])


def test_only_retrievers_that_take_an_instruction_must_agree_on_it():
    told = [run(FIVE, name, [(1, 1, 1)] * 5, instruction=text) for name, text in
            (("x", "Find the same, changed."), ("y", "Find the same, changed."), ("z", "Find fashion."))]
    assert aggregate([A, *told[:2]]).retrievers == ("a", "x", "y")
    with pytest.raises(DatasetError, match=r"x and z differ in the instruction \('Find the same, changed.' and 'Find"):
        aggregate([A, *told])


def test_other_queries_no_runs_and_a_name_twice():
    fewer = RetrieverRun(B.card, B.queries[:4])
    with pytest.raises(DatasetError, match=r"the queries \('5 queries' and '4 queries'\)"):
        aggregate([A, fewer])
    with pytest.raises(DatasetError, match="Two runs are of the retriever 'a'"):
        aggregate([A, A])
    with pytest.raises(DatasetError, match="at least one"):
        aggregate([])
    with pytest.raises(DatasetError, match="minimum support is 3; give 1 to 2, the number of retrievers"):
        aggregate([A, B], min_support=3)


def test_one_retriever_is_allowed():
    assert aggregate([A]).retrievers == ("a",)


def test_the_summary_adds_up():
    b = run(FIVE, "b", [(9, 80, 60), "unreadable", (5, 10, 11), (2, 12, 13), (41, 600, 9)])
    labels = aggregate([A, b])
    summary = summarise([A, b], labels)
    assert (summary.queries, summary.labelled, summary.skipped) == (5, 4, {"b: unreadable": 1})
    assert sum(summary.labels.values()) == sum(summary.details.values()) == summary.labelled
    assert summary.labels == {"composition_required": 1, "unresolved": 0, "shortcut_solvable": 3}
    assert summary.shortcut_free == 1 and summary.share(1) == 0.25
    assert all(sum(counts) == 4 for counts in summary.support.values())
    # both inputs: q0, q2, q3 by both, q4 by none; text: q2 by b, q4 by a; image: q3 by a, q4 by b
    assert summary.support["multimodal"] == (1, 0, 3)
    assert summary.support["text_only"] == (2, 2, 0) and summary.support["image_only"] == (2, 2, 0)
    a = summary.retrievers[0]
    # of q0, q2, q3, q4: both 3, 1, 7, 40 → ¾; text 50, 11, 11, 10 → ¼; image 70, 30, 10, 500 → ¼
    assert a.means["recall"] == {"multimodal": 0.75, "text_only": 0.25, "image_only": 0.25}
    # (1/3 + 1 + 1/7 + 1/40) / 4
    assert a.means["mrr"]["multimodal"] == pytest.approx((1 / 3 + 1 + 1 / 7 + 1 / 40) / 4)
    assert (a.problems, summary.retrievers[1].problems) == (0, 1)


# --- the panel: the union of the first results, each image once ------------------------------

ONE = benchmark(1)


def found(name: str, *images: str):
    return run(ONE, name, [(1, 1, 1)], top={0: images})


def test_union_by_best_rank_then_by_how_many_then_by_id():
    # best rank (votes):  d 1 (2), m 1 (1), c 2 (2), k 2 (1), z 3 (2), e 3 (1)
    runs = [found("one", "d", "c", "z"), found("two", "m", "k", "e"), found("three", "d", "c", "z")]
    assert panel(runs, 0) == ("d", "m", "c", "k", "z", "e")
    # without the third, all have one vote: by id within a rank
    assert panel(runs[:2], 0) == ("d", "m", "c", "k", "e", "z")


def test_the_order_of_the_retrievers_does_not_show():
    runs = [found("one", "b", "a"), found("two", "a", "c"), found("three", "c", "b")]
    assert panel(runs, 0) == panel(runs[::-1], 0) == ("a", "b", "c")


def test_depth_counts_places_not_new_images():
    first = found("one", *(f"x{n}" for n in range(20)))
    second = found("two", *(f"x{n}" for n in range(5, 25)))
    # x0 … x9 and x5 … x14
    assert sorted(panel([first, second], 0)) == sorted(f"x{n}" for n in range(15))
    assert panel([first, second], 0, depth=1) == ("x0", "x5")


def test_duplicates_problems_and_files_without_images():
    twice = found("one", "a", "a", "b")
    assert panel([twice], 0) == ("a", "b")
    assert panel([twice, run(ONE, "two", ["unreadable"]), run(ONE, "three", [(1, 1, 1)])], 0) == ("a", "b")
    assert panel([run(ONE, "two", ["unreadable"])], 0) == ()


def test_in_turn_takes_the_first_of_each_then_the_second():
    runs = [found("one", "a", "b", "c", "d"), found("two", "b", "e"), found("three", "f", "a", "g")]
    # Rank 1: a, b, f; rank 2: (b), e, (a); rank 3: c, nothing, g; rank 4: d.
    assert in_turn(runs, 0) == ("a", "b", "f", "e", "c", "g", "d")
    assert in_turn(runs, 0, most=3) == ("a", "b", "f")
    assert in_turn([run(ONE, "two", ["unreadable"]), run(ONE, "three", [(1, 1, 1)])], 0) == ()
    assert set(panel(runs, 0)) <= set(in_turn(runs, 0))
