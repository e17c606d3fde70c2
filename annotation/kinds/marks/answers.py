"""A person's answer about a query: ``{"marks": {image token: "yes", "no" or "unsure"}, "note": ""}``. What people
are asked about a query's candidates, as it is written in ``assets/marks``. SoFT's stage 1 asks a language model the
same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Any

from annotation.records import Item, Study, Why
from annotation.studies.input_limits import NOTE_LIMIT
from annotation.studies.kinds import NOTHING, NormalizedAnswer, PlainKind, draft_text, object_in, object_of, text_of
from annotation.studies.protocols import Part, Protocol, Text, load_protocol, newest_protocol, parse_toml
from cir_core.errors import IncompleteJudgement
from cir_core.support.texts import counted, printable, shortened

MARKS = ("yes", "no", "unsure")
_FOLDER = Path(__file__).resolve().parents[3] / "assets" / "marks"


class Guideline(Part):
    title: Text
    text: Text


class Marking(Protocol):
    intro: Text
    guide: tuple[Guideline, ...]


@lru_cache
def load_marking(protocol: str) -> Marking:
    """What is asked by a study's protocol. Raises ``StudyError`` for one that cirque does not have, or is broken."""
    return load_protocol(_FOLDER, protocol, "file of marks", lambda text, where: parse_toml(Marking, text, where))


def newest_marking() -> str:
    """The protocol of new studies; a study that is there has its own."""
    return newest_protocol(_FOLDER, "soft-targets")


FIELDS = ("marks", "note")


class Targets(PlainKind):
    """:class:`annotation.studies.kinds.StudyKind` of target studies. An image can be unsure, an answer never is."""

    def normalize(
        self, answer: object, item: Item, study: Study, *, extra: Mapping[str, Any] = NOTHING
    ) -> NormalizedAnswer:
        """:func:`complete_answer`."""
        load_marking(study.protocol)
        return NormalizedAnswer(complete_answer(answer, item.shown["candidates"]))

    def draft(
        self, answer: object, item: Item, study: Study, *, extra: Mapping[str, Any] = NOTHING
    ) -> Mapping[str, Any]:
        """:func:`draft_answer`."""
        return draft_answer(answer, item.shown["candidates"])

    def page(self, study: Study) -> Mapping[str, Any]:
        """The marks with their guidelines, and the limit of a note."""
        return {**load_marking(study.protocol).model_dump(exclude={"protocol"}, mode="json"), "marks": list(MARKS),
                "note_limit": NOTE_LIMIT}

    def score(self, answer: Mapping[str, Any], expected: Mapping[str, Any]) -> float:
        """Share of the images with the expected mark."""
        wanted: Mapping[str, str] = expected["marks"]
        return fmean(answer["marks"].get(token) == mark for token, mark in wanted.items()) if wanted else 0.0

    def pattern(self, answer: Mapping[str, Any]) -> object:
        return tuple(answer["marks"].values())

    def contradicts(self, answer: Mapping[str, Any], study: Study) -> bool | None:
        return None

    def disputes(self, answers: Sequence[Mapping[str, Any]], study: Study) -> Collection[Why]:
        """Of any image: "tie", as many say yes as no; "split", both are said; "unsure"."""
        counts = [Counter(answer["marks"].get(token) for answer in answers)
                  for token in dict.fromkeys(token for answer in answers for token in answer["marks"])]
        found: dict[Why, bool] = {
            "unsure": any(of["unsure"] for of in counts), "tie": any(of["yes"] == of["no"] > 0 for of in counts),
            "split": any(of["yes"] and of["no"] for of in counts)}
        return [why for why, there in found.items() if there]

    def told(
        self, answer: Mapping[str, Any], item: Item, study: Study, *, extra: Mapping[str, Any] = NOTHING,
    ) -> str:
        numbers = {token: number for number, token in enumerate(item.shown["candidates"], 1)}
        of = {mark: [str(numbers[token]) for token, given in answer["marks"].items()
                     if given == mark and token in numbers] for mark in MARKS}
        return "; ".join(f"{mark}: {', '.join(images)}" for mark, images in of.items() if images)


def complete_answer(given: object, candidates: Sequence[str]) -> dict[str, Any]:
    """The canonical answer, its marks in the order of ``candidates`` (tokens). Raises ``IncompleteJudgement`` unless
    each candidate, and nothing else, has a mark."""
    answer = object_of(given, FIELDS, "An answer about a query's images")
    marks = answer.get("marks")
    if not isinstance(marks, Mapping):
        raise IncompleteJudgement("“marks” is an object with a mark for each image, by its token.")
    if unknown := [token for token in marks if token not in candidates]:
        raise IncompleteJudgement(f"“{printable(shortened(str(unknown[0]), 40))}” is no image of this query. Reload "
                                  "the page.")
    if left := sum(marks.get(token) is None for token in candidates):
        raise IncompleteJudgement(f"{counted(left, 'image has', 'images have')} no mark yet. Mark each with "
                                  f"{', '.join(MARKS[:-1])} or {MARKS[-1]}, then save.")
    if any(marks[token] not in MARKS for token in candidates):
        raise IncompleteJudgement(f"A mark is one of {', '.join(MARKS)}.")
    return {"marks": {token: marks[token] for token in candidates}, "note": text_of(answer.get("note"), "note")}


def draft_answer(given: object, candidates: Sequence[str]) -> dict[str, Any]:
    """The storable parts of an unfinished answer; null where an image has no mark. Raises ``IncompleteJudgement`` for
    a note that cannot be stored."""
    marks = object_in(given, "marks")
    return {"marks": {token: mark if (mark := marks.get(token)) in MARKS else None for token in candidates},
            "note": draft_text(given, "note")}
