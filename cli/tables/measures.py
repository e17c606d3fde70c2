"""Tables of means with their bootstrap intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table

from cir_core.evaluation.metrics.bootstrap import MeanEstimate

PERCENT = "in percent, 95 % bootstrap intervals over queries in brackets"


def measures_table(names: Sequence[str], rows: Sequence[tuple[str, Mapping[str, MeanEstimate], str]]) -> Table:
    """A row for each method: title, measures, digest of the protocol."""
    table = Table("method", *names, "protocol", box=None)
    for title, measures, digest in rows:
        table.add_row(title, *(percent(measures[name]) for name in names), digest)
    return table


def percent(estimate: MeanEstimate, digits: int = 2) -> str:
    """"48.20 (43.1–53.3)": the ends with a decimal less than ``digits``."""
    value = f"{100 * estimate.value:.{digits}f}"
    if estimate.low is None or estimate.high is None:
        return value
    ends = max(0, digits - 1)
    return f"{value} ({100 * estimate.low:.{ends}f}–{100 * estimate.high:.{ends}f})"
