"""What people say of a query's candidates together, and counts by data set: an overview, without intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from annotation.kinds.marks.answers import marking_of
from annotation.records import Decision, Item, Judgement, Study, by_item, decided
from annotation.studies.overview import Results, study_json
from annotation.studies.protocols import own_text
from annotation.studies.store import StudyStore


@dataclass(frozen=True)
class MarkedImage:
    """A candidate of a query with its marks. ``confidence``: of the language model; None where it was not asked.
    ``found``: places where stage 1 found it, as in the study's hidden part."""

    item: Item
    token: str
    image: str
    confidence: float | None
    original: bool                 # the data set's own target
    found: tuple[Mapping[str, Any], ...]
    marks: Mapping[str, int]       # people by mark
    decided: str | None = None     # an adjudicator's mark, which counts instead

    @property
    def verdict(self) -> bool | None:
        """The adjudicator's, else whether more people say yes than no; None for a tie, or if nobody said either."""
        if self.decided is not None:
            return {"yes": True, "no": False}.get(self.decided)
        yes, no = self.marks["yes"], self.marks["no"]
        return None if yes == no else yes > no

    @property
    def share(self) -> float | None:
        """Of those who said yes or no, the share who said yes; 0 or 1 where an adjudicator said it."""
        if self.decided is not None:
            return None if self.verdict is None else float(self.verdict)
        yes, no = self.marks["yes"], self.marks["no"]
        return yes / (yes + no) if yes + no else None


@dataclass(frozen=True)
class TargetRow:
    """Of a data set, or of all of them (``dataset`` None). Images are counted by verdict, over the queries that
    somebody marked; ``by_model``: decided images with at least the threshold, of which people say yes to
    ``confirmed``; ``missed``: people say yes, and the model's confidence is below. ``original``: own targets with a
    verdict, ``original_yes`` of them a yes."""

    dataset: str | None
    queries: int
    marked: int
    answers: int
    images: int
    yes: int
    no: int
    undecided: int
    by_model: int
    confirmed: int
    missed: int
    original: int
    original_yes: int
    without: int                   # marked queries to none of whose images people say yes


def marked_images(
    items: Iterable[Item], judgements: Iterable[Judgement], decisions: Iterable[Decision] = (),
) -> list[MarkedImage]:
    """Every candidate of every item, in the order in which it is shown. ``judgements`` and ``decisions``: current
    ones."""
    given, settled = by_item(judgements), decided(decisions)
    found = []
    for item in items:
        adjudicated = settled.get(item.item_id, {}).get("marks", {})
        answers = [one.answer["marks"] for one in given.get(item.item_id, ())]
        for token, each in zip(item.shown["candidates"], item.hidden["candidates"], strict=True):
            counts = Counter(marks[token] for marks in answers)
            found.append(MarkedImage(
                item, token, each["image"], each["confidence"], each["image"] == item.hidden["original_target"],
                tuple(each["found"]), {mark: counts[mark] for mark in ("yes", "no", "unsure")},
                adjudicated.get(token)))
    return found


def threshold_of(study: Study) -> float:
    """From which confidence on stage 1 counted a candidate as a target."""
    return float(study.source["threshold"])


def target_rows(
    study: Study, items: Sequence[Item], judgements: Iterable[Judgement], decisions: Sequence[Decision] = (),
) -> list[TargetRow]:
    """A row for each data set, and one of all if there are several."""
    given, threshold = by_item(judgements), threshold_of(study)
    names = sorted({item.hidden["dataset"] for item in items})
    rows = [_row(name, [item for item in items if item.hidden["dataset"] == name], given, decisions, threshold)
            for name in names]
    return [*rows, *([_row(None, items, given, decisions, threshold)] if len(names) > 1 else [])]


def target_results(store: StudyStore, study: Study) -> Results:
    """Counts by data set."""
    def part(count: int, of: int) -> str:
        return f"{count:,} of {of:,}"

    rows = target_rows(study, store.items(study.study_id), store.judgements(study.study_id),
                       store.decisions(study.study_id))
    threshold = threshold_of(study)
    names = marking_of(study).names
    heads = ("data set", "marked", "answers", names["yes"].lower(), names["no"].lower(), "undecided", "confirmed",
             "missed", "original")
    return Results(
        ([heads, *((row.dataset or "all", part(row.marked, row.queries), f"{row.answers:,}", f"{row.yes:,}",
                    f"{row.no:,}", f"{row.undecided:,}", part(row.confirmed, row.by_model), f"{row.missed:,}",
                    part(row.original_yes, row.original)) for row in rows)],),
        "Images by the adjudicator, else the majority of yes and no. Confirmed: of the images with a confidence of "
        f"{threshold:g} or more those with a yes; missed: a yes, and a lower confidence or none; original: the data "
        "set's own targets with a yes.",
        {"threshold": threshold, "names": dict(names), "rows": [asdict(row) for row in rows]})


def target_source(study: Study) -> list[list[str]]:
    """What the study is made from, in words."""
    return [["Files", ", ".join(study.source.get("files", ()))], ["Gallery", study.source["gallery"]],
            ["Threshold", f"{threshold_of(study):g}"]]


def results_json(
    study: Study, counts: Mapping[str, int], items: Sequence[Item], judgements: Sequence[Judgement],
    decisions: Sequence[Decision] = (),
) -> dict[str, Any]:
    """The rows, and of each query its images with their marks. ``counts`` as of the store."""
    queries: dict[str, dict[str, Any]] = {item.key: {
        "dataset": item.hidden["dataset"], "query_id": item.hidden["query_id"], "text": item.shown["text"],
        "reference": item.hidden["reference"], "original_target": item.hidden["original_target"], "images": []}
        for item in items}
    for one in marked_images(items, judgements, decisions):
        queries[one.item.key]["images"].append({
            "image": one.image, "confidence": one.confidence, "target": one.verdict, "marks": dict(one.marks),
            "decided": one.decided, "found": [dict(place) for place in one.found]})
    own = own_text(study)
    return {**study_json(study, counts), "source": dict(study.source), **({} if own is None else {"questions": own}),
            "rows": [asdict(row) for row in target_rows(study, items, judgements, decisions)],
            "queries": queries}


def _row(dataset: str | None, items: Sequence[Item], given: Mapping[str, Sequence[Judgement]],
         decisions: Sequence[Decision], threshold: float) -> TargetRow:
    there = [item for item in items if item.item_id in given]
    images = marked_images(there, [one for item in there for one in given[item.item_id]], decisions)
    verdicts = Counter(one.verdict for one in images)
    targets = {one.item.item_id for one in images if one.verdict}
    model = [one for one in images if one.verdict is not None and one.confidence is not None
             and one.confidence >= threshold]
    own = [one.verdict for one in images if one.original and one.verdict is not None]
    confirmed = sum(one.verdict is True for one in model)
    return TargetRow(
        dataset, len(items), len(there), sum(len(given[item.item_id]) for item in there), len(images), verdicts[True],
        verdicts[False], verdicts[None], len(model), confirmed, verdicts[True] - confirmed, len(own), sum(own),
        len(there) - len(targets))
