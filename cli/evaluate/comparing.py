"""``--compare FILE``: differences from the JSON of an earlier evaluation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from cir_core.errors import DatasetError
from cir_core.reports.records import ReportColumn, ReportTable, text
from cli.tables.output import Part

CompareOption = Annotated[Path | None, typer.Option(
    "--compare", metavar="FILE", help="Also print differences from this earlier JSON file.")]
Figures = Mapping[str, Mapping[str, float]]
"""System to measure to figure."""


@dataclass(frozen=True)
class Evaluated:
    """What an evaluation's JSON says. ``data``: data set, split and digest; ``relevance``: revision of the relevance
    model, "" without CIRQRS."""

    name: str
    data: tuple[str, str, str]
    relevance: str
    figures: Figures


def read_evaluated(path: Path) -> Evaluated:
    """The file of an earlier evaluation. Raises ``DatasetError`` for any other."""
    try:
        content = json.loads(path.read_text("utf-8"))
        return evaluated(path.name, content)
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror}. Name the JSON file of an evaluation.") from error
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise DatasetError(f"{path} is not the JSON of an evaluation. Write one with --json.") from error


def evaluated(name: str, content: Mapping[str, Any]) -> Evaluated:
    """Of the JSON of ``cirque evaluate``, in either form. Raises ``KeyError``, ``TypeError`` …"""
    if "single" in content:   # methods on the sample
        card, count = content["single"][0]["protocol"], sum(map(len, content["queries"].values()))
        figures = {one["method"]: {measure: float(of["value"]) for measure, of in one["measures"].items()}
                   for one in content["single"]}
        return Evaluated(name, sample_data(card["split"], card["gallery_digest"], count), content.get("relevance", ""),
                         figures)
    protocol = content["protocol"]
    systems = content.get("systems", [content])
    return Evaluated(
        name, (protocol["dataset"], protocol["split"], protocol["dataset_digest"]), protocol.get("relevance", ""),
        {one["system"]: dict(_flat({family: one[family] for family in one["intervals"]})) for one in systems})


def check_comparable(name: str, data: tuple[str, str, str], relevance: str, earlier: Evaluated) -> None:
    """Raises ``RelevanceMismatch`` if both have CIRQRS of different models, ``DatasetError`` if the figures are of
    different data."""
    if data != earlier.data:
        before, now = (", ".join(filter(None, one)) for one in (earlier.data, data))
        raise DatasetError(f"The figures of {earlier.name} are of other data ({before}; now {now}). Compare "
                           "evaluations of the same files.")
    if relevance and earlier.relevance:
        from cir_core.relevance.checkpoint import check_same

        check_same({earlier.name: earlier.relevance, name: relevance})


def differences(now: Figures, earlier: Figures) -> dict[str, dict[str, float]]:
    """Figures of now minus those of then, of the systems and measures that both have. Two single systems are compared
    whatever they are called."""
    names = {name: name for name in now if name in earlier}
    if not names and len(now) == len(earlier) == 1:
        names = {next(iter(now)): next(iter(earlier))}
    return {
        name: {measure: value - earlier[before][measure] for measure, value in now[name].items()
               if measure in earlier[before]}
        for name, before in names.items()
    }


def difference_parts(found: Mapping[str, Mapping[str, float]], earlier: Evaluated) -> Iterator[Part]:
    if not found:
        systems = ", ".join(earlier.figures)
        yield f"\nNothing to compare: no system is called like one of {earlier.name} ({systems})."
        return
    measures = dict.fromkeys(measure for of in found.values() for measure in of)
    yield ReportTable(
        "less-earlier", f"Less {earlier.name}, times 100:",
        (text("measure", "measure"), *(ReportColumn(name, name, "points") for name in found)),
        tuple((measure, *(of.get(measure) for of in found.values())) for measure in measures))


def _flat(families: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for family, value in families.items():
        if isinstance(value, Mapping):
            for at, one in value.items():
                yield f"{family}@{at}" if at.isdigit() else f"{family} {at}", float(one)
        else:
            yield family, float(value)


def sample_data(split: str, digest: str, queries: int) -> tuple[str, str, str]:
    """``data`` of methods on the sample: ``digest`` is the gallery's."""
    return "sample", split, f"{digest}, {queries} queries"


def data_of(protocol: Mapping[str, Any]) -> tuple[str, str, str]:
    return protocol["dataset"], protocol["split"], protocol["dataset_digest"]
