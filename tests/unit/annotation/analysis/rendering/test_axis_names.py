"""Names beside a figure: short, and still those of different people."""

import pytest

from cir_core.reports.cells import LONGEST, axis_names

MAILS = [f"person.with.long.name.{number:02}@university.example" for number in range(30)]


@pytest.mark.parametrize(("names", "shown"), [
    (["ann", "bob"], ("ann", "bob")),
    (["Anna-Maria von Hohenstein", "bob"], ("Anna-Maria von Ho…", "bob")),                 # the end
    (["participant number 01", "participant number 02"], ("particip…number 01", "particip…number 02")),   # the middle
    (MAILS, tuple(f"…{number:02}…" for number in range(30))),
    (["x" * 30 + "1" + "y" * 30, "x" * 30 + "2" + "y" * 30, "bob"], ("(1)", "(2)", "bob")),
])
def test_long_names_stay_apart(names, shown):
    found, legend = axis_names(names)
    assert found == shown and all(len(name) <= LONGEST for name in found)
    assert bool(legend) is (shown[0] == "(1)")


def test_numbers_have_a_legend():
    one, two = "x" * 30 + "1" + "y" * 30, "x" * 30 + "2" + "y" * 30
    assert axis_names([one, two])[1] == f"Names too long for the figure: (1) {one}; (2) {two}."


def test_no_names_and_the_same_name_twice():
    assert axis_names([]) == ((), "")
    assert axis_names(["a" * 20, "a" * 20])[0] == ("a" * 17 + "…",) * 2
