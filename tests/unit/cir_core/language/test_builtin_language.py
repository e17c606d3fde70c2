"""The rule-based language model: what people type, and what must come of it."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from cir_core.errors import LanguageModelError, UnsupportedTask
from cir_core.garments.lexicon import GROUPS, describe
from cir_core.language.builtin import BuiltinLanguageModel, apply_edits, merge, parse_caption, parse_edits
from cir_core.language.tasks import Answer, CaptionTask, MergeTask, Picture, Task
from cir_core.sample.atelier.captions import full_caption
from cir_core.sample.atelier.rules import is_wearable

RED = "a red plain dress with short sleeves and a round neck"
LONG = "a slim fit long blue and white striped dress with long sleeves, a v-neck and a belt"
SHIRT = "a regular fit regular length white plain shirt with long sleeves, a collar and buttons"
TOP = "a cropped black polka dot top with no sleeves and a scoop neck"

# (caption, modification text, slots that must differ from the caption's; None: the slot is gone)
CASES = [
    (RED, "make it blue", {"colour": "blue"}),
    (RED, "in green", {"colour": "green"}),
    (RED, "Is BLUE instead of red.", {"colour": "blue"}),
    (RED, "black not red", {"colour": "black"}),
    (RED, "black, not red", {"colour": "black"}),
    (RED, "instead of red, blue", {"colour": "blue"}),
    (RED, "blue rather than red", {"colour": "blue"}),
    (RED, "change the colour to yellow", {"colour": "yellow"}),
    (RED, "change the color from red to gray", {"colour": "grey"}),
    (RED, "turn the dress purple", {"colour": "purple"}),
    (RED, "not red", {"colour": None}),
    (RED, "a different colour", {"colour": None}),
    (RED, "is more white", {"colour": "white"}),
    (RED, "is navy blue", {"colour": "navy"}),
    (RED, "is a dark blue", {"colour": "navy"}),
    (RED, "is burgundy", {}),
    (RED, "the dress is teal", {"colour": "teal"}),
    (LONG, "is darker", {"colour": "navy"}),
    (LONG, "much darker", {"colour": "black"}),
    (RED, "lighter in colour", {"colour": "pink"}),
    (SHIRT, "darker", {"colour": "grey"}),
    (TOP, "not as dark", {"colour": "grey"}),
    (TOP, "is less dark", {"colour": "grey"}),
    (LONG, "green instead of white", {"second_colour": "green"}),
    (LONG, "replace the white with yellow", {"second_colour": "yellow"}),
    (RED, "red and white", {"second_colour": "white", "pattern": None}),
    (RED, "with white stripes", {"second_colour": "white", "pattern": "stripes"}),
    (RED, "stripes in white", {"second_colour": "white", "pattern": "stripes"}),
    (RED, "is black and white striped", {"colour": "black", "second_colour": "white", "pattern": "stripes"}),
    (RED, "is green with yellow polka dots",
     {"colour": "green", "second_colour": "yellow", "pattern": "dots"}),
    (RED, "black dots on white", {"colour": "white", "second_colour": "black", "pattern": "dots"}),
    (RED, "is a blue floral print dress", {"colour": "blue", "pattern": "floral"}),
    (RED, "has a blue floral print", {"second_colour": "blue", "pattern": "floral"}),
    (RED, "is blue plaid", {"colour": "blue", "pattern": "checks"}),
    (RED, "has a white belt", {"second_colour": "white", "trim": "belt"}),
    (RED, "with a belt in white", {"second_colour": "white", "trim": "belt"}),
    (RED, "no sleeves", {"sleeves": "sleeveless"}),
    (RED, "sleeveless", {"sleeves": "sleeveless"}),
    (RED, "doesn't have sleeves", {"sleeves": "sleeveless"}),
    (RED, "remove the sleeves", {"sleeves": "sleeveless"}),
    (RED, "longer sleeves", {"sleeves": "elbow"}),
    (RED, "much longer sleeves", {"sleeves": "long"}),
    (RED, "the sleeves are longer", {"sleeves": "elbow"}),
    (RED, "the sleeves should be long", {"sleeves": "long"}),
    (RED, "shorter sleeves", {"sleeves": "sleeveless"}),
    (RED, "long sleeve", {"sleeves": "long"}),
    (RED, "has 3/4 sleeves", {"sleeves": "elbow"}),
    (RED, "has thin straps", {"sleeves": "straps"}),
    (TOP, "has sleeves", {"sleeves": "short"}),
    (TOP, "not sleeveless", {"sleeves": "short"}),
    (LONG, "shorter sleeves and shorter", {"sleeves": "elbow", "length": "medium"}),
    (LONG, "is shorter with short sleeves", {"sleeves": "short", "length": "medium"}),
    (LONG, "longer sleeves", {}),
    (LONG, "short", {"length": "short"}),
    (LONG, "is shorter", {"length": "medium"}),
    (LONG, "not as long", {"length": "medium"}),
    (LONG, "too long", {"length": "medium"}),
    (LONG, "is less long and looser", {"length": "medium", "fit": "regular"}),
    (LONG, "knee-length", {"length": "medium"}),
    (TOP, "longer and not dotted", {"length": "medium", "pattern": "plain"}),
    (TOP, "not polka dot and longer", {"length": "medium", "pattern": "plain"}),
    (LONG, "no longer striped", {"pattern": "plain", "second_colour": "none"}),
    (LONG, "without stripes", {"pattern": "plain", "second_colour": "none"}),
    (LONG, "plain", {"pattern": "plain", "second_colour": "none"}),
    (LONG, "is solid red", {"colour": "red", "pattern": "plain", "second_colour": "none"}),
    (LONG, "no pattern", {"pattern": "plain", "second_colour": "none"}),
    (LONG, "less busy", {"pattern": "plain", "second_colour": "none"}),
    (LONG, "simpler", {"pattern": "plain", "second_colour": "none"}),
    (SHIRT, "simpler", {"trim": "none"}),
    (LONG, "more floral", {"pattern": "floral"}),
    (TOP, "replace the dots by checks", {"pattern": "checks"}),
    (TOP, "swap the dots for stripes", {"pattern": "stripes"}),
    (TOP, "change the polka dots to flowers", {"pattern": "floral"}),
    (TOP, "vertical stripes instead of dots", {"pattern": "pinstripes"}),
    (RED, "same but with a collar", {"neckline": "collar"}),
    (RED, "has a v-neck instead of a round neck", {"neckline": "vneck"}),
    (RED, "V NECK", {"neckline": "vneck"}),
    (SHIRT, "without the collar", {"neckline": "crew"}),
    (RED, "lower neckline", {"neckline": "scoop"}),
    (LONG, "without the belt", {"trim": "none"}),
    (LONG, "remove the belt", {"trim": "none"}),
    (LONG, "lose the belt but add a bow", {"trim": "bow"}),
    (LONG, "a bow instead of the belt", {"trim": "bow"}),
    (RED, "add buttons", {"trim": "buttons"}),
    (RED, "remove the bow", {}),
    (LONG, "looser", {"fit": "regular"}),
    (SHIRT, "more fitted", {"fit": "slim"}),
    (SHIRT, "tighter", {"fit": "slim"}),
    (SHIRT, "less loose", {"fit": "slim"}),
    (RED, "flowy", {"fit": "loose"}),
    (RED, "is a shirt, not a dress", {"category": "shirt"}),
    (SHIRT, "is a tee", {"category": "toptee"}),
    (SHIRT, "a t-shirt", {"category": "toptee"}),
    (TOP, "is a gown", {"category": "dress"}),
    (TOP, "a tank top in white", {"category": "toptee", "colour": "white"}),
    (SHIRT, "same dress but in black", {"colour": "black"}),
    (LONG, "keep the sleeves but make it green", {"colour": "green"}),
    (LONG, "same colour, no belt", {"trim": "none"}),
    (RED, "is longer and is blue and has longer sleeves",
     {"length": "long", "colour": "blue", "sleeves": "elbow"}),
    (RED, "is blue. has a collar, and is stripped",
     {"colour": "blue", "neckline": "collar", "pattern": "stripes"}),
    (RED, "slevless and purpel", {"sleeves": "sleeveless", "colour": "purple"}),
    (LONG, "no belt, longer sleeves and a round neck", {"trim": "none", "neckline": "crew"}),
    (SHIRT, "no buttons or stripes and blue", {"trim": "none", "colour": "blue"}),
    (LONG, "has short sleeves and isn't striped, is green",
     {"sleeves": "short", "pattern": "plain", "second_colour": "none", "colour": "green"}),
    (RED, "striped with navy", {"pattern": "stripes", "second_colour": "navy"}),
    (TOP, "long sleeves instead of having no sleeves", {"sleeves": "long"}),
    (LONG, "short sleeves instead of long ones", {"sleeves": "short"}),
    (LONG, "sleeveless instead of having long sleeves", {"sleeves": "sleeveless"}),
    (RED, "a version without sleeves", {"sleeves": "sleeveless"}),
    (RED, "has a logo", {"pattern": "graphic"}),
]


@pytest.mark.parametrize(("caption", "text", "changed"), CASES, ids=[case[1] for case in CASES])
def test_edit(caption: str, text: str, changed: dict[str, str | None]) -> None:
    before = parse_caption(caption)
    expected = {**before.slots, **changed}
    after = apply_edits(before.slots, parse_edits(text))
    assert after == {group: value for group, value in expected.items() if value is not None}
    assert not parse_edits(text).extras


@pytest.mark.parametrize(("caption", "text", "query"), [
    (RED, "with a dragon", f"{RED}, with a dragon"),
    (RED, "make it blue with a dragon on the back",
     "a blue plain dress with short sleeves and a round neck, with a dragon on the back"),
    (RED, "is more elegant", f"{RED}, more elegant"),
    (RED, "with white sleeves", f"{RED}, with white sleeves"),
    ("a red skirt with a belt", "in blue", "a blue skirt with a belt"),
    (RED, "is a jacket", "a red plain jacket with short sleeves and a round neck"),
    ("a red dress with a dragon", "no dragon", "a red dress"),
    ("", "two dogs instead of one", "two dogs instead of one"),
    ("a brown dog on the grass.", "two dogs", "a brown dog on the grass, two dogs"),
    ("a red dress", "", "a red dress"),
    ("", "", "a photo"),
])
def test_merged_text(caption: str, text: str, query: str) -> None:
    assert merge(caption, text).query == query


@pytest.mark.parametrize(("caption", "text", "note"), [
    (RED, "with a dragon", "used as typed: dragon"),
    (RED, "is stripped", "treated 'stripped' as 'striped'"),
    (RED, "is burgundy", "treated 'burgundy' as 'red'"),
    (LONG, "longer", "it is already the longest"),
    (LONG, "longer sleeves", "the sleeves are already the longest"),
    (TOP, "darker", "there is no darker colour in the vocabulary"),
    (RED, "keep the sleeves", "unchanged: sleeves"),
    (RED, "remove the bow", "nothing to remove: 'bow' is not in the description"),
    (RED, "no dragon", "nothing to remove: 'dragon' is not in the description"),
    (RED, "is it", "no change recognised in your text"),
    (LONG, "has a red bow", "The pattern is red then, like the trim"),
    ("", "in red", "No caption of the reference: the query is the modification text only"),
])
def test_note(caption: str, text: str, note: str) -> None:
    assert note in merge(caption, text).notes


@pytest.mark.parametrize("text", [
    "wait, red instead", "forget it", "with a tiger", "a rugby shirt", "with plants on it", "lounge wear", "a witch",
    "with power", "things with stripes", "for shopping",
])
def test_an_english_word_is_never_corrected_into_another(text: str) -> None:
    assert not [note for note in merge(LONG, text).notes if note.startswith("treated")]


@pytest.mark.parametrize("words", [
    "forget the belt", "forget about the belt", "never mind the belt", "scrap the belt", "no need for a belt",
    "i don't need the belt",
])
def test_what_is_not_wanted_after_all_is_removed(words: str) -> None:
    assert merge(LONG, words).query == merge(LONG, "without the belt").query


@pytest.mark.parametrize(("text", "colours"), [
    ("with a pink belt", "blue and pink"), ("green with a yellow bow", "green and yellow"),
    ("with black edges", "blue and black"), ("the buttons in red", "blue and red"), ("has a red bow", "blue and red"),
])
def test_on_a_pattern_the_colour_of_a_trim_is_its_second_colour(text: str, colours: str) -> None:
    assert f"{colours} striped" in merge(LONG, text).query


def test_understood_text_needs_no_note() -> None:
    assert merge(LONG, "make it green and remove the belt").notes == ()


@pytest.mark.parametrize(("caption", "slots"), [
    ("Floral maxi dress, sleeveless, in black", {
        "pattern": "floral", "category": "dress", "length": "long", "sleeves": "sleeveless",
        "colour": "black"}),
    ("this is a grey tee with a logo", {"colour": "grey", "category": "toptee", "pattern": "graphic"}),
    ("Women's red and white checkered button down shirt", {
        "colour": "red", "second_colour": "white", "pattern": "checks", "category": "shirt",
        "trim": "buttons"}),
    ("the dress is blue with white polka dots", {
        "category": "dress", "colour": "blue", "second_colour": "white", "pattern": "dots"}),
])
def test_free_caption(caption: str, slots: dict[str, str]) -> None:
    assert parse_caption(caption).slots == {"second_colour": "none", "trim": "none"} | slots


def wearable(seed: int, count: int) -> list[dict[str, str]]:
    rng, found = random.Random(seed), []
    while len(found) < count:
        slots = {group.key: rng.choice(group.keys) for group in GROUPS}
        if is_wearable(slots):
            found.append(slots)
    return found


def test_parse_is_the_inverse_of_describe() -> None:
    for slots in wearable(3, 500):
        parsed = parse_caption(describe(slots))
        assert (parsed.slots, parsed.noun, parsed.extras) == (slots, "", ()), describe(slots)


def test_the_sample_gallery_s_many_wordings_are_understood() -> None:
    rng = random.Random(4)
    for slots in wearable(5, 500):
        caption = full_caption(slots, rng)
        parsed = parse_caption(caption)
        assert (parsed.slots, parsed.extras) == (slots, ()), caption


WORDS = (",", ".", "dragon", *dict.fromkeys(word for _, text, _ in CASES for word in text.lower().split()))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join),
       st.sampled_from([RED, LONG, SHIRT, TOP, ""]))
def test_any_order_of_words_gives_valid_slots(text: str, caption: str) -> None:
    slots = apply_edits(parse_caption(caption).slots, parse_edits(text))
    describe(slots)  # raises for a group or value that is not in the lexicon
    assert merge(caption, text) == merge(caption, text)
    assert merge(caption, text).query


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_is_answered(caption: str, text: str) -> None:
    assert merge(caption, text).query
    assert merge(RED, text).query
    assert merge(caption, "longer, in red").query


def test_endless_text_is_cut() -> None:
    answer = merge(RED, "in blue " + "blorple " * 5000)
    assert answer.query.startswith("a blue")
    assert "Only the first 200 words were read" in answer.notes


class FakeTexts:
    """Garment captions point one way, everything else another."""

    def encode_texts(self, texts):
        return np.stack([np.eye(2, dtype=np.float32)[0 if "dress" in text else 1] for text in texts])


class FakeAttributes:
    def __init__(self, encoder) -> None:
        pass

    def predict(self, features):
        return [{"category": "dress", "colour": "red"} for _ in features]


MODEL = BuiltinLanguageModel(FakeTexts(), attributes=FakeAttributes)


def test_caption_of_a_garment() -> None:
    answer = MODEL.complete(CaptionTask(Picture(features=np.array([1, 0], dtype=np.float32))))
    assert (answer.caption, answer.notes) == ("a red dress", ())


def test_caption_of_something_else_is_empty_and_says_why() -> None:
    answer = MODEL.complete(CaptionTask(Picture(features=np.array([0, 1], dtype=np.float32))))
    assert answer.caption == ""
    assert "only describes garments" in answer.notes[0] and "connect a language model" in answer.notes[0]


def test_known_caption_is_used_as_it_is() -> None:
    assert MODEL.complete(CaptionTask(Picture("My  caption"))).caption == "My  caption"


def test_caption_without_features_says_what_to_do() -> None:
    image = Image.new("RGB", (4, 4))
    answer = BuiltinLanguageModel().complete(CaptionTask(Picture.of(image)))
    assert answer.caption == "" and "Index the gallery" in answer.notes[0]


def test_features_of_another_encoder_are_refused() -> None:
    with pytest.raises(LanguageModelError, match="Index the gallery again"):
        MODEL.complete(CaptionTask(Picture(features=np.ones(3, dtype=np.float32))))


def test_merge_task() -> None:
    assert MODEL.name == "built-in/2"
    task = MergeTask(caption="a red dress", modification_text="in blue")
    assert MODEL.complete(task).query == "a blue dress"


def test_other_tasks_are_refused_with_a_remedy() -> None:
    class Judge(Task[Answer]):
        role = "judge"
        answer_type = Answer

    with pytest.raises(UnsupportedTask, match=r"role 'judge'.*Connect a language model"):
        MODEL.complete(Judge())
