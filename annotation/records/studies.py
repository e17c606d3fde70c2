"""Records of studies of every kind: items, assignments and judgements. Scores of a study's items by something other
than people: metrics of sets, language models of sessions. Votes on methods, from side-by-side comparisons.

A study's plan assigns items to numbered seats when the study is created; a person who joins takes a
seat. So nobody gets an item twice, and every item gets the planned number of annotators, in any order
of joining.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

StudyKind = Literal["validity", "preference", "sessions", "targets"]
WITH_EVENTS: frozenset[StudyKind] = frozenset({"preference"})
"""Kinds whose people have events between the items. Others have none to be read."""
TEST_OF = "test_of"
"""Key in ``Study.source`` of a copy in which the way of participants is tried. It is in no list of studies."""
AssignmentState = Literal["open", "done", "unsure", "handed_on"]
"""``handed_on``: not done in time, and reassigned to another seat. A late answer is still saved."""
EventKind = Literal["guidelines", "consent", "check", "finish", "care"]
ItemOrder = Literal["random", "table", "disputed"]
"""In which each person gets the items: one of their own by the seed, that of the table, or those first on which earlier
judges differ most when the person gets them."""
GoldRole = Literal["gold", "training"]
"""Of an item whose right answer is known. ``training``: it comes first, and the person is told; ``gold``: it is mixed
in unseen."""


@dataclass(frozen=True)
class StudyPlan:
    seats: int                # planned people; more may join
    overlap: int              # annotators per item
    agreement_items: int      # additional items that everybody gets
    seed: int
    lease_hours: float = 168.0   # after this long without activity, open work may be reassigned
    order: ItemOrder = "random"


@dataclass(frozen=True)
class Study:
    study_id: str
    name: str                          # unique, ignoring case
    kind: StudyKind
    protocol: str                      # rubric or survey, with version: "circus/1"
    plan: StudyPlan
    accepting: bool                    # whether answers are accepted; False if closed or imported
    settings: Mapping[str, Any]        # of the kind, plain JSON
    source: Mapping[str, Any]          # origin of the items, plain JSON
    created_by: str
    created_at: datetime

    @property
    def called(self) -> str:
        """ "a session study"."""
        return f"a {self.kind.removesuffix('s')} study"


@dataclass(frozen=True)
class Item:
    """One item to judge. Only ``shown`` is sent to an annotator's browser, with images by token. Everything that
    must stay unknown (category, ranks, retrievers, ids) is in ``hidden``."""

    item_id: str                       # opaque
    study_id: str
    number: int                        # from 0, in source order
    key: str                           # of the source: "cirr::5"; unique in the study
    stratum: str                       # stratum over which samples and seats are balanced
    in_block: bool                     # part of the agreement set
    shown: Mapping[str, Any]
    hidden: Mapping[str, Any] = field(repr=False)


def dataset_of(item: Item) -> str:
    return str(item.hidden.get("dataset") or "unknown")


def category_of(item: Item) -> str:
    return str(item.hidden.get("hidden_category") or "unknown")


@dataclass(frozen=True)
class StudyImage:
    """Snapshot of an image in the study's folder, as ``TOKEN-s.webp`` and ``TOKEN-l.webp``."""

    token: str                         # 24 hex digits, opaque
    image_id: str
    width: int                         # pixels of the large one; 0 if unavailable
    height: int


@dataclass(frozen=True)
class PlannedAssignment:
    """Assignment of an item to a seat in the plan."""

    item_id: str
    seat: int                          # from 1
    position: int                      # from 0, in the seat's order
    # How the item is shown to this person, plain JSON: for example which set comes first.
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    dealt: GoldRole | None = None      # given only because its answer is known: it counts for no result


@dataclass(frozen=True)
class GoldItem:
    """The right answer to an item of a study, in the canonical form of the kind."""

    study_id: str
    item_id: str
    role: GoldRole
    answer: Mapping[str, Any]
    note: str                          # why it is right: people in training read it
    created_by: str
    created_at: datetime


@dataclass(frozen=True)
class GoldAnswer:
    """A person's answer to an item whose right answer was known by then."""

    item_id: str
    annotator: str
    role: GoldRole
    expected: Mapping[str, Any]
    answer: Mapping[str, Any] | None   # None: still open
    answered_at: datetime | None


@dataclass(frozen=True)
class Seat:
    study_id: str
    number: int
    annotator: str | None              # None: free
    joined_at: datetime | None
    seen_at: datetime | None           # last activity


@dataclass(frozen=True)
class Assignment:
    item_id: str
    seat: int
    position: int
    state: AssignmentState
    annotator: str | None
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)   # as planned
    dealt: GoldRole | None = None


@dataclass(frozen=True)
class Judgement:
    """One revision of a person's answer to an item. Immutable; the highest revision is current."""

    judgement_id: str
    study_id: str
    item_id: str
    annotator: str
    revision: int                      # from 1
    token: str                         # idempotency token of the client, one per press of Save
    protocol: str
    answer: Mapping[str, Any]          # in the canonical form of the kind
    seconds: float                     # viewing time, as measured by the page
    created_at: datetime
    extra: Mapping[str, Any] = field(default_factory=dict)   # of imported ones: fields to export unchanged


def by_item(judgements: Iterable[Judgement]) -> dict[str, list[Judgement]]:
    """Judgements by item id, in the given order."""
    found: dict[str, list[Judgement]] = {}
    for judgement in judgements:
        found.setdefault(judgement.item_id, []).append(judgement)
    return found


@dataclass(frozen=True)
class Draft:
    """An unsaved answer. Not part of any result."""

    item_id: str
    annotator: str
    answer: Mapping[str, Any]
    seconds: float
    updated_at: datetime


@dataclass(frozen=True)
class Decision:
    """An adjudicator's answer to an item, which overrides the annotators'. The highest revision is current."""

    decision_id: str
    study_id: str
    item_id: str
    adjudicator: str
    revision: int
    token: str
    answer: Mapping[str, Any]
    reason: str
    created_at: datetime


def decided(decisions: Iterable[Decision]) -> dict[str, Mapping[str, Any]]:
    """Current answers of adjudicators, by item id. ``decisions``: without history."""
    return {one.item_id: one.answer for one in decisions}


@dataclass(frozen=True)
class StudyEvent:
    """Event between the items: guidelines read, consent, attention check, completion."""

    event_id: str
    study_id: str
    annotator: str
    kind: EventKind
    token: str                         # idempotency token of the client
    payload: Mapping[str, Any]         # plain JSON: see annotation.kinds.preference.survey.flow
    created_at: datetime

    @property
    def ends_study(self) -> bool:
        """Whether the study ended for this person: below the mark of its training or gold items."""
        return self.kind == "care" and self.payload.get("act") == "end"


@dataclass(frozen=True)
class Feedback:
    """What somebody in training is told of their answer."""

    right: bool
    expected: str                      # the right answer, in words
    note: str
    verdict: str                       # on the whole training, at its end; else empty


@dataclass(frozen=True)
class Saved:
    """Result of a save. ``judgement`` is the current one. ``repeated``: unchanged, so no revision was added.
    ``overtook``: another window of this person had saved since this page was loaded."""

    judgement: Judgement
    repeated: bool
    overtook: bool = False
    feedback: Feedback | None = None   # of an item of training


@dataclass(frozen=True)
class Released:
    """Result of releasing a person's open work."""

    items: int                         # open ones, for others
    block: int                         # of the agreement set, which others have anyway: withdrawn
    freed: bool                        # without any answer: the seat is free again, with its items


@dataclass(frozen=True)
class SurveyPosition:
    """A participant's position in a survey: an ordered study with steps (gates) between the items."""

    gate: Mapping[str, Any] | None     # step before the item, plain JSON, or None
    number: int | None                 # of the current item in this person's order, from 1
    of: int                            # items of this person
    form: int | None                   # of the item, from 1
    forms: int
    locked: bool                       # the item is of an earlier form: its answer is final
    handed_on: int                     # items reassigned from this person
    ahead: tuple[SurveyPosition, ...] = ()   # of the workspace's next items, as far as no step comes before them


@dataclass(frozen=True)
class Upcoming:
    """What a person's workspace has of one of its next items, besides the item."""

    position: int
    extra: Mapping[str, Any]           # of the assignment
    draft: Draft | None
    dealt: GoldRole | None = None


@dataclass(frozen=True)
class Workspace:
    """A person's view of a study: the current item, or None when nothing is left, and the progress."""

    study: Study
    seat: int                          # 0: not joined
    total: int                         # assignments of this person, without open reassigned ones
    done: int                          # answered, unsure ones included
    unsure: int
    item: Item | None
    position: int | None
    judgement: Judgement | None        # of ``item``
    draft: Draft | None                # of ``item``
    ahead: tuple[Item, ...]            # next open items, to preload them
    images: Mapping[str, StudyImage]   # by token, those of ``item`` and ``ahead``
    seconds: tuple[float, ...]         # viewing times of this person's latest answers, at most 20
    extra: Mapping[str, Any] = field(default_factory=dict)   # of the assignment of ``item``
    events: tuple[StudyEvent, ...] = ()   # this person's, oldest first; only in kinds with events
    survey: SurveyPosition | None = None   # in kinds with a flow (annotation.studies.kinds), set by the service
    joined: bool = True                # False: no seat yet; ``total`` is an estimate
    upcoming: tuple[Upcoming, ...] = ()   # of the items ``ahead``, in their order
    dealt: GoldRole | None = None      # of the assignment of ``item``
    training: tuple[int, int] | None = None   # of an item of training: which one it is, and of how many; by the service


@dataclass(frozen=True)
class AnswerContext:
    """Context of an answer, read in the transaction that saves it."""

    study: Study
    total: int                         # as in Workspace
    done: int
    item_id: str
    state: AssignmentState             # of the item for this person
    extra: Mapping[str, Any]           # of their assignment
    token: str | None                  # of their current answer; None: not answered yet
    events: Sequence[StudyEvent]       # this person's, oldest first
    overview: Callable[[], Sequence[Assignment]]   # this person's assignments, in order; read when called


Admit = Callable[[AnswerContext], tuple[Mapping[str, Any], bool]]
"""Policy that returns the answer to save and whether it is unsure (for adjudication); raises to refuse it."""


@dataclass(frozen=True)
class OpenAssignments:
    """Work that can be assigned to ``seat``, read in the transaction that reassigns it."""

    study: Study
    seat: int
    seats: Sequence[Seat]
    open: Sequence[Assignment]         # open ones of other seats, without the agreement set
    mine: frozenset[str]               # items the seat has or had
    block: Sequence[str]               # items of the agreement set
    now: datetime
    numbers: Mapping[str, int] = field(default_factory=dict)   # of the items that are open or in the agreement set
    gold: Sequence[GoldItem] = ()


@dataclass(frozen=True)
class Reassignment:
    """One item for the new seat. ``from_seat``: the seat it is taken from; None for the agreement set, which
    everybody has, and for gold items."""

    item_id: str
    position: int
    from_seat: int | None
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)   # of the new assignment, randomised again
    dealt: GoldRole | None = None


Reassign = Callable[[OpenAssignments], Sequence[Reassignment]]
"""A pure policy: see :mod:`annotation.studies.assignment`."""


Deal = Callable[[Sequence[GoldItem], Sequence[Assignment]], tuple[Sequence[GoldItem], Sequence[PlannedAssignment]]]
"""A pure policy: of the gold items and assignments that there are, further gold items and the new order of open work.
See :mod:`annotation.quality.dealing`."""


NAME_LIMIT = 60
"""Maximum length of a metric's name."""


@dataclass(frozen=True)
class Scored:
    """What of an item has a score: ``each`` of them, ``what`` in words. ``values``: those allowed; None: any number."""

    what: str
    each: int
    values: frozenset[float] | None = None


SCORED = {"preference": Scored("set", 2), "sessions": Scored("question", 5, frozenset({1.0, 2.0, 3.0, 4.0, 5.0}))}
"""By kind of study. Other kinds have no scores."""


@dataclass(frozen=True)
class MetricScores:
    """Scores of one metric: ``scores[item_id, 1 | 2]``, without sets that have no score. In a session study, those of a
    language model: ``scores[item_id, n]`` is its answer to question n, from 1."""

    name: str                      # "recall@5"
    description: str               # one sentence: definition and source
    scores: Mapping[tuple[str, int], float]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class MethodVote:
    """One person's choice among the columns of a comparison.

    ``shown``: methods in the order of the columns; ``chosen``: one of them, or None for "no
    difference". One vote per annotator and comparison: voting again revises it.
    """

    vote_id: str
    comparison_id: str
    annotator: str            # without sign-in a random id of the browser
    shown: tuple[str, ...]
    chosen: str | None
    blind: bool               # names were hidden until the vote
    seconds: float            # from showing to voting
    created_at: datetime
