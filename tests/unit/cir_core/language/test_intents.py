"""Acts and refusals in words that no table has: the classifiers of words, and what is made of their probabilities."""

from __future__ import annotations

import math
from types import SimpleNamespace
from zlib import crc32

import numpy as np
import pytest

from benchmarks.training.intents import FOLDER, Example, Line, fitted, lines, read_as
from cir_core.language.acts import Act, read_act
from cir_core.language.builtin.reading.attitudes import SURE, things
from cir_core.language.builtin.reading.parse import parse_edits, read_by_rules
from cir_core.language.intents import (
    ACTS,
    ATTITUDES,
    ROWS,
    THING,
    WordClassifier,
    classifier,
    of_acts,
    of_attitudes,
    rows_of,
    save,
)
from cir_core.language.readers.dialogue.intended import intended


def turns(*said):
    return [SimpleNamespace(number=number, modification_text=text, composition=None, reference_id="r", caption="",
                            further=(), hits=()) for number, text in enumerate(said, start=1)]


BELT = ("in navy", "with a belt", "short sleeves", "longer")


def of_values(text):
    return {(edit.operation, edit.value) for edit in parse_edits(text).edits}


# --- the classifier --------------------------------------------------------------------------

def test_probabilities_are_the_softmax_of_the_mean_row_times_the_root_of_their_number():
    weights = np.zeros((ROWS, 2), np.float32)
    [a], [b] = rows_of(["a"]), rows_of(["b"])
    weights[a], weights[b] = (1, 0), (3, 2)
    model = WordClassifier(("yes", "no"), weights, np.array([0.5, 0], np.float32))
    # (1 + 3) / √2 + 0.5 against (0 + 2) / √2: the difference is √2 + 0.5.
    assert model.probabilities(["a", "b", "a"])["yes"] == pytest.approx(1 / (1 + math.exp(-math.sqrt(2) - 0.5)))
    assert sum(model.probabilities([]).values()) == pytest.approx(1)


def test_a_feature_has_the_same_row_everywhere():
    assert rows_of(["read set", "b no", "read set"]) == sorted({crc32(b"read set") % ROWS, crc32(b"b no") % ROWS})


def test_words_of_other_sentences_are_not_beside_a_thing():
    words, places = things("Spaghetti straps. It is a beach shop, not a convent.")
    found = of_attitudes(words, places["sleeves", "straps"][0], "set")
    assert "o not" in found and "a not" not in found and "read set" in found
    assert "b0 with" in of_attitudes(["dress", "with", THING], 2, "none")


def test_words_have_letters_and_things_have_none():
    found = of_acts(["undo", THING])
    assert {":^un", ":do$", "< undo", f"undo {THING}", f"undo {THING} >"} <= set(found)
    assert not any("thi" in one for one in found if one.startswith(":"))


def test_what_is_shipped_knows_its_labels():
    acts, attitudes = classifier("acts"), classifier("attitudes")
    assert set(acts.labels) == set(ACTS) and set(attitudes.labels) <= set(ATTITUDES)
    assert acts.weights.shape == (ROWS, len(acts.labels)) and attitudes.offsets.shape == (len(attitudes.labels),)


# --- training --------------------------------------------------------------------------------

def test_a_line_has_a_label_and_things_with_their_signs(tmp_path):
    path = tmp_path / "some.txt"
    path.write_text("wish\tswap the [-belt] for a [+bow]\nundo\tback up\n", "utf-8")
    first, second = lines(path)
    assert (first.text, [one.label for one in first.attitudes]) == ("swap the belt for a bow", ["-", "+"])
    assert second.act.label == "undo" and second.attitudes == ()
    path.write_text("wish\tin [+red]\nwrong\tin red\n", "utf-8")
    with pytest.raises(ValueError, match=r"some\.txt, line 2"):
        lines(path)


def test_the_rules_reading_of_a_thing_is_a_feature():
    edits = read_by_rules("with stripes, no belt").edits
    assert [read_as(edits, read_by_rules(one).edits) for one in ("stripes", "belt", "red")] == ["set", "drop", "none"]


def test_a_classifier_learns_what_tells_texts_apart_and_is_kept(tmp_path, monkeypatch):
    some = [Example(tuple(of_acts(text.split())), label) for text, label in (
        ("take that back", "undo"), ("take it back now", "undo"), ("in the back", "wish"), ("with a low back", "wish"))]
    model = fitted(some, ACTS)
    assert model.probabilities(of_acts(["take", "this", "back"]))["undo"] > 0.5
    save({"acts": model}, tmp_path / "kept.safetensors")
    monkeypatch.setattr("cir_core.language.intents.RECORD", tmp_path / "kept.safetensors")
    classifier.cache_clear()
    try:
        again = classifier("acts").probabilities(of_acts(["take", "this", "back"]))
    finally:
        classifier.cache_clear()
    assert again == pytest.approx(model.probabilities(of_acts(["take", "this", "back"])))


def test_every_text_can_be_read():
    found = [line for path in FOLDER.glob("*.txt") for line in lines(path)]
    assert {line.label for line in found} == set(ACTS) and len({line.marked for line in found}) > 10_000
    assert not [line.marked for line in found if "[" in line.text or "]" in line.text]


# --- refusals --------------------------------------------------------------------------------

@pytest.mark.parametrize(("text", "value"), [
    ("frills are best left to curtains", "ruffle"),
    ("that collar makes my skin crawl", "collar"),
    ("my neighbour would laugh himself silly at the stripes", "stripes"),
    ("yeet the bow lol", "bow"),
    ("turtlenecks and hot flushes do not mix", "turtleneck"),
])
def test_a_refusal_in_words_of_no_table(text, value):
    assert ("drop", value) in of_values(text) and ("set", value) not in of_values(text)


@pytest.mark.parametrize(("text", "value"), [
    ("I have settled upon navy for myself", "navy"), ("green would be sick", "green"),
    ("a collar would finish it off nicely", "collar"), ("pity it's not sleeveless", "sleeveless"),
    ("nothing flatters me like stripes", "stripes"), ("I can't get enough of polka dots", "dots"),
    ("wouldn't say no to purple", "purple"),
    ("spaghetti straps. It's a beach shop, not a convent", "straps"),
])
def test_a_wish_stays_one(text, value):
    assert ("set", value) in of_values(text)


def test_what_is_only_mentioned_is_not_asked_for():
    assert of_values("my neighbour swears by stripes but I want blue") == {("set", "blue")}


def test_where_the_rules_know_every_word_they_decide():
    for text in ("the buttons have to be white", "the bow goes pink", "the longest you have"):
        assert parse_edits(text) == read_by_rules(text)


# --- acts ------------------------------------------------------------------------------------

@pytest.mark.parametrize(("text", "act"), [
    ("that was a silly idea of mine, rewind please", Act("undo", 1)),
    ("my husband preferred it a moment ago, so let us have that again", Act("undo", 1)),
    ("hmm, could we take the last two changes out again", Act("undo", 2)),
    ("none of these does anything for me, what else is in the stockroom", Act("others")),
    ("is this really all you have, dear", Act("others")),
    ("let us forget all of this and begin anew with the very first picture", Act("start over")),
    ("could I have another look at the ones you found when it was just navy", Act("turn", 1)),
    ("I would like to see again what you had before the sleeves came into it", Act("turn", 2)),
    ("bring out the second set once more please", Act("turn", 2)),
    ("what you showed me two requests ago was closer", Act("turn", 2)),
])
def test_an_act_in_words_of_no_table(text, act):
    assert read_act(text) is None and intended(text, turns(*BELT)) == act


@pytest.mark.parametrize("text", [
    "in red", "back to long sleeves", "go back to yellow", "start with something plain", "forget the pocket",
    "what a beautiful selection, thank you", "let me think about it for a moment",
    "show me something with buttons", "the original colour", "a different neckline, please", "open at the back",
    "I went back to school in red, so blue now", "the original one in red", "more like the third picture",
    "keep the rest as it was", "like the second one but in green", "the opposite please", "bring out the fifth set",
    "that's the one", "is this the last one in stock", "add to cart", "how do I return it", "open back please",
])
def test_requests_and_talk_are_no_acts(text):
    assert intended(text, turns(*BELT)) is None


def test_what_was_never_asked_for_is_not_undone():
    """"The collar was a mistake" is about the garment where nobody asked for a collar."""
    assert intended("that belt was a mistake, go back one", turns("in navy", "with a belt")) == Act("undo", 1)
    assert intended("the collar was a mistake", turns("in navy", "with a belt")) is None


def test_nothing_is_undone_before_the_first_turn():
    assert intended("that was a silly idea of mine, rewind please", ()) is None


def test_an_earlier_turn_is_the_last_that_had_what_is_named_or_the_first():
    said = turns("in blue", "with dots", "in red", "in blue", "in green")
    assert intended("take me back to the blue ones", said) == Act("turn", 4)
    assert intended("take me back to the first blue ones", said) == Act("turn", 1)
    assert intended("take me back to the brown ones", said) is None


def test_lines_of_the_training_texts_are_plain():
    line = Line("wish", "less [-disco], more [+dots]")
    assert line.text == "less disco, more dots"


# --- a writer that the classifiers were not trained on ---------------------------------------

UNSEEN = FOLDER / "unseen/writer-15.txt"


def test_acts_of_an_unseen_writer_are_found_and_few_others_taken_for_acts():
    found = [(line.label, likeliest(classifier("acts").probabilities(line.act.features))) for line in lines(UNSEEN)]
    for label in ("undo", "others", "start over", "earlier"):
        of_label, read = [one for one in found if one[0] == label], [one for one in found if one[1] == label]
        assert sum(one[1] == label for one in of_label) >= 0.85 * len(of_label) >= 20
        assert sum(one[0] == label for one in read) >= 0.9 * len(read)


def test_wishes_of_an_unseen_writer_stay_wishes():
    examples = [one for line in lines(UNSEEN) if line.label == "wish" for one in line.attitudes]
    wished = [one for one in examples if one.label in ("+", "=") and "read set" in one.features]
    refused = [one for one in examples if one.label == "-" and "read set" in one.features]
    model = classifier("attitudes")
    assert len(wished) > 40 and not [one for one in wished if model.probabilities(one.features)["-"] >= SURE]
    assert sum(model.probabilities(one.features)["-"] >= SURE for one in refused) >= len(refused) / 2 > 5


def likeliest(found):
    return next((label for label, p in found.items() if p >= 0.5), "")
