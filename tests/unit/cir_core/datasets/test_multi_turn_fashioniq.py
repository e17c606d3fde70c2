"""Multi-turn FashionIQ's files, as sessions."""

import json

import pytest

from cir_core.construct.describe.sets import read_sets
from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.readers.circled import CircledTurn
from cir_core.datasets.readers.multi_turn_fashioniq import is_multi_turn_fashioniq, read_multi_turn_fashioniq
from cir_core.errors import DatasetError
from cir_core.registry.checking import check

RECORD = {"target": ["http://x/t.jpg", "B3"], "reference": [
    ["http://x/1.jpg", ["has long sleeves", " is red"], "B1"], ["http://x/2.jpg", ["is darker"], "B2"]]}


def saved(folder, records, name="dress.val.json"):
    path = folder / name
    path.write_text(json.dumps(records), "utf-8")
    return path


def test_a_chain_of_pairs_is_a_session(tmp_path):
    [session] = read_multi_turn_fashioniq(saved(tmp_path, [RECORD]))
    assert (session.session_id, session.subset, session.target_ids) == (
        "fashioniq_dress_val_0000", "fashioniq_dress_val", ("B3",))
    assert session.turns == (CircledTurn("B1", "has long sleeves and is red"), CircledTurn("B2", "is darker"))
    [other] = read_multi_turn_fashioniq(saved(tmp_path, [RECORD], "mine.json"), caption_mode="first")
    assert (other.subset, other.turns[0].text) == ("mine", "has long sleeves")


def test_sets_and_checks_take_such_files(tmp_path):
    path = saved(tmp_path, [RECORD, RECORD])
    [subset], notes = read_sets([path])
    assert (subset.name, len(subset.sessions)) == ("fashioniq_dress_val", 2) and "only the last rank" in notes[0]
    found = check("multi-turn-fashioniq", path)
    assert found.ok and found.counts["sessions of 2 turns"] == 2
    assert not is_multi_turn_fashioniq(saved(tmp_path, [{"session_id": "a"}], "other.json"))
    assert not is_multi_turn_fashioniq(saved(tmp_path, {"target": 1, "reference": 2}, "other.json"))


@pytest.mark.parametrize(("record", "said"), [
    ({**RECORD, "reference": []}, "it has no turns"),
    ({**RECORD, "reference": [["http://x", "B1"]]}, "reference"),
    ({"target": "B3", "reference": []}, "target"),
])
def test_faults_name_their_place(tmp_path, record, said):
    with pytest.raises(DatasetError, match=said):
        read_multi_turn_fashioniq(saved(tmp_path, [record]))


def test_nothing_is_a_fault_and_an_empty_text_a_note(tmp_path):
    faults = ValidationIssues(collect=True)
    assert len(read_multi_turn_fashioniq(saved(tmp_path, []), faults)) == 0 and faults.count == 1
    silent = {**RECORD, "reference": [["http://x/1.jpg", ["", " "], "B1"]]}
    assert "1 sessions have a turn without text" in read_multi_turn_fashioniq(saved(tmp_path, [silent])).notes[1]
