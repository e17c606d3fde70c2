"""A step of a method: what it declares, does in a turn, and lets a person change afterwards.

A kind of step is one subclass of :class:`Step` and one line in the table :data:`cir_core.methods.steps.STEPS`. All else
goes through that table: files, storage, the command line, searching, the audit, the screen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from cir_core.encoders.base import Encoder
from cir_core.errors import RelevanceUnavailable
from cir_core.language.base import LanguageModel
from cir_core.language.tasks import Domain, Picture, Task
from cir_core.methods.feedback import ComposedQuery
from cir_core.methods.observer import StageTimer
from cir_core.methods.parameters import Parameter, Section
from cir_core.methods.references import Reference
from cir_core.types.composition import Adjustment, Composition, Constraints, Marks
from cir_core.types.methods import MethodSettings
from cir_core.types.records import Hit, Matrix, Vector
from cir_core.types.vectors import TextEncoder

S = TypeVar("S")
Scores = npt.NDArray[np.floating]
Ledger = tuple[tuple[str, float], ...]
Notes = tuple[str, ...]


@dataclass(frozen=True)
class GalleryView:
    """Access of a step to the gallery."""

    best: Callable[[Vector, int], Sequence[Hit]]            # the best k for a query
    features: Callable[[Sequence[str]], Matrix]
    picture: Callable[[str], Picture]
    captions: Callable[[Sequence[str]], tuple[str, ...]]    # of these images; () if none has one
    captions_problem: str = ""                              # why captions that are there cannot be read
    relevance: Callable[[], Any] = field(default_factory=lambda: _no_relevance, repr=False)
    """The gallery's scores by CIRQRS (``cir_core.methods.relevance.RelevanceScores``). Raises
    ``RelevanceUnavailable``."""


@dataclass(frozen=True)
class StepTurn:
    """The turn that a step is part of. ``caption`` is of the reference ("" if nothing asked for one), ``merged`` the
    text of the query so far."""

    reference: Reference
    text: str
    caption: str
    merged: str
    gallery_view: GalleryView
    encoder: Encoder
    language: LanguageModel
    domain: Domain
    stages: StageTimer
    number: int = 1                        # of the turn in its session
    earlier: Composition | None = None     # of the turn before
    current: Composition | None = None     # of this turn, where it is finished and read again
    constraints: Constraints | None = None # SoFT's, given in advance: no language model is asked for them
    marks: Marks = Marks()                 # of results of the turn before

    @property
    def caption_shown(self) -> str:
        """``caption`` as SoFT and CoRR show it to the language model. One that sees looks at the reference itself, as
        in the papers, so that what it is asked does not depend on whether the base had a caption made. Of several
        references together it gets what they share."""
        return "" if self.language.sees and not self.reference.joined else self.caption


def _no_relevance() -> Any:
    raise RelevanceUnavailable("There is no relevance model here. Choose another method.")


class StepScore(Protocol):
    """A score made of the products of the gallery with several vectors, the query first
    (:class:`cir_core.index.scoring.Scoring`), that explains itself."""

    @property
    def vectors(self) -> Matrix:
        """``[m, dim]``."""
        ...

    def combine(self, products: Scores) -> Scores: ...

    def error(self, errors: npt.NDArray[np.float64], sizes: npt.NDArray[np.float64]) -> float: ...

    def ledgers(self, parts: Sequence[Ledger], products: Scores) -> list[Ledger]:
        """For each hit the ``parts`` of its product with the query, and what the step made of them, given its products
        ``[hits, m - 1]`` with the other vectors; they add up to the score."""
        ...


@dataclass(frozen=True)
class Rerank:
    """A second score of images, known one by one: score = (1 − weight) · s + weight · r for the ``first`` images of
    the ranking by s (None: all). ``of`` takes rows of the gallery to their r, higher is better; ``name`` is that of
    r's part in the ledger."""

    name: str
    first: int | None
    weight: float
    of: Callable[[Sequence[int]], Scores] = field(repr=False)


class Step(Generic[S]):
    """One kind of step. The methods here are those of a step that does nothing."""

    name: ClassVar[str]             # key in files, JSON and the database
    label: ClassVar[str]            # "SoFT"
    title: ClassVar[str]            # of its part of a form
    settings: type[S]               # frozen dataclass
    parameters: tuple[Parameter, ...] = ()
    bare: ClassVar[bool] = False    # see Section
    reads_captions: ClassVar[bool] = False   # stored captions of the gallery change what it finds
    reads_marks: ClassVar[bool] = False      # marked results change what it finds
    moves_query: tuple[str, ...] = ()        # parts of a composition that the query after this step depends on

    @property
    def section(self) -> Section:
        """Its part of a form."""
        return Section(self.title, self.name, self.parameters, step=self.name, bare=self.bare)

    @property
    def keeps(self) -> Mapping[str, type[Any]]:
        """What it keeps in a turn's :class:`Composition`: name to record (or, for tuples, record of an element).
        Settings under the step's own name are those the turn was ranked with, and may be adjusted."""
        return {self.name: self.settings}

    def of(self, method: MethodSettings) -> S | None:
        """Its settings in ``method``; None where the method has no such step."""
        found: S | None = method.part(self.name)
        return found

    def label_of(self, settings: S) -> str:
        return self.label

    def labelled_parameters(self, settings: S) -> frozenset[str]:
        """Parameters that :meth:`label_of` tells already."""
        return frozenset()

    def figure(self, settings: S) -> str:
        """Its most important number, for a line about the method; "" for none."""
        return ""

    def summary(self, settings: S) -> tuple[str, str]:
        """Title and text of its line on a protocol card."""
        numbers = (f"{one.label.sign or one.label.text} {getattr(settings, one.name)}" for one in self.parameters)
        return self.label, ", ".join(numbers)

    def trace(self, composition: Composition) -> list[tuple[str, str]]:
        """What it made of a turn, in titles and texts."""
        return []

    def tasks(self, settings: S, domain: Domain) -> tuple[Task[Any], ...]:
        """What it may ask a language model. One that asks gets a caption of the reference, if the model is blind."""
        return ()

    def ask(self, settings: S, turn: StepTurn) -> tuple[Mapping[str, Any], Notes]:
        """Before any step moves the query: what to keep in the composition, and notes for the person."""
        return {self.name: settings}, ()

    def refine(
        self, query: ComposedQuery, settings: S, turn: StepTurn
    ) -> tuple[ComposedQuery, Mapping[str, Any], Notes]:
        """Move the query, in terms that sum up to it; what to keep in the composition; notes."""
        return query, {}, ()

    def replay(self, query: ComposedQuery, settings: S, composition: Composition) -> ComposedQuery:
        """:meth:`refine` from what it kept, without asking anybody."""
        return query

    def score(
        self, query: Vector, composition: Composition, encoder: TextEncoder, stages: StageTimer
    ) -> StepScore | None:
        """The score to rank by instead of the product with ``query``; None if it does not change it."""
        return None

    def rerank(self, composition: Composition, relevance: Callable[[], Any], stages: StageTimer) -> Rerank | None:
        """How to order the results again after they are ranked; None if they stay. ``relevance`` as of
        :class:`GalleryView`."""
        return None

    def reread(self, settings: S, turn: StepTurn, before: str) -> Mapping[str, Any]:
        """Parts of an adjustment that go with another text: the user edited the caption, or ``turn.merged`` itself,
        which was ``before`` ("" if they did not)."""
        return {}

    def adjust(
        self, composition: Composition, notes: Notes, adjustment: Adjustment, encoder: Encoder, stages: StageTimer
    ) -> tuple[Composition, Notes]:
        """A finished turn with what ``adjustment`` says of this step. Raises ``SearchError`` for what cannot be."""
        settings = adjustment.part(self.name) if self.name in self.keeps else None
        return (composition if settings is None else composition.with_parts({self.name: settings})), notes
