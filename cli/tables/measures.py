"""Tables of means with their bootstrap intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cir_core.evaluation.metrics.bootstrap import MeanEstimate
from cir_core.reports.columns import cells, ranged, text
from cir_core.reports.records import ColumnKind, ReportTable

PERCENT = "in percent, 95 % bootstrap intervals over queries in brackets"


def measures_table(
    key: str, title: str, names: Sequence[str], rows: Sequence[tuple[str, Mapping[str, MeanEstimate], str]],
    kind: ColumnKind = "percent", note: str = "",
) -> ReportTable:
    """A row for each method: title, measures, digest of the protocol."""
    return ReportTable(
        key, title,
        (text("method", "method"), *(column for name in names for column in ranged(name, name, kind)),
         text("protocol", "protocol")),
        tuple((method, *(cell for name in names for cell in cells(measures.get(name))), digest)
              for method, measures, digest in rows), note)
