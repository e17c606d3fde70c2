"""Questions of a preference study for a language model: the survey that people read, and its answers as a form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from annotation.analysis.records import Selection, StudyAnswers
from annotation.kinds.asking import Asked, Asking, ComparedQuestion, ShownImage, with_guidelines
from annotation.kinds.preference.answers import RATINGS, SIDES, TIE, shown_sets
from annotation.kinds.preference.report.report import answers_that_count
from annotation.kinds.preference.survey.texts import as_page, survey_of
from annotation.quality.rules import Rules
from annotation.records import Item, Study
from cir_core.language.tasks.forms import Form, FormField


def asked(item: Item, study: Study, extra: Mapping[str, Any]) -> Asked:
    """The reference image and both sets, that of ``extra["first"]`` first."""
    page = as_page(survey_of(study), study.settings)
    names, questions, labels = page["set_names"], page["questions"], page["labels"] or {}
    more = page["help"]
    scale = "; ".join(f"{one['value']}: {one['name']}" for one in page["scale"])
    tie = f', or "{TIE}": {questions["tie"]}' if page["allow_tie"] else ""
    fields = (
        *(FormField(f"rating_{side}", "number", _helped(f"{text} ({scale})", more["rating"]), RATINGS)
          for side, text in zip(SIDES, questions["ratings"], strict=True)),
        FormField("preferred", "choice", _helped(
            f'{questions["preferred"]} "A" is {names[0]}, "B" is {names[1]}{tie}.', more["preferred"]),
                  (*SIDES, TIE) if page["allow_tie"] else SIDES),
        *(FormField(f"irrelevant_{mark['to']}", "yes", _helped(mark["text"], more["irrelevant"]))
          for mark in questions["marks"]))
    sets = shown_sets(item, extra)
    return Asked(
        Form(with_guidelines(study, page["intro"], "\n".join(f"- {line}" for line in page["guidelines"])), fields),
        (str(item.shown["text"]),),
        (ShownImage(labels.get("image", "the reference image"), item.shown["reference"]),
         *(ShownImage(f"{name}, result", token, small=True)
           for name, tokens in zip(names, sets, strict=True) for token in tokens)))


def _helped(question: str, more: str) -> str:
    return f"{question} {more}".strip()


def answer(given: Mapping[str, Any], reason: str, item: Item, again: bool) -> Mapping[str, Any]:
    """A preference against the own ratings is kept if the model stays with it, as when a person confirms it."""
    marks = {name.removeprefix("irrelevant_"): value for name, value in given.items() if name.startswith("irrelevant_")}
    return {"ratings": {side: given[f"rating_{side}"] for side in SIDES}, "preferred": given["preferred"],
            "irrelevant": marks, "reason": reason, "confirmed": again}


def _side(given: Mapping[str, Any]) -> bool | None:
    if not given["preferred"] or not given["first"]:
        return None
    return bool(given["preferred"] == given["first"])


def _counted(answers: StudyAnswers, selection: Selection, rules: Rules | None) -> StudyAnswers:
    selected, kept, _, _ = answers_that_count(answers, selection, rules)
    return replace(selected, judgements=kept)


def _choices(study: Study) -> tuple[str, ...]:
    return ("equally good", "stored set 1", "stored set 2")


ASKING = Asking(
    asked, answer,
    lambda study: (
        ComparedQuestion("preferred", "Preferred set", "nominal", _choices,
                         lambda given, study: {"": given["preferred"]}, "question"),
        ComparedQuestion(
            "ratings", "Rating of a set", "ordinal", lambda study: tuple(map(str, RATINGS)),
            lambda given, study: {str(place): rating - 1 for place, rating in enumerate(given["ratings"], 1)}, "set")),
    turned=lambda extra: {**extra, "first": 3 - extra["first"]}, side=_side, counted=_counted)
