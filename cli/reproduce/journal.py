"""What is finished of a reproduction, on disk: a file for each step, which counts while its inputs are the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from cir_core.reports.records import Section
from cir_core.support.files import write_durably
from cli.reproduce.plan import WORK, Step

_FORMAT = 1


@dataclass(frozen=True)
class CommandResult:
    """What one command gave. ``name``: of its input, where a step has several commands; ``cards``: protocol cards."""

    arguments: tuple[str, ...]
    name: str = ""
    failure: str = ""
    remarks: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    cards: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class StepResult:
    """``failure``: why the step, or one of its commands, could not be run."""

    results: tuple[CommandResult, ...] = ()
    failure: str = ""


class Journal:
    """Steps that are over, in ``folder``. A step that failed is kept for the report, and runs again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / WORK / "steps"

    def put(self, step: Step, digest: str, result: StepResult) -> None:
        """Once this returns, the step survives a killed process. Raises ``OSError``."""
        content = {"format": _FORMAT, "digest": digest, "result": asdict(result)}
        write_durably(self._path(step), json.dumps(content, ensure_ascii=False, allow_nan=False).encode())

    def read(self, step: Step, digest: str) -> StepResult | None:
        """The result of ``step`` with these inputs; None if there is none, or its file is damaged."""
        try:
            content = json.loads(self._path(step).read_bytes())
            if content["format"] != _FORMAT or content["digest"] != digest:
                return None
            return _RESULT.validate_python(content["result"])
        except (OSError, ValueError, KeyError, TypeError, ValidationError):
            return None

    def finished(self, step: Step, digest: str) -> bool:
        found = self.read(step, digest)
        return found is not None and not found.failure and not step.fresh

    def _path(self, step: Step) -> Path:
        return self._folder / f"{step.name}.json"


_RESULT = TypeAdapter(StepResult)


def digests(steps: Sequence[Step], inputs: Mapping[str, Any]) -> dict[str, str]:
    """Of what each step depends on: ``inputs`` of all, its command, and the steps whose files it reads."""
    found: dict[str, str] = {}
    for step in steps:
        content = [inputs, step.arguments, [found[name] for name in step.needs]]
        found[step.name] = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
    return found


def without_folder(result: CommandResult, folder: Path) -> CommandResult:
    """With paths as seen from ``folder``, so that the same work gives the same files wherever it is done."""
    def seen(said: str) -> str:
        return said.replace(f"{folder}/", "").replace(str(folder), ".")

    return replace(result, failure=seen(result.failure), remarks=tuple(map(seen, result.remarks)))
