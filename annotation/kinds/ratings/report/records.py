"""Records of a report on ratings of sessions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from annotation.analysis.people.profiles import People
from annotation.analysis.people.times import Times
from annotation.analysis.records.common import About, Rater
from annotation.analysis.statistics.coefficients.krippendorff import ALPHA
from annotation.kinds.ratings.answers import Questions
from cir_core.reports.records import Estimate


@dataclass(frozen=True)
class QuestionRatings:
    """Ratings of one question by people. Every session counts the same, whatever the number of its raters."""

    question: str                  # key, as in annotation.kinds.ratings.answers
    counts: tuple[int, ...]        # ratings of 1, 2, ...
    mean: Estimate                 # over sessions, of the mean of a session's ratings; ``n`` counts sessions
    agreement: Mapping[str, Estimate]   # by key of annotation.analysis.statistics.agreement.STATISTICS, ordinal; ``n``
                                        # counts sessions
    apart: Estimate                # points between two people who rated the same session, mean over those sessions

    @property
    def alpha(self) -> Estimate:
        """Krippendorff's."""
        return self.agreement[ALPHA.key]


@dataclass(frozen=True)
class ModelRatings:
    """A language model's answers to one question beside those of people, over the sessions that both rated. The model
    rates a session once, so it is compared with the median or the mean of the people who rated it: their ratings are
    one opinion, not several independent ones."""

    question: str
    mean: Estimate                 # of the model
    difference: Estimate           # model less mean of the people: above 0, the model is more generous
    alpha: Estimate                # Krippendorff's, ordinal, of the model and the people's median
    rho: Estimate                  # Spearman's, of the model and the people's mean
    apart: Estimate                # points between the model and one person, comparable to QuestionRatings.apart


@dataclass(frozen=True)
class SessionJudge:
    """A language model that rated sessions of the study. ``sessions``: those that people rated, too."""

    name: str
    description: str
    sessions: int
    questions: tuple[ModelRatings, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class SessionGroup:
    """Mean ratings of the sessions of a source, or of those of them with a number of turns. ``people`` and each of
    ``models``: by question. Models' means are over the sessions that people rated, too."""

    source: str
    turns: int | None              # None: of all
    sessions: int                  # that people rated
    mean_turns: float
    people: Mapping[str, Estimate]
    models: Mapping[str, Mapping[str, Estimate]]


@dataclass(frozen=True)
class PersonRatings:
    """``apart``: mean points by which this person's ratings of all questions differ from those of another one, and
    ``lenient`` the same with its sign, over the sessions that they share; None without any."""

    seat: int
    name: str
    answers: int
    mean: float                    # of the question that stands for the whole
    shared: int                    # sessions that other people rated, too
    apart: float | None
    lenient: float | None


@dataclass(frozen=True)
class SessionReport:
    """``rated``: sessions with an answer; ``shared``: with those of two people or more. ``per_session``: people per
    session to number of sessions."""

    title: ClassVar[str] = "Session report"

    about: About
    asked: Questions
    raters: tuple[Rater, ...]
    n_sessions: int
    rated: int
    shared: int
    answers: int
    per_session: Mapping[int, int]
    questions: tuple[QuestionRatings, ...]
    models: tuple[SessionJudge, ...]
    groups: tuple[SessionGroup, ...]
    people: tuple[PersonRatings, ...]
    overall: People | None = None  # by ratings of the question that stands for the whole; None without a rating
    times: Times | None = None     # likewise

    @property
    def selected_answers(self) -> int:
        return self.answers
