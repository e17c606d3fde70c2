"""Stage 1's results as files, under SoFT's own names and in its own forms.

    DIR/multi_target_candidate/mt_candidates_LABEL_by_GROUP_20.json   candidates of a group
    DIR/candidate_score/LABEL_by_GROUP_20_scores.json                 confidences of a group
    DIR/multi_target_selection/LABEL_multi_target_selection.json      targets
    DIR/provenance/LABEL.jsonl                                        where candidates came from (see ``provenance``)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from cir_core.construct.sessions.subsets import Subset
from cir_core.construct.targets.provenance import QueryCandidates, write_provenance
from cir_core.construct.targets.settings import GROUPS, Group
from cir_core.datasets.readers.soft import FoundCandidates, MultiTarget, write_candidates, write_multi_target
from cir_core.datasets.readers.soft_scores import GroupScores, write_scores

CANDIDATES, SCORES, SELECTION, PROVENANCE = (
    "multi_target_candidate", "candidate_score", "multi_target_selection", "provenance")
ENDING = "_multi_target_selection"
_UNSAFE = re.compile(r"[^\w.-]+")


def label_of(subset: Subset) -> str:
    """What SoFT's file names call a subset: "shirt" or "cirr"."""
    return _UNSAFE.sub("-", subset.pool or subset.name)


def selection_of(folder: Path, label: str) -> Path:
    """The file of targets."""
    return folder / SELECTION / f"{label}{ENDING}.json"


def multi_targets(records: Iterable[QueryCandidates], threshold: float) -> list[MultiTarget]:
    """Queries with at least one target; the others are left out, as in SoFT's files."""
    found = ((one, one.targets(threshold)) for one in records)
    return [MultiTarget(one.reference, one.original_target, one.captions, threshold, targets)
            for one, targets in found if targets]


def write_stage_one(
    folder: Path, label: str, records: Sequence[QueryCandidates], threshold: float, keep: int
) -> tuple[Path, ...]:
    """All files of one subset; the file of targets comes first."""
    selection = selection_of(folder, label)
    provenance = folder / PROVENANCE / f"{label}.jsonl"
    paths = [selection, provenance]
    for group in GROUPS:
        candidates = folder / CANDIDATES / f"mt_candidates_{label}_by_{group}_{keep}.json"
        scores = folder / SCORES / f"{label}_by_{group}_{keep}_scores.json"
        write_candidates(candidates, [_candidates(one, group) for one in records])
        write_scores(scores, [_scores(number, one, group) for number, one in enumerate(records)])
        paths += [candidates, scores]
    write_provenance(provenance, records)
    write_multi_target(selection, multi_targets(records, threshold))
    return tuple(paths)


def _candidates(one: QueryCandidates, group: Group) -> FoundCandidates:
    found = one.of_group(group)
    query = None if group == "tg_img" else one.queries.get(group, "")
    return FoundCandidates(one.reference, one.captions, one.original_target, query,
                           tuple(image for image, _ in found), tuple(place.similarity for _, place in found))


def _scores(number: int, one: QueryCandidates, group: Group) -> GroupScores:
    return GroupScores(number, one.reference, one.original_target, one.captions,
                       {image: place.confidence for image, place in one.of_group(group)
                        if place.confidence is not None})
