"""What holds after each turn of a dialogue, and the turns that are named by it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from cir_core.language.acts import Act
from cir_core.language.readers.dialogue.intended import intended
from cir_core.language.readers.dialogue.wishes import Wishes
from cir_core.sessions.acts import meant
from cir_core.types.records import SearchSession


def turns(*said):
    return [SimpleNamespace(number=number, modification_text=text, composition=None, reference_id="r", caption="",
                            further=(), hits=()) for number, text in enumerate(said, start=1)]


NAVY = ("in navy", "with buttons", "a belt instead of the buttons", "longer")


def test_a_wish_holds_until_another_turn_asks_for_the_same_attribute():
    wishes = Wishes(turns("in red with a bow", "short sleeves", "not red", "in blue or green"))
    assert {group: edit.value for group, edit in wishes.holding(2).items()} == {
        "colour": "red", "trim": "bow", "sleeves": "short"}
    assert (wishes.holding(3)["colour"].operation, wishes.holding(3)["trim"].value) == ("drop", "bow")
    assert wishes.values("colour") == ["blue", "green", "red"]
    assert [turn.number for turn in wishes.asked("colour")] == [1, 3, 4]
    assert wishes.recent() == ["colour", "sleeves", "trim"]


def test_refused_values_add_up_until_they_are_asked_for():
    wishes = Wishes(turns("not blue", "yellow", "not yellow", "with a belt"))
    assert wishes.refused("colour") == ["blue", "yellow"]
    assert Wishes([*wishes.turns, *turns("ok, yellow")]).refused("colour") == ["blue"]


def test_what_a_turn_was_read_as_counts_not_what_was_typed():
    [turn] = turns("the same for the sleeves")
    turn.composition = SimpleNamespace(read_as="shorter sleeves")
    assert [edit.group for edit in Wishes([turn]).last] == ["sleeves"]


@pytest.mark.parametrize(("text", "act"), [
    ("let's go back to the buttons one", Act("turn", 2)),
    ("take me back to where it was only navy", Act("turn", 1)),
    ("back to the version with buttons", Act("turn", 2)),
    ("as it was before the belt", Act("turn", 2)),
    ("back to before the buttons", Act("turn", 1)),
    ("show me the one with buttons again", Act("turn", 2)),
    ("back to before it was navy", Act("start over")),
    ("back to the navy one", None),            # it still is
    ("back to the red one", None),             # it never was
    ("back to buttons", None),                 # asks for buttons
    ("the buttons one but longer", None),
    ("I liked the buttons one more", None),    # something else was asked since
])
def test_a_turn_is_named_by_what_it_asked_for(text, act):
    assert intended(text, turns(*NAVY)) == act


def test_an_earlier_value_that_was_liked_more_is_shown_where_nothing_else_was_asked_since():
    assert intended("I liked the navy one more", turns("in navy", "in red")) == Act("turn", 1)


def test_before_any_turn_only_whole_texts_are_acts():
    assert meant("go back", None, None) == Act("undo", 1)
    assert meant("back to the buttons one", None, None) is None
    assert meant("back to the buttons one", SearchSession("s", "g", None, None), None) is None
