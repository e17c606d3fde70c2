"""Queries with their targets as JSON for the benchmarks screen."""

from __future__ import annotations

from typing import Any

from cir_core.construct.browse.query import TargetPage
from cir_core.construct.browse.targets import BrowsedQuery, BrowsedTargets, scored
from cir_core.construct.targets.provenance import TargetCounts
from web.benchmarks.gallery import BenchmarkGallery
from web.benchmarks.session_json import head
from web.benchmarks.shelf import OpenBenchmark
from web.http.visitor import Visitor

Dict = dict[str, Any]
_MOST_PICTURES = 100        # candidates of a query, the highest confidences first
_BARS = 31                  # of the histogram; the last one counts all further ones


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
