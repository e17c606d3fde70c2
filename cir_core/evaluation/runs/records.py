"""A run: what a system returned for each query of a benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Run:
    """``rankings``: query id to image ids, best first, each once. ``subset_rankings`` is CIRR's
    second list (its candidates of the image set), where a file holds only that. ``scores``, in
    the order of ``rankings``, is {} where the file had none."""

    system: str
    rankings: Mapping[str, tuple[str, ...]]
    scores: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    subset_rankings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
