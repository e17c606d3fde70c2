"""Study JSON for managers and analysts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from annotation.kinds.marks.results import TargetRow, threshold_of
from annotation.kinds.preference.survey.texts import SETTINGS, load_survey, set_names
from annotation.kinds.ratings.questions import questions_of
from annotation.kinds.ratings.results import RatingRow
from annotation.kinds.validity.labels import Case
from annotation.kinds.validity.rubric import INVALID_REASONS_DIFFER, INVALID_UNSPECIFIED, Flag, Rubric
from annotation.kinds.validity.subset import Subset, SubsetRow
from annotation.records import Study
from annotation.studies.overview import SeatProgress

Json = dict[str, Any]
_LONGEST = 300
_SURVEY = ("set_names", "per_person", "form_size", "shared_every", "shared_by", "check", "check_every", "reason_every",
           "allow_tie", "consent")
_SOURCE = {"form": "Made from", "file": "File", "files": "Files", "dataset": "Data set", "gallery": "Gallery",
           "retrievers": "Retrievers", "methods": "Methods", "runs": "Runs"}


def study(found: Study, counts: Mapping[str, int]) -> Json:
    """A study as JSON. ``survey``, of preference studies: its settings; of the consent only whether there is one."""
    survey = {**SETTINGS, **found.settings, "consent": bool(found.settings.get("consent"))}
    if found.kind == "preference":
        survey["set_names"] = list(set_names(load_survey(found.protocol), found.settings))
    return {
        "id": found.study_id, "name": found.name, "kind": found.kind, "protocol": found.protocol,
        "accepting": found.accepting, "created_at": found.created_at.isoformat(), "created_by": found.created_by,
        "seats": found.plan.seats, "plan": asdict(found.plan), "counts": dict(counts),
        "source": _source(found),
        **({"survey": {name: survey.get(name) for name in _SURVEY}} if found.kind == "preference" else {}),
    }


def _source(found: Study) -> list[list[str]]:
    if found.kind == "sessions":
        names, galleries = found.source.get("sources", ()), found.source.get("galleries", {}).values()
        sample = found.source.get("sample")
        rows = [["Sources", ", ".join(names)], ["Sample", f"{sample:,} sessions of each subset" if sample else ""],
                ["Galleries", ", ".join(dict.fromkeys(text.split()[0] for text in galleries))]]
        return [row for row in rows if row[1]]
    if found.kind == "targets":
        return [["Files", ", ".join(found.source.get("files", ()))], ["Gallery", found.source["gallery"]],
                ["Threshold", f"{found.source['threshold']:g}"]]
    return [[words, _short(found.source[name])] for name, words in _SOURCE.items() if found.source.get(name)]


def people(rows: Sequence[SeatProgress]) -> list[Json]:
    return [{
        "seat": row.seat, "name": row.annotator, "done": row.done, "unsure": row.unsure, "open": row.open,
        "total": row.total, "median_seconds": None if row.median_seconds is None else round(row.median_seconds, 1),
        "seen_at": row.seen_at.isoformat() if row.seen_at else None, "away": row.away,
        "finished_at": row.finished_at.isoformat() if row.finished_at else None, "code": row.code,
    } for row in rows]


def results(subset: Subset, rubric: Rubric, rule: str, cases: Sequence[Case]) -> Json:
    """CIRCUS's Table 2 for this study, by category of its rubric."""
    names = {rubric.valid.code: rubric.valid.name, **{flag.code: flag.name for flag in rubric.flags},
             INVALID_REASONS_DIFFER: "Not valid, for different reasons", INVALID_UNSPECIFIED: "Not valid, no flag"}
    rare = (INVALID_REASONS_DIFFER, INVALID_UNSPECIFIED)
    order = [rubric.valid.code, *rubric.severity, *rare]
    total = subset.total
    return {
        "rule": rule,
        "rows": [_row(row) for row in subset.rows], "total": _row(total),
        "categories": [{"code": code, "name": names[code]} for code in order
                       if code not in rare or total.primary[code]],
        "reasons": [reason for flag in rubric.flags for reason in _reasons(flag, total)],
        "flags": [{"code": flag.code, "name": flag.name, "count": total.flags[flag.code]} for flag in rubric.flags],
        "queue": queue(cases),
    }


def ratings(found: Study, rows: Sequence[RatingRow]) -> Json:
    """Means of a session study by source and subset."""
    return {"questions": [{"key": one.key, "name": one.title, "text": one.text}
                          for one in questions_of(found.protocol)], "rows": [asdict(row) for row in rows]}


def targets(found: Study, rows: Sequence[TargetRow]) -> Json:
    """Counts of a target study by data set."""
    return {"threshold": threshold_of(found), "rows": [asdict(row) for row in rows]}


def queue(cases: Sequence[Case]) -> Json:
    waiting = sum(not case.decided for case in cases)
    return {"open": waiting, "decided": len(cases) - waiting}


def _reasons(flag: Flag, total: SubsetRow) -> list[Json]:
    of = [{"code": reason.code, "name": reason.name, "flag": flag.name, "count": total.reasons[reason.code]}
          for reason in flag.reasons]
    if count := total.reasons_differ.get(flag.code):
        of.append({"code": "", "name": "Reasons differ", "flag": flag.name, "count": count})
    return of


def _row(row: SubsetRow) -> Json:
    return {
        "dataset": row.dataset, "audited_required": row.audited_required, "validated_solved": row.validated_solved,
        "audited_unresolved": row.audited_unresolved, "validated_unsolved": row.validated_unsolved,
        "audited_other": row.audited_other, "validated_other": row.validated_other,
        "audited": row.audited, "validated": row.validated, "unlabelled": row.unlabelled,
        "undecided": row.undecided, "adjudicated": row.adjudicated, "primary": dict(row.primary),
    }


def _short(value: object) -> str:
    if isinstance(value, list | tuple):
        whole = any(isinstance(each, dict | list) for each in value)
        return f"{len(value):,}" if whole else ", ".join(map(str, value))
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else text[:_LONGEST - 1] + "…"
