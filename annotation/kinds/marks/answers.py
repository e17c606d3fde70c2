"""A person's answer about a query: ``{"marks": {image token: "yes", "no" or "unsure"}, "note": ""}``. What people
are asked about a query's candidates, as it is written in ``assets/marks``. SoFT's stage 1 asks a language model the
same. A study may have a file of its own, with other words for the marks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Literal

from pydantic import Field

from annotation.records import Item, Study, Why
from annotation.studies.input_limits import NOTE_LIMIT
from annotation.studies.kinds import NOTHING, NormalizedAnswer, PlainKind, draft_text, object_in, object_of, text_of
from annotation.studies.protocols import (
    OwnFile,
    Part,
    Protocol,
    Text,
    asked_by,
    chosen,
    load_protocol,
    newest_protocol,
    parse_toml,
    placed,
)
from cir_core.errors import IncompleteJudgement, StudyError
from cir_core.support.texts import counted, printable, shortened

MARKS = ("yes", "no", "unsure")
_SCREEN_KEYS = frozenset("dfortxz")   # letters that the screen uses for other things
_FOLDER = Path(__file__).resolve().parents[3] / "assets" / "marks"


class Guideline(Part):
    title: Text
    text: Text


class Mark(Part):
    """``mark``: what it counts as, in results and exports. ``name``: what people read."""

    mark: Literal["yes", "no", "unsure"]
    name: Annotated[str, Field(min_length=1, max_length=30)]   # of a button
    key: Annotated[str, Field(pattern=r"^[a-z]$")]
    help: str = ""

    @property
    def title(self) -> str:
        """``name`` at the beginning of a line."""
        return self.name[0].upper() + self.name[1:]


USUAL = (Mark(mark="yes", name="yes", key="y"), Mark(mark="no", name="no", key="n"),
         Mark(mark="unsure", name="unsure", key="u"))


class Marking(Protocol):
    title: Text = "Your marks"
    intro: Text
    question: str = ""                    # about each image; "": as the intro has it
    guide: tuple[Guideline, ...] = ()
    marks: tuple[Mark, ...] = USUAL

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(one.mark for one in self.marks)

    @property
    def names(self) -> Mapping[str, str]:
        """At the beginning of a line, by what they count as; also of one that this file does not offer."""
        return {one.mark: one.title for one in (*USUAL, *self.marks)}

    @property
    def listed(self) -> str:
        *first, last = (one.name for one in self.marks)
        return f"{', '.join(first)} or {last}"


@lru_cache
def load_marking(protocol: str) -> Marking:
    """The marks of a protocol of cirque's. Raises ``StudyError`` for one that it does not have, or is broken."""
    return load_protocol(_FOLDER, protocol, "file of marks", parse_marking)


def newest_marking() -> Marking:
    """What a new study asks; a study that is there has its own."""
    return load_marking(newest_protocol(_FOLDER, "soft-targets"))


def marking_of(study: Study) -> Marking:
    """What ``study`` asks: a file of its own, or one of cirque's."""
    return asked_by(study, load_marking, parse_marking)


def choose_marking(
    own: OwnFile | None, others: Callable[[], Iterable[Study]]
) -> tuple[Marking, dict[str, str]]:
    """:func:`annotation.studies.protocols.chosen`."""
    return chosen(_FOLDER, own, newest_marking, parse_marking, others)


@lru_cache
def parse_marking(text: str, where: str) -> Marking:
    """Marks from their TOML. ``where`` names the file in the ``StudyError`` for what is wrong in it."""
    found = parse_toml(Marking, text, where)
    for place, problem, remedy in _faults(found):
        raise StudyError(f"{placed(where, text, place)}, {'.'.join(map(str, place))}: {problem}. {remedy}.")
    return found


def _faults(of: Marking) -> Iterable[tuple[tuple[str | int, ...], str, str]]:
    """Place, problem and remedy of what the types let pass."""
    for field in ("mark", "name", "key"):
        given = [getattr(one, field) for one in of.marks]
        for number, value in enumerate(given):
            if value in given[:number]:
                yield ("marks", number, field), f"{value} occurs twice", f"Give each mark its own {field}"
    for number, one in enumerate(of.marks):
        if one.key in _SCREEN_KEYS:
            yield (("marks", number, "key"), f"{one.key} is a key of the screen",
                   f"Choose a letter other than {', '.join(sorted(_SCREEN_KEYS))}")
    if lacking := [mark for mark in ("yes", "no") if mark not in of.codes]:
        yield (("marks", len(of.marks) - 1, "mark"), f"no mark counts as {lacking[0]}",
               "Results are shares of yes and no: add the missing one")


FIELDS = ("marks", "note")


class Targets(PlainKind):
    """:class:`annotation.studies.kinds.StudyKind` of target studies. An image can be unsure, an answer never is."""

    def normalize(
        self, answer: object, item: Item, study: Study, *, extra: Mapping[str, Any] = NOTHING
    ) -> NormalizedAnswer:
        """:func:`complete_answer`."""
        return NormalizedAnswer(complete_answer(answer, item.shown["candidates"], marking_of(study)))

    def draft(
        self, answer: object, item: Item, study: Study, *, extra: Mapping[str, Any] = NOTHING
    ) -> Mapping[str, Any]:
        """:func:`draft_answer`."""
        return draft_answer(answer, item.shown["candidates"], marking_of(study))

    def page(self, study: Study) -> Mapping[str, Any]:
        """The marks, as answers have them and as people choose them, with their guidelines, and the limit of a note."""
        of = marking_of(study)
        shown = of.model_dump(exclude={"protocol", "marks"}, mode="json")
        return {**shown, "marks": list(of.codes), "choices": of.model_dump(include={"marks"}, mode="json")["marks"],
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
        of = {one.name: [str(numbers[token]) for token, given in answer["marks"].items()
                         if given == one.mark and token in numbers] for one in marking_of(study).marks}
        return "; ".join(f"{name}: {', '.join(images)}" for name, images in of.items() if images)


def complete_answer(given: object, candidates: Sequence[str], of: Marking) -> dict[str, Any]:
    """The canonical answer, its marks in the order of ``candidates`` (tokens). Raises ``IncompleteJudgement`` unless
    each candidate, and nothing else, has a mark."""
    answer = object_of(given, FIELDS, "An answer about a query's images")
    marks = answer.get("marks")
    if not isinstance(marks, Mapping):
        raise IncompleteJudgement("“marks” is an object with a mark for each image, by its token.")
    if unknown := [token for token in marks if token not in candidates]:
        raise IncompleteJudgement(f"“{printable(shortened(str(unknown[0]), 40))}” is not an image of this query. "
                                  "Reload the page.")
    if left := sum(marks.get(token) is None for token in candidates):
        raise IncompleteJudgement(f"{counted(left, 'image has', 'images have')} no mark yet. Mark each with "
                                  f"{of.listed}, then save.")
    if any(marks[token] not in of.codes for token in candidates):
        raise IncompleteJudgement(f"A mark is one of {', '.join(of.codes)}.")
    return {"marks": {token: marks[token] for token in candidates}, "note": text_of(answer.get("note"), "note")}


def draft_answer(given: object, candidates: Sequence[str], of: Marking) -> dict[str, Any]:
    """The storable parts of an unfinished answer; null where an image has no mark. Raises ``IncompleteJudgement`` for
    a note that cannot be stored."""
    marks = object_in(given, "marks")
    return {"marks": {token: mark if (mark := marks.get(token)) in of.codes else None for token in candidates},
            "note": draft_text(given, "note")}
