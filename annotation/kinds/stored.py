"""Items of a new study from what an installation has already: audits, constructed benchmarks, searched sessions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.kinds.intake import Intake, TableItems
from annotation.records import StudyKind
from annotation.sources.audit import audit_name, read_audit, usual_gallery
from annotation.sources.pictures import Pictures, relative_paths
from annotation.sources.queries import FindPicture, QuerySource
from annotation.sources.queries import sample as sample_queries
from annotation.sources.sessions import read_sessions
from annotation.sources.tables.pictures import PictureFiles
from annotation.sources.targets import read_target_queries, sample_targets
from cir_core.construct.browse.folders import list_constructions
from cir_core.construct.describe.sets import read_sets
from cir_core.construct.judging.sample import Source, draw_sample, sources_as_json
from cir_core.errors import DatasetError, StudyError
from cir_core.gallery.gallery import Gallery, list_galleries, open_gallery
from cir_core.images.uploads import UploadFolder
from cir_core.support.texts import counted, quoted
from cir_core.types.records import SearchSession

AUDIT, SEARCHES, CONSTRUCTION = "audit", "searches", "construction"


@dataclass(frozen=True)
class StoredSource:
    """``key``: its form and name, such as "audit/cirr-val". ``gallery``: the one with its images, "" if unknown."""

    key: str
    kind: StudyKind
    title: str
    gallery: str


@dataclass(frozen=True)
class StoredSources:
    """``searched``: whether there are sessions of a gallery; ``sessions``: these, oldest first."""

    home: Path
    uploads: UploadFolder
    searched: Callable[[str], bool]
    sessions: Callable[[str], Iterable[SearchSession]]

    def all(self) -> list[StoredSource]:
        """Those that can be read; audits by name, then constructions, the latest first, then searches."""
        galleries = [one.name for one in list_galleries(self.home) if one.status == "complete"]
        found = []
        for folder in sorted(path for path in (self.home / "audits").glob("*") if path.is_dir()):
            try:
                usual = usual_gallery(audit_name(folder))
            except DatasetError:
                continue   # joined audits, or none of ours
            found.append(StoredSource(f"{AUDIT}/{folder.name}", "validity", f"Audit {folder.name}",
                                      usual if usual in galleries else ""))
        for one in list_constructions(self.home / "benchmarks"):
            if one.state != "finished":
                continue
            what = "Constructed sessions" if one.kind == "sessions" else "Constructed candidates"
            found.append(StoredSource(f"{CONSTRUCTION}/{one.name}", one.kind, f"{what}: {one.name}",
                                      one.gallery if one.gallery in galleries else ""))
        return found + [StoredSource(f"{SEARCHES}/{name}", "validity", f"Searches of {name}", name)
                        for name in galleries if self.searched(name)]

    def items(self, key: str, kind: StudyKind, intake: Intake, gallery: str, size: int | None, seed: int) -> TableItems:
        """Items of the source ``key``, or ``size`` of them, with images of ``gallery``. Raises ``StudyError`` for a
        source that is not there or of another kind, and what its reader raises."""
        source = next((one for one in self.all() if one.key == key), None)
        if source is None:
            raise StudyError(f"There is no source {quoted(key)}. Reload the page and choose one.")
        if source.kind != kind:
            raise StudyError(f"{source.title} is a source of another kind of study. Choose that kind.")
        if not (gallery := gallery or source.gallery):
            raise StudyError("Which gallery has the images? Choose it.")
        of = open_gallery(gallery, home=self.home)
        find: FindPicture = Pictures(relative_paths, gallery=of)
        form, _, name = key.partition("/")
        more: Mapping[str, Any] = {}
        notes: Sequence[str] = ()
        items: Sequence[Any]
        if form == CONSTRUCTION and kind == "targets":
            targets = read_target_queries(self.home / "benchmarks" / name)
            items, there, notes = sample_targets(targets, size, seed), len(targets.queries), targets.notes
            more = {**targets.source, "threshold": targets.threshold}
        elif form == CONSTRUCTION:
            subsets, notes = read_sets([self.home / "benchmarks" / name])
            sources = [Source(name, tuple(subsets))]
            there = sum(len(one.sessions) for one in subsets)
            items = _first(draw_sample(sources, there, seed), size)
            more = {"form": "judged-sessions", "sources": sources_as_json(sources)}
        else:
            queries = self._queries(form, name, of)
            items = sample_queries(queries.queries, size, "hidden_category", seed)
            there, notes, more, find = len(queries.queries), queries.notes, queries.source, queries.find_picture
        counts = Counter(intake.stratum_of(item) for item in items)
        said = f"{len(items):,} of {counted(there, 'item')} of {quoted(source.title)}."
        return TableItems(intake, items, dict(sorted(counts.items())),
                          {**more, "gallery": gallery, **({} if size is None else {"sample": size})},
                          PictureFiles(gallery, find), (said, *notes))

    def _queries(self, form: str, name: str, gallery: Gallery) -> QuerySource:
        if form == AUDIT:
            return read_audit(self.home / "audits" / name, gallery=gallery)
        return read_sessions(self.sessions(name), gallery, self.uploads)


def _first(sessions: Sequence[Any], size: int | None) -> Sequence[Any]:
    """The first of each subset come first, so that these have equally many of each."""
    if size is not None and not 0 < size <= len(sessions):
        raise StudyError(f"Cannot sample {size:,} of {counted(len(sessions), 'session')}. Choose 1 to "
                         f"{len(sessions):,}.")
    return sessions[:size]
