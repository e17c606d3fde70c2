"""Sessions for a language model, with the questions that people answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.kinds.asking import Asked, Asking, ComparedQuestion, ShownImage, with_guidelines
from annotation.kinds.ratings.answers import Question, questions_of
from annotation.records import Item, Study
from cir_core.language.tasks.forms import Form, FormField


def asked(item: Item, study: Study, extra: Mapping[str, Any]) -> Asked:
    protocol, turns = questions_of(study), item.shown["turns"]
    fields = tuple(
        FormField(one.key, "number", f"{one.title}. {one.text} 1: {one.low}; {protocol.points}: {one.high}. "
                                     f"{one.guide}".strip(), protocol.scale)
        for one in protocol.questions)
    return Asked(
        Form(with_guidelines(study, protocol.intro), fields), tuple(turn["text"] for turn in turns),
        (*(ShownImage(f"turn {number}", turn["image"]) for number, turn in enumerate(turns, 1)),
         ShownImage("the target", item.shown["target"])))


def answer(given: Mapping[str, Any], reason: str, item: Item, again: bool) -> Mapping[str, Any]:
    return {"ratings": dict(given), "reason": reason}


def _compared(study: Study) -> tuple[ComparedQuestion, ...]:
    protocol = questions_of(study)
    scale = tuple(map(str, protocol.scale))

    def of(question: Question) -> ComparedQuestion:
        def codes(given: Mapping[str, Any], _study: Study) -> Mapping[str, int]:
            rating = given["ratings"].get(question.key)     # None for a question that was not asked
            return {} if rating is None else {"": rating - 1}

        label = question.key.replace("_", " ").capitalize()
        return ComparedQuestion(question.key, label, "ordinal", lambda _study: scale, codes, "session")

    return tuple(map(of, protocol.questions))


ASKING = Asking(asked, answer, _compared)
