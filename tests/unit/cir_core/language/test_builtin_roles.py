"""The rule-based language model in the roles beyond captions and merges."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence

import numpy as np
import pytest

from cir_core.errors import LanguageModelError, UnsupportedTask
from cir_core.garments.lexicon import BY_KEY, GROUPS, NONE, describe
from cir_core.garments.zero_shot import ZeroShotAttributes, prompts
from cir_core.language.builtin import BuiltinLanguageModel, apply_edits, parse_caption, parse_edits
from cir_core.language.builtin.difference import difference
from cir_core.language.builtin.seeing import vary
from cir_core.language.tasks import (
    CaptionTask,
    ConstraintsTask,
    DifferenceTask,
    JudgeTask,
    Picture,
    ReflectTask,
    RewriteTask,
    TwoSentencesTask,
)
from cir_core.sample.atelier.rules import is_wearable
from tests.unit.cir_core.language.test_builtin_language import wearable

MODEL = BuiltinLanguageModel()
RED = "a slim fit short red plain dress with short sleeves, a round neck and a belt"
DOTS = "a regular fit cropped black and white polka dot top with no sleeves and a v-neck"
DOG = "a brown dog on the grass"


def constrain(caption: str, text: str):
    return MODEL.complete(ConstraintsTask(caption=caption, modification_text=text))


@pytest.mark.parametrize(("caption", "text", "add", "remove", "prescriptive", "proscriptive"), [
    (RED, "is navy with longer sleeves", ("navy", "three-quarter sleeves"), ("red", "short sleeves"),
     "a navy dress with three-quarter sleeves, a round neck and a belt", "a red dress with short sleeves"),
    (RED, "without the belt", (), ("belt",), "a red dress with a round neck", "a dress with a belt"),
    (DOTS, "has long sleeves", ("long sleeves",), ("sleeveless",),
     "a black and white top with long sleeves and a v-neck", "a sleeveless top"),
    (DOTS, "green dots instead of white", ("green as the second colour",), ("white as the second colour",),
     "a black and green polka dot top with a v-neck", "a top with white polka dots"),
    (RED, "a shirt", ("shirt",), ("dress",), "a red shirt with a round neck and a belt", "a dress"),
    ("a red skirt with a belt", "is blue", ("blue",), ("red",), "a blue skirt with a belt", "a red skirt"),
    (RED, "add a dragon", ("with a dragon",), (), "a red dress with a round neck and a belt, with a dragon", ""),
    ("a red dress with a dragon", "no dragon", (), ("with a dragon",), "a red dress", "a dress, with a dragon"),
])
def test_constraints(caption, text, add, remove, prescriptive, proscriptive) -> None:
    answer = constrain(caption, text)
    assert (answer.add, answer.remove) == (add, remove)
    assert (answer.prescriptive, answer.proscriptive) == (prescriptive, proscriptive)


BROWN = "a brown plain sleeveless top with a round neck"


@pytest.mark.parametrize(("caption", "text", "remove", "proscriptive"), [
    (BROWN, "without stripes", ("striped",), "a striped top"),
    (BROWN, "in blue with long sleeves, without stripes", ("brown", "sleeveless", "striped"),
     "a brown sleeveless top, a striped top"),
    (BROWN, "no stripes or dots", ("striped", "polka dot"), "a striped top, a polka dot top"),
    (BROWN, "not red", ("red",), "a red top"),
    (BROWN, "without a belt", ("belt",), "a top with a belt"),
    (BROWN, "no pinstripes", ("striped",), "a striped top"),
    (BROWN, "without stripes, no lace", ("striped", "with lace"), "a striped top, with lace"),
    (BROWN, "no pattern", (), ""),
    (BROWN, "in stripes, not dots", ("plain", "polka dot"), "a plain top, a polka dot top"),
    (DOTS, "without stripes", ("striped",), "a striped top"),
    ("a red shirt", "without stripes, striped please", (), ""),
])
def test_what_the_text_rejects_must_not_show_though_the_reference_lacks_it(caption, text, remove, proscriptive) -> None:
    answer = constrain(caption, text)
    assert (answer.remove, answer.proscriptive) == (remove, proscriptive)


def test_an_addition_alone_removes_nothing() -> None:
    answer = constrain("a red dress", "has long sleeves")
    assert (answer.keep, answer.add, answer.remove, answer.proscriptive) == (
        ("dress", "red"), ("long sleeves",), (), "")


def test_kept_values_begin_with_the_noun() -> None:
    assert constrain(RED, "is navy").keep == (
        "dress", "plain", "short sleeves", "round neck", "short", "slim fit", "belt")


def test_no_negation_on_the_proscriptive_side() -> None:
    for seed, slots in enumerate(wearable(1, 200)):
        target = wearable(seed + 500, 1)[0]
        text = " and ".join(describe({g: v}) for g, v in target.items() if v != NONE and g != "second_colour")
        words = constrain(describe(slots), text).proscriptive.split()
        assert not {"no", "not", "without"} & set(words)


def test_constraints_of_another_image_are_the_text_alone() -> None:
    answer = constrain(DOG, "two dogs")
    assert (answer.prescriptive, answer.proscriptive, answer.keep, answer.remove) == ("two dogs", "", (), ())
    assert "describes no garment" in answer.notes[0]


# Of four candidates three have long sleeves, one is navy, none has the belt.
CANDIDATES = (
    "a slim fit short red plain dress with long sleeves and a round neck",
    "a slim fit short red plain dress with long sleeves and a round neck",
    "a slim fit short red plain dress with short sleeves and a round neck",
    "a slim fit short navy plain dress with long sleeves and a round neck",
)


def reflect(text: str, candidates: Sequence[str] = CANDIDATES, **more: str | None):
    return MODEL.complete(ReflectTask(
        reference_caption=RED, modification_text=text, captions=tuple(candidates), **more))


def test_reflection_counts_and_says_what_is_missing() -> None:
    answer = reflect("is navy and has long sleeves")
    assert "navy and long sleeves" in answer.intent
    assert "3 of 4: long sleeves" in answer.satisfied and "4 of 4: dress" in answer.satisfied
    assert "only 1 of 4: navy" in answer.problems and "3 of 4 still: red" in answer.problems
    assert any("none of 4: belt" in problem and "caption is wrong" in problem for problem in answer.problems)
    assert answer.query == "a navy dress with long sleeves and a belt"  # asked for, or missing; not "slim fit"


def test_reflection_does_not_repeat_a_query_that_did_not_help() -> None:
    first = reflect("is navy and has long sleeves").query
    second = reflect("is navy and has long sleeves", previous_query=first)
    assert second.query == "a navy dress with a belt" and "asked before" in second.strategy


def test_reflection_with_nothing_wrong_asks_for_everything_again() -> None:
    wanted = "a slim fit short navy plain dress with short sleeves, a round neck and a belt"
    answer = reflect("is navy", [wanted] * 3)
    assert (answer.query, answer.problems) == (wanted, ())
    assert "everything that is wanted" in answer.strategy


def test_a_comparative_is_met_by_every_step_beyond() -> None:
    longer = ["a red dress with three-quarter sleeves", "a red dress with long sleeves"]
    assert "2 of 2: three-quarter sleeves" in reflect("has longer sleeves", longer).satisfied


def test_candidates_without_a_caption_are_read_from_their_pictures() -> None:
    task = ReflectTask(reference_caption=RED, modification_text="is navy", captions=("",),
                       candidates=(Picture("a navy dress"), Picture("a navy gown")))
    assert "2 of 2: navy" in MODEL.complete(task).satisfied


def say(old: str, new: str, *history: str, attempt: int = 1) -> str:
    task = DifferenceTask(Picture(old), Picture(new), history, attempt=attempt)
    return MODEL.complete(task).instruction


NEW = "a slim fit long navy plain dress with long sleeves and a round neck"


def test_difference_says_the_most_salient_change_that_was_not_spoken_of() -> None:
    assert say(RED, NEW) == "Change the colour to navy"
    assert say(RED, NEW, "Change the colour to navy") == "Make the sleeves long"
    assert say(RED, NEW, "make it darker", "with longer sleeves") == "Make it long"
    assert say(RED, NEW, attempt=2) == "Make the sleeves long"
    assert say(RED, NEW, attempt=9) == "Remove the belt"


def test_difference_repeats_itself_only_when_all_was_said() -> None:
    answer = difference(RED, RED.replace("red", "navy"), ["is navy"])
    assert answer.instruction == "Change the colour to navy" and "mentioned before" in answer.notes[0]


def test_no_difference_is_said_so() -> None:
    with pytest.raises(LanguageModelError, match="Drop this session"):
        say(RED, RED)


def test_every_instruction_does_what_it_says() -> None:
    rng = random.Random(6)
    garments = wearable(7, 800)
    for old in garments:
        group = rng.choice(GROUPS).key
        new = {**old, group: rng.choice(BY_KEY[group].keys)}
        if new == old or not is_wearable(new):
            continue
        text = say(describe(old), describe(new))
        after = apply_edits(old, parse_edits(text))
        assert after[group] == new[group], (describe(old), text)
        assert not parse_edits(text).extras
        assert group == "colour" or after["colour"] == old["colour"], (describe(old), text)


def test_two_sentences() -> None:
    def answer(text: str):
        return MODEL.complete(TwoSentencesTask(Picture(RED), text))

    longer = answer("is navy and has longer sleeves")
    assert longer.modification == "A navy dress with three-quarter sleeves."
    assert longer.kept == "It is slim fit, short and plain and has a round neck and a belt."
    assert answer("no belt").modification == "A dress without a belt."
    assert answer("blorp").modification == "A dress, blorp."


@pytest.mark.parametrize(("text", "target", "distractors", "expected"), [
    ("is longer", "a long navy dress with a v-neck",
     ["a long red dress with a v-neck", "a long red dress with a round neck"], "is longer and is navy"),
    ("Make it longer.", "a long navy dress with a v-neck",
     ["a long red dress with a v-neck", "a long navy dress with a round neck"],
     "Make it longer, in navy, with a v-neck."),
    ("is navy", "a long navy dress", ["a short red dress"], "is navy and is long"),
])
def test_rewrite_adds_what_tells_the_target_apart(text, target, distractors, expected) -> None:
    task = RewriteTask(Picture(RED), Picture(target), tuple(map(Picture, distractors)), text)
    assert MODEL.complete(task).refined_caption == expected


def test_rewrite_of_twins_says_so() -> None:
    task = RewriteTask(Picture(RED), Picture(NEW), (Picture(NEW),), "is longer")
    answer = MODEL.complete(task)
    assert answer.refined_caption == "is longer" and "every attribute of the target" in answer.notes[-1]


@pytest.mark.parametrize("task", [
    ReflectTask(reference_caption=DOG, captions=(RED,)), ReflectTask(reference_caption=RED, captions=(DOG,)),
    DifferenceTask(Picture(DOG), Picture(RED)), DifferenceTask(Picture(RED), Picture()),
    TwoSentencesTask(Picture(DOG), "blue"), RewriteTask(Picture(RED), Picture(RED), (Picture(DOG),), "blue"),
])
def test_what_is_no_garment_is_refused_with_a_remedy(task) -> None:
    with pytest.raises(UnsupportedTask, match=r"captions to the gallery's manifest.*docs/how-to/language-models\.md"):
        MODEL.complete(task)


def test_judging_is_left_to_models_that_can() -> None:
    with pytest.raises(UnsupportedTask, match=r"role 'judge'.*docs/how-to/language-models\.md"):
        MODEL.complete(JudgeTask())


class HashEncoder:
    """Texts to random but repeatable directions."""

    def encode_texts(self, texts: Sequence[str]) -> np.ndarray:
        rows = []
        for text in texts:
            seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
            row = np.random.default_rng(seed).normal(size=512)
            rows.append(row / np.linalg.norm(row))
        return np.asarray(rows, dtype=np.float32)


def features_of(caption: str) -> np.ndarray:
    """Features where the prompts of every value of ``caption`` lie, and the caption itself."""
    slots = parse_caption(caption).slots
    texts = [text for group, value in slots.items() for text in prompts(group, value, slots["category"])]
    total = HashEncoder().encode_texts([*texts, *[caption] * 4]).sum(axis=0)
    return (total / np.linalg.norm(total)).astype(np.float32)


def test_pictures_are_read_by_their_features_in_every_role() -> None:
    model = BuiltinLanguageModel(HashEncoder())
    task = DifferenceTask(Picture(features=features_of(RED)), Picture(features=features_of(NEW)), domain="dress")
    assert model.complete(task).instruction == "Change the colour to navy"
    wanted = ConstraintsTask(Picture(features=features_of(RED)), modification_text="is navy")
    assert model.complete(wanted).remove == ("red",)


def test_sampled_captions_differ_and_come_again() -> None:
    picture, model = Picture(features=features_of(RED)), BuiltinLanguageModel(HashEncoder())
    drawn = [model.complete(CaptionTask(picture, sample=sample)).caption for sample in range(20)]
    again = BuiltinLanguageModel(HashEncoder())
    assert drawn == [again.complete(CaptionTask(picture, sample=sample)).caption for sample in range(20)]
    assert drawn[0] == RED and len(set(drawn)) > 10
    assert all(parse_caption(caption).is_garment for caption in drawn)


def test_draws_follow_the_scores() -> None:
    judge = ZeroShotAttributes(HashEncoder())
    features = np.atleast_2d(features_of(RED))
    rng = np.random.default_rng(0)
    assert judge.draw(features, rng, 0.0) == judge.predict(features)
    # A softmax over 14 colours at a high temperature is nearly even: red is drawn about once in 14.
    colours = [judge.draw(features, rng, 100.0)[0]["colour"] for _ in range(400)]
    assert 10 < colours.count("red") < 60 and len(set(colours)) == 14


def test_other_words_say_the_same_values() -> None:
    rng = np.random.default_rng(8)
    for slots in wearable(9, 300):
        caption = vary(slots, rng)
        parsed = parse_caption(caption)
        assert not parsed.extras, caption
        for group, value in parsed.slots.items():
            assert value == slots[group] or (group == "trim" and value == NONE), caption
