"""Tables and training pairs of preference studies."""

import csv
import io
import json
from datetime import UTC, datetime

import pyarrow.parquet as pq

from annotation.kinds.preference.exports import judgement_table, preference_pairs, set_table
from annotation.tables.files import to_csv, to_parquet
from tests.fakes.preferences import a_judgement, a_study, an_answer, an_assignment, an_item

STUDY = a_study()
ITEMS = [an_item(0, text="=SUM(A1) is red"), an_item(1, category=""),
         an_item(2, methods=[None, None], target_id="", target_ids=[])]
PLACES = [an_assignment(0, 1, "Ada", reason=True), an_assignment(1, 1, "Ada", first=2, form=2),
          an_assignment(2, 2, "Ben", first=None)]
JUDGEMENTS = [
    a_judgement(0, "Ada", an_answer(2, 4, 2, reason="its collar", irrelevant={"image": True, "text": False})),
    a_judgement(1, "Ada", an_answer(3, 5, 1, first=2, contradiction_confirmed=True), revision=3),
    a_judgement(2, "Ben", an_answer(3, 3, 0, first=None, irrelevant={"image": None, "text": None}), seconds=0.0,
                extra={"imported": "hp-fashioniq"}),
]
EXCLUDED = {"j-0-Ada": ("irrelevant", "one_side")}


def rows(table):
    names = [column.name for column in table.columns]
    return [dict(zip(names, row, strict=True)) for row in table.rows]


def test_a_row_for_each_judgement():
    one, two, three = rows(judgement_table(STUDY, ITEMS, PLACES, JUDGEMENTS, EXCLUDED))
    assert one == {
        "study": "Shops", "item": "q0", "dataset": "fashioniq", "category": "shirt", "query_id": "query-0",
        "text": "=SUM(A1) is red", "reference_id": "0-ref", "target_ids": ["0-b0"], "method_1": "slerp",
        "method_2": "text", "set_1": ["0-a0", "0-a1", "0-a2", "0-a3", "0-a4"],
        "set_2": ["0-b0", "0-b1", "0-b2", "0-b3", "0-b4"], "target_in_1": False, "target_in_2": True,
        "annotator": "Ada", "form": 1, "position": 1, "protocol": "hs-fashioniq/1", "revision": 1, "first": 1,
        "rating_1": 2, "rating_2": 4, "preferred": 2, "preferred_method": "text", "contradicts": False,
        "irrelevant": True, "irrelevant_to_image": True, "irrelevant_to_text": False, "reason_asked": True,
        "reason": "its collar",
        "seconds": 10.0, "answered_at": datetime(2026, 3, 1, 9, tzinfo=UTC), "excluded": ["irrelevant", "one_side"],
    }
    assert (two["category"], two["form"], two["position"], two["revision"], two["first"]) == (None, 2, 2, 3, 2)
    assert (two["preferred_method"], two["contradicts"], two["reason_asked"], two["excluded"]) == (
        "slerp", True, False, [])
    unknown = ("method_1", "method_2", "preferred_method", "first", "irrelevant_to_image", "seconds", "answered_at")
    assert [three[name] for name in unknown] == [None] * len(unknown)
    assert (three["preferred"], three["contradicts"]) == (0, False)


def test_two_rows_for_each_judgement_one_for_a_set():
    table = rows(set_table(STUDY, ITEMS, PLACES, JUDGEMENTS))
    told = [(row["item"], row["set"], row["method"], row["has_target"], row["stood_first"], row["rating"],
             row["preferred"]) for row in table]
    assert told == [
        ("q0", 1, "slerp", False, True, 2, False), ("q0", 2, "text", True, False, 4, True),
        ("q1", 1, "slerp", False, False, 3, True), ("q1", 2, "text", True, True, 5, False),
        ("q2", 1, None, None, None, 3, False), ("q2", 2, None, None, None, 3, False),
    ]
    assert table[1]["images"] == ["0-b0", "0-b1", "0-b2", "0-b3", "0-b4"]


def test_somebody_without_a_place_is_there_all_the_same():
    (row,) = rows(judgement_table(STUDY, ITEMS, [], JUDGEMENTS[:1]))
    assert (row["form"], row["position"], row["reason_asked"]) == (None, None, False)


def test_tables_as_csv_and_parquet():
    for table in (judgement_table(STUDY, ITEMS, PLACES, JUDGEMENTS), set_table(STUDY, ITEMS, PLACES, JUDGEMENTS)):
        names = [column.name for column in table.columns]
        assert len(set(names)) == len(names)
        written = list(csv.DictReader(io.StringIO(to_csv(table).decode("utf-8-sig"), newline="")))
        assert list(written[0]) == names and len(written) == len(table.rows)
        # What a spreadsheet would run gets an apostrophe; a program reads it as it was typed.
        assert written[0]["text"] == "'=SUM(A1) is red"
        assert pq.read_table(io.BytesIO(to_parquet(table))).to_pylist() == rows(table)


def test_pairs_for_training():
    found = preference_pairs(ITEMS, JUDGEMENTS)
    assert (found.pairs, found.ties) == (2, 1)
    one, two = map(json.loads, found.content.decode().splitlines())
    assert one == {
        "query_id": "query-0", "reference": "0-ref", "text": "=SUM(A1) is red",
        "chosen": ["0-b0", "0-b1", "0-b2", "0-b3", "0-b4"], "rejected": ["0-a0", "0-a1", "0-a2", "0-a3", "0-a4"],
        "chosen_score": 4, "rejected_score": 2, "annotator": "Ada", "margin": 2,
    }
    # Preferred against the ratings: the margin says so.
    assert (two["chosen"][0], two["chosen_score"], two["rejected_score"], two["margin"]) == ("1-a0", 3, 5, -2)
    assert preference_pairs(ITEMS, []).content == b""


def test_two_sets_of_the_same_images_teach_nothing():
    same = [["x", "y", "z"], ["z", "x", "y"]]
    items = [ITEMS[0], an_item(1, set_ids=same)]
    judgements = [JUDGEMENTS[0], a_judgement(1, "Ada", an_answer()), a_judgement(1, "Ben", an_answer(preferred=0))]
    found = preference_pairs(items, judgements)
    assert (found.pairs, found.identical, found.ties) == (1, 1, 1)
    assert json.loads(found.content)["query_id"] == "query-0"
