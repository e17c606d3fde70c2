"""Log of a training: one JSON line for each step, rebuild and epoch; and the curves drawn from it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cir_core.support.files import write_atomically

LOG_FILE = "training.jsonl"
CURVES_FILE = "training.html"


class TrainingLog:
    """Appends lines; each has the number of finished steps as ``step``."""

    def __init__(self, folder: Path, step: int, *, finished: bool = False) -> None:
        """Continue after ``step``: lines of later steps, from a run that was killed, are dropped. ``finished``: no step
        is left."""
        self._path = folder / LOG_FILE
        kept = [line for line in read_log(folder) if line["step"] <= step and step]
        while kept and "rebuild" in kept[-1] and kept[-1]["step"] == step:
            kept.pop()   # it is written again when its epoch begins
        if finished and kept and "recall_at_1" in kept[-1] and kept[-1]["step"] == step:
            kept.pop()   # the last epoch is validated again
        write_atomically(self._path, "".join(json.dumps(line) + "\n" for line in kept).encode())
        self._file = self._path.open("a", encoding="utf-8")

    def add(self, step: int, **values: Any) -> None:
        self._file.write(json.dumps({"step": step, **values}) + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def read_log(folder: Path) -> list[Mapping[str, Any]]:
    """Whole lines, in order; none if there is no log."""
    try:
        text = (folder / LOG_FILE).read_text("utf-8")
    except OSError:
        return []
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def draw_curves(folder: Path, title: str) -> Path:
    """A page with the loss and the validation recall, and a table of the rebuilds, beside the log."""
    from cir_core.reports.figures import lines
    from cir_core.reports.page import html_page
    from cir_core.reports.records import ReportColumn, ReportTable, Section

    log = read_log(folder)
    epochs = [line for line in log if "recall_at_10" in line]
    recall = {f"Recall@{k}": [(line["step"], line[f"recall_at_{k}"]) for line in epochs] for k in (1, 10, 50)}
    steps = sum("loss" in line for line in log)
    figures = (
        lines("loss", "Loss", f"Mean training loss over {steps:,} steps.", {"Loss": _smoothed(log)},
              across="Step", axis="Mean loss"),
        lines("recall", "Validation recall", f"Recall of the target after each of {len(epochs)} epochs.", recall,
              across="Step", axis="Share of queries"),
    )
    rebuilds = ReportTable(
        "rebuilds", "Negative rebuilds",
        (ReportColumn("epoch", "Before epoch", "count"),
         ReportColumn("negatives", "Negatives per query, at most", "count"), ReportColumn("mean", "Mean", "number")),
        tuple((line["epoch"] + 1, line["rebuild"], line["mean"]) for line in log if "rebuild" in line),
    )
    section = Section("training", "Training", "Loss over the training pairs, and how often the target is among the "
                      "first images of the validation pool.", figures=figures, tables=(rebuilds,))
    path = folder / CURVES_FILE
    write_atomically(path, html_page(title, "Training", f"{len(epochs)} epochs", [section]).encode())
    return path


def _smoothed(log: Iterable[Mapping[str, Any]]) -> list[tuple[float, float]]:
    """Mean losses of up to 200 stretches of equal length."""
    losses = [(line["step"], line["loss"]) for line in log if "loss" in line]
    length = max(1, len(losses) // 200)
    return [(losses[i][0], sum(loss for _, loss in losses[i : i + length]) / len(losses[i : i + length]))
            for i in range(0, len(losses), length)]
