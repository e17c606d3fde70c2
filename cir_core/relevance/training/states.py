"""States of a training: what an interrupted one resumes from, and the settings that they belong to. Log of a
training: one JSON line for each step, rebuild and epoch; and the curves drawn from it.

``sums.json`` in a state has the checksums of its files, since PyTorch loads damaged ones without a word; states of
earlier versions have none.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cir_core.errors import RelevanceUnavailable
from cir_core.relevance.training.epoch_negatives import DAMAGED
from cir_core.support.checksums import signed, sum_of_file, unsigned
from cir_core.support.files import flush_to_disk, sync_folder, write_atomically

if TYPE_CHECKING:
    from accelerate import Accelerator

    from cir_core.reports.records import Section

_SUMS = "sums.json"


class TrainingStates:
    """``out/states`` has one state: network, optimiser and random numbers after the step that names its folder."""

    def __init__(self, accelerator: Accelerator, out: Path) -> None:
        self._accelerator, self._out, self._folder = accelerator, out, out / "states"

    def check_settings(self, settings: str, path: Path) -> None:
        """Raises ``RelevanceUnavailable`` if ``path`` has other settings than ``settings``; else it has these."""
        if path.is_file() and path.read_text("utf-8") != settings:
            raise RelevanceUnavailable(f"{self._out} has a training with another preset, seed, data set, backbone, "
                                       "precision or number of processes. Choose another --out, or remove the folder "
                                       "to start again.")
        write_atomically(path, settings.encode())

    def save(self, step: int) -> None:
        """A state that replaces the one before; a crash leaves one of the two, whole."""
        path = self._folder / f"step-{step}"
        there = path.is_dir()
        self._accelerator.wait_for_everyone()   # all have looked before one renames
        if there:
            return
        unfinished = self._folder / f".partial-{step}"
        self._accelerator.save_state(str(unfinished))
        self._accelerator.wait_for_everyone()   # each writes a part
        if self._accelerator.is_main_process:
            for part in unfinished.iterdir():
                with part.open("r+b") as file:
                    flush_to_disk(file)
            write_atomically(unfinished / _SUMS, signed({"sums": {
                part.name: sum_of_file(part) for part in unfinished.iterdir() if part.is_file()}}))
            sync_folder(unfinished)
            os.replace(unfinished, path)
            sync_folder(self._folder)
            for other in self._folder.iterdir():
                if other != path:
                    shutil.rmtree(other, ignore_errors=True)
        self._accelerator.wait_for_everyone()

    def resume(self) -> int:
        """Load the newest state: the number of its steps, 0 without one. Raises ``RelevanceUnavailable`` if it is
        damaged."""
        found = sorted((int(path.name[5:]), path) for path in self._folder.glob("step-*"))
        if not found:
            return 0
        step, path = found[-1]
        try:
            _check(path)
            self._accelerator.load_state(str(path))
        except DAMAGED as error:
            raise RelevanceUnavailable(f"The training state {path} cannot be read: {error}. Remove the folder "
                                       f"{self._out} to start again.") from error
        return step


def _check(state: Path) -> None:
    """Raises ``ValueError``, ``OSError`` or ``KeyError`` if a file does not match its checksum."""
    try:
        content = (state / _SUMS).read_bytes()
    except FileNotFoundError:
        return
    for name, checksum in unsigned(content)["sums"].items():
        if sum_of_file(state / name) != checksum:
            raise ValueError(f"{name} does not match its checksum")


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
    """A page with :func:`curves_section`, beside the log."""
    from cir_core.reports.page import html_page

    epochs = sum("recall_at_10" in line for line in read_log(folder))
    path = folder / CURVES_FILE
    write_atomically(path, html_page(title, "Training", f"{epochs} epochs", [curves_section(folder)]).encode())
    return path


def curves_section(folder: Path) -> Section:
    """The loss and the validation recall by the log of ``folder``, and a table of the rebuilds."""
    from cir_core.reports.figures import lines
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
    return Section("training", "Training", "Loss over the training pairs, and how often the target is among the "
                      "first images of the validation pool.", figures=figures, tables=(rebuilds,))


def _smoothed(log: Iterable[Mapping[str, Any]]) -> list[tuple[float, float]]:
    """Mean losses of up to 200 stretches of equal length."""
    losses = [(line["step"], line["loss"]) for line in log if "loss" in line]
    length = max(1, len(losses) // 200)
    return [(losses[i][0], sum(loss for _, loss in losses[i : i + length]) / len(losses[i : i + length]))
            for i in range(0, len(losses), length)]
