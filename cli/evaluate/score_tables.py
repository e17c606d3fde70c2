"""Output of ``cirque evaluate DATASET``: one table per family of measures, or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import typer

from cir_core.evaluation.evaluators.records import Measure, Scores, scores_json
from cir_core.reports.records import ReportTable, cells, ranged, text
from cli.console import write_file
from cli.evaluate.answers import SystemRun
from cli.evaluate.comparing import Evaluated, difference_parts, differences, evaluated
from cli.tables.output import Part, give

_TITLES = {
    "map": "mAP@k", "map_soft": "mAP@k as SoFT's evaluator has it (divides by the hits found)", "recall": "Recall@k",
    "recall_subset": "Recall@k among the image set", "targets_found": "Share of the targets in the first k",
    "ndcg": "nDCG@k", "semantic_map_at_10": "mAP@10 by semantic aspect", "full_catalogue": "Whole gallery",
    "cirqrs": "CIRQRS: 100 × the mean relevance score of the first k",
    "cirqrs_at_10": "CIRQRS by turn: 100 × the mean score of the first 10, for the turn's own reference and text",
    "cirqrs_at_50": "CIRQRS by turn, of the first 50",
    "within_list": "Within the lists", "hits_at_10": "Hits@10 by turn", "measures": "Measures",
}
_LABELS = {
    "average": "Avg", "mean_of_all": "mean of all", "final_recall_at_10": "Final R@10", "auc": "AUC", "ndcg": "nDCG",
    "mrr": "MRR",
}
_COLUMNS = 6  # a family of more is turned: a row for each measure


def show(
    protocol: Mapping[str, Any], answers: Sequence[SystemRun], every: Sequence[Scores] | None, as_json: bool,
    earlier: Evaluated | None = None, tables: Path | None = None, json_path: Path | None = None,
) -> None:
    """Print everything about the runs. ``every`` is None for a split with hidden targets; ``earlier`` is compared with;
    ``tables`` is a folder of their files; ``json_path`` gets the JSON, too.

    JSON is that of :func:`as_text`.
    """
    text = as_text(protocol, answers, every, earlier)
    if as_json:
        typer.echo(text)
    give(_parts(protocol, answers, every, earlier), tables, quiet=as_json,
         between=lambda: write_file(json_path, text + "\n"))


def _parts(
    protocol: Mapping[str, Any], answers: Sequence[SystemRun], every: Sequence[Scores] | None, earlier: Evaluated | None
) -> Iterator[Part]:
    name = f"{protocol['dataset']}, {protocol['split']}" if protocol["split"] else protocol["dataset"]
    how = "" if protocol["seed"] is None or not every else (
        f"; in percent, 95 % bootstrap intervals in brackets (seed {protocol['seed']})")
    yield (f"{name}: {protocol['queries']} {'sessions' if protocol['dataset'] == 'circled' else 'queries'}, digest "
           f"{protocol['dataset_digest']}{how or ('; in percent' if every else '')}.")
    if protocol.get("relevance"):
        yield f"CIRQRS by relevance model {protocol['relevance']}."
    yield from (f"Note: {note}" for note in protocol["notes"])
    if every:
        yield from (_upright(key, title, every, measures) if len(measures) <= _COLUMNS
                    else _turned(key, title, every, measures) for key, title, measures in _families(every))
    else:
        yield "The split hides its targets: nothing to measure here."
    yield ""
    for place, answer in enumerate(answers):
        facts = [f"{key.replace('_', ' ')} {value}" for key, value in answer.source.items()]
        if every:
            facts += [f"{key.replace('_', ' ')} {value}" for key, value in every[place].facts.items()]
        yield f"{answer.run.system}: {', '.join(facts)}"
        yield from (f"  Note: {note}" for note in (every[place].notes if every else answer.run.notes))
    if earlier and every:
        content = as_content(protocol, answers, every)
        yield from difference_parts(differences(evaluated("", content).figures, earlier.figures), earlier)


def as_text(
    protocol: Mapping[str, Any], answers: Sequence[SystemRun], every: Sequence[Scores] | None,
    earlier: Evaluated | None = None,
) -> str:
    """JSON of :func:`as_content`; differences from ``earlier`` under "less_earlier"."""
    content = as_content(protocol, answers, every)
    if earlier and every:
        content["less_earlier"] = {
            "file": earlier.name, "systems": differences(evaluated("", content).figures, earlier.figures)}
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)


def as_content(
    protocol: Mapping[str, Any], answers: Sequence[SystemRun], every: Sequence[Scores] | None
) -> dict[str, Any]:
    """A single run's figures at the top, and ``{"protocol", "systems": [...]}`` of several."""
    systems = [
        {**(scores_json(every[place]) if every else {"system": answer.run.system}), "source": dict(answer.source)}
        for place, answer in enumerate(answers)
    ]
    return {**systems[0], "protocol": protocol} if len(systems) == 1 else {"protocol": protocol, "systems": systems}


def _families(every: Sequence[Scores]) -> Iterator[tuple[str, str, list[Measure]]]:
    """Families of measures with their titles; numbers without a cutoff come first."""
    measures = list(dict.fromkeys(measure for scores in every for measure in scores.figures))
    families: dict[str, list[Measure]] = {}
    last = ""
    for measure in measures:
        if measure.at or not last:
            last = measure.family
        families.setdefault(last, []).append(measure)
    for family, those in families.items():
        yield family, _TITLES.get(family, family), those


def _upright(key: str, title: str, every: Sequence[Scores], measures: Sequence[Measure]) -> ReportTable:
    rows = []
    for scores in every:
        mean = f", mean of {len(scores.by_group)}" if scores.of_groups else ""
        rows += [(f"{scores.system}{mean}", scores.figures),
                 *((f"  {group}", figures) for group, figures in scores.by_group.items())]
    columns = (column for at, measure in enumerate(measures)
               for column in ranged(_key(measure, at), _heading(every[0], measure), "percent"))
    return ReportTable(key, title, (text("system", "system"), *columns), tuple(
        (name, *(cell for measure in measures for cell in cells(figures.get(measure)))) for name, figures in rows))


def _turned(key: str, title: str, every: Sequence[Scores], measures: Sequence[Measure]) -> ReportTable:
    parts = [(scores.system, scores.figures) for scores in every]
    parts += [(f"{scores.system}, {group}", figures) for scores in every for group, figures in scores.by_group.items()]
    columns = (column for name, _ in parts for column in ranged(name, name, "percent"))
    return ReportTable(key, title, (text("measure", ""), *columns), tuple(
        (_heading(every[0], measure), *(cell for _, figures in parts for cell in cells(figures.get(measure))))
        for measure in measures))


def _key(measure: Measure, at: int) -> str:
    return f"{measure.family}_{measure.at}".strip("_") or f"measure_{at}"


def _heading(scores: Scores, measure: Measure) -> str:
    """Column heading, with the number of queries if the measure does not apply to all."""
    name = _LABELS.get(measure.at or measure.family, measure.at or measure.family)
    column = scores.columns.get(measure, np.zeros(0))
    count = int(np.isfinite(column).sum())
    return f"{name} (n {count})" if count < len(column) else name
