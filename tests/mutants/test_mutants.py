"""Every mutant of the list can be made: who changes a line that one of them changes finds it another place."""

from collections import Counter

import pytest

from tests.mutants.catalogue import read_mutants

MUTANTS = read_mutants()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_it_applies(mutant):
    assert mutant.problems() == []


def test_they_are_spread_over_all_rooms():
    files = Counter(mutant.file for mutant in MUTANTS)
    rooms = Counter(mutant.file.partition("/")[0] for mutant in MUTANTS)
    assert max(files.values()) <= 4
    assert len(MUTANTS) >= 64 and min(rooms[room] for room in (
        "cir_core", "annotation", "storage", "web", "cli", "assets")) >= 8
