"""What every report is made of and says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from annotation.records import Assignment, Decision, Item, Judgement, Seat, Study, StudyEvent

Undefined = Literal["null", "one"]
"""What an agreement is where everybody used one and the same category throughout, so that chance alone would agree
as well: no number, or 1.0 as in CIRCUS's released report."""
Scale = Literal["nominal", "ordinal"]
Resample = Literal["items", "people"]
"""What bootstrap draws take whole: items (questions) with all their answers, or people with all theirs."""


@dataclass(frozen=True)
class StudyAnswers:
    """All that a report is made of, as the store has it. ``judgements``: the current ones."""

    study: Study
    items: tuple[Item, ...]
    seats: tuple[Seat, ...]
    assignments: tuple[Assignment, ...]
    judgements: tuple[Judgement, ...]
    decisions: tuple[Decision, ...] = ()       # of validity studies
    checks: tuple[StudyEvent, ...] = ()        # of preference studies: answers to checks, for the rules


@dataclass(frozen=True)
class Selection:
    """Which judgements a report is about. Empty and False take all.

    ``people`` are numbers of seats, which stay when names are hidden.
    """

    datasets: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()    # hidden categories of a validity study; categories of a preference study
    people: tuple[int, ...] = ()
    block_only: bool = False            # the agreement block of a validity study alone


@dataclass(frozen=True)
class Options:
    """How numbers are made. ``draws`` 0: no intervals but those in closed form (Wilson), and no tests by draws."""

    draws: int = 1000
    seed: int = 20261121
    undefined: Undefined = "null"
    resample: Resample = "items"
    hide_names: bool = False


@dataclass(frozen=True)
class Rater:
    """``name`` is a code such as "P03", made of the seat, where names are hidden."""

    seat: int
    name: str
    judgements: int                # in a report those that count, within its selection; among choices all
    positive: int | None = None    # of them, those that say valid; None in a preference study


@dataclass(frozen=True)
class About:
    """What a report is of, for its head and for whoever wants to repeat it. Plain values."""

    study: str
    study_id: str
    kind: str
    protocol: str
    accepting: bool
    planned: int                   # answers the plan asks for; of an imported study those it holds
    answered: int                  # answers there are, of everybody, before the selection
    latest: str | None             # when the last answer within the selection was saved, ISO 8601
    selection: Selection
    options: Options
    versions: Mapping[str, str] = field(default_factory=dict)   # cirque and the libraries numbers come from
    notes: tuple[str, ...] = ()    # what is missing, what was left out; sentences
