"""The files of a reproduction: one LaTeX document with a section for each paper, its figures and tables, protocol
cards, and the commands."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from cir_core.reports.latex_text import latex_text
from cir_core.reports.paper import FIGURES, TABLES, body, figure_files, opening, preamble
from cir_core.reports.records import Section
from cir_core.support.files import write_atomically
from cir_core.support.texts import counted
from cli.reproduce.journal import CommandResult
from cli.reproduce.plan import Step, Subject
from cli.reproduce.running import Outcome
from cli.tables.output import kept_apart, table_files

CARDS = "cards"
_OURS = (CARDS, FIGURES, TABLES)


def paper(subject: Subject, outcomes: Sequence[Outcome], facts: str) -> dict[str, bytes]:
    """Files by path. The same results give the same bytes on one machine."""
    lines = opening(f"Reproduction: {subject.dataset}", facts)
    files: dict[str, bytes] = {}
    for name in dict.fromkeys(one.step.paper for one in outcomes):
        lines += [rf"\section{{{latex_text(name)}}}", ""]
        for outcome in (one for one in outcomes if one.step.paper == name):
            lines += _head(outcome)
            sections = _sections(outcome)
            lines += body([one for one in sections if _is_shown(one)], heading="subsubsection")
            files |= table_files(sections, f"{TABLES}/")
            files |= figure_files(figure for section in sections for figure in section.figures)
            if cards := [card for one in outcome.result.results for card in one.cards]:
                files[f"{CARDS}/{outcome.step.name}.json"] = (
                    json.dumps(cards, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()
    return files | {"preamble.tex": preamble(), "report.tex": "\n".join([*lines, r"\end{document}", ""]).encode(),
                    "commands.sh": _script(outcomes).encode()}


def write_paper(folder: Path, files: dict[str, bytes]) -> None:
    """Write ``files``, and remove those of an earlier run that are not among them. Raises ``OSError``."""
    for name, content in files.items():
        path = folder / name
        if not path.exists() or path.read_bytes() != content:
            write_atomically(path, content, synced=False)
    for part in _OURS:
        for path in (folder / part).glob("*"):
            if f"{part}/{path.name}" not in files:
                path.unlink()


def command_line(arguments: Iterable[str]) -> str:
    return shlex.join(("cirque", *arguments)).replace("'*'", "*")


def _head(outcome: Outcome) -> list[str]:
    """Title, what it shows of the paper, its commands, or why it was not run."""
    step, result = outcome.step, outcome.result
    lines = [rf"\subsection{{{latex_text(step.title, breakable=True)}}}",
             rf"\noindent In the paper: {latex_text(step.shows, breakable=True)}.", ""]
    commands = [one.arguments for one in result.results] or [step.arguments]
    lines += [r"\begin{flushleft}\small", *(
        rf"\texttt{{{latex_text(command_line(one), breakable=True)}}}\\[2pt]" for one in commands), r"\end{flushleft}"]
    if result.failure:
        word = "Incomplete" if any(one.sections for one in result.results) else "Not run"
        lines += [rf"\noindent\textbf{{{word}.}} {latex_text(result.failure, breakable=True)}", ""]
    return lines


def _sections(outcome: Outcome) -> list[Section]:
    """The sections of all commands of a step, with keys that no other step has."""
    found: list[Section] = []
    for one in outcome.result.results:
        found += [*_remarks(one), *(replace(section, tables=tuple(
            table if table.title else replace(table, title=outcome.step.title) for table in section.tables))
            for section in one.sections)]
    return kept_apart(found, f"{outcome.step.name}-")


def _remarks(one: CommandResult) -> list[Section]:
    title = one.name or ("Data and systems" if one.remarks else "")
    return [Section(title, title, " ".join(f"{remark.rstrip('.')}." for remark in one.remarks))] if title else []


def _is_shown(section: Section) -> bool:
    return bool(section.title or section.figures or any(table.rows for table in section.tables))


def _script(outcomes: Sequence[Outcome]) -> str:
    lines = ["#!/bin/sh", "# The commands of this reproduction, to be run in this folder.", ""]
    for outcome in outcomes:
        step, result = outcome.step, outcome.result
        lines.append(f"# {step.name}: {step.paper}, {step.shows}")
        commands = [one.arguments for one in result.results] or [step.arguments]
        off = not outcome.ran and outcome.state != "failed"
        if result.failure:
            lines.append(f"# {' '.join(result.failure.split())}")
        lines += [*(f"{'# ' if off else ''}{command_line(one)}" for one in commands), ""]
    return "\n".join(lines)


def facts_of(subject: Subject, queries: int, facts: Sequence[str], outcomes: Sequence[Outcome]) -> str:
    """One paragraph under the title."""
    without = [one for one in outcomes if not one.ran]
    quick = ("A trial with fewer queries and values (--quick): its numbers are not results. " if subject.quick else "")
    return (f"{quick}{counted(queries, 'query', 'queries')}; {'; '.join(facts)}. "
            f"{len(outcomes) - len(without)} of {counted(len(outcomes), 'step')} were run"
            f"{'.' if not without else ': those without ' + 'a result say why in their place.'}")


def ahead(steps: Sequence[Step], queries: int) -> tuple[float, int]:
    """Processor minutes, and requests of a connected language model at most, of ``steps``."""
    return sum(step.fixed + step.rate * queries for step in steps) / 60, sum(step.asks for step in steps) * queries
