"""Runs: the ranked list of a system for each query of a benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cir_core.datasets.content import Content, ends


@dataclass(frozen=True)
class Run:
    """``rankings``: query id to image ids, best first, each once. ``subset_rankings`` is CIRR's
    second list (ranks within the image set), for a file with only that. ``scores``, in
    the order of ``rankings``, is {} if the file had none."""

    system: str
    rankings: Mapping[str, tuple[str, ...]]
    scores: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    subset_rankings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def content(self) -> Content:
        """Queries and lengths of their rankings."""
        counts: dict[str, int | float | str] = {"system": self.system}
        for label, rankings in (("", self.rankings), (", subset", self.subset_rankings)):
            if rankings:
                counts |= {f"queries{label}": len(rankings),
                           **ends(f"images of a query{label}", [len(ranking) for ranking in rankings.values()])}
        return Content(counts, self.notes)
