"""Candidates that others retrieved: SoFT's three files of a data set, instead of a search."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cir_core.construct.targets.settings import GROUPS, Group
from cir_core.datasets.readers.soft import FoundCandidates, read_candidates
from cir_core.datasets.records import BenchmarkQuery
from cir_core.errors import DatasetError
from cir_core.support.texts import encodable, quoted

Key = tuple[str, str, tuple[str, ...]]


def captions_of(query: BenchmarkQuery) -> tuple[str, ...]:
    """As in the data set's file, as far as the model reads them: the text alone of a query that has no others, and of
    one whose other captions are left out. What UTF-8 cannot hold is replaced."""
    whole = () if query.caption_mode == "first" else query.captions
    return tuple(map(encodable, whole or (query.modification_text,)))


@dataclass(frozen=True)
class GivenCandidates:
    """``by_query``: reference, original target and captions to the groups' candidates."""

    by_query: Mapping[Key, Mapping[Group, FoundCandidates]]
    digest: str

    def of(self, query: BenchmarkQuery) -> Mapping[Group, FoundCandidates]:
        """Raises ``DatasetError`` if the files lack the query."""
        kept = captions_of(query), tuple(map(encodable, query.captions))     # files may have captions that are not read
        found = next((self.by_query[key] for captions in kept
                      if (key := (query.reference_id, query.target_ids[0], captions)) in self.by_query), None)
        if found is None:
            raise DatasetError(f"The candidates' files have no record of reference {quoted(query.reference_id)} and "
                               f"target {quoted(query.target_ids[0])} with these captions. Give the files of this data "
                               "set.")
        return found


def read_given(folder: Path, label: str) -> GivenCandidates:
    """``mt_candidates_LABEL_by_GROUP_20.json`` of each group in ``folder`` or its ``multi_target_candidate``. A group's
    file may be missing, not all three. Raises ``DatasetError``."""
    by_query: dict[Key, dict[Group, FoundCandidates]] = {}
    digest = hashlib.sha256()
    for group in GROUPS:
        path = _file(folder, label, group)
        if path is None:
            continue
        digest.update(f"{group}\n".encode() + path.read_bytes())
        for record in read_candidates(path):
            key = (record.reference_id, record.target_id, tuple(map(encodable, record.captions)))
            by_query.setdefault(key, {}).setdefault(group, record)
    if not by_query:
        raise DatasetError(f"{folder} holds no candidates of {quoted(label)}. Looked for "
                           f"mt_candidates_{label}_by_caption_query_20.json and its like; give the folder that has "
                           "them.")
    return GivenCandidates(by_query, digest.hexdigest()[:16])


def _file(folder: Path, label: str, group: Group) -> Path | None:
    found: Sequence[Path] = [path for place in (folder, folder / "multi_target_candidate")
                             for path in sorted(place.glob("*.json"))
                             if path.stem.startswith(f"mt_candidates_{label}_by_{group}_")]
    if len(found) > 1:
        raise DatasetError(f"{folder} holds several files of the group {group} of {quoted(label)}: "
                           f"{', '.join(path.name for path in found)}. Keep one.")
    return found[0] if found else None
