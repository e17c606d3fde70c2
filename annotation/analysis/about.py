"""Provenance of a report: study, selection, options, versions and notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from math import isfinite
from platform import python_version
from typing import Any

from annotation.analysis.records import About, Options, Selection, StudyAnswers
from annotation.studies.creation import is_imported
from cir_core.support.texts import counted
from cir_core.version import __version__

_FEW_DRAWS = 100    # with fewer, the 2.5th and 97.5th percentiles are the outermost two or three
_LIBRARIES = ("numpy", "scipy", "statsmodels", "evalica", "pandas")


def about(
    answers: StudyAnswers, selected: StudyAnswers, selection: Selection, options: Options, notes: Iterable[str],
) -> About:
    """``answers``: all of the study; ``selected``: after ``selection``. The note of :func:`unfinished` comes before
    ``notes``."""
    study = answers.study
    latest = max((judgement.created_at for judgement in selected.judgements), default=None)
    return About(
        study.name, study.study_id, study.kind, study.protocol, study.accepting, planned(answers),
        len(answers.judgements), latest.isoformat() if latest else None, selection, options, versions(),
        tuple(dict.fromkeys([*unfinished(answers), *_few(options), *notes])), answers.groups)


def about_json(of: About) -> dict[str, Any]:
    """``of`` as plain JSON: lists for tuples, objects for records."""
    selection = {name: list(value) if isinstance(value, tuple) else value
                 for name, value in asdict(of.selection).items()}
    plain = {name: getattr(of, name) for name in (
        "study", "study_id", "kind", "protocol", "accepting", "planned", "answered", "latest")}
    return plain | {"selection": selection, "options": asdict(of.options), "versions": dict(of.versions),
                    "notes": list(of.notes)}


def finite(value: float | None) -> float | None:
    """None for nan, which JSON lacks."""
    return value if value is not None and isfinite(value) else None


def planned(answers: StudyAnswers) -> int:
    """Number of planned answers, without reassigned assignments; of an imported study the existing ones."""
    if is_imported(answers.study):
        return len(answers.judgements)
    return sum(one.state != "handed_on" for one in answers.assignments)


def unfinished(answers: StudyAnswers) -> tuple[str, ...]:
    """A note on missing answers, if there are any."""
    wanted, there = planned(answers), len(answers.judgements)
    if there >= wanted:
        return ()
    state = "The study is not finished" if answers.study.accepting else "The study was closed before its end"
    return (f"{state}: {there:,} of {wanted:,} planned answers are available.",)


def _few(options: Options) -> tuple[str, ...]:
    if not 0 < options.draws < _FEW_DRAWS:
        return ()
    return (f"Intervals and tests use {counted(options.draws, 'draw')}, too few for reliable bounds. Use 1,000.",)


@cache
def versions() -> Mapping[str, str]:
    """Versions of cirque, Python and the statistical libraries."""
    return {"cirque": __version__, "python": python_version(), **{name: version(name) for name in _LIBRARIES}}
