"""Constructions, their sessions and their queries with targets as JSON for the benchmarks screen."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from cir_core.construct.browse.folders import ConstructionFolder
from cir_core.construct.browse.query import SessionPage, TargetPage
from cir_core.construct.browse.sessions import BrowsedSession, BrowsedSessions
from cir_core.construct.browse.targets import BrowsedQuery, BrowsedTargets, scored
from cir_core.construct.filtering.stages import Dropped
from cir_core.construct.judging.scores import DIMENSIONS, JudgedSession
from cir_core.construct.sessions.settings import ConstructionSettings
from cir_core.construct.targets.provenance import TargetCounts
from cir_core.datasets.readers.circled_raw import text_in
from cir_core.errors import DatasetError
from web.benchmarks.gallery import BenchmarkGallery
from web.benchmarks.shelf import OpenBenchmark
from web.http.public_errors import public_message
from web.http.visitor import Visitor

Dict = dict[str, Any]
_MOST_PICTURES = 100        # candidates of a query, the highest confidences first
_BARS = 31                  # of the histogram; the last one counts all further ones


def listed(one: ConstructionFolder, run: Dict | None) -> Dict:
    """A row of the list. ``run``: how far a running or stopped construction is."""
    queries, sessions = _counts(one)
    return {
        "name": one.name, "kind": one.kind, "state": "running" if run and run["running"] else one.state, "run": run,
        "problem": public_message(DatasetError(one.problem)),
        "dataset": text_in(one.card, "dataset"), "gallery": one.gallery,
        "model": text_in(one.card, "language_model"), "queries": queries, "sessions": sessions,
        "subsets": [raw.subset for raw in one.raws],
        "changed": datetime.fromtimestamp(one.changed, UTC).isoformat() if one.changed else None,
    }


def about(opened: OpenBenchmark[BrowsedSessions], gallery: BenchmarkGallery, run: Dict | None) -> Dict:
    """What the head of a benchmark's page says."""
    return head(opened, [one.subset for one in opened.found.sessions], gallery, run) | {
        "sessions": len(opened.found.sessions), "k": _k(opened.folder.card), "judged": len(opened.scores),
        "dimensions": list(DIMENSIONS), "download_problem": _download_problem(opened),
    }


def head(opened: OpenBenchmark[Any], subsets: Sequence[str], gallery: BenchmarkGallery, run: Dict | None) -> Dict:
    """What the heads of both kinds of page say. ``subsets``: of each session or query."""
    return listed(opened.folder, run) | {
        "failures": opened.found.failures, "subsets": [name for name in dict.fromkeys(subsets) if name],
        "encoder": opened.folder.encoder("spec"), "notes": list(opened.found.notes),
        "gallery_problem": gallery.problem, "can_open": gallery.gallery is not None,
    }


def _download_problem(opened: OpenBenchmark[BrowsedSessions]) -> str:
    """Why the filtered files cannot be made here; "" if they can."""
    if not opened.folder.raws:
        return "The files are written when the construction is finished."
    if opened.found.compared < len(opened.found.sessions):
        return ("Some sessions have no similarities of their texts, so the files cannot be filtered here. Filter them "
                "with cirque construct filter --encoder.")
    return ""


def page(
    found: SessionPage, opened: OpenBenchmark[BrowsedSessions], gallery: BenchmarkGallery, visitor: Visitor
) -> Dict:
    return {
        "total": found.total, "all": found.sessions,
        "waterfall": [{"stage": one.name, "removed": one.removed, "left": one.left} for one in found.waterfall],
        "judged": found.judged, "means": dict(found.means),
        "sessions": [_session(one, verdict, opened, gallery, visitor) for one, verdict in found.shown],
    }


def _session(
    one: BrowsedSession, verdict: Dropped | None, opened: OpenBenchmark[BrowsedSessions], gallery: BenchmarkGallery,
    visitor: Visitor,
) -> Dict:
    result = one.result

    def picture(image_id: str | int) -> Dict:
        return gallery.picture(opened.folder.name, one.gallery_id(image_id), visitor)

    named = result.ground_truth_ids or ([result.target_image_id] if result.target_image_id else [])
    targets = dict.fromkeys(str(target) for target in named if target)
    turns = [{
        "image": picture(turn.selected_image if turn.turn and turn.selected_image else result.reference_image_id),
        "text": (turn.relative_caption or "") if turn.turn else result.original_query,
        "rank": None if rank >= sys.maxsize else rank,
        "similarity": turn.text_similarity,
        "similar": None if turn.similar_turn is None else turn.similar_turn + 1,
    } for turn, rank in zip(result.turns, one.ranks, strict=True)]
    return {
        "key": one.key, "number": one.number, "id": str(result.query_id), "subset": one.subset,
        "success": result.success, "turns": turns, "targets": [picture(target) for target in targets],
        "setback": one.setback if len(one.ranks) > 1 and one.setback < sys.maxsize // 2 else None,
        "similarity": one.similarity,
        "dropped": None if verdict is None else {"stage": verdict.stage, "number": _finite(verdict.number),
                                                 "why": verdict.why.replace(str(sys.maxsize), "behind all images")},
        "scores": _scores(opened.scores.get(one.number)),
    }


def _k(card: Mapping[str, Any]) -> int:
    """Images that were shown: a target among them was found."""
    settings = card.get("settings")
    found = settings.get("k") if isinstance(settings, dict) else None
    return found if type(found) is int and found > 0 else ConstructionSettings().k


def _finite(number: float | None) -> float | None:
    return None if number is None or abs(number) > sys.maxsize // 2 else number


def _scores(judged: JudgedSession | None) -> Dict | None:
    return None if judged is None else {"of": dict(judged.scores), "reason": judged.reason}


def _counts(one: ConstructionFolder) -> tuple[int | None, int | None]:
    """Queries and sessions, of the heads of the raw files, or of the last run."""
    if one.kind == "targets":
        return one.run.total if one.run is not None and one.provenance else None, None
    heads: list[Mapping[str, Any]] = [found for raw in one.raws
                                      if isinstance(found := raw.head.get("data_completeness"), dict)]
    if not heads or len(heads) < len(one.raws):
        return None, None
    queries, sessions = ([count for head in heads if isinstance(count := head.get(key), int)]
                         for key in ("queries", "sessions"))
    return (sum(queries) if len(queries) == len(heads) else None,
            sum(sessions) if len(sessions) == len(heads) else None)


def about_targets(opened: OpenBenchmark[BrowsedTargets], gallery: BenchmarkGallery, run: Dict | None) -> Dict:
    """What the head of the page says."""
    return head(opened, [one.subset for one in opened.found.queries], gallery, run) | {
        "queries": len(opened.found.queries),
        "download_problem": "" if opened.folder.provenance else "The files are written when all queries are done.",
    }


def target_page(
    found: TargetPage, opened: OpenBenchmark[BrowsedTargets], gallery: BenchmarkGallery, visitor: Visitor
) -> Dict:
    """Raises ``DatasetError`` if the files have changed in the meantime."""
    return {
        "total": found.total, "all": found.summary.queries, "summary": _summary(found.summary),
        "histogram": _histogram(found.summary, found.most),
        "queries": [_query(one, opened.folder.name, gallery, visitor) for one in found.shown],
    }


def _summary(one: TargetCounts) -> Dict:
    return {"kept": one.kept, "targets": one.targets, "mean": one.mean, "rewritable": one.rewritable,
            "without_original": one.without_original}


def _histogram(one: TargetCounts, most: int) -> list[Dict]:
    """A bar for each number of targets that some threshold can give."""
    last = min(most, _BARS - 1)
    bars = [{"targets": number, "and_more": number == last < most, "queries": one.by_targets.get(number, 0)}
            for number in range(last + 1)]
    bars[-1]["queries"] = sum(count for number, count in one.by_targets.items() if number >= last)
    return bars


def _query(one: BrowsedQuery, benchmark: str, gallery: BenchmarkGallery, visitor: Visitor) -> Dict:
    record = one.read()
    found = scored(record)

    def picture(image_id: str) -> Dict:
        return gallery.picture(benchmark, image_id, visitor)

    candidates = [{
        "image": picture(candidate.image), "confidence": confidence,
        "original": candidate.image == record.original_target, "reference": candidate.image == record.reference,
        "found": [{"group": at.group, "rank": at.rank, "confidence": at.confidence} for at in candidate.found],
    } for candidate, confidence in found[:_MOST_PICTURES]]
    return {
        "key": one.key, "number": one.number, "id": record.query_id, "subset": one.subset,
        "reference": picture(record.reference), "text": record.text, "sentences": list(record.sentences),
        "original": picture(record.original_target), "original_confidence": one.original, "candidates": candidates,
        "more": max(0, len(found) - _MOST_PICTURES), "unscored": len(record.candidates) - len(found),
        "confidences": list(one.confidences),
    }
