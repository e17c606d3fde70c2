"""Export files of a target study: tables, results, and the corrected targets in SoFT's format."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from annotation import tables
from annotation.kinds.marks.answers import MARKS
from annotation.kinds.marks.results import MarkedImage, marked_images, results_json
from annotation.records import Decision, Item, Judgement, Study, by_item
from annotation.studies.store import StudyStore
from annotation.tables import Column, Table, json_files, table_files
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
    Column("item", "text", "the query's key, unique in the study: data set and id", lambda row: row.item.key),
    tables.DATASET, tables.QUERY_ID, tables.TEXT,
    replace(tables.REFERENCE_ID, value=lambda row: row.item.hidden["reference"]),
    Column("in_block", "flag", "whether everybody marks the query, for agreement", lambda row: row.item.in_block),
    Column("place", "integer", "place of the image in the grid, from 1", lambda row: row.place),
    Column("image_id", "text", "image id of the candidate", lambda row: row.image.image),
    Column("confidence", "number", "the language model's confidence, which people do not see; empty if it was not "
                                   "asked",
           lambda row: row.image.confidence),
    Column("original", "flag", "whether it is the data set's own target", lambda row: row.image.original),
    Column("groups", "texts", "groups of candidates that found it",
           lambda row: [each["group"] for each in row.image.found]),
)
_JUDGEMENT = (
    *tables.answered_by("marked", "query", "marks"),
    Column("mark", "text", "yes, no or unsure", lambda row: row.judgement.answer["marks"][row.image.token]),
    Column("note", "text", "what the person wrote about the query", lambda row: row.judgement.answer["note"]),
    Column("seconds", "number", "how long the query was looked at", lambda row: row.judgement.seconds or None),
    tables.ANSWERED_AT,
)


def _people(mark: str) -> Column:
    return Column(mark, "integer", f"people who marked it {mark}", lambda row: row.image.marks[mark])


_VERDICT = (
    *map(_people, MARKS),
    Column("decided", "text", "the adjudicator's mark, which counts instead", lambda row: row.image.decided),
    Column("target", "flag", "whether more people say yes than no, or the adjudicator's yes; empty for a tie or "
           "without a yes or no",
           lambda row: row.image.verdict),
)


@dataclass(frozen=True)
class _ImageRow:
    image: MarkedImage
    place: int
    judgement: Judgement | None = None

    @property
    def item(self) -> Item:
        return self.image.item


def target_files(
    store: StudyStore, study: Study, form: str, *, tables: Collection[str] = TABLES
) -> tuple[Mapping[str, bytes], tuple[str, ...]]:
    """Contents by file name in one of :data:`FORMS`, and notes on omissions. ``tables``: of :data:`TABLES`. Raises
    ``StudyError`` for corrected targets of a study without any."""
    items, judgements = store.items(study.study_id), store.judgements(study.study_id)
    decisions = store.decisions(study.study_id)
    if form == "results":
        counts = store.counts(study.study_id)
        return json_files("results", results_json(study, counts, items, judgements, decisions)), ()
    if form == "soft":
        return corrected_files(study, items, judgements, decisions)
    return table_files(form, {"judgements": lambda: judgement_table(study, items, judgements),
                              "images": lambda: image_table(study, items, judgements, decisions)}, tables), ()


def corrected_files(
    study: Study, items: Sequence[Item], judgements: Sequence[Judgement], decisions: Sequence[Decision] = (),
) -> tuple[Mapping[str, bytes], tuple[str, ...]]:
    """Of each data set ``LABEL_multi_target_selection.json`` with the targets by decision, else majority, and notes.

    A target's confidence is the share of yes among the people who said yes or no; ties and images that all were unsure
    of are no targets. Queries that nobody marked, or of which no image is a target, are left out, as in SoFT's files.
    Raises ``StudyError`` if no query is left.
    """
    given, scores = by_item(judgements), dict[str, dict[str, float]]()
    undecided = 0
    for one in marked_images([item for item in items if item.item_id in given], judgements, decisions):
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
    images: dict[str, list[_ImageRow]] = {}
    for row in _rows(items, ()):
        images.setdefault(row.item.item_id, []).append(row)
    return Table.of(study, (*_IMAGE, *_JUDGEMENT),
                    (replace(row, judgement=each) for each in judgements for row in images[each.item_id]))


def image_table(
    study: Study, items: Sequence[Item], judgements: Sequence[Judgement], decisions: Sequence[Decision] = (),
) -> Table:
    """One row for each candidate, with what people say of it."""
    return Table.of(study, (*_IMAGE, *_VERDICT), _rows(items, judgements, decisions))


def _rows(
    items: Sequence[Item], judgements: Sequence[Judgement], decisions: Sequence[Decision] = (),
) -> Iterator[_ImageRow]:
    for _, images in groupby(marked_images(items, judgements, decisions), key=lambda image: image.item.item_id):
        for place, image in enumerate(images, 1):
            yield _ImageRow(image, place)
