"""Create a study: items and their assignments, image snapshots, all of it stored atomically."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from annotation.records import Item, PlannedAssignment, Study, StudyImage
from annotation.sources.queries import LISTED, spread
from annotation.studies.assignment import plan_places
from annotation.studies.creation import Created, Progress, cleared
from annotation.studies.guidelines import with_appendix
from annotation.studies.image_snapshots import Picture, freezing
from annotation.studies.protocols import OwnFile
from annotation.studies.store import StudyStore
from cir_core.errors import StudyError
from cir_core.support.texts import counted
from cir_core.types.records import new_id


class PictureSource(Protocol):
    """Images by id, of a gallery or of a table. ``to_read``: None for one that is gone."""

    @property
    def name(self) -> str: ...

    def __contains__(self, image_id: object, /) -> bool: ...

    def to_read(self, image_id: str, /) -> Picture | None: ...


Named = Callable[[str, str], str]
"""Token of an image, by its name among :attr:`Subject.pictures`, for one place in the study."""


@dataclass(frozen=True)
class Subject:
    """What an item is made of. The agreement set has equal numbers of each ``group``, seats of each ``stratum``."""

    key: str
    group: str
    stratum: str
    hidden: Mapping[str, Any] = field(repr=False)
    pictures: Mapping[str, tuple[PictureSource, str]] = field(default_factory=dict, repr=False)   # ids, by any name
    shown: Callable[[str, Named], Mapping[str, Any]] = lambda item_id, named: {}


def lay_out(
    study: Study, subjects: Sequence[Subject], one: str, many: str = ""
) -> tuple[list[Item], list[PlannedAssignment]]:
    """Items without their content, and their assignments. Raises ``StudyError`` for an impossible plan. ``one``,
    ``many``: what an item is called."""
    plan = study.plan
    if not 0 <= plan.agreement_items <= len(subjects):
        raise StudyError(f"{plan.agreement_items:,} of {counted(len(subjects), one, many)} cannot be the "
                         f"agreement set. Choose between 0 and {len(subjects):,}.")
    block = {subject.key for subject in spread(
        subjects, plan.agreement_items, stratum=lambda subject: subject.group, key=lambda subject: subject.key,
        seed=plan.seed, purpose="agreement block")}
    items = [Item(new_id(), study.study_id, number, of.key, of.stratum, of.key in block, {}, of.hidden)
             for number, of in enumerate(subjects)]
    return items, plan_places(items, plan)


def create_of_subjects(
    store: StudyStore, home: Path, study: Study, subjects: Sequence[Subject], *, one: str, many: str = "", to: str,
    notes_of: Callable[[Sequence[Subject]], Sequence[str]], max_megapixels: float, progress: Progress | None,
    questions: OwnFile | None,
) -> Created:
    """Store ``study`` with those of ``subjects`` that have all their images, each under a name of its own in each item,
    so that URLs do not tell which items share one.

    Args:
        one, many, to: what an item is called, and what people do with it, as in "No session is left to rate".
        notes_of: of the subjects that are kept, notes on the others.
        questions: the file that the study asks, if it has one of its own.

    Raises ``StudyError`` for an impossible plan, before any work is done, and if nothing is left; ``StorageError`` for
    a full disk. ``Created.counts``: items, pictures, dropped (of ``subjects``), places.
    """
    lay_out(study, subjects, one, many)
    wanted = {name: picture for subject in subjects for name, picture in subject.pictures.items()}
    images: list[StudyImage] = []

    def find(name: str) -> Picture | None:
        gallery, image_id = wanted[name]
        return gallery.to_read(image_id) if image_id in gallery else None

    with cleared(store, home), freezing(home, study.study_id) as freezer:
        def named(name: str, place: str) -> str:
            images.append(replace(freezer.under_another_name(name, place), image_id=wanted[name][1]))
            return images[-1].token

        # Whatever the order of the source.
        refused = freezer.freeze(sorted(wanted), find, max_megapixels=max_megapixels, progress=progress).refused
        kept = [subject for subject in subjects if refused.keys().isdisjoint(subject.pictures)]
        notes = notes_of(kept)
        if not kept:
            raise StudyError(" ".join((f"No {one} is left to {to}.", *notes,
                                       "Check the images (--images, --gallery).")))
        items, places = lay_out(study, kept, one, many)
        items = [replace(item, shown=subject.shown(item.item_id, named))
                 for item, subject in zip(items, kept, strict=True)]
        freezer.keep_only(())
        freezer.finish()
        study = with_appendix(home, study, questions, max_megapixels=max_megapixels)
        store.create(study, items, images, places)
    return Created(study, {
        "items": len(items), "pictures": len({name for subject in kept for name in subject.pictures}),
        "dropped": len(subjects) - len(kept), "places": len(places)}, tuple(notes))


def without_images(total: int, left: int, what: str, lines: Sequence[str]) -> StudyError:
    """The error that says why ``total`` things less ``left`` cannot be used, which is ``what``, with the first of
    ``lines``, one for each image."""
    more = f"\n  and {len(lines) - LISTED:,} more" if len(lines) > LISTED else ""
    remedy = ("Check the images (--images, --gallery), or skip queries without them (--skip-missing)" if left else
              "Check the images (--images, --gallery)")
    return StudyError(f"{total - left:,} of {total:,} {what}; nothing was created. {remedy}.\n"
                      + "\n".join(lines[:LISTED]) + more)
