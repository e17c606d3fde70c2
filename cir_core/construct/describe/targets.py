"""Statistics of queries with several targets: SoFT, section 3.2 and Figure 4."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from cir_core.construct.targets.files import ENDING, PROVENANCE, SELECTION
from cir_core.construct.targets.provenance import TargetCounts, read_provenance
from cir_core.construct.targets.single_target import read_target_files
from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.files.json_files import first_byte, read_array
from cir_core.datasets.readers.soft import MultiTarget
from cir_core.reports.figures import bars
from cir_core.reports.page import html_page
from cir_core.reports.records import Figure, ReportTable, Section, count, number, share, text
from cir_core.support.texts import counted

_Key = TypeVar("_Key", int, float)
_STEPS = 20         # of the histogram of confidences
_NOT_ASKED = "A target that no group had among its first candidates has no confidence and is not counted."


@dataclass(frozen=True, kw_only=True)
class TargetRow(TargetCounts):
    """One file, or all of them. ``original``: confidences of the data set's own targets, by their lower end in steps
    of 0.05; None where no file of provenance is beside."""

    name: str
    original: Mapping[float, int] | None = None

    @property
    def mean(self) -> float | None:
        """Of all queries: SoFT's files leave out those without targets."""
        return self.targets / self.queries if self.queries else None

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "queries": self.queries, "targets": self.targets, "by_targets": self.by_targets,
                "without_original": self.without_original, "with_reference": self.with_reference,
                "original": self.original, "mean": self.mean, "most": self.most, "three_and_more": self.rewritable}


@dataclass(frozen=True)
class TargetDescription:
    """A row for each file, and one of their sums if there are several."""

    rows: tuple[TargetRow, ...]

    def as_json(self) -> dict[str, Any]:
        return {"targets": [row.as_json() for row in self.rows]}


def holds_targets(path: Path) -> bool:
    """Whether ``path`` is a file of queries with several targets, or a folder that stage 1 wrote."""
    if path.is_dir():
        return (path / SELECTION).is_dir() or any(path.glob(f"*{ENDING}.json"))
    if not path.is_file() or first_byte(path) != b"[":
        return False
    _, first = next(read_array(path, ValidationIssues(collect=True)), (0, None))
    return path.stem.endswith(ENDING) if first is None else "confidence_scores" in first    # [] says it by its name


def describe_targets(paths: Sequence[Path]) -> TargetDescription:
    """Of files in SoFT's multi-target format, or of folders that stage 1 wrote. Raises ``DatasetError``."""
    beside = {path.stem: path for one in paths for path in _provenance(one)}
    rows = [_row(file.name, file.records, beside.get(file.name)) for file in read_target_files(paths)]
    return TargetDescription(tuple(rows + ([_sum(rows)] if len(rows) > 1 else [])))


def target_table(found: TargetDescription) -> ReportTable:
    columns = (text("name", "file"), count("queries", "queries"), count("targets", "targets"),
               number("mean", "targets, mean"), count("most", "most"), count("three", "3 and more"),
               count("original", "without the original"), count("reference", "with the reference"))
    rows = tuple((row.name, row.queries, row.targets, row.mean, row.most, row.rewritable, row.without_original,
                  row.with_reference) for row in found.rows)
    return ReportTable("targets", "Queries with several targets", columns, rows,
                       "3 and more: queries that can be rewritten for one target.", "No queries.")


def histogram_table(found: TargetDescription) -> ReportTable:
    """Queries by their number of targets."""
    last = found.rows[-1]
    columns = count("number", "targets"), count("queries", "queries"), share("share", "of queries")
    rows = tuple((targets, last.by_targets.get(targets, 0), last.by_targets.get(targets, 0) / last.queries)
                 for targets in range(1, last.most + 1))
    return ReportTable("by-targets", f"Queries by number of targets, {last.name}", columns, rows, "", "No queries.")


def target_page(found: TargetDescription, subject: str) -> str:
    """Everything as one HTML page that needs no network."""
    last = found.rows[-1]
    return html_page(subject, "Statistics of queries with several targets",
                     f"{counted(last.queries, 'query', 'queries')}, {counted(last.targets, 'target')}",
                     target_sections(found))


def target_sections(found: TargetDescription) -> list[Section]:
    figures = tuple(figure for row in found.rows for figure in (_targets_figure(row), _original_figure(row)) if figure)
    return [Section("targets", "Targets", "Images that answer a query, by SoFT's pipeline.", (), figures,
                    (target_table(found), histogram_table(found)))]


def _targets_figure(row: TargetRow) -> Figure:
    labels = [str(number) for number in range(1, row.most + 1)]
    counts = [row.by_targets.get(number, 0) for number in range(1, row.most + 1)]
    said = ", ".join(f"{label}: {n:,}" for label, n in zip(labels, counts, strict=True))
    title = f"Targets of a query, {row.name}"
    return bars(f"targets-{row.name}", title, f"{title}: {said}", labels, counts, axis="queries", across="targets")


def _original_figure(row: TargetRow) -> Figure | None:
    """SoFT's Figure 4."""
    if row.original is None:
        return None
    labels = [f"{step / _STEPS:.2f}" for step in range(_STEPS)]
    counts = [row.original.get(step / _STEPS, 0) for step in range(_STEPS)]
    title = f"Confidence of the original target, {row.name}"
    said = ", ".join(f"from {label}: {n:,}" for label, n in zip(labels, counts, strict=True) if n)
    return bars(f"original-{row.name}", title, f"{title}: {said}. {_NOT_ASKED}", labels, counts, axis="queries",
                across="confidence, from")


def _row(name: str, records: Sequence[MultiTarget], provenance: Path | None) -> TargetRow:
    chosen = [(one, one.target_ids) for one in records]
    numbers = Counter(len(targets) for _, targets in chosen)
    return TargetRow(
        len(records), dict(sorted(numbers.items())),
        sum(one.original_target_id not in targets for one, targets in chosen),
        sum(one.reference_id in targets for one, targets in chosen), name=name,
        original=None if provenance is None else _steps(one.original_confidence for one in read_provenance(provenance)))


def _sum(rows: Sequence[TargetRow]) -> TargetRow:
    known = [row.original for row in rows if row.original is not None]
    return TargetRow(
        sum(row.queries for row in rows), _added([row.by_targets for row in rows]),
        sum(row.without_original for row in rows), sum(row.with_reference for row in rows), name="all",
        original=_added(known) if len(known) == len(rows) else None)


def _added(counts: Sequence[Mapping[_Key, int]]) -> dict[_Key, int]:
    total: Counter[_Key] = Counter()
    for one in counts:
        total.update(one)
    return dict(sorted(total.items()))


def _steps(confidences: Iterable[float | None]) -> dict[float, int]:
    """1 counts to the last step."""
    found = Counter(min(int(round(one * _STEPS, 9)), _STEPS - 1) / _STEPS for one in confidences if one is not None)
    return dict(sorted(found.items()))


def _provenance(path: Path) -> list[Path]:
    """Files of provenance of a folder that stage 1 wrote, or beside a file of its targets."""
    folder = path if path.is_dir() else path.parent.parent
    return sorted((folder / PROVENANCE).glob("*.jsonl"))
