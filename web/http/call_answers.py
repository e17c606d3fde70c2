"""Result types of the calls for programs, from which their schemas derive. And which inputs may be left out."""

from __future__ import annotations

from typing import Any, NotRequired

from typing_extensions import TypedDict  # pydantic takes no other before Python 3.12

ADDED_LATER = "cq-added-later"
"""Class of the last inputs of a call that scripts for earlier versions leave out: they get its initial value."""


class SimilarImage(TypedDict):
    image_id: str
    score: float
    rank: int                      # from 1
    picture: str                   # address of a thumbnail, relative to the server's root


class FoundImage(SimilarImage):
    similar: NotRequired[list[SimilarImage]]   # folded under it; only where folding was asked for


class ModelUsage(TypedDict):
    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None


class SearchAnswer(TypedDict):
    session_id: str
    turn_id: str
    protocol_digest: str
    hits: list[FoundImage]         # best first
    merged_text: str | None
    notes: list[str]
    usage: ModelUsage


class ThumbAnswer(TypedDict):
    session_id: str
    turn_id: str
    image_id: str
    thumb: str                     # "up", "down" or ""


class StudyAnswer(TypedDict):
    id: str
    name: str
    kind: str
    protocol: str
    accepting: bool


class ProgressAnswer(TypedDict):
    study: StudyAnswer
    joined: bool
    done: int
    total: int
    unsure: int
    median_seconds: float | None
    seconds_left: int | None


class SavedAnswer(TypedDict):
    revision: int
    repeated: bool
    overtook: bool
    unsure: bool


class SaveAnswer(TypedDict):
    saved: SavedAnswer
    desk: dict[str, Any]


class GateAnswer(TypedDict):
    passed: bool
    desk: dict[str, Any]


class ListedStudy(StudyAnswer):
    created_at: str                # ISO 8601
    items: int
    assignments: int               # answers that are planned
    done: int
    people: int


class StudiesAnswer(TypedDict):
    studies: list[ListedStudy]


class PersonAnswer(TypedDict):
    seat: int
    name: str | None               # null: the seat is free
    done: int
    unsure: int
    open: int
    total: int
    median_seconds: float | None
    seen_at: str | None
    away: bool                     # longer than the lease
    finished_at: str | None
    code: str | None


class PeopleAnswer(TypedDict):
    study: str
    people: list[PersonAnswer]


class ResultsAnswer(TypedDict):
    study: str
    results: dict[str, Any]


class CreatedAnswer(TypedDict):
    study: str
    items: int
    notes: list[str]


class AcceptingAnswer(TypedDict):
    study: str
    accepting: bool


class Refusal(TypedDict):
    problem: str                   # what is wrong and what to do, for people
    kind: str                      # the same in a word, for programs
