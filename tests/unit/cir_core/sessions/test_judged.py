"""Turns with thumbs as figures take them: class of the request, method, and what of the first results is judged."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cir_core.methods.declared import builtin_methods
from cir_core.methods.guidance import Aspect, Guidance, Unclear
from cir_core.search.usual import UNREAD
from cir_core.sessions.judged import CUSTOM, JudgedTurn, judged_turns
from cir_core.types.composition import Composition
from cir_core.types.records import SearchSession, Thumb, Turn
from tests.fakes.turns import a_composition, a_session, a_turn

METHODS = builtin_methods()
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def session_of(
    *turns: Turn, thumbs: tuple[Thumb, ...] = (), method: str = "guided", domain: str = "garment",
) -> SearchSession:
    made = a_session(method=METHODS[method].settings)
    return replace(made, turns=turns, thumbs=thumbs, protocol=replace(made.protocol, domain=domain))


def shown(number: int = 1, **changes: Any) -> Turn:
    return a_turn("s", None, n_hits=8, created_at=NOON, branch_id="b", number=number, **changes)


def asked(*aspects: Aspect, **parts: Any) -> Composition:
    bare = a_composition(rounds=(), constraints=None, soft_filter=None, read_as="")
    guidance = METHODS["guided"].settings.part("guidance")
    return bare.with_parts({"guidance": guidance, "aspects": aspects or None, **parts})


def one_of(turn: Turn, *thumbs: tuple[int, str, bool], **about: Any) -> JudgedTurn:
    """The turn with thumbs: the rank of the image, who, and which."""
    given = tuple(Thumb(turn.turn_id, turn.hits[rank - 1].image_id, person, up, NOON) for rank, person, up in thumbs)
    [found] = judged_turns(session_of(turn, thumbs=given, **about), METHODS)
    return found


def test_thumbs_on_the_first_five_count_once_for_each_person() -> None:
    found = one_of(shown(), (1, "Ann", True), (1, "Bo", False), (5, "Ann", True), (6, "Ann", True), (8, "Bo", False))
    assert (found.shown, found.judged, found.up, found.down, found.beyond) == (5, 2, 2, 1, 2)


def test_a_turn_with_fewer_results() -> None:
    made = shown()
    assert one_of(replace(made, hits=made.hits[:3])).shown == 3
    assert one_of(replace(made, hits=())).shown == 0


def test_an_image_that_is_not_among_the_stored_results_is_beyond_them() -> None:
    turn = shown()
    thumb = Thumb(turn.turn_id, "from the map", "Ann", True, NOON)
    [found] = judged_turns(session_of(turn, thumbs=(thumb,)), METHODS)
    assert (found.judged, found.up, found.beyond) == (0, 0, 1)


def red(turn: int = 1, **changes: Any) -> Aspect:
    return Aspect("colour", "red", ("a red dress",), ("a blue dress",), turn, **changes)


def long(turn: int = 1, **changes: Any) -> Aspect:
    return Aspect("sleeves", "long sleeves", ("long",), ("short",), turn, **changes)


@pytest.mark.parametrize(("made", "text", "expected"), [
    (asked(red(2)), "in red", "colour"), (asked(red(2), long(2)), "in red with long sleeves", "several"),
    (asked(red(1), long(2)), "with long sleeves", "cut"),            # asked for earlier, and kept
    (asked(red(2), long(2, marked="more")), "in red", "colour"),     # by marks, not by words
    (asked(red(0), unclear=Unclear(("formal",))), "more formal", "not understood"),
    (asked(), "in red", "colour"),                                   # its chip was removed
    (a_composition(read_as="in red"), "like the second one, in red", "colour"), (None, "longer", "comparison"),
    (None, "", "no words"),
])
def test_the_class_of_a_request(made: Composition | None, text: str, expected: str) -> None:
    assert one_of(shown(2, composition=made, modification_text=text)).request == expected


def test_a_request_about_other_things() -> None:
    at_night = Aspect("time of day", "night", ("at night",), ("by day",), 1)
    assert one_of(shown(composition=asked(at_night)), domain="scene").request == "other"
    assert one_of(shown(modification_text="at night"), domain="scene", method="cirevl").request == "not read"


def test_the_method_that_ranked_the_turn() -> None:
    assert one_of(shown(composition=asked(red()))).method == METHODS["guided"].title
    assert one_of(shown(composition=asked(guidance=Guidance(asked=0.5)))).method == CUSTOM
    assert one_of(shown(), method="slerp").method == METHODS["slerp"].title
    stands_in = f"{UNREAD}{METHODS['slerp'].title}, which uses the picture itself"
    assert one_of(shown(composition=asked(), notes=(stands_in,))).method == METHODS["slerp"].title


def test_since() -> None:
    session = session_of(shown(), replace(shown(2), created_at=NOON + timedelta(hours=1)))
    assert [one.number for one in judged_turns(session, METHODS)] == [1, 2]
    assert [one.number for one in judged_turns(session, METHODS, NOON)] == [1, 2]
    assert [one.number for one in judged_turns(session, METHODS, NOON + timedelta(seconds=1))] == [2]
