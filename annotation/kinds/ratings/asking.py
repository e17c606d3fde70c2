"""Sessions for a language model, with the questions that people answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.kinds.asking import Asked, Asking, ComparedQuestion, ShownImage, with_guidelines
from annotation.kinds.ratings.answers import KEYS, POINTS, load_questions
from annotation.records import Item, Study
from cir_core.language.tasks.forms import Form, FormField


def asked(item: Item, study: Study, extra: Mapping[str, Any]) -> Asked:
    protocol, turns = load_questions(study.protocol), item.shown["turns"]
    fields = tuple(
        FormField(one.key, "number",
                  f"{one.title}. {one.text} 1: {one.low}; 5: {one.high}. {one.guide}".strip(), POINTS)
        for one in protocol.questions)
    return Asked(
        Form(with_guidelines(study, protocol.intro), fields), tuple(turn["text"] for turn in turns),
        (*(ShownImage(f"turn {number}", turn["image"]) for number, turn in enumerate(turns, 1)),
         ShownImage("the target", item.shown["target"])))


def answer(given: Mapping[str, Any], reason: str, item: Item, again: bool) -> Mapping[str, Any]:
    return {"ratings": {key: given[key] for key in KEYS}, "reason": reason}


def _question(key: str) -> ComparedQuestion:
    return ComparedQuestion(key, key.capitalize(), "ordinal", lambda study: tuple(map(str, POINTS)),
                            lambda given, study: {"": given["ratings"][key] - 1}, "session")


ASKING = Asking(asked, answer, tuple(map(_question, KEYS)))
