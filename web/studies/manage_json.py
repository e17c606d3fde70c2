"""Study JSON for managers and analysts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from annotation.kinds.preference.survey.overview import settings_shown
from annotation.kinds.table import KINDS
from annotation.records import Study
from annotation.studies.overview import SeatProgress

Json = dict[str, Any]
_LONGEST = 300
_SOURCE = {"form": "Made from", "file": "File", "files": "Files", "dataset": "Data set", "gallery": "Gallery",
           "retrievers": "Retrievers", "methods": "Methods", "runs": "Runs"}


def study(found: Study, counts: Mapping[str, int]) -> Json:
    """A study as JSON, with the settings of its survey, if it is one."""
    kind = KINDS[found.kind]
    return {
        "id": found.study_id, "name": found.name, "kind": found.kind, "words": words(found.kind),
        "protocol": found.protocol, "accepting": found.accepting, "created_at": found.created_at.isoformat(),
        "created_by": found.created_by, "seats": found.plan.seats, "plan": asdict(found.plan), "counts": dict(counts),
        "source": kind.source(found) if kind.source else _source(found),
        **({"survey": settings_shown(found)} if kind.has_survey else {}),
    }


def words(name: str) -> Json:
    """What screens have to know of a kind of study: how it calls things, and what it has."""
    kind = KINDS[name]
    groups = kind.groups
    return {
        "title": kind.title, "one": kind.one, "many": kind.many, "asks": kind.asks, "undefined": kind.undefined,
        "groups": [groups.dataset.capitalize(), groups.category.capitalize()], "options": sorted(kind.report_options),
        "adjudicated": kind.has_adjudication, "survey": kind.has_survey, "plans": kind.plan is not None,
        "scored": kind.scored, "score_type": kind.score_type,
    }


def _source(found: Study) -> list[list[str]]:
    return [[words, _short(found.source[name])] for name, words in _SOURCE.items() if found.source.get(name)]


def people(rows: Sequence[SeatProgress]) -> list[Json]:
    return [{
        "seat": row.seat, "name": row.annotator, "done": row.done, "unsure": row.unsure, "open": row.open,
        "total": row.total, "median_seconds": None if row.median_seconds is None else round(row.median_seconds, 1),
        "seen_at": row.seen_at.isoformat() if row.seen_at else None, "away": row.away,
        "finished_at": row.finished_at.isoformat() if row.finished_at else None, "code": row.code,
    } for row in rows]


def _short(value: object) -> str:
    if isinstance(value, list | tuple):
        whole = any(isinstance(each, dict | list) for each in value)
        return f"{len(value):,}" if whole else ", ".join(map(str, value))
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else text[:_LONGEST - 1] + "…"
