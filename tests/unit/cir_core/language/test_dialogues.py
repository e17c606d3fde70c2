"""Dialogues of five turns with corrections and words about earlier turns: what the garment must be after each."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest

from cir_core.garments.lexicon import BY_KEY, NONE, describe
from cir_core.language.acts import read_act
from cir_core.language.builtin.captions import parse_caption
from cir_core.language.builtin.wanted import understand
from cir_core.language.readers.dialogue.intended import intended
from cir_core.language.readers.garments import GarmentReader
from cir_core.language.readers.scene import Scene
from cir_core.types.records import Hit

DIALOGUES = {one["name"]: one for one in tomllib.loads(
    Path(__file__).with_name("dialogues.toml").read_text("utf-8"))["dialogues"]}
VALUES = {group: one.keys for group, one in BY_KEY.items()}
ALIKE = {"stripes": {"pinstripes"}, "sleeveless": {"straps"}}   # a garment of either answers


@dataclass(frozen=True)
class Said:
    """A turn, and what has been asked for up to it: group to the values that satisfy it."""

    turn: SimpleNamespace
    wishes: Mapping[str, frozenset[str]]
    reference: Mapping[str, str]
    notes: tuple[str, ...] = ()
    understood: Mapping[str, str] = field(default_factory=dict)


def expected(text: str, first: Mapping[str, str]) -> tuple[str, dict[str, set[str]], set[str]]:
    """What is done with the text, and the values of each group; and the groups that are named."""
    kind, _, rest = text.rpartition(") ") if text.startswith("(") else ("", "", text)
    named = dict(pair.split("=") for pair in rest.split(", ") if pair != "=")
    values = {group: {value} for group, value in first.items()} | {
        group: set(one.split("|")) for group, one in named.items()}
    return kind.strip("("), values, set(named)


def holds(said: Said | None, first: Mapping[str, str], values: Mapping[str, set[str]], named: set[str]) -> list[str]:
    """What is not as it must be."""
    wishes, reference = (said.wishes, said.reference) if said else ({}, first)
    wrong = []
    for group, wanted in values.items():
        if group == "second_colour" and group not in named and named & {"pattern", "trim", "colour"}:
            continue   # a new pattern or trim may have any
        found = wishes.get(group, frozenset({reference.get(group, NONE)}))
        allowed = wanted.union(*(ALIKE.get(value, set()) for value in wanted))
        if not found & wanted or not found <= allowed:
            wrong.append(f"{group}: {sorted(found)} instead of {sorted(wanted)}")
    return wrong


def talk(dialogue: dict, *, moves: bool) -> list[tuple[str, list[str]]]:
    """Each text with what was wrong after it. Where the reference ``moves``, each search starts from a result that has
    all that was asked."""
    first = {"second_colour": NONE} | dialogue["reference"]
    captions, pictures = {"first": describe(first)}, {"first": first}
    path: list[Said] = []
    found = []
    for number, (text, after) in enumerate(dialogue["turns"]):
        kind, values, named = expected(after, first)
        turns = [one.turn for one in path]
        act = read_act(text) or intended(text, turns)
        if kind in ("act", "again"):
            assert act is not None, text
            if kind == "act":
                path = {"undo": path[:-act.number], "turn": path[:act.number]}.get(act.kind, [])
            found.append((text, holds(path[-1] if path else None, first, values, named)))
            continue
        assert act is None, text
        shown = path[-1] if path else None
        reference_id = shown.turn.hits[0].image_id if shown and moves else "first"
        scene = Scene([one.turn for one in path], reference_id, lambda ids: [captions[one] for one in ids], columns=4)
        pointed = GarmentReader().follow(text, scene)
        wanted = understand(captions[pointed.reference_id], pointed.text)
        base = pictures[pointed.reference_id]
        before = path[: pointed.held] if pointed.held is not None else path
        wishes = dict(before[-1].wishes) if before else {}
        for group in first:
            if group in wanted.edited or (group in wanted.gone and group not in wanted.slots):
                wishes[group] = frozenset(value for value in VALUES[group] if wanted.accepts(group, value))
        slots = dict(base) | {group: best(group, wanted.slots.get(group), one) for group, one in wishes.items()}
        if slots["second_colour"] != NONE and slots["pattern"] == "plain" and slots["trim"] == NONE:
            slots["second_colour"] = NONE
        image_id = f"{number}"
        captions[image_id], pictures[image_id] = describe(slots), slots
        turn = SimpleNamespace(
            number=len(path) + 1, reference_id=pointed.reference_id, modification_text=text, further=(), caption="",
            composition=SimpleNamespace(read_as=pointed.text), hits=(Hit(image_id, 0.9, 1),))
        path = [*path, Said(turn, wishes, base, (*pointed.notes, *wanted.notes), wanted.slots)]
        wrong = holds(path[-1], first, values, named)
        said = any(note.startswith("not understood: ") for note in path[-1].notes)
        if said != (kind == "said"):
            wrong.append(f"said: {path[-1].notes}")
        found.append((text, [*wrong, f"read as “{pointed.text}”"] if wrong else []))
        if kind == "said":
            path.pop()   # nothing was asked, and the next turn goes on from the one before
    return found


def best(group: str, value: str | None, fitting: frozenset[str]) -> str:
    return value if value in fitting else min(fitting, default=NONE, key=VALUES[group].index)


@pytest.mark.parametrize("moves", [False, True], ids=["from the reference", "from results"])
@pytest.mark.parametrize("name", DIALOGUES)
def test_after_each_turn_all_that_was_asked_holds(name, moves):
    assert parse_caption(describe(DIALOGUES[name]["reference"])).slots["category"]
    wrong = [(text, problems) for text, problems in talk(DIALOGUES[name], moves=moves) if problems]
    assert not wrong
