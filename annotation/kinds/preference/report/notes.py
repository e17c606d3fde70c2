"""Notes of a preference report: missing and excluded answers, and the reading of intervals. Without names of people.
Agreement on shared questions: ratings of sets, and preferences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from annotation.analysis.people.others import severities
from annotation.analysis.people.profiles import People, people_of
from annotation.analysis.people.times import same_as_others
from annotation.analysis.records import Estimate, MetricScores, Options, Rater, Scale, StudyAnswers
from annotation.analysis.statistics.agreement import agreement_draws, statistics_of
from annotation.analysis.statistics.answer_rows import AnswerRows
from annotation.analysis.statistics.bootstrap import LEAST_PEOPLE, with_interval
from annotation.analysis.statistics.matrix import Codes, Ratings
from annotation.kinds.preference.quality import flagged
from annotation.records import Judgement
from annotation.studies.creation import HP_ANSWERS
from cir_core.support.texts import counted

_RATINGS = ("1", "2", "3", "4", "5")
_PREFERRED = ("tie", "set 1", "set 2")
NOT_SHARED = "no question was answered by two people"


def shared_questions(rows: AnswerRows) -> int:
    """Number of questions with answers of two people or more."""
    return int((np.bincount(rows.question, minlength=len(rows.item_ids)) > 1).sum())


def ratings_agreement(rows: AnswerRows, options: Options) -> dict[str, Estimate]:
    """Every ordinal statistic of agreement on ratings, by key; ``n`` counts sets. Bootstrap unit: question, with both
    sets."""
    return _agreement(*_rated(rows), "ordinal", options)


def preference_agreement(rows: AnswerRows, options: Options) -> dict[str, Estimate]:
    """Every nominal statistic of agreement on preferences, ties as a third category; ``n`` counts questions."""
    return _agreement(*_preferred(rows), "nominal", options)


def _rated(rows: AnswerRows) -> tuple[Ratings, Codes]:
    """And the question of each set."""
    codes = np.full((2 * len(rows.item_ids), rows.people), -1, np.int16)
    for which in (0, 1):
        codes[2 * rows.question + which, rows.person] = rows.ratings[:, which] - 1
    return Ratings(codes, _RATINGS, "set"), np.repeat(np.arange(len(rows.item_ids)), 2)


def _preferred(rows: AnswerRows) -> tuple[Ratings, Codes]:
    codes = np.full((len(rows.item_ids), rows.people), -1, np.int16)
    codes[rows.question, rows.person] = rows.preferred
    return Ratings(codes, _PREFERRED, "question"), np.arange(len(rows.item_ids))


def people_of_preferences(
    rows: AnswerRows, raters: Sequence[Rater], columns: Sequence[int], options: Options,
) -> People | None:
    """People by their preferences; how severe they are, by their ratings. ``columns``: the persons of ``rows`` in the
    order of ``raters``. None if no question was answered by two people."""
    def shared(ratings: Ratings, question: Codes) -> tuple[Ratings, Codes]:
        several = ratings.people_per_unit() > 1
        codes = ratings.codes[several][:, list(columns)]
        return Ratings(codes, ratings.categories, ratings.unit), np.unique(question[several], return_inverse=True)[1]

    preferred, _ = shared(*_preferred(rows))
    if not len(preferred.codes):
        return None
    rated, question = shared(*_rated(rows))
    found, severe = people_of(preferred, raters, "nominal", options), severities(rated, options, question)
    return replace(found, against=tuple(
        replace(one, severity=more) for one, more in zip(found.against, severe, strict=True)))


def same_preference(rows: AnswerRows) -> list[float]:
    """Of each row: 1 if it prefers what the majority of the others does, else 0; nan without one."""
    same = same_as_others(_preferred(rows)[0])
    return [float(one) for one in same[rows.question, rows.person]]


def _agreement(ratings: Ratings, question: Codes, scale: Scale, options: Options) -> dict[str, Estimate]:
    taken, shared = statistics_of(scale), ratings.people_per_unit() > 1
    if not shared.any():
        return {one.key: Estimate(None, 0, reason=NOT_SHARED) for one in taken}
    ratings, question = Ratings(ratings.codes[shared], ratings.categories, ratings.unit), question[shared]
    drawn = agreement_draws(ratings, (), options.draws, options.seed, scale=scale, undefined=options.undefined,
                            kappas=False, groups=question)
    return {one.key: with_interval(one.estimate(ratings, scale, options.undefined), drawn.pooled[one.key],
                                   len(np.unique(question[one.units(ratings)])), "questions") for one in taken}


_MANY = 5               # answers of one person
_MANY_PEOPLE = 30       # from which on resampling people is reliable


def preference_notes(
    answers: StudyAnswers, selected: StudyAnswers, valid: Sequence[Judgement], rows: AnswerRows, recall: MetricScores,
    options: Options, identical: int,
) -> tuple[str, ...]:
    """``selected``: after the selection, before rules; ``valid``: after rules, ``rows`` the same; ``recall``: for
    equation 9; ``identical``: questions whose two sets have the same images."""
    notes = _left(selected, valid)
    if not valid:
        return tuple(notes)
    notes += _flags(selected, valid)
    unsided = sum(one.answer["first"] is None for one in valid)
    if unsided == len(valid):
        notes.append("Which set was shown first was not recorded, so position bias cannot be measured or adjusted for.")
    elif unsided:
        notes.append(f"Which set was shown first was not recorded for {unsided:,} of {len(valid):,} answers.")
    notes += _shared(answers, rows)
    if options.draws:
        notes += _people(rows, options)
    if identical:
        notes.append(f"Both sets have the same images in {counted(identical, 'question')}. Where scores of the two are "
                     "equal, the one-sided rate ≥ counts the answer; the symmetric rate does not.")
    if recall.name != "recall@5":
        notes.append(f"“Equal recall” means {recall.name}.")
    return tuple(notes)


def _left(selected: StudyAnswers, valid: Sequence[Judgement]) -> list[str]:
    given = len(selected.judgements)
    if not selected.items:
        return ["These filters leave no question. Remove one of them."]
    if not given:
        return ["No answers yet to these questions."]
    if given > len(valid):
        return [f"The rules leave out {given - len(valid):,} of {counted(given, 'answer')}."]
    return []


def _flags(selected: StudyAnswers, valid: Sequence[Judgement]) -> list[str]:
    marks = [flagged(one.answer) for one in valid]
    if counting := marks.count(True):
        return [f"{counted(counting, 'answer')} {'counts' if counting == 1 else 'count'} although the results were "
                "flagged as irrelevant. The rule irrelevant leaves such answers out, as the authors of HS-FashionIQ "
                "did."]
    if marks.count(None) < len(marks):
        return []
    note = "Flags for irrelevant results were not recorded, so no answer can be excluded for them."
    if selected.study.source.get("form") == HP_ANSWERS:
        note += " CIRQRS leaves out 307 of 3,050 questions and counts 2,743; the release does not say which they are."
    return [note]


def _shared(answers: StudyAnswers, rows: AnswerRows) -> list[str]:
    if shared := shared_questions(rows):
        return [f"Several people answered {shared:,} of {counted(len(rows.item_ids), 'question')}. Wilson’s intervals "
                "and the p of shares, of ρ and of τ treat answers as independent and are too narrow: prefer the "
                "bootstrap intervals."]
    most = max(Counter(one.item_id for one in answers.judgements).values())
    which = "of this study" if most < 2 else "that counts here"
    return [f"No question {which} was answered by two people, so agreement cannot be measured."]


def _people(rows: AnswerRows, options: Options) -> list[str]:
    people = rows.people
    if options.resample == "people":
        if people < LEAST_PEOPLE:
            return [f"Intervals resample people, and there {'is' if people == 1 else 'are'} only {people}. At least "
                    f"{LEAST_PEOPLE} are needed: resample questions instead."]
        few = f"Intervals resample people, and {people} are few: interpret them with care."
        return [few] if people < _MANY_PEOPLE else []
    each = len(rows.question) / max(1, people)
    if people < 2 or each < _MANY:
        return []
    said = f"Intervals resample questions. Each of {people:,} people answered about {each:,.0f}: "
    if people < LEAST_PEOPLE:
        return [f"{said}intervals ignore differences between people, because so few cannot be resampled."]
    return [f"{said}resampling people accounts for differences between them."]
