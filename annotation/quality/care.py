"""Training and gold of a study: its settings, scores of people, and what follows from them. Pure.

``Study.settings["care"]`` has the fields of :class:`Care`. The score of a person is the mean score of their answers to
gold items, each from 0 to 1 as its kind counts (:meth:`annotation.studies.kinds.StudyKind.score`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from math import isfinite
from statistics import fmean
from typing import Any, Literal, get_args

from annotation.records import GoldAnswer, StudyEvent, name_key
from cir_core.errors import StudyError
from cir_core.support.texts import quoted

Below = Literal["nothing", "train", "end"]
"""What happens when a person's gold score is below the mark. Answers are excluded by a rule: see
:mod:`annotation.quality.rules`."""
BELOW: tuple[Below, ...] = get_args(Below)
RIGHT = 0.8
"""Score from which an answer is called right."""
_NAMES = {"training_mark": "training mark", "training_tries": "training tries", "mark": "mark", "least": "least"}


@dataclass(frozen=True)
class Care:
    training_mark: float = 0.0       # mean score of the training from which somebody goes on; 0: everybody
    training_tries: int = 2          # with so many failed trainings, the study ends for them
    mark: float = 0.7                # mean score of gold items
    least: int = 5                   # answered gold items before the mark counts
    below: Below = "nothing"

    def __post_init__(self) -> None:
        for name in ("training_mark", "mark"):
            value = getattr(self, name)
            if not _is_number(value) or not 0 <= value <= 1:
                raise StudyError(f"The {_NAMES[name]} is a share from 0 to 1, such as 0.7, not {quoted(value)}.")
        for name in ("training_tries", "least"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1000:
                raise StudyError(f"{_NAMES[name].capitalize()} is a whole number from 1, not {quoted(value)}.")
        if self.below not in BELOW:
            raise StudyError(f"“below” must be one of {', '.join(BELOW)}, not {quoted(self.below)}.")

    def as_settings(self) -> dict[str, Any]:
        return asdict(self)


def care_of(settings: Mapping[str, Any]) -> Care:
    """Raises ``StudyError`` for what is no setting."""
    given = settings.get("care") or {}
    known = {field.name for field in fields(Care)}
    if not isinstance(given, Mapping) or not given.keys() <= known:
        raise StudyError(f"The settings of training and gold (care) are {', '.join(sorted(known))}.")
    return Care(**given)


@dataclass(frozen=True)
class GoldScore:
    """``outcomes``: scores of a person's gold items, oldest first; ``training`` those of the training items as they are
    now."""

    outcomes: tuple[float, ...]
    training: tuple[float, ...]

    @property
    def value(self) -> float | None:
        return fmean(self.outcomes) if self.outcomes else None


Score = Callable[[Mapping[str, Any], Mapping[str, Any]], float]


def gold_score(answers: Iterable[GoldAnswer], score: Score) -> GoldScore:
    """Of one person's answers."""
    found: dict[str, list[float]] = {"gold": [], "training": []}
    for one in answers:
        if one.answer is not None:
            found[one.role].append(score(one.answer, one.expected))
    return GoldScore(tuple(found["gold"]), tuple(found["training"]))


def outcomes_of(answers: Iterable[GoldAnswer], score: Score) -> dict[str, tuple[float, ...]]:
    """Scores of answered gold items, oldest first, by key of the person's name."""
    found: dict[str, list[GoldAnswer]] = {}
    for one in answers:
        found.setdefault(name_key(one.annotator), []).append(one)
    return {person: gold_score(given, score).outcomes for person, given in found.items()}


@dataclass(frozen=True)
class Consequence:
    """``act``: "train" again, "end", or nothing. ``words`` tell the person; empty: nothing is said."""

    act: Below
    words: str = ""


def after_training(
    care: Care, answers: Sequence[GoldAnswer], score: Score, events: Iterable[StudyEvent],
) -> Consequence:
    """At the last answer of a training; nothing before it. ``events``: the person's, of kind care."""
    training = [one for one in answers if one.role == "training"]
    if any(one.answer is None for one in training):
        return Consequence("nothing")
    scores = gold_score(training, score).training
    right, reached = sum(one >= RIGHT for one in scores), fmean(scores) >= care.training_mark
    said = f"{right} of {len(scores)} were right."
    if reached:
        return Consequence("nothing", f"{said if care.training_mark else ''} The study begins now.".strip())
    failed = 1 + sum(event.payload.get("of") == "training" for event in events)
    if failed >= care.training_tries:
        return Consequence("end", f"{said} That is not enough for this study, which ends here for you. Thank you for "
                           "your time.")
    return Consequence("train", f"{said} You get the same examples once more: read the explanation of each.")


def after_gold(care: Care, answers: Sequence[GoldAnswer], score: Score, events: Sequence[StudyEvent]) -> Consequence:
    """At an answer to a gold item. Only answers since the last consequence count, so that a new training is a new
    start."""
    since = max((event.created_at for event in events), default=None)
    gold = [one for one in answers if one.role == "gold" and one.answered_at is not None
            and (since is None or one.answered_at > since)]
    value = gold_score(gold, score).value
    if care.below == "nothing" or value is None or len(gold) < care.least or value >= care.mark:
        return Consequence("nothing")
    again = care.below == "train" and any(one.role == "training" for one in answers) and not any(
        event.payload.get("of") == "gold" for event in events)
    return Consequence("train" if again else "end")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
