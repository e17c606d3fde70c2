"""Studies of every kind: items, who judges which, and what they answered.

A study's plan is laid out in seats when it is made; a person who joins takes one. So nobody gets
an item twice and every item meets the planned number of people, whoever comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

StudyKind = Literal["validity", "preference"]
AssignmentState = Literal["open", "done", "unsure", "handed_on"]
"""``handed_on``: not done in time and given to another seat too. An answer that comes all the same is kept."""
EventKind = Literal["guidelines", "consent", "check", "finish"]


@dataclass(frozen=True)
class StudyPlan:
    seats: int                # people the plan was laid out for; more may join
    overlap: int              # people per item
    agreement_items: int      # items that everybody gets, besides
    seed: int
    lease_hours: float = 168.0   # open work of somebody away for longer may be handed on


@dataclass(frozen=True)
class Study:
    study_id: str
    name: str                          # unique without regard to case
    kind: StudyKind
    protocol: str                      # rubric or survey with its version: "circus/1"
    plan: StudyPlan
    accepting: bool                    # whether answers are taken; False once closed, and for imported studies
    settings: Mapping[str, Any]        # the kind's own, plain JSON
    source: Mapping[str, Any]          # where the items came from, plain JSON
    created_by: str
    created_at: datetime


@dataclass(frozen=True)
class Item:
    """One thing to judge. Only ``shown`` ever leaves for the browser of a judge; pictures are in it
    by token. Everything that must stay unknown (category, ranks, retrievers, ids) is in ``hidden``."""

    item_id: str                       # opaque
    study_id: str
    number: int                        # from 0, in the order of the source
    key: str                           # the source's own: "cirr::5"; unique in the study
    stratum: str                       # what samples and seats are balanced over
    in_block: bool                     # of the agreement block
    shown: Mapping[str, Any]
    hidden: Mapping[str, Any] = field(repr=False)


def dataset_of(item: Item) -> str:
    return str(item.hidden.get("dataset") or "unknown")


def category_of(item: Item) -> str:
    return str(item.hidden.get("hidden_category") or "unknown")


@dataclass(frozen=True)
class StudyImage:
    """A picture of a study, frozen into its folder as ``TOKEN-s.webp`` and ``TOKEN-l.webp``."""

    token: str                         # 24 hex digits that tell nothing
    image_id: str
    width: int                         # pixels of the large one; 0 if the picture is not at hand
    height: int


@dataclass(frozen=True)
class PlannedAssignment:
    """Where the plan puts an item before anybody has joined."""

    item_id: str
    seat: int                          # from 1
    position: int                      # from 0, in the seat's own order
    # What is particular to showing the item to this person, plain JSON: which set stands first.
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Seat:
    study_id: str
    number: int
    annotator: str | None              # None: not taken yet
    joined_at: datetime | None
    seen_at: datetime | None           # last time this person fetched or saved something


@dataclass(frozen=True)
class Assignment:
    item_id: str
    seat: int
    position: int
    state: AssignmentState
    annotator: str | None
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)   # as the place has it


@dataclass(frozen=True)
class Judgement:
    """One revision of one person's answer to one item. Never changed; the highest revision counts."""

    judgement_id: str
    study_id: str
    item_id: str
    annotator: str
    revision: int                      # from 1
    token: str                         # the client's, for one press of Save; repeated calls carry it again
    protocol: str
    answer: Mapping[str, Any]          # canonical JSON of the kind
    seconds: float                     # of looking at it, as the page measured them
    created_at: datetime
    extra: Mapping[str, Any] = field(default_factory=dict)   # of imported ones: fields to give back as they were


@dataclass(frozen=True)
class Draft:
    """What somebody has begun to answer. Not counted anywhere."""

    item_id: str
    annotator: str
    answer: Mapping[str, Any]
    seconds: float
    updated_at: datetime


@dataclass(frozen=True)
class Decision:
    """An adjudicator's answer to an item, over those of the judges. The highest revision counts."""

    decision_id: str
    study_id: str
    item_id: str
    adjudicator: str
    revision: int
    token: str
    answer: Mapping[str, Any]
    reason: str
    created_at: datetime


@dataclass(frozen=True)
class StudyEvent:
    """What one person did between the items: read the guidelines, consented, answered a check, finished."""

    event_id: str
    study_id: str
    annotator: str
    kind: EventKind
    token: str                         # the client's, for one press; repeated calls carry it again
    payload: Mapping[str, Any]         # plain JSON: see annotation.preference.survey.flow
    created_at: datetime


@dataclass(frozen=True)
class Saved:
    """``judgement`` is what counts now. ``repeated``: nothing was new, so no revision was added.
    ``overtook``: another window of this person had answered since this page was opened."""

    judgement: Judgement
    repeated: bool
    overtook: bool = False


@dataclass(frozen=True)
class Released:
    """What became of the open work of somebody who has left."""

    items: int                         # open ones that others get now
    block: int                         # of the agreement block, which others have anyway: no longer waited for
    freed: bool                        # they had answered nothing: the seat is free again, with its items


@dataclass(frozen=True)
class SurveyPosition:
    """Where somebody is in a study that people go through in order, with gates between the items."""

    gate: Mapping[str, Any] | None     # what stands before the item, plain JSON; None: nothing
    number: int | None                 # of the desk's item in this person's order, from 1
    of: int                            # items of this person
    form: int | None                   # of the item, from 1
    forms: int
    locked: bool                       # the item is of an earlier form: its answer is not changed any more
    handed_on: int                     # items that others have taken over from this person


@dataclass(frozen=True)
class Workspace:
    """What one person has before them in one study: an item, or None when nothing is left."""

    study: Study
    seat: int                          # 0: not joined
    total: int                         # assignments of this person, handed-on ones that are not done left out
    done: int                          # answered, unsure ones included
    unsure: int
    item: Item | None
    position: int | None
    judgement: Judgement | None        # of ``item``
    draft: Draft | None                # of ``item``
    ahead: tuple[Item, ...]            # what comes next, for its pictures
    images: Mapping[str, StudyImage]   # by token, all of ``item`` and ``ahead``
    seconds: tuple[float, ...]         # of this person's latest answers, at most 20
    extra: Mapping[str, Any] = field(default_factory=dict)   # of the assignment of ``item``
    events: tuple[StudyEvent, ...] = ()   # this person's, oldest first; only in kinds of study that have any
    survey: SurveyPosition | None = None   # in kinds with a flow (annotation.studies.kinds), filled in by the service
    joined: bool = True                # False: no seat yet; ``total`` is about what they would get


@dataclass(frozen=True)
class AnswerContext:
    """Where a person stands as they answer an item, read inside the transaction that keeps the answer."""

    study: Study
    total: int                         # as in Desk
    done: int
    item_id: str
    state: AssignmentState             # of the item for this person
    extra: Mapping[str, Any]           # of their assignment
    token: str | None                  # of their answer that counts now; None: not answered yet
    events: Sequence[StudyEvent]       # this person's, oldest first
    overview: Callable[[], Sequence[Assignment]]   # all that they have or had, in their order; read when called


Admit = Callable[[AnswerContext], tuple[Mapping[str, Any], bool]]
"""A policy: the answer to keep, and whether it is one for an adjudicator; raises where nothing is to be kept."""


@dataclass(frozen=True)
class OpenAssignments:
    """What may be handed to ``seat``, read inside the transaction that hands it over."""

    study: Study
    seat: int
    seats: Sequence[Seat]
    open: Sequence[Assignment]         # open ones of the other seats, agreement block left out
    mine: frozenset[str]               # items the seat has or had
    block: Sequence[str]               # items of the agreement block
    now: datetime


@dataclass(frozen=True)
class Reassignment:
    """One item for the new seat. ``from_seat``: whose open assignment is handed on; None for the
    agreement block, which everybody has."""

    item_id: str
    position: int
    from_seat: int | None
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)   # of the new assignment; drawn anew


Reassign = Callable[[OpenAssignments], Sequence[Reassignment]]
"""A pure policy: see :mod:`annotation.studies.assignment`."""
