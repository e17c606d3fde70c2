"""Means of the ratings in a session study, by source and subset: an overview, without intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from annotation.kinds.ratings.answers import questions_of
from annotation.records import Decision, Item, Judgement, Study, by_item, decided
from annotation.studies.overview import Results, study_json
from annotation.studies.protocols import own_text
from annotation.studies.store import StudyStore

_SHORT = {"naturalness": "natural", "coherence": "coherent", "redundancy": "low redund."}   # titles of questions


@dataclass(frozen=True)
class RatingRow:
    """Of a source, or of one of its subsets (else ``subset`` is None). ``means`` by question, over the rated sessions,
    each with the mean of its ratings; None without any."""

    source: str
    subset: str | None
    sessions: int
    rated: int
    ratings: int
    means: Mapping[str, float | None]


def rating_rows(
    study: Study, items: Sequence[Item], judgements: Iterable[Judgement], decisions: Iterable[Decision] = (),
) -> list[RatingRow]:
    """A row for each source and, where it has several, each of its subsets. ``judgements`` and ``decisions``: current
    ones."""
    given, settled, keys = by_item(judgements), decided(decisions), questions_of(study).keys
    rows = []
    for source in sorted({item.hidden["source"] for item in items}):
        of_source = [item for item in items if item.hidden["source"] == source]
        subsets = sorted({item.hidden["subset"] for item in of_source})
        rows.append(_row(source, None, of_source, given, settled, keys))
        if len(subsets) > 1:
            rows += [_row(source, subset, [item for item in of_source if item.hidden["subset"] == subset], given,
                          settled, keys) for subset in subsets]
    return rows


def mean_ratings(
    given: Sequence[Judgement], keys: Sequence[str], settled: Mapping[str, Any] | None = None,
) -> dict[str, float | None]:
    """By question; those of an adjudicator's answer, ``settled``, if there is one. None without a rating."""
    answers = [settled] if settled is not None else [one.answer for one in given]
    found = {key: [rating for one in answers if (rating := one["ratings"].get(key)) is not None] for key in keys}
    return {key: fmean(ratings) if ratings else None for key, ratings in found.items()}


def session_results(store: StudyStore, study: Study) -> Results:
    """Means by source and subset."""
    rows = rating_rows(study, store.items(study.study_id), store.judgements(study.study_id),
                       store.decisions(study.study_id))
    asked = questions_of(study)
    questions = asked.questions
    return Results(
        ([("source", "rated", "answers", *(_SHORT.get(one.key, one.key) for one in questions)), *(
            (f"  {row.subset}" if row.subset else row.source, f"{row.rated:,} of {row.sessions:,}", f"{row.ratings:,}",
             *("" if mean is None else f"{mean:.2f}" for mean in row.means.values())) for row in rows)],),
        f"Means from 1 to {asked.points}, "
        "sessions weighted equally; an "
        "adjudicator's ratings replace people's." + (" New: little repetition." if "redundancy" in asked.keys else ""),
        {"questions": [{"key": one.key, "name": one.title, "text": one.text} for one in questions],
         "rows": [asdict(row) for row in rows]})


def session_source(study: Study) -> list[list[str]]:
    """What the study is made from, in words."""
    source, sample = study.source, study.source.get("sample")
    rows = [["Sources", ", ".join(source.get("sources", ()))],
            ["Sample", f"{sample:,} sessions of each subset" if sample else ""],
            ["Galleries", ", ".join(dict.fromkeys(text.split()[0] for text in source.get("galleries", {}).values()))]]
    return [row for row in rows if row[1]]


def results_json(
    study: Study, counts: Mapping[str, int], items: Sequence[Item], judgements: Sequence[Judgement],
    decisions: Sequence[Decision] = (),
) -> dict[str, Any]:
    """The rows, and the mean ratings of each session by its key. ``counts`` as of the store."""
    given, settled, asked = by_item(judgements), decided(decisions), questions_of(study)
    own = own_text(study)
    return {
        **study_json(study, counts), "source": dict(study.source), **({} if own is None else {"questions": own}),
        "rows": [asdict(row) for row in rating_rows(study, items, judgements, decisions)],
        "sessions": {item.key: {
            "source": item.hidden["source"], "subset": item.hidden["subset"], "session_id": item.hidden["session"],
            "turns": item.hidden["turns"], "ratings": len(given.get(item.item_id, ())),
            "decided": item.item_id in settled,
            "means": mean_ratings(given.get(item.item_id, ()), asked.keys, settled.get(item.item_id))}
            for item in items},
    }


def _row(
    source: str, subset: str | None, items: Sequence[Item], given: Mapping[str, Sequence[Judgement]],
    settled: Mapping[str, Mapping[str, Any]], keys: Sequence[str],
) -> RatingRow:
    rated = [mean_ratings(given[item.item_id], keys, settled.get(item.item_id)) for item in items
             if item.item_id in given]
    values = {key: [value for one in rated if (value := one[key]) is not None] for key in keys}
    means = {key: fmean(of) if of else None for key, of in values.items()}
    return RatingRow(source, subset, len(items), len(rated), sum(len(given.get(item.item_id, ())) for item in items),
                     means)
