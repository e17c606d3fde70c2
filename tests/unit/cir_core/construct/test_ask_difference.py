"""f_diff asked again until it says something new."""

from __future__ import annotations

import numpy as np
import pytest

from cir_core.construct.sessions.builder import ask_difference
from cir_core.errors import LanguageModelError
from cir_core.language.base import Observer
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.language.tasks import DifferenceAnswer, DifferenceTask, Picture
from tests.fakes.language import ReplayingLanguageModel

# Unit vectors in the plane; with "make it red" (1, 0) the cosine is the first number.
TEXTS = {
    "make it red": (1.0, 0.0),
    "a red one": (0.96, 0.28),
    "more red": (0.8, 0.6),           # 0.8 exactly: as float32 a little above, so it is rejected
    "add a belt": (0.6, 0.8),         # with "more red" 0.6 · 0.8 + 0.8 · 0.6 = 0.96
    "longer sleeves": (0.0, 1.0),     # with "more red" 0.6, with "add a belt" 0.8
    "halfway": (0.5, 0.8660254),
    "no collar": (-0.6, 0.8),         # with "longer sleeves" 0.8, with "add a belt" 0.28
}
TARGET = Picture("a blue dress")


class Plane:
    def __init__(self) -> None:
        self.encoded: list[list[str]] = []

    def encode_texts(self, texts):
        self.encoded.append(list(texts))
        return np.array([TEXTS[text] for text in texts], dtype=np.float32)


def ask(said, history, **options):
    model = ReplayingLanguageModel({"difference": [DifferenceAnswer(instruction=text) for text in said]})
    encoder = Plane()
    task = DifferenceTask(Picture("a red dress"), TARGET, tuple(history))
    answer, notes = ask_difference(model, encoder, task, **options)
    return answer.instruction, notes, [asked.attempt for asked in model.asked_as("difference")], encoder


def test_the_first_text_of_a_session_is_never_checked():
    for history in ((), ("",), (" ",)):
        instruction, notes, attempts, encoder = ask(["make it red"], history)
        assert (instruction, notes, attempts, encoder.encoded) == ("make it red", (), [1], [])


@pytest.mark.parametrize(("said", "history", "kept", "attempts"), [
    (["add a belt"], ["make it red"], "add a belt", [1]),                            # 0.6
    (["a red one", "add a belt"], ["make it red"], "add a belt", [1, 2]),            # 0.96, then 0.6
    (["more red", "a red one", "add a belt"], ["make it red"], "add a belt", [1, 2, 3]),
    # T_1 counts as every other: 0.28 with the last text, 0.96 with the first.
    (["a red one", "longer sleeves"], ["make it red", "no collar"], "longer sleeves", [1, 2, 3]),
    (["make it red"], ["no collar"], "make it red", [1]),                            # -0.6
])
def test_what_is_too_close_to_anything_said_is_asked_for_again(said, history, kept, attempts):
    instruction, notes, asked, _ = ask(said, history)
    assert (instruction, asked) == (kept, attempts)
    # "longer sleeves" is 0.8 from "no collar": the last answer is kept for want of a better one.
    assert bool(notes) == (kept == "longer sleeves")


def test_after_three_attempts_the_last_is_kept_with_a_note():
    said = ["make it red", "a red one", "more red", "add a belt"]
    instruction, notes, attempts, _ = ask(said, ["make it red"])
    assert instruction == "more red" and attempts == [1, 2, 3]
    [note] = notes
    assert "3 attempts" in note and "0.800" in note and note.endswith("make it red")


def test_limit_and_attempts_are_options():
    assert ask(["a red one"], ["make it red"], tau=0.97)[2] == [1]
    assert ask(["add a belt", "no collar"], ["make it red"], tau=0.5)[0] == "no collar"
    assert ask(["halfway", "no collar"], ["make it red"], tau=0.5)[2] == [1, 2]      # a cosine of τ is too close
    instruction, notes, attempts, _ = ask(["a red one", "no collar"], ["make it red"], attempts=1)
    assert (instruction, attempts, len(notes)) == ("a red one", [1], 1)


def test_all_questions_are_watched_and_their_errors_pass_through():
    model = ReplayingLanguageModel({"difference": [DifferenceAnswer(instruction="a red one"),
                                                   LanguageModelError("The answer has no instruction.")]})
    watch = Observer()
    with pytest.raises(LanguageModelError, match="no instruction"):
        ask_difference(model, Plane(), DifferenceTask(history=("make it red",)), watch=watch)
    assert watch.usage.calls == 2


def test_the_built_in_model_turns_to_another_aspect():
    class Colours:
        """What speaks of a colour or a tone points one way, everything else another."""

        def encode_texts(self, texts):
            return np.array([[1, 0] if "colour" in text or "tone" in text else [0, 1] for text in texts], np.float32)

    task = DifferenceTask(Picture("a red dress with short sleeves"), Picture("a blue dress with long sleeves"),
                          ("another tone altogether",))
    first = BuiltinLanguageModel().complete(task).instruction
    answer, notes = ask_difference(BuiltinLanguageModel(), Colours(), task)
    assert "colour" in first and "sleeve" in answer.instruction and notes == ()
