"""The same turn under several methods, as records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from cir_core.types.composition import Composition
from cir_core.types.records import Hit, MethodSettings, ProtocolCard


@dataclass(frozen=True)
class MethodColumn:
    """What one method made of the turn; ``problem`` says why there is nothing, if so."""

    method: str                # its name; what it was is in ``protocol``
    protocol: ProtocolCard
    caption: str = ""
    merged_text: str = ""
    notes: tuple[str, ...] = ()
    hits: tuple[Hit, ...] = field(default=(), repr=False)
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    composition: Composition | None = field(default=None, repr=False)
    problem: str = ""

    @property
    def settings(self) -> MethodSettings:
        return self.protocol.method


@dataclass(frozen=True)
class Comparison:
    """``columns`` stand in the order they are shown, which ``blind`` ones draw by ``seed``.

    It goes on from a turn (``parent_id``) or starts afresh. Never changed once stored.
    """

    comparison_id: str
    gallery: str
    reference_id: str
    modification_text: str
    columns: tuple[MethodColumn, ...]
    blind: bool
    seed: int
    created_at: datetime
    session_id: str | None = None
    parent_id: str | None = None


class ComparisonStore(Protocol):
    """Committed on return. Unknown ids raise ``UnknownSession``, a full disk ``StorageError``."""

    def add_comparison(self, comparison: Comparison) -> Comparison: ...

    def comparison(self, comparison_id: str) -> Comparison: ...
