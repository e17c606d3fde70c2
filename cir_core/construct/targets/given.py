"""Candidates that others retrieved, and their confidences: SoFT's files of a data set, instead of a search."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cir_core.construct.targets.settings import GROUPS, Group
from cir_core.datasets.readers.soft import FoundCandidates, read_candidates
from cir_core.datasets.readers.soft_scores import GroupScores, read_scores
from cir_core.datasets.records import BenchmarkQuery
from cir_core.errors import DatasetError
from cir_core.support.texts import encodable, quoted

Key = tuple[str, str, tuple[str, ...]]
_ENDING = ".png"    # of names in files of confidences, where the reader takes it off


def captions_of(query: BenchmarkQuery) -> tuple[str, ...]:
    """As in the data set's file, as far as the model reads them: the text alone of a query that has no others, and of
    one whose other captions are left out. What UTF-8 cannot hold is replaced."""
    whole = () if query.caption_mode == "first" else query.captions
    return tuple(map(encodable, whole or (query.modification_text,)))


@dataclass(frozen=True)
class GivenCandidates:
    """``by_query``: reference, original target and captions to the groups' candidates; ``scores``: the same to the
    confidences that were given with them, by image id without ".png"."""

    by_query: Mapping[Key, Mapping[Group, FoundCandidates]]
    digest: str
    scores: Mapping[Key, Mapping[Group, Mapping[str, float]]] = field(default_factory=dict)

    def known(self, query: BenchmarkQuery, group: Group) -> Mapping[str, float]:
        """Given confidences of the group's candidates."""
        records = self.of(query)
        scores = self.scores.get(self._key(query) or ("", "", ()), {}).get(group, {})
        return {name: scores[name.removesuffix(_ENDING)] for name in (records[group].image_ids if group in records
                else ()) if name.removesuffix(_ENDING) in scores}

    def of(self, query: BenchmarkQuery) -> Mapping[Group, FoundCandidates]:
        """Raises ``DatasetError`` if the files lack the query."""
        key = self._key(query)
        if key is None:
            raise DatasetError(f"The candidates' files have no record of reference {quoted(query.reference_id)} and "
                               f"target {quoted(query.target_ids[0])} with these captions. Give the files of this data "
                               "set.")
        return self.by_query[key]

    def _key(self, query: BenchmarkQuery) -> Key | None:
        kept = captions_of(query), tuple(map(encodable, query.captions))     # files may have captions that are not read
        keys = ((query.reference_id, query.target_ids[0], captions) for captions in kept)
        return next((key for key in keys if key in self.by_query), None)


def to_ask(
    image_ids: Sequence[str], there: Container[str], query: BenchmarkQuery, known: Container[str], scored: int
) -> tuple[list[str], list[str]]:
    """Of a group's candidates those that count, being ``there`` and not left out of the ranking; and those of the first
    ``scored`` that have no ``known`` confidence."""
    counting = [name for name in image_ids if name in there and name not in query.excluded_ids]
    return counting, [name for name in counting[:scored] if name not in known]


def read_given(folder: Path, label: str, scores: Path | None = None) -> GivenCandidates:
    """``mt_candidates_LABEL_by_GROUP_20.json`` of each group in ``folder`` or its ``multi_target_candidate``. A group's
    file may be missing, not all three. ``scores``: the same for ``LABEL_by_GROUP_20_scores.json`` in it or its
    ``candidate_score``, whose ``item_index`` is the place in the group's candidates. Raises ``DatasetError``."""
    by_query: dict[Key, dict[Group, FoundCandidates]] = {}
    known: dict[Key, dict[Group, Mapping[str, float]]] = {}
    digest = hashlib.sha256()
    for group in GROUPS:
        path = _file(folder, "multi_target_candidate", f"mt_candidates_{label}_by_{group}_", group, label)
        if path is None:
            continue
        digest.update(f"{group}\n".encode() + path.read_bytes())
        keys = []
        for record in read_candidates(path):
            keys.append((record.reference_id, record.target_id, tuple(map(encodable, record.captions))))
            by_query.setdefault(keys[-1], {}).setdefault(group, record)
        scored = _file(scores, "candidate_score", f"{label}_by_{group}_", group, label) if scores else None
        if scored is not None:
            digest.update(f"scores of {group}\n".encode() + scored.read_bytes())
            for one in read_scores(scored):
                known.setdefault(_scored_key(scored, one, keys), {}).setdefault(group, one.scores)
    if not by_query:
        raise DatasetError(f"{folder} contains no candidates of {quoted(label)}. Looked for "
                           f"mt_candidates_{label}_by_caption_query_20.json and its like; give the folder that has "
                           "them.")
    if scores is not None and not known:
        raise DatasetError(f"{scores} contains no confidences of {quoted(label)}. Looked for "
                           f"{label}_by_caption_query_20_scores.json and its like; give the folder that has them.")
    return GivenCandidates(by_query, digest.hexdigest()[:16], known)


def _scored_key(path: Path, one: GroupScores, keys: Sequence[Key]) -> Key:
    """Raises ``DatasetError`` for confidences of another query than the candidates at their place have."""
    key = keys[one.index] if 0 <= one.index < len(keys) else ("", "", ())
    if (one.reference_id, one.target_id) != tuple(name.removesuffix(_ENDING) for name in key[:2]):
        raise DatasetError(f"{path}: item_index {one.index} is not the place of reference {quoted(one.reference_id)} "
                           f"and target {quoted(one.target_id)} in the candidates. Give the candidates that were "
                           "scored.")
    return key


def _file(folder: Path, inside: str, begins: str, group: Group, label: str) -> Path | None:
    found: Sequence[Path] = [path for place in (folder, folder / inside) for path in sorted(place.glob("*.json"))
                             if path.stem.startswith(begins)]
    if len(found) > 1:
        raise DatasetError(f"{folder} contains several files of the group {group} of {quoted(label)}: "
                           f"{', '.join(path.name for path in found)}. Keep one.")
    return found[0] if found else None
