"""Words about earlier turns, as requests that are read alone; what cannot be resolved is said."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from cir_core.garments.lexicon import BY_KEY
from cir_core.language.builtin.wanted import understand
from cir_core.language.readers.garments import GarmentReader
from cir_core.language.readers.reader import Pointed
from cir_core.language.readers.scene import Scene, revoked_after
from cir_core.types.records import Hit

SHIRT = "a regular fit regular length white plain shirt with long sleeves, a collar and buttons"
NAVY = ("in navy", "with short sleeves")


def scene(*said, caption=SHIRT):
    turns = [SimpleNamespace(number=number, reference_id="r", modification_text=text, further=(), caption="",
                             composition=None, hits=(Hit("h", 0.9, 1),)) for number, text in enumerate(said, start=1)]
    return Scene(turns, "r", lambda ids: [caption for _ in ids], columns=4)


# What was said before, the text, what it asks for of the reference, and how many turns' wishes hold (None: all).
READ = [
    (NAVY, "go back to the original colour", {"colour": "white"}, None),
    (NAVY, "the colour it had at first", {"colour": "white"}, None),
    (NAVY, "same colour as the original", {"colour": "white"}, None),
    (NAVY, "bring back the original sleeves and make it longer", {"sleeves": "long", "length": "long"}, None),
    (NAVY, "original length, original colour", {"colour": "white", "length": "medium"}, None),
    (NAVY, "the colour of the first picture, with a pocket", {"colour": "white", "trim": "pocket"}, None),
    (NAVY, "like the original but longer", {"length": "long"}, 0),
    (NAVY, "das Original, aber länger", {"length": "long"}, 0),
    (("in navy", "in red"), "the previous colour", {"colour": "navy"}, None),
    (NAVY, "as before but with stripes", {"pattern": "stripes"}, None),
    (NAVY, "keep this but in green", {"colour": "green"}, None),
    (NAVY, "no longer short sleeved", {"sleeves": "long"}, None),
    (NAVY, "drop the short sleeves", {"sleeves": "long"}, None),
    (NAVY, "no red", {"colour": "navy"}, None),
    (NAVY, "undo the navy", {"colour": "white"}, None),
    (NAVY, "not navy anymore, green", {"colour": "green"}, None),
    (NAVY, "no, I meant elbow length", {"sleeves": "elbow"}, None),
    (NAVY, "actually I meant a pocket", {"trim": "pocket"}, 1),
    (NAVY, "sorry, elbow length", {"sleeves": "elbow"}, None),
    (NAVY, "I changed my mind about the colour", {"colour": "white"}, None),
    (NAVY, "I changed my mind about the sleeves, make them long", {"sleeves": "long"}, None),
    (NAVY, "I take back what I said about the sleeves", {"sleeves": "long"}, None),
    (NAVY, "never mind the colour", {"colour": "white"}, None),
    (NAVY, "undo that and make them elbow length sleeves", {"sleeves": "elbow"}, 1),
    (NAVY, "start over with red", {"colour": "red"}, 0),
    (NAVY, "both", {}, None),
    (("red or blue",), "both please", {"colour": "red", "second_colour": "blue"}, None),
    (("red", "blue"), "I want both of them", {"colour": "red", "second_colour": "blue"}, None),
    (("in red",), "the same for the belt", {"colour": "red", "trim": "belt"}, None),
    (("in red",), "and the buttons", {"colour": "red", "trim": "buttons"}, None),
    (("in red",), "and buttons", {"trim": "buttons"}, None),
    (("shorter",), "the same for the sleeves", {"sleeves": "elbow"}, None),
    (("much shorter",), "the sleeves too", {"sleeves": "short"}, None),
    (("short sleeves",), "do the same to the hem", {"length": "short"}, None),
    (("no buttons",), "same for the collar", {"neckline": "crew"}, None),
    (("shorter",), "no, I meant the sleeves", {"sleeves": "elbow"}, 0),
    (("shorter",), "not the length, the sleeves", {"sleeves": "elbow"}, 0),
    (NAVY, "no longer blue", {"colour": "white"}, None),
    (NAVY, "with a pocket, but keep the colour", {"colour": "navy", "trim": "pocket"}, None),
    (NAVY, "I didn't mean navy", {"colour": "white"}, None),
    (NAVY, "the short sleeves were a mistake", {"sleeves": "long"}, None),
    (NAVY, "die ursprüngliche Farbe", {"colour": "white"}, None),
    (NAVY, "il colore originale", {"colour": "white"}, None),
    (NAVY, "non, je voulais dire des manches trois-quarts", {"sleeves": "elbow"}, None),
    (NAVY, "wie vorher, aber rot", {"colour": "red"}, None),
    (NAVY, "緑のつもりでした", {"colour": "green"}, 1),
    (("shorter",), "lo mismo para las mangas", {"sleeves": "elbow"}, None),
    (("in navy", "long"), "the length was better at first", {"length": "medium"}, None),
    (NAVY, "hmm, the sleeves were ok the way they were", {"sleeves": "long"}, None),
    (NAVY, "the sleeves were fine before", {"sleeves": "long"}, None),
    (NAVY, "I liked the sleeves better before", {"sleeves": "long"}, None),
    (NAVY, "I preferred the colour at first", {"colour": "white"}, None),
    (NAVY, "the colour was much nicer originally, and with a pocket", {"colour": "white", "trim": "pocket"}, None),
    (("in navy", "in red"), "the colour was better before", {"colour": "navy"}, None),
    (NAVY, "sorry, long sleeves were fine", {"sleeves": "long"}, None),
    (NAVY, "the neck as on the first picture", {"neckline": "collar"}, None),
    (NAVY, "and put the sleeves back", {"sleeves": "long"}, None),
    (NAVY, "bring the colour back please", {"colour": "white"}, None),
    (NAVY, "can I have the sleeves back", {"sleeves": "long"}, None),
    (("in red", "shorter"), "no, I meant blue, not red", {"colour": "blue"}, None),
    (("dots", "in black"), "navy dots I mean", {"second_colour": "navy", "pattern": "dots"}, None),
    (("a pocket", "longer"), "I meant a belt, not a pocket", {"trim": "belt"}, None),
    (("in red", "shorter"), "I meant a belt", {"trim": "belt"}, 1),
    (("yellow or orange",), "yellow is too loud, so the other one", {"colour": "orange"}, None),
    (("red or blue",), "I don't like the red, the other one please", {"colour": "blue"}, None),
    (("in red", "in blue"), "blue is too dark, the other one then", {"colour": "red"}, None),
    (("with a belt or a bow",), "not the belt, the other one", {"trim": "bow"}, None),
    (("no buttons and no collar",), "not both, only the buttons", {"trim": "none"}, 0),
    (("in red", "longer, without the buttons"), "no, only the buttons", {"trim": "none"}, 1),
    (("red with a belt",), "sorry, only the belt", {"trim": "belt"}, 0),
    (("in red and longer",), "no, just red", {"colour": "red"}, 0),
    # A text that mends itself.
    (NAVY, "without the buttons, no wait, keep them", {"trim": "buttons"}, None),
    (NAVY, "in red, scratch that, green", {"colour": "green"}, None),
    (NAVY, "drop the collar, no actually the buttons", {"trim": "none"}, None),
    (NAVY, "with a pocket, actually never mind", {}, None),
    # More or less of what was asked.
    (("long", "loose"), "a bit less", {"fit": "regular"}, None),
    (("much shorter sleeves",), "hmm, too much", {"sleeves": "elbow"}, None),
    (("in red", "a bit looser"), "even more", {"fit": "loose"}, None),
    (("tighter",), "the opposite", {"fit": "loose"}, None),
    (("in red", "with a pocket"), "too much", {"trim": "buttons"}, None),
    (("with sleeves to the elbow", "short sleeves"), "too much. elbow was right", {"sleeves": "elbow"}, None),
    # An adjective whose noun was said before.
    (("short sleeves",), "no, elbow", {"sleeves": "elbow"}, None),
    (("with a scoop neck",), "forget the scoop, square it", {"neckline": "square"}, None),
    (("short sleeves",), "no, long was right", {"sleeves": "long"}, None),
    (("short sleeves",), "make them longer", {"sleeves": "long"}, None),
    # What is wanted again.
    (("without the buttons",), "I miss them", {"trim": "buttons"}, None),
    (("without the buttons",), "no wait, keep them", {"trim": "buttons"}, None),
    (("without the buttons",), "keep it like that but red", {"colour": "red"}, None),
    (("with a bow", "with a pocket"), "the bow was prettier", {"trim": "bow"}, None),
    (("with a bow", "with a pocket"), "I liked it better with the bow", {"trim": "bow"}, None),
    (("in red", "in blue"), "the colour's wrong, I meant green", {"colour": "green"}, None),
    # What is given up.
    (("loose and in red",), "forget the loose bit", {"fit": "regular"}, None),
    (("loose and in red",), "the loose bit I take back", {"fit": "regular"}, None),
    (("loose and in red",), "I changed my mind about loose", {"fit": "regular"}, None),
    (("in red", "loose"), "I'd undo the colour, the rest is fine", {"colour": "white"}, None),
    (("with a bow and short sleeves",), "I only wanted the bow, not the short sleeves",
     {"sleeves": "long", "trim": "bow"}, None),
    (("a v-neck and a pocket",), "drop both", {"neckline": "collar", "trim": "buttons"}, None),
    (("with a bow",), "nope, nothing at all there", {"trim": "buttons"}, None),
    (("a belt or a bow",), "not the bow", {"trim": "belt"}, None),
    (("red or orange",), "the latter, please", {"colour": "orange"}, None),
    (("loose and in red",), "I only meant red", {"colour": "red"}, 0),
    # As it was.
    (("short sleeves", "the sleeves back to how they were"), "and the colour too", {"colour": "white"}, None),
    (("in red, loose", "undo the colour"), "do the same to the fit", {"fit": "regular"}, None),
    (NAVY, "long sleeves as before", {"sleeves": "long"}, None),
    (NAVY, "shorter but not too short", {"length": "short"}, None),
    (NAVY, "die Ärmel wieder wie am Anfang", {"sleeves": "long"}, None),
    (NAVY, "remets les manches", {"sleeves": "long"}, None),
    (("sin botones",), "no espera, déjalos", {"trim": "buttons"}, None),
    ((), "no, I meant navy", {"colour": "navy"}, None),
    ((), "actually, green", {"colour": "green"}, None),
]


@pytest.mark.parametrize(("said", "text", "asked", "held"), READ)
def test_a_text_about_earlier_turns_is_read(said, text, asked, held):
    found = GarmentReader().follow(text, scene(*said))
    wanted = understand(SHIRT, found.text)
    assert {group: wanted.slots.get(group) for group in wanted.edited} == asked
    assert (found.held, found.unclear) == (held, False)


# What was said before, the text, the attributes that are free after it, and what it asks for of the reference.
FREE = [
    (NAVY, "any colour will do", ("colour",), {}),
    (NAVY, "the colour doesn't matter any more", ("colour",), {}),
    (NAVY, "the sleeves are up to you", ("sleeves",), {}),
    (NAVY, "I don't care about the colour or the sleeves", ("colour", "sleeves"), {}),
    (NAVY, "it doesn't have to be navy, but with a pocket", ("colour",), {"trim": "pocket"}),
    (NAVY, "with a pocket. sleeves can be any length", ("sleeves",), {"trim": "pocket"}),
    (("with ruffles",), "ruffles optional", ("trim",), {}),
    (("with ruffles",), "the ruffles are a bonus, not a must", ("trim",), {}),
    (("with stripes",), "with or without stripes", ("pattern",), {}),
    (("with stripes",), "I'm flexible on the stripes", ("pattern",), {}),
    (("no flowers",), "flowers are ok too", ("pattern",), {}),
    (("no flowers",), "actually I don't mind flowers", ("pattern",), {}),
    (("not red and not grey",), "grey is fine after all, but still no red", ("colour",), {"colour": "white"}),
    (NAVY, "navy muss nicht sein", ("colour",), {}),
    (("a white belt",), "the belt can be any colour", ("second colour",), {}),
    (NAVY, "die Farbe ist mir egal", ("colour",), {}),
    (NAVY, "la couleur m'est égale", ("colour",), {}),
    (NAVY, "da igual el color", ("colour",), {}),
    (NAVY, "il colore non importa", ("colour",), {}),
    (NAVY, "a cor tanto faz", ("colour",), {}),
    (NAVY, "de kleur maakt niet uit", ("colour",), {}),
    (NAVY, "kolor nie ma znaczenia", ("colour",), {}),
    (NAVY, "色は何でもいい", ("colour",), {}),
    (NAVY, "颜色无所谓", ("colour",), {}),
    (NAVY, "sleeves are optional", ("sleeves",), {}),
    (NAVY, "I don't mind the sleeves", ("sleeves",), {}),
    (NAVY, "could be any colour really", ("colour",), {}),
    (NAVY, "colour: any", ("colour",), {}),
    (NAVY, "other colours are fine too", ("colour",), {}),
    (NAVY, "I'm not fussed about the sleeves, but the colour should be green", ("sleeves",), {"colour": "green"}),
    (("with a pocket",), "the pocket doesn't have to be there", ("trim",), {}),
    (("with a belt",), "belt or no belt", ("trim",), {}),
    (("no red or pink",), "pink is ok", ("colour",), {"colour": "white"}),   # still not red
    (NAVY, "jede Farbe ist recht", ("colour",), {}),
    (NAVY, "n'importe quelle couleur", ("colour",), {}),
    (NAVY, "cualquier color vale", ("colour",), {}),
    (("kein Rot",), "Rot ist auch in Ordnung", ("colour",), {}),
    (("pas de rouge",), "le rouge me va aussi", ("colour",), {}),
    (("不要红色",), "红色也可以", ("colour",), {}),
    # Nothing was asked about it: what else is said counts.
    ((), "a belt is optional", (), {}),
    ((), "with or without sleeves?", (), {}),
    ((), "not necessarily red", (), {}),
    (("no stripes",), "dots are ok too", (), {}),   # nor was it refused
    (NAVY, "the length doesn't matter, with a pocket", (), {"trim": "pocket"}),
    ((), "yellow, the buttons don't matter", (), {"colour": "yellow"}),
    # None of these sets anything free.
    (NAVY, "any colour but white", (), {"colour": None}),
    (("with stripes",), "flowers are ok too", (), {"pattern": "stripes"}),   # or flowers
    (NAVY, "never mind the colour", (), {"colour": "white"}),
    (("no red",), "no red is fine", (), {"colour": "white"}),
    (("with a pocket",), "no pocket is fine too", (), {"trim": "buttons"}),
    (("no red",), "red is still not ok", (), {"colour": "white"}),
    (("in red", "no red"), "actually red was ok", (), {"colour": "red"}),
    ((), "grey is fine", (), {"colour": "grey"}),
    ((), "any green shirt with dots", (), {"category": "shirt", "colour": "green", "pattern": "dots"}),
]


@pytest.mark.parametrize(("said", "text", "free", "asked"), FREE, ids=[one[1] for one in FREE])
def test_a_wish_that_need_not_hold_is_given_up_and_nothing_is_asked_instead(said, text, free, asked):
    found = GarmentReader().follow(text, scene(*said))
    wanted = understand(SHIRT, found.text)
    assert (found.released, {group: wanted.slots.get(group) for group in wanted.edited}) == (free, asked)
    assert not free or all(f"any {one}" in found.notes[0] for one in free)


@pytest.mark.parametrize(("said", "text", "group", "values"), [
    (("in green",), "blue too", "colour", {"green", "blue"}),
    (("in green",), "blue also works", "colour", {"green", "blue"}),
    (("in green or pink",), "red would be ok as well", "colour", {"green", "pink", "red"}),
    (("with stripes",), "dots are fine too", "pattern", {"stripes", "dots"}),
    (("short sleeves",), "long ones are ok too", "sleeves", {"short", "long"}),
])
def test_what_would_do_as_well_is_asked_beside_what_was(said, text, group, values):
    wanted = understand(SHIRT, GarmentReader().follow(text, scene(*said)).text)
    assert {one for one in BY_KEY[group].keys if wanted.accepts(group, one)} - {"pinstripes"} == values


def test_notes_of_a_text_that_sets_a_wish_free_do_not_say_that_nothing_changes():
    found = GarmentReader().follow("any colour will do", scene(*NAVY))
    assert found.with_notes(("no change recognised in your text", "another")) == ("taken as: any colour", "another")
    assert Pointed("red", "r", ("so",)).with_notes(("no change recognised in your text",)) == (
        "so", "no change recognised in your text")


def test_a_correction_after_an_undo_is_of_what_was_undone():
    before = scene("with short sleeves")
    orange = SimpleNamespace(number=2, reference_id="r", modification_text="in orange", further=(), caption="",
                             composition=None, hits=())
    after = replace(before, revoked=orange)
    assert GarmentReader().follow("I meant red", before).held == 0   # in the place of the sleeves
    found = GarmentReader().follow("I meant red", after)
    assert (found.text, found.held) == ("red", None)
    assert GarmentReader().follow("I meant long sleeves", after).held is None


def test_what_was_made_last_and_is_not_on_the_path_was_undone():
    first, second = (SimpleNamespace(turn_id=one, parent_id=parent) for one, parent in (("1", None), ("2", "1")))
    assert revoked_after([first], [first, second]) is second
    assert revoked_after([first, second], [first, second]) is None and revoked_after([], [first, second]) is None
    assert revoked_after([], [first]) is first and revoked_after([], []) is None


# "Nah" denies what is there, and nothing else.
@pytest.mark.parametrize(("text", "asked"), [
    ("nah green", {"colour": "green"}), ("nope, stripes", {"pattern": "stripes"}),
    ("nah white", {"colour": None}), ("these in midi length", {"length": "medium"}),
])
def test_a_correction_without_a_verb(text, asked):
    wanted = understand(SHIRT.replace("regular length", "long"), GarmentReader().follow(text, scene(*NAVY)).text)
    assert {group: wanted.slots.get(group) for group in wanted.edited} == asked


# ... and what is said about it, beside what it still asks for.
NOT_UNDERSTOOD = [
    ((), "the original colour", "nothing earlier to go back to", {}),
    ((), "the original colour but longer", "nothing earlier to go back to", {"length": "long"}),
    ((), "as before but red", "nothing earlier to go back to", {"colour": "red"}),
    ((), "undo and make it red", "nothing earlier to go back to", {"colour": "red"}),
    ((), "both", "nothing earlier to go back to", {}),
    ((), "the same for the sleeves", "nothing earlier to go back to", {}),
    ((), "I changed my mind about the sleeves", "nothing earlier to go back to", {}),
    (NAVY, "I changed my mind about the length", "nothing was asked about the length", {}),
    (NAVY, "the same for the collar", "“with short sleeves” cannot be said of the collar", {}),
    (NAVY, "the same for the trousers", "say which part is meant", {}),
    (("a belt or a bow",), "both", "one trim: say which", {}),
]


@pytest.mark.parametrize(("said", "text", "why", "asked"), NOT_UNDERSTOOD)
def test_what_there_is_nothing_for_is_said(said, text, why, asked):
    found = GarmentReader().follow(text, scene(*said))
    assert found.unclear and why in found.notes[0]
    wanted = understand(SHIRT, found.text)
    assert {group: wanted.slots.get(group) for group in wanted.edited} == asked


def test_a_reference_without_a_caption_is_said():
    found = GarmentReader().follow("the original colour", scene("in red", caption=""))
    assert found.unclear and "says nothing about it" in found.notes[0]


def test_other_texts_are_left_as_they_are():
    for text in ("with a belt", "same but with a belt", "both sleeves longer", "no stripes",
                 "an original print", "and a bow", "not red, blue", "the second colour", "with red buttons too"):
        found = GarmentReader().follow(text, scene(*NAVY))
        assert (found.text, found.notes) == (text, ()), text
