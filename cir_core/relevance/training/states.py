"""States of a training: what an interrupted one resumes from, and the settings that they belong to.

``sums.json`` in a state has the checksums of its files, since PyTorch loads damaged ones without a word; states of
earlier versions have none.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from cir_core.errors import RelevanceUnavailable
from cir_core.relevance.training.epoch_negatives import DAMAGED
from cir_core.support.checksums import signed, sum_of_file, unsigned
from cir_core.support.files import flush_to_disk, sync_folder, write_atomically

if TYPE_CHECKING:
    from accelerate import Accelerator

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
                                       "to begin anew.")
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
                                       f"{self._out} to begin anew.") from error
        return step


def _check(state: Path) -> None:
    """Raises ``ValueError``, ``OSError`` or ``KeyError`` if a file is not what was written."""
    try:
        content = (state / _SUMS).read_bytes()
    except FileNotFoundError:
        return
    for name, checksum in unsigned(content)["sums"].items():
        if sum_of_file(state / name) != checksum:
            raise ValueError(f"{name} is not what was written")
