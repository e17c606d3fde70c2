"""Queries and images of a new validity study, from command-line options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cir_core.errors import GalleryError, StudyError

if TYPE_CHECKING:
    from annotation.sources import QuerySource, StudyQuery
    from annotation.sources.queries import Stratify
    from cir_core.gallery.gallery import Gallery
    from cir_core.settings import Settings
    from storage.stores import Stores

_ALL = 1_000_000_000   # sessions


@dataclass(frozen=True)
class StudySourceArgs:
    """Options of ``cirque study create validity`` that select the queries."""

    audit: Path | None
    mbeir: Path | None
    circus: Path | None
    sessions: bool
    pool: Path | None
    images: Path | None
    gallery: str | None
    categories: Sequence[str]
    table: Path | None = None

    @property
    def source(self) -> str:
        """Raises ``StudyError`` unless exactly one source is given, with its options."""
        named = [name for name, value in (("--from-audit", self.audit), ("--from-mbeir", self.mbeir),
                                          ("--from-circus", self.circus), ("--from-sessions", self.sessions),
                                          ("--from-table", self.table)) if value]
        if len(named) != 1:
            what = " and ".join(named) + " cannot go together. Name one" if named else "Name a source of queries"
            raise StudyError(f"{what}: --from-audit DIR, --from-mbeir FILE, --from-circus FILE, --from-table FILE or "
                             "--from-sessions.")
        if self.pool and not self.mbeir:
            raise StudyError("--pool works only with --from-mbeir.")
        if self.images and self.sessions:
            raise StudyError("--images does not go with --from-sessions: images come from the gallery.")
        return named[0]

    def refuse_with_table(self, sample: int | None, panel_size: int | None) -> None:
        """Raises ``StudyError`` for options that choose among the queries of other sources."""
        for option, value in (("--category", self.categories), ("--sample", sample), ("--panel-size", panel_size)):
            if value:
                raise StudyError(f"{option} cannot be combined with --from-table: choose the rows in the table.")


def open_source(asked: StudySourceArgs, stores: Stores, settings: Settings) -> QuerySource:
    """The selected queries, before sampling."""
    from annotation.sources.audit import audit_name, read_audit, usual_gallery
    from annotation.sources.circus import read_circus
    from annotation.sources.mbeir import read_mbeir

    source = asked.source
    if asked.audit is not None:
        gallery = _gallery(asked, settings, usual_gallery(audit_name(asked.audit)))
        return read_audit(asked.audit, gallery=gallery, images=asked.images, categories=asked.categories)
    if asked.mbeir is not None:
        gallery = _gallery(asked, settings)
        return read_mbeir(asked.mbeir, pool=asked.pool, images=asked.images, gallery=gallery,
                          categories=asked.categories)
    if asked.circus is not None:
        gallery = _gallery(asked, settings)
        return read_circus(asked.circus, images=asked.images, gallery=gallery, categories=asked.categories)
    assert source == "--from-sessions"
    return _sessions(asked, stores, settings)


def drawn(
    found: QuerySource, asked: StudySourceArgs, sample: int | None, stratify: Stratify, seed: int
) -> tuple[list[StudyQuery], dict[str, Any]]:
    """The sample, and the source with its sampling parameters."""
    from annotation.sources.queries import sample as draw

    queries = draw(found.queries, sample, stratify, seed)
    how = {"selection": "all"} if sample is None else {"selection": "sample", "sample": sample, "stratify": stratify}
    return queries, {**found.source, **how, "categories": list(asked.categories)}


def _gallery(asked: StudySourceArgs, settings: Settings, usual: str = "") -> Gallery | None:
    """The named gallery, else the data set's usual one if it exists; None with ``--images``."""
    from cir_core.gallery.gallery import list_galleries, open_gallery

    if asked.gallery:
        return open_gallery(asked.gallery, home=settings.home)
    if asked.images:
        return None
    names = [info.name for info in list_galleries(settings.home) if info.status == "complete"]
    if usual and usual in names:
        return open_gallery(usual, home=settings.home)
    there = f"There are galleries: {', '.join(names)}." if names else "There is no gallery yet."
    raise GalleryError(f"Where are the images? Name their folder with --images, or their gallery with "
                       f"--gallery. {there}")


def _sessions(asked: StudySourceArgs, stores: Stores, settings: Settings) -> QuerySource:
    from annotation.sources.queries import QuerySource, of_categories
    from annotation.sources.sessions import read_sessions
    from cir_core.gallery.gallery import open_gallery
    from cir_core.images.uploads import UploadFolder

    summaries = stores.sessions.sessions(_ALL)
    names = list(dict.fromkeys(summary.gallery for summary in summaries))
    if not names:
        raise StudyError("No search session is stored yet. Search something first: cirque demo")
    if asked.gallery is None and len(names) > 1:
        raise StudyError(f"The stored sessions are over several galleries: {', '.join(sorted(names))}. Name one "
                         "of them with --gallery.")
    gallery = open_gallery(asked.gallery or names[0], home=settings.home)
    uploads = UploadFolder(settings.uploads, max_megapixels=settings.max_image_megapixels)
    oldest_first = (stores.sessions.session(summary.session_id, whole=True) for summary in reversed(summaries))
    found = read_sessions(oldest_first, gallery, uploads)
    kept = of_categories(found.queries, asked.categories, free_only=False)
    return QuerySource(kept, found.find_picture, found.source, found.notes)
