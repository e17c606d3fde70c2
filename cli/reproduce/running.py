"""Runs the steps of a reproduction: each command in this process, as a person would type it, in the output folder."""

from __future__ import annotations

import io
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from cir_core.reports.gathered import gathering
from cir_core.support.files import write_atomically
from cli import recorded
from cli.reproduce.journal import CommandResult, Journal, StepResult, without_folder
from cli.reproduce.plan import WORK, Step

Run = Callable[[Sequence[str]], str]
"""Runs a command, what follows "cirque"; why it failed, or "". Raises ``KeyboardInterrupt``."""


@dataclass(frozen=True)
class Outcome:
    """``state``: "finished" now, "kept" from an earlier run, "failed", "missing", or "left out". ``cpu``, ``seconds``,
    ``megabytes``: of this run; the memory is the most that the process has had so far."""

    step: Step
    state: str
    result: StepResult
    seconds: float = 0.0
    cpu: float = 0.0
    megabytes: float = 0.0

    @property
    def ran(self) -> bool:
        return self.state in ("finished", "kept")


def run_steps(
    steps: Sequence[Step], wanted: frozenset[str], digest: Mapping[str, str], folder: Path, run: Run,
) -> Iterator[Outcome]:
    """Every step with its outcome, once it is on disk. Steps outside ``wanted`` are taken from earlier runs."""
    (folder / WORK).mkdir(parents=True, exist_ok=True)
    journal, done = Journal(folder), dict[str, bool]()
    for step in steps:
        outcome = _outcome(step, step.name in wanted, digest[step.name], journal, done, folder, run)
        done[step.name] = outcome.ran
        yield outcome


def _outcome(
    step: Step, wanted: bool, digest: str, journal: Journal, done: Mapping[str, bool], folder: Path, run: Run,
) -> Outcome:
    if journal.finished(step, digest):
        return Outcome(step, "kept", journal.read(step, digest) or StepResult())
    if not wanted:
        kept = journal.read(step, digest)
        if kept is not None and not kept.failure:
            return Outcome(step, "kept", kept)
        return Outcome(step, "left out", StepResult(failure="Left out by --only or --skip."))
    if step.missing:
        return Outcome(step, "missing", StepResult(failure=step.missing))
    if lacking := [name for name in step.needs if not done[name]]:
        return Outcome(step, "missing", StepResult(failure=f"It needs the step {lacking[0]}, which was not run."))
    began, cpu = time.monotonic(), time.process_time()
    result = _run(step, folder, run)
    journal.put(step, digest, result)
    return Outcome(step, "failed" if result.failure else "finished", result, time.monotonic() - began,
                   time.process_time() - cpu, _megabytes())


def _run(step: Step, folder: Path, run: Run) -> StepResult:
    commands = expanded(step.arguments, folder)
    if not commands:
        pattern = next(one for one in step.arguments if "*" in one)
        return StepResult(failure=f"There is no file {pattern}.")
    printed: list[str] = []
    results = tuple(_run_one(step, name, arguments, folder, run, printed) for name, arguments in commands)
    write_atomically(folder / WORK / "output" / f"{step.name}.txt", "\n".join(printed).encode())
    failures = [f"{one.name}: {one.failure}" if one.name else one.failure for one in results if one.failure]
    return StepResult(results, " ".join(failures))


def _run_one(
    step: Step, name: str, arguments: tuple[str, ...], folder: Path, run: Run, printed: list[str],
) -> CommandResult:
    goes_on = bool(step.journal) and (folder / step.journal / "journal.jsonl").exists()
    output = io.StringIO()
    with gathering() as found, chdir(folder), redirect_stdout(output):
        failure = run((*arguments, *(("--resume",) if goes_on else ())))
    text = output.getvalue()
    printed.append(text)
    result = CommandResult(arguments, name, failure, tuple(dict.fromkeys(found.remarks)), found.sections,
                           tuple(_cards(step, folder, text)))
    return without_folder(result, folder)


def expanded(arguments: tuple[str, ...], folder: Path) -> list[tuple[str, tuple[str, ...]]]:
    """The commands that ``arguments`` stand for, each with the name of its file."""
    place = next((at for at, one in enumerate(arguments) if "*" in one), None)
    if place is None:
        return [("", arguments)]
    return [(path.stem, (*arguments[:place], str(path.relative_to(folder)), *arguments[place + 1:]))
            for path in sorted(folder.glob(arguments[place]))]


def run_in(root: Any) -> Run:
    """How commands of the program ``root`` run. The reason of a failure is what a person would be told."""
    def run(arguments: Sequence[str]) -> str:
        with recorded.listening() as said:
            try:
                with root.make_context("cirque", list(arguments)) as context:
                    root.invoke(context)
            except (typer.Exit, SystemExit) as end:
                if isinstance(end.__context__, KeyboardInterrupt):
                    raise KeyboardInterrupt from end
                code = getattr(end, "exit_code", getattr(end, "code", 0))
                return "" if not code else next((line for line in reversed(said) if line.strip()),
                                                f"It ended with exit code {code}.")
            except Exception as error:     # of any step: the others go on
                told = getattr(error, "format_message", None)
                return str(told() if told else error) or type(error).__name__
        return ""

    return run


def _cards(step: Step, folder: Path, printed: str) -> Iterator[dict[str, Any]]:
    """Protocol cards in what a command wrote: what is called so, or a file that is one."""
    for pattern in step.cards:
        texts = [path.read_text("utf-8") for path in sorted(folder.glob(pattern))] if pattern else [printed]
        for text in texts:
            try:
                content = json.loads(text)
            except ValueError:
                continue
            yield from (content,) if pattern.endswith("/protocol.json") else _protocols(content)


def _protocols(content: Any) -> Iterator[dict[str, Any]]:
    if isinstance(content, list):
        for one in content:
            yield from _protocols(one)
    elif isinstance(content, dict):
        for name, value in content.items():
            if name in ("protocol", "source") and isinstance(value, dict):
                yield value
            elif name == "retrievers" and isinstance(value, list):    # of an audit: their cards
                yield from (one for one in value if isinstance(one, dict) and "digest" in one)
            else:
                yield from _protocols(value)


def _megabytes() -> float:
    """The most memory that this process has had; 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
