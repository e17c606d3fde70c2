"""What differs between kinds of studies; people, assignment, drafts and saving are the same for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from annotation.records import Item, Study


@dataclass(frozen=True)
class Settled:
    """An answer as it is kept: plain JSON in one canonical form, so that equal answers are equal."""

    answer: Mapping[str, Any]
    unsure: bool = False      # goes to an adjudicator


class Kind(Protocol):
    """One kind of study."""

    def settle(self, answer: object, item: Item, study: Study) -> Settled:
        """Check what came from a browser or a script. Raises ``IncompleteJudgement`` with a sentence
        that says what is missing or contradicts itself."""
        ...

    def draft(self, answer: object, item: Item, study: Study) -> Mapping[str, Any]:
        """The same without completeness: whatever can be kept of it, bounded in size."""
        ...

    def page(self, study: Study) -> Mapping[str, Any]:
        """What the screen needs to know of the study beyond its items: plain JSON, nothing hidden."""
        ...
