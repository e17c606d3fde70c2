"""Candidates of a query for a language model, marked with the words that people read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.kinds.asking import Asked, Asking, ComparedQuestion, ShownImage, with_guidelines
from annotation.kinds.marks.answers import USUAL, Marking, marking_of
from annotation.records import Item, Study
from cir_core.language.tasks.forms import Form, FormField


def asked(item: Item, study: Study, extra: Mapping[str, Any]) -> Asked:
    marking, candidates = marking_of(study), item.shown["candidates"]
    names = [f"candidate {number}" for number in range(1, len(candidates) + 1)]
    return Asked(
        Form(with_guidelines(study, marking.intro, *(f"{one.title}: {one.text}" for one in marking.guide)),
             tuple(FormField(name, "choice", _question(marking), marking.codes) for name in names)),
        (str(item.shown["text"]),),
        (ShownImage("the reference image", item.shown["reference"]),
         *(ShownImage(name, token, small=True) for name, token in zip(names, candidates, strict=True))))


def _question(marking: Marking) -> str:
    """With what each mark is called, where that is not what it counts as."""
    told = "; ".join(f'"{one.mark}": {one.name}{f" ({one.help})" if one.help else ""}' for one in marking.marks)
    return f"{marking.question or 'Is it a target?'}{'' if marking.marks == USUAL else f' {told}.'}"


def answer(given: Mapping[str, Any], reason: str, item: Item, again: bool) -> Mapping[str, Any]:
    return {"marks": {token: given[f"candidate {number}"]
                      for number, token in enumerate(item.shown["candidates"], 1)}, "note": reason}


def _codes(given: Mapping[str, Any], study: Study) -> Mapping[str, int]:
    return {token: int(mark == "yes") for token, mark in given["marks"].items() if mark != "unsure"}


ASKING = Asking(asked, answer, lambda study: (
    ComparedQuestion("target", "Target or not", "nominal", lambda study: ("no", "yes"), _codes, "image"),),
    places=lambda item: item.shown["candidates"])
