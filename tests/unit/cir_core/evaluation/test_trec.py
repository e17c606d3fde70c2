"""TREC runs and qrels: what is read, what is refused, and that other evaluators keep our order."""

import math
from itertools import pairwise
from pathlib import Path

import ir_measures
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.readers.qrels import read_qrels, write_qrels
from cir_core.errors import DatasetError
from cir_core.evaluation.runs.records import Run
from cir_core.evaluation.runs.trec import falling_scores, read_trec_run, write_trec_run


def saved(folder: Path, text: str, name: str = "a.run") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def test_lines_are_ordered_by_score(tmp_path):
    run = read_trec_run(saved(tmp_path, "q1 Q0 b 2 0.5 mine\nq1 Q0 a 1 0.9 mine\nq2 Q0 c 1 -1e-3 mine\n"))
    assert run == Run("mine", {"q1": ("a", "b"), "q2": ("c",)}, {"q1": (0.9, 0.5), "q2": (-0.001,)})


def test_equal_scores_go_by_rank_then_by_file(tmp_path):
    run = read_trec_run(saved(tmp_path, "q Q0 c 3 1 t\nq Q0 a 2 1 t\nq Q0 b 2 1 t\nq Q0 z 1 1 t\n"))
    assert run.rankings["q"] == ("z", "a", "b", "c")
    assert run.notes == ("1 queries have equal scores, first 'q': the rank column decides. "
                         "trec_eval would order them by image id.",)


def test_ranks_that_contradict_the_scores_are_noted(tmp_path):
    run = read_trec_run(saved(tmp_path, "q Q0 a 2 0.9 t\nq Q0 b 1 0.5 t\np Q0 a 1 0.9 t\np Q0 b 2 0.5 t\n"))
    assert run.rankings["q"] == ("a", "b")
    assert run.notes == ("The rank column contradicts the scores in 1 queries, first 'q': "
                         "the scores decide, as in trec_eval.",)


def test_windows_ends_a_mark_tabs_and_blank_lines_are_read(tmp_path):
    path = saved(tmp_path, "\ufeffq\tQ0\ta\t1\t0.9\tt\r\n\r\nq  Q0 b  2 0.5   t\r\n")
    assert read_trec_run(path).rankings == {"q": ("a", "b")}


def test_two_tags_are_noted_and_the_first_is_the_system(tmp_path):
    run = read_trec_run(saved(tmp_path, "q Q0 a 1 0.9 one\np Q0 a 1 0.9 two\n"))
    assert run.system == "one"
    assert run.notes == ("The file has 2 tags (one, two) and is read as one run.",)


@pytest.mark.parametrize(("line", "problem"), [
    ("q Q0 a 1 0.9", "line 2: it has 5 fields, not 6"),
    ("q Q0 a 1 0.9 t more", "line 2: it has 7 fields, not 6"),
    ("q Q0 a first 0.9 t", "line 2: the rank 'first' is not an integer"),
    ("q Q0 a 1.5 0.9 t", "line 2: the rank '1.5' is not an integer"),
    ("q Q0 a 1 nan t", "line 2: the score 'nan' of query 'q' is not a finite number"),
    ("q Q0 a 1 -inf t", "line 2: the score '-inf' of query 'q' is not a finite number"),
    ("q Q0 a 1 high t", "line 2: the score 'high' of query 'q' is not a finite number"),
    ("p Q0 a 2 0.1 t", "query 'p': image 'a' occurs twice in its ranking"),
])
def test_a_bad_line_names_file_line_and_remedy(tmp_path, line, problem):
    path = saved(tmp_path, f"p Q0 a 1 0.9 t\n{line}\n")
    with pytest.raises(DatasetError) as raised:
        read_trec_run(path)
    assert str(raised.value).startswith(f"{path}, {problem}. ")
    faults = ValidationIssues(collect=True)
    assert read_trec_run(path, faults).rankings == {"p": ("a",)}
    assert faults.count == 1


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_an_empty_run_is_refused(tmp_path, text):
    with pytest.raises(DatasetError, match="it contains no line of a run"):
        read_trec_run(saved(tmp_path, text))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DatasetError, match=r"nowhere\.run is missing"):
        read_trec_run(tmp_path / "nowhere.run")


def test_a_run_with_falling_scores_comes_back_as_it_was(tmp_path):
    run = Run("CIReVL", {"q1": ("a", "b"), "q2": ("b",)}, {"q1": (0.31, 0.3), "q2": (-2.5,)})
    write_trec_run(tmp_path / "a.run", run)
    assert (tmp_path / "a.run").read_text() == (
        "q1 Q0 a 1 0.31 CIReVL\nq1 Q0 b 2 0.3 CIReVL\nq2 Q0 b 1 -2.5 CIReVL\n")
    assert read_trec_run(tmp_path / "a.run") == run


def test_without_scores_they_count_down_and_a_system_of_several_words_is_one(tmp_path):
    write_trec_run(tmp_path / "a.run", Run("my best method", {"q": ("c", "b", "a")}))
    assert (tmp_path / "a.run").read_text() == (
        "q Q0 c 1 3 my_best_method\nq Q0 b 2 2 my_best_method\nq Q0 a 3 1 my_best_method\n")


@pytest.mark.parametrize(("run", "problem"), [
    (Run("s", {"q": ("a b",)}), "The image id 'a b' is empty or has white space"),
    (Run("s", {"q 1": ("a",)}), "The query id 'q 1' is empty or has white space"),
    (Run("s", {"q": ("",)}), "The image id '' is empty"),
    (Run("s", {"q": ("a",)}, {"q": (math.nan,)}), "Query 'q' has scores that are not 1 finite numbers"),
    (Run("s", {"q": ("a", "b")}, {"q": (1.0,)}), "Query 'q' has scores that are not 2 finite numbers"),
    (Run("s", {"q": ("a",)}, {}, {"q": ("a",)}), "has subset rankings"),
])
def test_what_the_form_cannot_hold_is_refused_and_leaves_no_file(tmp_path, run, problem):
    with pytest.raises(DatasetError, match=problem):
        write_trec_run(tmp_path / "a.run", run)
    assert list(tmp_path.iterdir()) == []


# The same score three times, two that only float64 tells apart (float32 has steps of 6e-8 below
# one), one that is higher than those before it, zeros of both signs, and ones float32 has not.
HARD = {
    "tied": (0.5, 0.5, 0.5),
    "close": (0.9, 0.9 - 1e-12, 0.9 - 2e-12),
    "rising": (0.2, 0.3, 0.25),
    "zero": (0.0, -0.0, 0.0),
    "tiny": (1e-60, 1e-70, 0.0),
    "huge": (1e300, 1e299, 1.0),
}


@pytest.mark.parametrize("measure", ["P@1", "RR", "nDCG@10", "Judged@1"])
@pytest.mark.parametrize("scores", HARD.values(), ids=HARD.keys())
def test_other_evaluators_keep_our_order_where_scores_tie(tmp_path, scores, measure):
    # trec_eval puts equal scores in falling order of ids, so "c" would be first; "a" is the target.
    write_trec_run(tmp_path / "a.run", Run("s", {"q": ("a", "b", "c")}, {"q": scores}))
    write_qrels(tmp_path / "qrels", {"q": {"a": 1}})
    value = ir_measures.calc_aggregate(
        [ir_measures.parse_measure(measure)], ir_measures.read_trec_qrels(str(tmp_path / "qrels")),
        ir_measures.read_trec_run(str(tmp_path / "a.run")))
    assert list(value.values()) == [1.0]
    assert read_trec_run(tmp_path / "a.run").rankings == {"q": ("a", "b", "c")}


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=30))
@example([-3.402823364973241e+38, 0.0])  # below the first there is no float32 left
def test_written_scores_strictly_fall_in_float32(scores):
    values = np.array([float(text) for text in falling_scores(scores, len(scores))], np.float32)
    assert np.isfinite(values).all()
    assert all(a > b for a, b in pairwise(values))


def test_scores_move_no_further_than_they_must():
    # 0.5 - 2^-25 is the float32 below 0.5; 0.25 lies below that and stays.
    assert [float(text) for text in falling_scores((0.5, 0.5, 0.25), 3)] == [0.5, 0.5 - 2**-25, 0.25]


@pytest.mark.parametrize("text", [
    "q 0 a 1\nq 0 b 0\np 0 a 2\n",
    "q\t0\ta\t1\r\nq\t0\tb\t0\r\np\t0\ta\t2\r\n",
    "q 0 a 1 7\nq 0 b 0 7\np 0 a 2 7\n",
    "\ufeffquery_id\tcandidate_id\tscore\nq\ta\t1\nq\tb\t0\np\ta\t2\n",
    "query-id\tcorpus-id\tscore\nq\ta\t1.0\nq\tb\t0\np\ta\t2\n",
], ids=["trec", "windows tabs", "m-beir", "converted", "other header"])
def test_every_form_of_qrels_is_read(tmp_path, text):
    assert read_qrels(saved(tmp_path, text)) == {"q": {"a": 1, "b": 0}, "p": {"a": 2}}


@pytest.mark.parametrize("header", [False, True])
def test_qrels_come_back_as_they_were(tmp_path, header):
    qrels = {"q": {"a": 1, "b": 0}, "p": {"a": 2}}
    write_qrels(tmp_path / "qrels", qrels, header=header)
    assert read_qrels(tmp_path / "qrels") == qrels


@pytest.mark.parametrize(("text", "problem"), [
    ("q 0 a 1\nq 0 b\n", "line 2: it has 3 fields, not 4 or 5"),
    ("query_id\tcandidate_id\tscore\nq\ta\n", "line 2: it has 2 fields, not 3"),
    ("q 0 a yes\n", "line 1: the grade 'yes' is not an integer"),
    ("q 0 a nan\n", "line 1: the grade 'nan' is not an integer"),
    ("q 0 a 0.5\n", "line 1: the grade '0.5' is not an integer"),
    ("q 0 a 1\nq 0 a 0\n", "line 2: query 'q' has image 'a' twice"),
    ("q 0 a 1000001\n", "line 1: the grade 1000001 is beyond 1,000,000, the most that measures take"),
    (f"q 0 a {'9' * 5000}\n", f"line 1: the grade {'9' * 20}… is beyond 1,000,000, the most that measures take"),
    ("q 0 a -99999999999\n", "line 1: the grade -99999999999 is beyond 1,000,000, the most that measures take"),
])
def test_bad_qrels_name_file_line_and_remedy(tmp_path, text, problem):
    path = saved(tmp_path, text, "qrels")
    with pytest.raises(DatasetError) as raised:
        read_qrels(path)
    assert str(raised.value).startswith(f"{path}, {problem}. ")


def test_grades_up_to_the_highest(tmp_path):
    path = saved(tmp_path, "q 0 a 1000000\nq 0 b -1\nq 0 c +0000000002.0\n", "qrels")
    assert read_qrels(path) == {"q": {"a": 1_000_000, "b": -1, "c": 2}}


def test_empty_qrels_are_refused(tmp_path):
    with pytest.raises(DatasetError, match="it contains no line of qrels"):
        read_qrels(saved(tmp_path, "query_id\tcandidate_id\tscore\n"))
