"""Runs of a handful of queries under every benchmark's measures, counted by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.errors import DatasetError
from cir_core.evaluation import evaluate_run as measuring
from cir_core.evaluation.evaluators.records import Measure, figures_json, scores_json
from cir_core.evaluation.evaluators.sessions import evaluate_sessions
from cir_core.evaluation.evaluators.single_turn import evaluate_qrels
from cir_core.evaluation.runs.records import Run
from cir_core.registry.kinds import evaluator_of

POOL = tuple("abcdefghijklmnop")


def query(query_id: str, *targets: str, **more) -> BenchmarkQuery:
    return BenchmarkQuery(query_id, more.pop("reference_id", "a"), "in red", targets, **more)


def benchmark(kind: str, *queries: BenchmarkQuery, pools=None) -> Benchmark:
    return Benchmark(kind, "val", queries, {"": POOL} if pools is None else pools, lambda image_id: (image_id,))


def evaluate_run(of: Benchmark, answered: Run, **more):
    return measuring.evaluate_run(of, answered, evaluator_of(of), **more)


def run(**rankings: str) -> Run:
    return Run("mine", {name.lstrip("q"): tuple(ranking) for name, ranking in rankings.items()})


def figures(scores):
    return figures_json(scores.figures)


# ---- CIRCO: its image ids are numbers, here a is 1, b 2, … --------------------------------------------


def numbers(letters: str) -> tuple[str, ...]:
    return tuple(str(ord(letter) - ord("a") + 1) for letter in letters)


def numbered(**rankings: str) -> Run:
    return Run("mine", {name.lstrip("q"): numbers(ranking) for name, ranking in rankings.items()})


CIRCO = benchmark(
    "circo",
    query("0", *numbers("bcd"), aspects=("negation", "addition")),
    query("1", *numbers("bcdefgh"), aspects=("addition",)),
    query("2", *numbers("p"), aspects=()),
    pools={"": numbers("".join(POOL))},
)
# Query 0 (n = 3), hits b at 1, d at 3, c at 6:  AP@5 = (1 + 2/3)/3 = 5/9, AP@10 = (1 + 2/3 + 3/6)/3 = 13/18
# Query 1 (n = 7), hits c at 2, d at 4:          AP@5 = (1/2 + 2/4)/min(5, 7) = 1/5, AP@10 = 1/7
# Query 2: p is not in the list:                 0
LISTS = {"q0": "bidjkclm", "q1": "icjdklmn", "q2": "bcdefghi"}


def test_circo_by_hand():
    scores = evaluate_run(CIRCO, numbered(**LISTS))
    found = figures(scores)
    assert found["map"]["5"] == pytest.approx((5 / 9 + 1 / 5) / 3)
    assert [found["map"][k] for k in ("10", "25", "50")] == pytest.approx([(13 / 18 + 1 / 7) / 3] * 3)
    # R@k looks at the first target alone: b of query 0 at 1; b of query 1 is not in the list, c and d do not count.
    assert list(found["recall"].values()) == pytest.approx([1 / 3] * 4)
    assert list(found["recall"]) == ["5", "10", "25", "50"]
    # mAP@10 over the queries that carry an aspect; the official order, aspects that nobody carries left out
    assert list(found["semantic_map_at_10"].items()) == [
        ("addition", pytest.approx((13 / 18 + 1 / 7) / 2)), ("negation", pytest.approx(13 / 18))]
    assert scores.queries == 3 and "within_list" in found
    assert any("targets of 2 queries lie beyond" in note for note in scores.notes)


def test_intervals_hold_the_mean_and_single_queries_are_kept():
    scores = evaluate_run(CIRCO, numbered(**LISTS))
    estimate = scores.figures[Measure("map", "5")]
    assert estimate.low <= estimate.value <= estimate.high
    assert scores.query_ids == ("0", "1", "2")
    assert scores.columns[Measure("map", "5")] == pytest.approx([5 / 9, 1 / 5, 0])
    # One query alone carries "negation": nothing to draw from.
    assert scores.figures[Measure("semantic_map_at_10", "negation")].low is None
    assert scores_json(scores)["intervals"]["semantic_map_at_10"]["negation"] is None
    assert scores_json(scores)["intervals"]["map"]["5"] == [estimate.low, estimate.high]


def test_the_same_seed_gives_the_same_intervals():
    one, again = (evaluate_run(CIRCO, numbered(**LISTS), seed=4) for _ in range(2))
    assert one.figures == again.figures


def test_circos_ids_are_numbers_however_they_are_written():
    plain = numbered(**LISTS)
    padded = Run("mine", {name: tuple(one.zfill(12) for one in ids) for name, ids in plain.rankings.items()})
    assert evaluate_run(CIRCO, padded).figures == evaluate_run(CIRCO, plain).figures
    with pytest.raises(DatasetError, match="image '2' occurs twice"):
        evaluate_run(CIRCO, Run("mine", {**padded.rankings, "1": ("2", "000000000002")}))
    with pytest.raises(DatasetError, match=r"query '0': 'b\.jpg' is not a number"):
        evaluate_run(CIRCO, Run("mine", {"0": ("b.jpg",)}))


def test_without_a_seed_there_are_no_intervals():
    one, other = (evaluate_run(CIRCO, numbered(**LISTS), seed=seed) for seed in (None, 0))
    assert figures(one) == figures(other)
    assert all(estimate.low is None for estimate in one.figures.values())


# ---- CIRR ----------------------------------------------------------------------------------------

SUBSET = {"excluded_ids": ("a",), "subset_ids": tuple("bcdef")}
CIRR = benchmark("cirr", query("10", "b", **SUBSET), query("20", "c", **SUBSET))


def test_cirr_takes_the_reference_out_of_the_list():
    # 10: a (the reference) leaves, then g b: rank 2, and first among b…f.
    # 20: h d e c: rank 4, third among b…f.
    scores = evaluate_run(CIRR, run(q10="agbc", q20="hdecb"))
    found = figures(scores)
    assert found["recall"] == {"1": 0, "5": 1, "10": 1, "50": 1}
    assert found["recall_subset"] == {"1": 0.5, "2": 0.5, "3": 1}
    assert found["average"] == pytest.approx((1 + 0.5) / 2)
    assert found["mean_of_all"] == pytest.approx((0 + 1 + 1 + 1 + 0.5 + 0.5 + 1) / 7)
    # Ranks 2 and 4: nDCG (0.63093 + 0.43068)/2, MRR (1/2 + 1/4)/2
    assert found["full_catalogue"]["ndcg"] == pytest.approx(0.53080, abs=1e-5)
    assert found["full_catalogue"]["mrr"] == pytest.approx(0.375)
    assert "The benchmark ranks without the reference: it was taken out of 1 lists." in scores.notes


def test_cirr_says_where_a_short_list_leaves_the_subset_open():
    # 10 ends after g: no member was seen, all three cutoffs are open. 20 saw d and e before its end:
    # a miss at 1 and at 2, open at 3.
    scores = evaluate_run(CIRR, run(q10="g", q20="hde"))
    assert figures(scores)["recall_subset"] == {"1": 0, "2": 0, "3": 0}
    assert any("1 at 1, 1 at 2, 2 at 3" in note for note in scores.notes)
    full = evaluate_run(CIRR, run(q10="gcdb", q20="hdefc"))
    assert not any("lower bound" in note for note in full.notes)


def test_cirrs_second_file_ranks_the_subset():
    subset = {"10": tuple("cdb"), "20": tuple("cbd")}
    both = Run("mine", {"10": ("b",), "20": ("g", "c")}, subset_rankings=subset)
    found = figures(evaluate_run(CIRR, both))
    assert found["recall_subset"] == {"1": 0.5, "2": 0.5, "3": 1}
    assert found["recall"]["1"] == 0.5
    alone = evaluate_run(CIRR, Run("mine", {}, subset_rankings=subset))
    assert figures(alone) == {"recall_subset": {"1": 0.5, "2": 0.5, "3": 1}}
    assert any("no Recall@k" in note for note in alone.notes)
    with pytest.raises(DatasetError, match="'g' is not a member of its image set"):
        evaluate_run(CIRR, Run("mine", {}, subset_rankings={"10": ("g",), "20": ("b",)}))
    with pytest.raises(DatasetError, match=r"lacks 1 of 2 queries \('20'\)"):
        evaluate_run(CIRR, Run("mine", {}, subset_rankings={"10": ("b",)}))


# ---- FashionIQ, several targets, anything else ----------------------------------------------------


def test_fashioniq_means_over_categories_not_queries():
    pools = {"dress": tuple(f"d{number}" for number in range(60)), "shirt": tuple(f"s{number}" for number in range(60))}
    fashioniq = benchmark(
        "fashioniq", *(query(f"dress:{number}", "d9", pool="dress") for number in range(3)),
        query("shirt:0", "s49", pool="shirt"), pools=pools,
    )
    rankings = {f"dress:{number}": pools["dress"] for number in range(3)} | {"shirt:0": pools["shirt"]}
    rankings["dress:2"] = pools["dress"][::-1]
    # dress: ranks 10, 10, 51: R@10 2/3, R@50 2/3. shirt: rank 50: R@10 0, R@50 1.
    scores = evaluate_run(fashioniq, Run("mine", rankings))
    found = figures(scores)
    assert found["recall"] == {"10": pytest.approx(1 / 3), "50": pytest.approx((2 / 3 + 1) / 2)}
    assert found["average"] == pytest.approx((1 / 3 + 5 / 6) / 2)
    assert figures_json(scores.by_group["dress"])["recall"] == pytest.approx({"10": 2 / 3, "50": 2 / 3})
    assert figures_json(scores.by_group["shirt"])["recall"] == {"10": 0, "50": 1}
    assert scores_json(scores)["by_group"]["shirt"]["average"] == 0.5
    with pytest.raises(DatasetError, match="'s1' is not in the pool of 60"):
        evaluate_run(fashioniq, Run("mine", {**rankings, "dress:1": ("d0", "s1")}))


def test_several_targets_under_both_definitions():
    # Targets b c d e, one hit at 1: SoFT's AP is 1, CIRCO's 1/4.
    soft = benchmark("soft-multi-target", query("0", *"bcde"))
    found = figures(evaluate_run(soft, run(q0="bfghij")))
    assert found["map_soft"] == dict.fromkeys(("5", "10", "25", "50"), 1.0)
    assert found["map"] == dict.fromkeys(("5", "10", "25", "50"), 0.25)


def test_one_target():
    # Ranks 1 and 4: R@1 1/2, R@5 1, nDCG@10 (1 + 1/log2 5)/2 = (1 + 0.43068)/2, MRR (1 + 1/4)/2
    scores = evaluate_run(benchmark("lasco", query("0", "b"), query("1", "c")), run(q0="bc", q1="bdec"))
    found = figures(scores)
    assert found["recall"] == {"1": 0.5, "5": 1, "10": 1, "50": 1} and "targets_found" not in found
    assert found["ndcg"]["10"] == pytest.approx(0.71534, abs=1e-5)
    assert found["full_catalogue"] == {"ndcg": pytest.approx(0.71534, abs=1e-5), "mrr": 0.625}
    assert scores.notes == ()


def test_any_of_several_targets_is_m_beirs_recall():
    scores = evaluate_run(benchmark("mbeir", query("0", "b", "c")), run(q0="bd"))
    found = figures(scores)
    assert found["recall"]["1"] == 1 and found["targets_found"] == dict.fromkeys(("1", "5", "10", "50"), 0.5)
    # b at 1, c beyond the end: 1 / (1 + 1/log2 3) = 0.61315
    assert found["within_list"] == {"ndcg": pytest.approx(0.61315, abs=1e-5), "mrr": 1}


def test_ranks_over_the_whole_pool_go_beyond_the_lists():
    ranks = {"0": (1, 15)}
    scores = evaluate_run(benchmark("mbeir", query("0", "b", "c")), run(q0="bd"), target_ranks=ranks)
    # (1 + 1/log2 16) / (1 + 1/log2 3) = 1.25 / 1.63093 = 0.76643
    assert figures(scores)["full_catalogue"] == {"ndcg": pytest.approx(0.76643, abs=1e-5), "mrr": 1}


def test_a_failed_query_counts_as_zero_and_ranks_stay_those_of_the_whole_pool():
    one = benchmark("lasco", query("0", "b"), query("1", "c"))
    found = figures(evaluate_run(one, run(q0="bc"), partial=True, target_ranks={"0": (1,)}))
    assert found["full_catalogue"] == {"ndcg": 0.5, "mrr": 0.5} and found["recall"]["50"] == 0.5


# ---- What is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(("lists", "sentence"), [
    ({"q0": "bc", "q1": "bc"}, r"lacks 1 of 3 queries \('2'\)"),
    ({**LISTS, "q9": "b"}, r"1 queries that the benchmark does not have \('9'"),
    ({**LISTS, "q1": "bcb"}, "query '1': image '2' occurs twice"),
    ({**LISTS, "q1": "bcz"}, "query '1': image '26' is not in the pool of 16 images"),
    ({}, "no ranking for any query"),
])
def test_runs_that_an_evaluator_refuses(lists, sentence):
    with pytest.raises(DatasetError, match=sentence):
        evaluate_run(CIRCO, numbered(**lists))


def test_missing_queries_count_as_zero_when_asked_and_loudly():
    # 0: 5/9; 1: 1/5; 2 is missing: 0
    scores = evaluate_run(CIRCO, numbered(q0=LISTS["q0"], q1=LISTS["q1"]), partial=True)
    assert figures(scores)["map"]["5"] == pytest.approx((5 / 9 + 1 / 5) / 3)
    assert scores.notes[0].startswith("INCOMPLETE: 1 of 3 queries have no ranking")


def test_hidden_targets():
    with pytest.raises(DatasetError, match=r"circo-val hides the targets of 1 of its 1 queries.*--submission"):
        evaluate_run(benchmark("circo", query("0")), numbered(q0="b"))


def test_no_queries():
    with pytest.raises(DatasetError, match="no queries"):
        evaluate_run(benchmark("circo"), run(q0="b"))


def test_a_pool_that_the_files_do_not_list_is_not_checked_and_that_is_said():
    scores = evaluate_run(benchmark("lasco", query("0", "b"), pools={"": None}), run(q0="zb"))
    assert figures(scores)["full_catalogue"]["mrr"] == 0.5
    assert any("was not checked" in note for note in scores.notes)


# ---- Sessions and qrels ----------------------------------------------------------------------------


def session(session_id: str, *targets: str, turns: int, subset: str = "circo_val"):
    return SimpleNamespace(session_id=session_id, subset=subset, target_ids=targets, turns=[None] * turns)


def beyond(*targets: str) -> tuple[str, ...]:
    return tuple(name for name in POOL if name not in targets)[:10]


def test_sessions_by_hand():
    # s0 (targets b, c): turn 1 misses, turn 2 has c at 3, turn 3 misses: hits 0, 1, 1 and no hit at the end.
    # s1 (target d): turn 1 has it at 10, and ends there: hits 1, 1, 1.
    # Hits@10 1/2, 1, 1; Final 1/2; AUC ((1/2 + 1)/2 + (1 + 1)/2)/2 = 7/8
    sessions = [session("s0", "b", "c", turns=3), session("s1", "d", turns=1)]
    mine = Run("latest", {
        "s0/1": beyond("b", "c"), "s0/2": ("e", "f", "c"), "s0/3": (*beyond("b", "c"), "b"),
        "s1/1": (*beyond("d")[:9], "d"),
    })
    scores = evaluate_sessions(sessions, mine)
    assert figures(scores) == {
        "hits_at_10": {"1": 0.5, "2": 1, "3": 1}, "final_recall_at_10": 0.5, "auc": 0.875}
    assert scores.facts["longest_session"] == 3 and scores.by_group == {}
    assert "1 of 4 lists contain fewer than 10 images." in scores.notes


def test_the_longest_session_is_that_of_the_subset():
    sessions = [session("x", "b", turns=2, subset="one"), session("y", "b", turns=1, subset="two")]
    scores = evaluate_sessions(sessions, Run("r", {"x/1": ("c",), "x/2": ("b",), "y/1": ("b",)}))
    assert figures_json(scores.by_group["one"])["auc"] == 0.5
    assert figures_json(scores.by_group["two"]) == {"hits_at_10": {"1": 1}, "final_recall_at_10": 1, "auc": 1}
    # together: hits 1/2, 1: AUC 3/4
    assert figures(scores)["auc"] == 0.75


def test_sessions_that_do_not_fit_the_run():
    one = [session("s0", "b", turns=2)]
    with pytest.raises(DatasetError, match=r"lacks 1 of 2 queries \('s0/2'\)"):
        evaluate_sessions(one, Run("r", {"s0/1": ("b",)}))
    with pytest.raises(DatasetError, match="'s0/3'"):
        evaluate_sessions(one, Run("r", {"s0/1": ("b",), "s0/2": ("b",), "s0/3": ("b",)}))
    with pytest.raises(DatasetError, match="'s0' occurs twice"):
        evaluate_sessions([*one, *one], Run("r", {}))
    with pytest.raises(DatasetError, match=r"1 of 2 sessions name no target \('s1'\)"):
        evaluate_sessions([*one, session("s1", turns=1)], Run("r", {"s0/1": ("b",)}))
    partial = evaluate_sessions(one, Run("r", {"s0/1": ("b",)}), partial=True)
    assert figures(partial)["final_recall_at_10"] == 0 and "INCOMPLETE" in partial.notes[0]


def test_empty_lists_are_noted_with_their_number():
    note = "EMPTY: 1 of 2 queries have a list without images and count as 0 ('s0/1')."
    scores = evaluate_sessions([session("s0", "b", turns=2)], Run("r", {"s0/1": (), "s0/2": ("b",)}))
    assert scores.notes[0] == note and figures(scores)["final_recall_at_10"] == 1
    judged = evaluate_qrels({"q1": {"x": 1}, "q2": {"x": 1}}, Run("r", {"q1": ("x",), "q2": (), "q3": ()}))
    assert judged.notes[0] == note.replace("s0/1", "q2") and figures(judged)["measures"]["RR"] == 0.5
    some = evaluate_qrels({"q1": {"x": 1}, "q2": {"x": 1}}, Run("r", {"q2": ()}), partial=True)
    assert [one.split(":")[0] for one in some.notes] == ["INCOMPLETE", "EMPTY"]


def test_a_measure_must_be_named():
    with pytest.raises(DatasetError, match="No measure is named"):
        evaluate_qrels({"q": {"x": 1}}, Run("r", {"q": ("x",)}), measures=[])


def test_qrels():
    # q1: x (2) at 2, one of two relevant: AP 1/2/2; q2: nothing relevant found
    qrels = {"q1": {"x": 2, "y": 1, "u": 0}, "q2": {"v": 1}}
    mine = Run("tag", {"q1": ("u", "x"), "q2": ("w",), "q3": ("x",)})
    scores = evaluate_qrels(qrels, mine, measures=["AP", "RR", "R@10", "RR"])
    assert figures(scores) == {"measures": {"AP": pytest.approx(1 / 8), "RR": 0.25, "R@10": 0.25}}
    assert any("'q3'" in note for note in scores.notes)
    assert np.isclose(scores.columns[Measure("measures", "AP")], [1 / 4, 0]).all()
    with pytest.raises(DatasetError, match=r"lacks 1 of 2"):
        evaluate_qrels(qrels, Run("tag", {"q1": ("u",)}))
