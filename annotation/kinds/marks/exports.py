"""Export files of a target study: tables, results, and the corrected targets in SoFT's form."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from annotation.kinds.marks.marks import MARKS
from annotation.kinds.marks.results import MarkedImage, marked_images, results_json
from annotation.records import Item, Judgement, Study, by_item
from annotation.studies.store import StudyStore
from annotation.tables.columns import DATASET, QUERY_ID, REFERENCE_ID, STUDY, TEXT, Column, Table, in_utc
from annotation.tables.files import json_files, table_files
from cir_core.construct.targets.files import ENDING
from cir_core.datasets.readers.soft import MultiTarget, multi_target_bytes
from cir_core.errors import StudyError
from cir_core.support.texts import counted

FORMS = ("csv", "parquet", "results", "soft")
TABLES = ("judgements", "images")
"""Tables of the forms "csv" and "parquet"."""
MAJORITY = 0.5
"""Threshold of the corrected files: their confidences are shares of people."""

_IMAGE = (
    STUDY,
    Column("item", "text", "the query's key, unique in the study: data set and id"),
    DATASET, QUERY_ID, TEXT, REFERENCE_ID,
    Column("in_block", "flag", "whether everybody marks the query, for agreement"),
    Column("place", "integer", "place of the image in the grid, from 1"),
    Column("image_id", "text", "image id of the candidate"),
    Column("confidence", "number", "the language model's, which people do not see; empty where it was not asked"),
    Column("original", "flag", "whether it is the data set's own target"),
    Column("groups", "texts", "groups of candidates that found it"),
)
_JUDGEMENT = (
    Column("annotator", "text", "who marked"),
    Column("revision", "integer", "how many answers this person gave to the query; the last one is here"),
    Column("protocol", "text", "marks and version"),
    Column("mark", "text", "yes, no or unsure"),
    Column("note", "text", "what the person wrote about the query"),
    Column("seconds", "number", "how long the query was looked at"),
    Column("answered_at", "time", "when this answer was saved"),
)
_VERDICT = (
    *(Column(mark, "integer", f"people who marked it {mark}") for mark in MARKS),
    Column("target", "flag", "whether more people say yes than no; empty for a tie or without a yes or no"),
)


def target_files(
    store: StudyStore, study: Study, form: str, *, tables: Collection[str] = TABLES
) -> tuple[Mapping[str, bytes], tuple[str, ...]]:
    """Contents by file name in one of :data:`FORMS`, and notes on omissions. ``tables``: of :data:`TABLES`. Raises
    ``StudyError`` for corrected targets of a study without any."""
    items, judgements = store.items(study.study_id), store.judgements(study.study_id)
    if form == "results":
        return json_files("results", results_json(study, store.counts(study.study_id), items, judgements)), ()
    if form == "soft":
        return corrected_files(study, items, judgements)
    return table_files(form, {"judgements": lambda: judgement_table(study, items, judgements),
                              "images": lambda: image_table(study, items, judgements)}, tables), ()


def corrected_files(
    study: Study, items: Sequence[Item], judgements: Sequence[Judgement]
) -> tuple[Mapping[str, bytes], tuple[str, ...]]:
    """Of each data set ``LABEL_multi_target_selection.json`` with the targets by majority, and notes.

    A target's confidence is the share of yes among the people who said yes or no; ties and images that all were unsure
    of are no targets. Queries that nobody marked, or of which no image is a target, are left out, as in SoFT's files.
    Raises ``StudyError`` if no query is left.
    """
    given, scores = by_item(judgements), dict[str, dict[str, float]]()
    undecided = 0
    for one in marked_images([item for item in items if item.item_id in given], judgements):
        if one.verdict and one.share is not None:
            scores.setdefault(one.item.item_id, {})[one.image] = one.share
        undecided += one.verdict is None
    records: dict[str, list[MultiTarget]] = {}
    for item in items:
        if found := scores.get(item.item_id):
            records.setdefault(item.hidden["dataset"], []).append(MultiTarget(
                item.hidden["reference"], item.hidden["original_target"], tuple(item.hidden["captions"]), MAJORITY,
                found))
    open_, none = len(items) - len(given), len(given) - len(scores)
    notes = [f"{counted(open_, 'query is', 'queries are')} left out, because nobody has marked "
             f"{'it' if open_ == 1 else 'them'} yet."] if open_ else []
    notes += [f"{counted(none, 'query is', 'queries are')} left out, because no image has a majority of yes."
              ] if none else []
    notes += [f"{counted(undecided, 'image is', 'images are')} no target, because as many people say yes as no."
              ] if undecided else []
    if not records:
        raise StudyError(" ".join((f"{study.name} has no corrected targets to write.", *notes)))
    return {f"{label}{ENDING}.json": multi_target_bytes(of) for label, of in sorted(records.items())}, tuple(notes)


def judgement_table(study: Study, items: Sequence[Item], judgements: Sequence[Judgement]) -> Table:
    """One row for each mark: the judgements in the order given, each with its images in the order shown."""
    images: dict[str, list[MarkedImage]] = {}
    for one in marked_images(items, ()):
        images.setdefault(one.item.item_id, []).append(one)
    return Table(study, (*_IMAGE, *_JUDGEMENT), tuple(
        (*_of_image(study, one, place), each.annotator, each.revision, each.protocol, each.answer["marks"][one.token],
         each.answer["note"], each.seconds or None, in_utc(each.created_at))
        for each in judgements for place, one in enumerate(images[each.item_id], 1)))


def image_table(study: Study, items: Sequence[Item], judgements: Sequence[Judgement]) -> Table:
    """One row for each candidate, with what people say of it."""
    places: dict[str, int] = {}
    rows = []
    for one in marked_images(items, judgements):
        place = places[one.item.item_id] = places.get(one.item.item_id, 0) + 1
        rows.append((*_of_image(study, one, place), *(one.marks[mark] for mark in MARKS), one.verdict))
    return Table(study, (*_IMAGE, *_VERDICT), tuple(rows))


def _of_image(study: Study, one: MarkedImage, place: int) -> tuple[Any, ...]:
    hidden = one.item.hidden
    return (study.name, one.item.key, hidden["dataset"], hidden["query_id"], one.item.shown["text"],
            hidden["reference"], one.item.in_block, place, one.image, one.confidence, one.original,
            [each["group"] for each in one.found])
