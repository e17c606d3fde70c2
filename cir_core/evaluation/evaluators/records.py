"""Scores: a value per query and measure, and their means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from cir_core.evaluation.metrics.bootstrap import MeanEstimate, Values, estimates


class Measure(NamedTuple):
    """``family`` and ``at`` are its keys in JSON; ``at`` is "" for a family of one number."""

    family: str
    at: str = ""

    @property
    def name(self) -> str:
        """As a person writes it: "recall@10", "semantic_map_at_10 addition", "auc"."""
        return f"{self.family}@{self.at}" if self.at.isdigit() else f"{self.family} {self.at}".rstrip()


Columns = Mapping[Measure, Values]
"""Measure to ``[queries]``; nan where a query is not counted (an aspect it does not have)."""


@dataclass(frozen=True)
class Scores:
    """Scores of one run. Values are shares, never percent. ``figures`` are means over queries, or, if ``by_group`` has
    several groups (FashionIQ's categories) and ``of_groups`` is set, the unweighted mean of the groups' means."""

    system: str
    queries: int
    figures: Mapping[Measure, MeanEstimate]
    by_group: Mapping[str, Mapping[Measure, MeanEstimate]] = field(default_factory=dict)
    of_groups: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)    # numbers the figures depend on, by name
    notes: tuple[str, ...] = ()
    query_ids: Sequence[str] = field(default=(), repr=False)
    columns: Columns = field(default_factory=dict, repr=False, compare=False)

    @property
    def families(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(measure.family for measure in self.figures))


def score(
    system: str, query_ids: Sequence[str], columns: Columns, *, groups: Mapping[str, Sequence[int]] | None = None,
    of_groups: bool = False, facts: Mapping[str, Any] | None = None, notes: Sequence[str] = (), seed: int | None,
) -> Scores:
    """Means with 95 % bootstrap intervals.

    Args:
        columns: each as long as ``query_ids``.
        groups: name to rows; also scored separately. None or one group: only the whole.
        of_groups: take the unweighted mean of the groups' means, resampling within each.
        seed: of the bootstrap; None omits intervals, which take minutes for 100,000s of queries.
    """
    parts = groups if groups and len(groups) > 1 else {}
    every = [np.asarray(rows) for rows in parts.values()] if of_groups and parts else [np.arange(len(query_ids))]
    return Scores(
        system, len(query_ids), means(columns, every, seed),
        {name: means(columns, [np.asarray(rows)], seed) for name, rows in parts.items()},
        bool(of_groups and parts), dict(facts or {}), tuple(notes), tuple(query_ids), columns,
    )


def means(columns: Columns, groups: Sequence[Any], seed: int | None) -> dict[Measure, MeanEstimate]:
    """One estimate per measure, over the rows that count for it; a measure for which a
    group has no row at all is omitted."""
    together: dict[bytes, list[Measure]] = {}  # measures of the same queries are resampled together
    for measure, column in columns.items():
        together.setdefault(np.isfinite(column).tobytes(), []).append(measure)
    found: dict[Measure, MeanEstimate] = {}
    for measures in together.values():
        matrix = np.column_stack([columns[measure] for measure in measures])
        samples = [rows[np.isfinite(rows).all(axis=1)] for rows in (matrix[group] for group in groups)]
        if all(map(len, samples)):
            found |= dict(zip(measures, _estimates(samples, seed), strict=True))
    return {measure: found[measure] for measure in columns if measure in found}


def _estimates(samples: Sequence[Values], seed: int | None) -> Sequence[MeanEstimate]:
    if seed is not None:
        return estimates(samples, seed=seed)
    return [MeanEstimate(float(value), None, None) for value in np.mean([one.mean(axis=0) for one in samples], axis=0)]


def figures_json(figures: Mapping[Measure, MeanEstimate]) -> dict[str, Any]:
    """Families with their numbers, full precision: ``{"map": {"5": 0.1}, "mrr": 0.2}``."""
    return _nested({measure: estimate.value for measure, estimate in figures.items()})


def intervals_json(figures: Mapping[Measure, MeanEstimate]) -> dict[str, Any]:
    """:func:`figures_json` with ``[low, high]``; null where there is no interval."""
    return _nested({
        measure: None if estimate.low is None else [estimate.low, estimate.high]
        for measure, estimate in figures.items()
    })


def scores_json(scores: Scores) -> dict[str, Any]:
    """Everything except per-query values, with the figures' families at the top level."""
    groups = {name: figures_json(of) for name, of in scores.by_group.items()}
    return {
        **figures_json(scores.figures), **({"by_group": groups} if groups else {}),
        "intervals": intervals_json(scores.figures), "system": scores.system, "queries": scores.queries,
        **scores.facts, "notes": list(scores.notes),
    }


def _nested(values: Mapping[Measure, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for (family, at), value in values.items():
        if at:
            nested.setdefault(family, {})[at] = value
        else:
            nested[family] = value
    return nested
