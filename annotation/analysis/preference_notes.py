"""What a preference report lacks or leaves out, in sentences for its head. They hold no names of people."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.analysis.answer_rows import AnswerRows
from annotation.analysis.records import MetricScores, StudyAnswers
from annotation.analysis.shared_answers import shared_questions
from annotation.imports import HP_ANSWERS
from annotation.quality import flagged
from annotation.records import Judgement


def preference_notes(
    selected: StudyAnswers, valid: Sequence[Judgement], rows: AnswerRows, recall: MetricScores,
) -> tuple[str, ...]:
    """``selected``: after the selection, before rules; ``valid``: the answers that count, ``rows`` the same;
    ``recall``: that of equation 9."""
    notes = _left(selected, valid)
    if not valid:
        return tuple(notes)
    notes += _flags(selected, valid)
    unsided = sum(one.answer["first"] is None for one in valid)
    if unsided == len(valid):
        notes.append("Nobody recorded which set stood first, so nothing can be said of sides or adjusted for them.")
    elif unsided:
        notes.append(f"Nobody recorded which set stood first in {unsided:,} of {len(valid):,} answers.")
    if not shared_questions(rows):
        notes.append("No question was answered by two people, so nothing can be said of how far people agree.")
    if recall.name != "recall@5":
        notes.append(f"Where recall is said to be equal, it is {recall.name}.")
    return tuple(notes)


def _left(selected: StudyAnswers, valid: Sequence[Judgement]) -> list[str]:
    given = len(selected.judgements)
    if not selected.items:
        return ["No question is left by these filters. Take one of them away."]
    if not given:
        return ["There is no answer yet to any of these questions."]
    if given > len(valid):
        return [f"The rules leave out {given - len(valid):,} of {_answers(given)}."]
    return []


def _flags(selected: StudyAnswers, valid: Sequence[Judgement]) -> list[str]:
    marks = [flagged(one.answer) for one in valid]
    if counting := marks.count(True):
        return [f"{_answers(counting)} {'counts' if counting == 1 else 'count'} although the results were flagged as "
                "irrelevant. The rule irrelevant leaves such answers out, as the authors of HS-FashionIQ did."]
    if marks.count(None) < len(marks):
        return []
    note = "Nobody recorded which results were flagged as irrelevant, so no answer can be left out for it."
    if selected.study.source.get("form") == HP_ANSWERS:
        note += " CIRQRS leaves out 307 of 3,050 questions and counts 2,743; the release does not say which they are."
    return [note]


def _answers(count: int) -> str:
    return f"{count:,} answer{'' if count == 1 else 's'}"
