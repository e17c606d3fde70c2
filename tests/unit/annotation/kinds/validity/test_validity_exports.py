"""The validated queries as files that benchmarks read, and judgements as tables."""

import csv
import io
import json

import pyarrow.parquet as pq
import pytest

from annotation.kinds.validity.exports.mbeir import validated_files
from annotation.kinds.validity.exports.results import subset_json
from annotation.kinds.validity.exports.study_files import item_table, judgement_table
from annotation.kinds.validity.labels import count_subset, final_labels
from annotation.kinds.validity.rubric import load_rubric
from annotation.records import StudyImage
from annotation.sources.mbeir import read_mbeir
from annotation.tables import to_csv, to_parquet
from cir_core.audit.circus.traces import read_validated
from cir_core.datasets.readers.mbeir import read_benchmark
from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.errors import StudyError
from tests.fakes.judged import BROAD, TARGET, TEXT, answer_of, decision_of, item_of, judgement_of, study_of

TRACE = {"query_image_path": "dev/a.jpg", "target_image_path": "dev/b.jpg", "full_text": "Find it.\nin red",
         "ranks": {"multimodal": 3}, "aggregation": {"label": "unresolved"}, "validated": None, "other": "of the audit"}
VALID = answer_of()
IMAGES = {token: StudyImage(token, f"{token}.jpg", 10, 10) for token in ("t1", "t2", "t3")}


def exported(items, judgements, decisions=(), rule="majority", study=None):
    return validated_files(study or study_of(), items, judgements, decisions,
                           final_labels(items, judgements, decisions, rule, rubric=load_rubric("circus/1")))


def lines(content):
    return [json.loads(line) for line in content.decode().splitlines()]


def benchmark_of(dataset, numbers):
    """A data set of five queries of which the study had some; ids as in ``item_of``."""
    queries = [BenchmarkQuery(f"{dataset}-{number}", "a.jpg", "in red", ("b.jpg",)) for number in numbers]
    return Benchmark("mbeir", "test", queries, {dataset: None}, lambda image_id: (image_id,), dataset=dataset)


def test_traces_and_index_files_are_read_back_as_the_valid_queries(tmp_path):
    items = [
        item_of(0, category="composition_required"), item_of(1), item_of(2),
        item_of(3, category="composition_required"), item_of(4, dataset="circo"),
    ]
    # Valid are 0, 1 (two of three) and 4; 2 is a tie and 3 invalid.
    judgements = [judgement_of(items[n], name, answer) for n, name, answer in (
        (0, "a", VALID), (1, "a", VALID), (1, "b", answer_of(BROAD)), (1, "c", VALID), (2, "a", VALID),
        (2, "b", answer_of(BROAD)), (3, "a", answer_of(TEXT, reasons=["1a"])), (4, "b", VALID))]
    found = exported(items, judgements)
    assert found.notes == ()
    assert set(found.files) == {
        "all_validated_queries.jsonl", "cirr_validated.jsonl", "circo_validated.jsonl",
        "cirr_validated_solved_query_indices.json", "cirr_validated_unsolved_query_indices.json",
        "circo_validated_unsolved_query_indices.json"}
    for name, content in found.files.items():
        (tmp_path / name).write_bytes(content)
    cirr, circo = benchmark_of("cirr", range(4)), benchmark_of("circo", [0, 1, 2, 3, 4])
    everything = tmp_path / "all_validated_queries.jsonl"
    assert read_validated(everything, cirr) == {"cirr-0", "cirr-1"}
    assert read_validated(everything, circo) == {"circo-4"}
    assert read_validated(tmp_path / "cirr_validated_solved_query_indices.json", cirr) == {"cirr-0"}
    assert read_validated(tmp_path / "cirr_validated_unsolved_query_indices.json", cirr) == {"cirr-1"}
    queries = read_benchmark(tmp_path / "cirr_validated.jsonl").queries
    assert [(q.query_id, q.reference_id, q.modification_text, q.target_ids) for q in queries] == [
        ("cirr-0", "a.jpg", "in red", ("b.jpg",)), ("cirr-1", "a.jpg", "in red", ("b.jpg",))]


def test_query_lines_have_the_form_of_m_beir():
    item = item_of(3, query_id="8:7", reference_id="8:1", target_id="8:9", target_ids=["8:4", "8:9"], trace=TRACE,
                   text="Füge einen 🐕 hinzu")
    content = exported([item], [judgement_of(item, "a", VALID)]).files["cirr_validated.jsonl"]
    assert lines(content) == [{
        "query_id": "8:7", "query_text": "Füge einen 🐕 hinzu", "query_img_path": "dev/a.jpg",
        "pos_cand_list": ["8:9"], "gt_cand_list": ["8:9", "8:4"],           # the target that was judged comes first
        "cirque": {"reference_id": "8:1"},
    }]


def test_lines_of_m_beirs_own_files_come_back_as_they_were(tmp_path):
    records = [
        {"qid": "8:1", "query_txt": "Add a dog.", "query_img_path": "mbeir_images/a.jpg",
         "query_modality": "image,text", "query_src_content": '{"id": "a"}', "pos_cand_list": ["8:99", "8:98"],
         "neg_cand_list": ["8:97"], "task_id": 7},
        {"qid": "7:2", "query_txt": "Is red and is long.", "query_img_path": "mbeir_images/b.jpg",
         "query_modality": "image,text", "query_src_content": None, "pos_cand_list": ["8:98"], "neg_cand_list": [],
         "task_id": 7},
        {"query_id": "x", "query_text": "is red", "query_img_path": "c.jpg", "pos_cand_list": ["8:97"], "task_id": 7,
         "cirque": {"caption_mode": "joined"}},
    ]
    path = tmp_path / "mbeir_mixed_task7_test.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    items = [item_of(number, dataset="mixed", text=one.text, query_id=one.query_id, reference_id=one.reference_id,
                     target_id=one.target_id, target_ids=list(one.target_ids), caption_mode=one.caption_mode,
                     trace=json.loads(json.dumps(one.trace)))
             for number, one in enumerate(read_mbeir(path).queries)]
    files = exported(items, [judgement_of(item, "a", VALID) for item in items]).files
    assert lines(files["mixed_validated.jsonl"]) == records
    assert lines(files["all_validated_queries.jsonl"])[0]["mbeir"]["task_id"] == 7


@pytest.mark.parametrize("odd", [3, "x", {"query_text": "another", "cirque": 1}])
def test_what_a_trace_happens_to_call_mbeir_changes_no_line(odd):
    plain, item = (item_of(trace=trace) for trace in ({}, {"mbeir": odd}))
    one, other = (exported([of], [judgement_of(of, "a", VALID)]).files["cirr_validated.jsonl"] for of in (plain, item))
    assert one == other


@pytest.mark.parametrize(("query_id", "known", "written"), [
    ("7:1", None, "m-beir"), ("8:1", None, "single"), ("7:1", "single", "single"), ("dress:1", "joined", "joined"),
    ("7:1", "m-beir", "m-beir"), (None, "m-beir", "m-beir"),
])
def test_the_caption_mode_is_the_source_s(tmp_path, query_id, known, written):
    item = item_of(query_id=query_id, **({"caption_mode": known} if known else {}))
    (tmp_path / "q.jsonl").write_bytes(exported([item], [judgement_of(item, "a", VALID)]).files["cirr_validated.jsonl"])
    [query] = read_benchmark(tmp_path / "q.jsonl").queries
    assert query.caption_mode == written and query.query_id == (query_id or "cirr::0")


def test_a_trace_has_what_the_source_knew_and_what_people_said():
    item = item_of(5, trace=TRACE)
    judgements = [judgement_of(item, "a", answer_of(BROAD, note="no")), judgement_of(item, "b", answer_of(note="yes")),
                  judgement_of(item, "c", answer_of(note="sure"))]
    trace, = lines(exported([item], judgements).files["all_validated_queries.jsonl"])
    assert trace == TRACE | {
        "dataset": "cirr", "hidden_category": "unresolved", "query_idx": 5, "query_id": "cirr-5",
        "query_text": "in red", "validated": True, "annotator_kept": None, "other": "yes\nsure",   # of the valid votes
        "reasons": {TEXT: False, "INVALID_IMAGE_QUERY": False, TARGET: False, BROAD: False},
        "cirque": {"study": "My study", "protocol": "circus/1", "item": "cirr::5", "label_by": "majority",
                   "votes": {"valid": 2, "invalid": 1, "unlabelled": 0}},
    }


@pytest.mark.parametrize(("answers", "decided", "rule", "kept", "other"), [
    ([answer_of(note="x")], None, "majority", "a", "x"),
    ([answer_of(note="x"), answer_of(note="y")], None, "single_kept", "a", "x"),
    ([answer_of(unsure=True, note="?"), answer_of(note="y")], None, "majority", "b", "y"),
    ([answer_of(BROAD, note="n"), answer_of(note="y")], answer_of(note="fine"), "majority", None, "fine"),
    ([answer_of(note="x")], answer_of(), "single_kept", None, ""),
])
def test_whose_judgement_a_trace_rests_on(answers, decided, rule, kept, other):
    item = item_of()
    judgements = [judgement_of(item, name, answer) for name, answer in zip("ab", answers, strict=False)]
    decisions = [decision_of(item, decided)] if decided else []
    trace, = lines(exported([item], judgements, decisions, rule).files["all_validated_queries.jsonl"])
    assert (trace["annotator_kept"], trace["other"]) == (kept, other)


def test_items_without_text_have_traces_but_no_query_lines(tmp_path):
    items = [item_of(0, text=""), item_of(1, reference_id="", target_id="", target_ids=[]), item_of(2)]
    found = exported(items, [judgement_of(item, "a", VALID) for item in items])
    assert [line["query_id"] for line in lines(found.files["cirr_validated.jsonl"])] == ["cirr-2"]
    assert found.notes == ("2 of 3 valid queries have no text or no images in this study, so they are in the trace"
                           " and index files only.",)
    traces = found.files["all_validated_queries.jsonl"]
    assert [line["query_image_path"] for line in lines(traces)] == ["a.jpg", None, "a.jpg"]
    (tmp_path / "t.jsonl").write_bytes(traces)
    assert read_validated(tmp_path / "t.jsonl", benchmark_of("cirr", range(4))) == {"cirr-0", "cirr-1", "cirr-2"}


def test_file_names_of_odd_data_sets_do_not_meet():
    items = [item_of(0, dataset="My/set: é"), item_of(1, dataset="my set é"), item_of(2, dataset="MY-SET-É"),
             item_of(3, dataset="..")]
    found = exported(items, [judgement_of(item, "a", VALID) for item in items])
    queries = [name for name in found.files if name.endswith("_validated.jsonl")]
    assert queries == ["My-set-é_validated.jsonl", "my-set-é-2_validated.jsonl", "MY-SET-É-3_validated.jsonl",
                       "queries_validated.jsonl"]


def test_an_empty_subset_is_refused():
    item = item_of()
    with pytest.raises(StudyError, match="No query of 'My study' is valid so far"):
        exported([item], [judgement_of(item, "a", answer_of(BROAD))])


def table_rows(content):
    assert content.startswith(b"\xef\xbb\xbf")
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def test_judgements_as_csv():
    item = item_of(2)
    answer = answer_of(TARGET, BROAD, reasons=["3b", "3c"], note='he said "שלום",\nthen 🐕', alternatives=["t3", "t1"],
                       opened=True)
    table = judgement_table(study_of(), [item], IMAGES, [judgement_of(item, "ann", answer, revision=2),
                                                         judgement_of(item, "ben", answer_of(unsure=True))])
    first, second = table_rows(to_csv(table))
    assert first == {
        "study": "My study", "item": "cirr::2", "dataset": "cirr", "query_idx": "2", "query_id": "cirr-2",
        "hidden_category": "unresolved", "in_block": "false", "text": "in red", "reference_id": "a.jpg",
        "target_id": "b.jpg", "annotator": "ann", "revision": "2", "protocol": "circus/1", "validated": "false",
        "primary": TARGET, TEXT: "false", "INVALID_IMAGE_QUERY": "false", TARGET: "true", BROAD: "true",
        "reasons": '["3b", "3c"]', "note": 'he said "שלום",\nthen 🐕', "alternatives": '["t1.jpg", "t3.jpg"]',
        "panel_opened": "true", "unsure": "false", "seconds": "12.5", "answered_at": "2026-03-01T12:00:02+00:00",
    }
    assert (second["validated"], second["primary"], second["unsure"], second["reasons"]) == (
        "", "UNLABELLED", "true", "[]")


@pytest.mark.parametrize("note", ["=1+1", "+1", "-1", "@SUM(A1)", "\t1", "\r1", "＝1"])
def test_a_note_that_would_be_a_formula_is_harmless_in_csv_and_itself_in_parquet(note):
    item = item_of(text=note)
    table = judgement_table(study_of(name=note), [item], {}, [judgement_of(item, note, answer_of(note=note))])
    row, = table_rows(to_csv(table))
    assert {row[name] for name in ("study", "text", "annotator", "note")} == {f"'{note}"}
    kept, = pq.read_table(io.BytesIO(to_parquet(table))).to_pylist()
    assert {kept[name] for name in ("study", "text", "annotator", "note")} == {note}


def test_an_ordinary_text_is_not_touched_in_csv():
    item = item_of(text="a = b - c", query_idx=-1)
    row, = table_rows(to_csv(judgement_table(study_of(), [item], {}, [judgement_of(item, "a", VALID)])))
    assert (row["text"], row["query_idx"]) == ("a = b - c", "-1")


def test_parquet_has_types_and_says_what_columns_mean():
    item = item_of(2)
    judgement = judgement_of(item, "ann", answer_of(TARGET, reasons=["3a"], alternatives=["t2", "t9"]))
    table = judgement_table(study_of(), [item], IMAGES, [judgement, judgement_of(item, "b", answer_of(unsure=True))])
    read = pq.read_table(io.BytesIO(to_parquet(table)))
    types = {field.name: str(field.type) for field in read.schema}
    assert {types[n] for n in ("validated", "in_block", BROAD)} == {"bool"}
    assert (types["query_idx"], types["seconds"], types["answered_at"], types["reasons"].partition("<")[0]) == (
        "int64", "double", "timestamp[us, tz=UTC]", "list")
    assert read.schema.metadata[b"protocol"] == b"circus/1"
    assert all(field.metadata[b"meaning"] for field in read.schema)
    first, second = read.to_pylist()
    assert (first["validated"], first[TARGET], first["reasons"], first["alternatives"]) == (
        False, True, ["3a"], ["t2.jpg", "t9"])
    assert first["answered_at"] == judgement.created_at
    assert second["validated"] is None


def test_items_with_their_labels():
    items = [item_of(0), item_of(1), item_of(2)]
    judgements = [judgement_of(items[0], "a", VALID), judgement_of(items[0], "b", answer_of(BROAD)),
                  judgement_of(items[1], "a", answer_of(TEXT, reasons=["1b"]))]
    decisions = [decision_of(items[0], answer_of(TARGET, reasons=["3c"], note="another dog"), reason="=look again")]
    labels = final_labels(items, judgements, decisions, rubric=load_rubric("circus/1"))
    table = item_table(study_of(), items, decisions, labels)
    rows = table_rows(to_csv(table))
    assert [(r["item"], r["judgements"], r["votes_valid"], r["votes_invalid"], r["validated"], r["primary"], r["by"],
             r["kept"], r["reasons"]) for r in rows] == [
        ("cirr::0", "2", "1", "1", "false", TARGET, "adjudicated", "", '["3c"]'),
        ("cirr::1", "1", "0", "1", "false", TEXT, "majority", "a", '["1b"]'),
        ("cirr::2", "0", "0", "0", "", "UNLABELLED", "none", "", "[]"),
    ]
    assert [(r["adjudicator"], r["decision_reason"], r["decision_note"], r["decided_at"]) for r in rows[:2]] == [
        ("olga", "'=look again", "another dog", "2026-03-01T13:00:00+00:00"), ("", "", "", "")]
    read = pq.read_table(io.BytesIO(to_parquet(table)))
    assert [row["validated"] for row in read.to_pylist()] == [False, False, None]
    assert str(read.schema.field("decided_at").type) == "timestamp[us, tz=UTC]"


def test_what_an_imported_item_does_not_know_is_missing():
    item = item_of(text="", reference_id="", target_id="", query_id=None)
    row, = pq.read_table(io.BytesIO(to_parquet(
        judgement_table(study_of(), [item], {}, [judgement_of(item, "a", VALID)])))).to_pylist()
    assert [row[name] for name in ("text", "reference_id", "target_id", "query_id")] == [None] * 4


def test_tables_of_a_study_without_answers_have_their_columns():
    table = judgement_table(study_of(), [], {}, [])
    assert table_rows(to_csv(table)) == []
    assert pq.read_table(io.BytesIO(to_parquet(table))).column_names == [column.name for column in table.columns]
    assert len({column.name for column in table.columns}) == len(table.columns)


# --- the validated subset in numbers ---------------------------------------------------------

RUBRIC = load_rubric("circus/1")
# CIRCUS, Table 2: audited and validated, composition_required then unresolved.
TABLE_2 = {
    "cirr": (271, 147, 414, 156), "fashioniq": (1000, 368, 1000, 218), "lasco": (1000, 452, 1000, 306),
    "circo": (53, 39, 3, 3),
}


def counted(items, judgements, decisions=(), rule="majority"):
    return count_subset(items, final_labels(items, judgements, decisions, rule, rubric=RUBRIC), rubric=RUBRIC)


def test_table_2_of_circus():
    items, judgements = [], []
    for dataset, (required, solved, unresolved, unsolved) in TABLE_2.items():
        for category, audited, valid in (("composition_required", required, solved),
                                         ("unresolved", unresolved, unsolved)):
            for place in range(audited):
                items.append(item_of(len(items), dataset=dataset, category=category))
                answer = answer_of() if place < valid else answer_of(BROAD)
                judgements.append(judgement_of(items[-1], f"annotator_{len(items) % 9}", answer))
    for rule in ("majority", "single_kept"):
        subset = counted(items, judgements, rule=rule)
        assert {row.dataset: (row.audited_required, row.validated_solved, row.audited_unresolved,
                              row.validated_unsolved) for row in subset.rows} == TABLE_2
        assert [row.validated for row in subset.rows] == [303, 586, 758, 42]
        total = subset.total
        assert (total.audited_required, total.validated_solved) == (2324, 1006)
        assert (total.audited_unresolved, total.validated_unsolved) == (2417, 683)
        assert (total.audited, total.validated, total.dataset) == (4741, 1689, "Total")
        assert total.primary["VALIDATED"] == 1689 and total.primary[BROAD] == 4741 - 1689


def test_categories_and_reasons_add_up():
    answers = [
        [answer_of()],                                                       # valid
        [answer_of(TARGET, BROAD, reasons=["3a", "3b"])],                    # wrong target, and broad
        [answer_of(TARGET, TEXT, reasons=["3a", "1a"])],                     # wrong target, and unclear
        [answer_of(validated=False)],                                        # invalid, no flag
        [answer_of(), answer_of(BROAD)],                                     # a tie
        [answer_of(unsure=True)], [],                                        # nobody voted
        [answer_of(), answer_of(BROAD)],                                     # a tie that was decided
        [answer_of(BROAD), answer_of(TEXT, reasons=["1a"])],                 # invalid, for different reasons
    ]
    items = [item_of(number, category="unresolved") for number in range(len(answers))]
    judgements = [judgement_of(item, name, answer) for item, of in zip(items, answers, strict=True)
                  for name, answer in zip("ab", of, strict=False)]
    row, = counted(items, judgements, [decision_of(items[7], answer_of(BROAD))]).rows
    assert row.primary == {"VALIDATED": 1, TEXT: 0, "INVALID_IMAGE_QUERY": 0, TARGET: 2, BROAD: 1,
                           "INVALID_REASONS_DIFFER": 1, "INVALID_UNSPECIFIED": 1}
    assert (row.undecided, row.unlabelled, row.adjudicated) == (1, 2, 1)
    assert sum(row.primary.values()) + row.undecided + row.unlabelled == row.audited == 9
    assert row.flags == {TEXT: 1, "INVALID_IMAGE_QUERY": 0, TARGET: 2, BROAD: 2}
    assert row.reasons == {"1a": 1, "1b": 0, "1c": 0, "2a": 0, "2b": 0, "2c": 0, "3a": 2, "3b": 1, "3c": 0}
    assert row.reasons_differ == {TEXT: 0, "INVALID_IMAGE_QUERY": 0, TARGET: 0}


def test_a_flag_whose_reasons_differ_is_counted():
    """Otherwise its reasons would add up to less than the flag, and nothing would say why."""
    image = "INVALID_IMAGE_QUERY"
    answers = [
        [answer_of(image, reasons=["2a"]), answer_of(image, reasons=["2b"])],          # differ
        [answer_of(image, reasons=["2a"]), answer_of(image, reasons=["2a", "2b"])],    # 2a
        [answer_of(image), answer_of(image)],                                          # none, as in CIRCUS's files
        [answer_of(image, reasons=["2c"], note="x")],                                  # 2c
    ]
    items = [item_of(number) for number in range(len(answers))]
    judgements = [judgement_of(item, name, answer) for item, of in zip(items, answers, strict=True)
                  for name, answer in zip("ab", of, strict=False)]
    total = counted(items, judgements).total
    assert total.flags[image] == 4 and {code: n for code, n in total.reasons.items() if n} == {"2a": 1, "2c": 1}
    assert total.reasons_differ == {TEXT: 0, image: 1, TARGET: 0}
    shown = subset_json(counted(items, judgements), RUBRIC, "majority")["reasons"]
    of_image = [(one["code"], one["name"], one["count"]) for one in shown if one["flag"] == "Unusable reference"]
    assert [(code, count) for code, _, count in of_image] == [("2a", 1), ("2b", 0), ("2c", 1), ("", 1)]
    assert of_image[-1][1] == "Reasons differ" and sum(one["code"] == "" for one in shown) == 1
    # An adjudicator's word is one, and so is the one that is kept.
    assert counted(items, judgements, [decision_of(items[0], answer_of(image, reasons=["2b"]))]).total.reasons_differ[
        image] == 0
    assert counted(items, judgements, rule="single_kept").total.reasons["2a"] == 2


def test_queries_without_an_audit_stand_under_other():
    items = [item_of(0, category="unknown"), item_of(1, category=None), item_of(2, dataset=None, category="unresolved"),
             item_of(3, category="shortcut_solvable")]
    subset = counted(items, [judgement_of(item, "a", answer_of()) for item in items[:3]])
    assert [row.dataset for row in subset.rows] == ["cirr", "unknown"]
    cirr, unknown = subset.rows
    assert (cirr.audited_other, cirr.validated_other, cirr.audited_unresolved, cirr.validated) == (3, 2, 0, 2)
    assert (unknown.audited_unresolved, unknown.validated_unsolved) == (1, 1)
    assert (subset.total.audited, subset.total.validated) == (4, 3)


def test_a_study_without_items_has_a_total_of_nothing():
    subset = counted([], [])
    assert subset.rows == () and subset.total.audited == subset.total.validated == 0
