"""The ledger of a soak notices what it is there to notice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.soak_ledger import Ledger, Line, Stored, compare, digest_of, read_ledgers

ANSWER = Line("answer", "Ada/token-000001", digest_of({"note": "one"}), 1, "item-1")
OTHER = Line("answer", "Bob/token-000001", digest_of({"note": "two"}), 1, "item-1")
TURN = Line("turn", "turn-1", digest_of([["a", 1]]), place="session-1")
CUT = Line("interrupted", "Cleo")


def test_what_is_there_as_it_was_acknowledged_is_sound() -> None:
    verdict = compare([ANSWER, OTHER, TURN, ANSWER], Stored([OTHER, TURN, ANSWER]))
    assert verdict.sound and verdict.cut_off == 0
    assert verdict.acknowledged == {"answer": 2, "turn": 1}, "a repeated acknowledgement is one action"


@pytest.mark.parametrize(("ledger", "stored", "lost", "doubled", "changed"), [
    ([ANSWER, OTHER], [OTHER], 1, 0, 0),
    ([ANSWER], [ANSWER, ANSWER], 0, 1, 0),
    ([ANSWER], [ANSWER, OTHER], 0, 1, 0),                                        # nobody was told of it
    ([ANSWER], [replace(ANSWER, digest=digest_of({"note": "1"}))], 0, 0, 1),
    ([ANSWER], [replace(ANSWER, revision=2)], 0, 0, 1),
    ([ANSWER], [replace(ANSWER, place="item-2")], 0, 0, 1),
    ([ANSWER, replace(ANSWER, revision=2)], [ANSWER], 0, 0, 1),                  # told two different things
    ([TURN], [], 1, 0, 0),
    ([], [TURN], 0, 1, 0),
    ([CUT], [TURN, replace(TURN, key="turn-2")], 0, 1, 0),                       # one kill explains one turn
])
def test_what_is_not_is_told(ledger: list[Line], stored: list[Line], lost: int, doubled: int, changed: int) -> None:
    verdict = compare(ledger, Stored(stored))
    assert (len(verdict.lost), len(verdict.doubled), len(verdict.changed)) == (lost, doubled, changed)
    assert not verdict.sound


def test_a_turn_whose_answer_a_kill_cut_off_is_counted_and_no_fault() -> None:
    verdict = compare([TURN, CUT], Stored([TURN, replace(TURN, key="turn-2")]))
    assert verdict.sound and verdict.cut_off == 1


def test_a_damaged_file_is_not_sound() -> None:
    assert not compare([ANSWER], Stored([ANSWER], ["row 1 missing from index"])).sound


def test_a_ledger_is_read_as_it_was_written(tmp_path: Path) -> None:
    for name, lines in (("a", [ANSWER, CUT]), ("b", [TURN])):
        ledger = Ledger(tmp_path / f"{name}.jsonl")
        for line in lines:
            ledger.write(line)
        ledger.close()
    assert read_ledgers(tmp_path) == [ANSWER, CUT, TURN]


def test_equal_answers_have_one_digest_whatever_their_order() -> None:
    assert digest_of({"a": 1, "b": ["ü"]}) == digest_of({"b": ["ü"], "a": 1}) != digest_of({"a": 1, "b": ["u"]})
