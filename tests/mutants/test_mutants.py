"""Every mutant of the list can be made: who changes a line that one of them changes finds it another place."""

from collections import Counter
from pathlib import Path

import pytest

from tests.mutants.catalogue import read_mutants

ROOT = Path(__file__).parents[2]

MUTANTS = read_mutants()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_it_applies(mutant):
    assert mutant.problems() == []


def test_they_are_spread_over_all_rooms():
    files = Counter(mutant.file for mutant in MUTANTS)
    rooms = Counter(mutant.file.partition("/")[0] for mutant in MUTANTS)
    # A file of more than 150 lines may be two of before.
    assert not {name: count for name, count in files.items()
                if count > (2 if len((ROOT / name).read_text("utf-8").splitlines()) <= 150 else 4)}
    assert len(MUTANTS) >= 64 and min(rooms[room] for room in (
        "cir_core", "annotation", "storage", "web", "cli", "assets")) >= 8
