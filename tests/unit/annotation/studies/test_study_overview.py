"""How far the people of a study are."""

from datetime import timedelta

from annotation.records import Assignment, Seat, StudyPlan
from annotation.studies.overview import seat_progress
from tests.fakes.judged import AT, answer_of, item_of, judgement_of, study_of


def states(seat, annotator, **counts):
    return [Assignment(f"i{state}{n}", seat, n, state, annotator)
            for state, many in counts.items() for n in range(many)]


def test_counts_pace_and_who_is_away():
    study = study_of(plan=StudyPlan(3, 1, 0, 7, lease_hours=2))
    seats = [Seat("s1", 3, None, None, None), Seat("s1", 2, "Bea", AT, None),
             Seat("s1", 1, "Ada", AT, AT + timedelta(hours=3))]
    work = [*states(1, "Ada", done=3, unsure=1, open=2), *states(2, "Bea", open=1, handed_on=4),
            *states(3, None, open=5)]
    said = [judgement_of(item_of(n), "ada", answer_of(), seconds=s) for n, s in enumerate((10.0, 30.0, 80.0, 0.0))]
    ada, bea, free = seat_progress(study, seats, work, said, AT + timedelta(hours=4))
    # Unsure ones are answered too; what nobody timed (0 s) says nothing of the pace: median of 10, 30, 80.
    assert (ada.done, ada.unsure, ada.open, ada.total, ada.median_seconds) == (4, 1, 2, 6, 30.0)
    assert not ada.away                              # seen an hour ago, and two are allowed
    assert (bea.done, bea.open, bea.total, bea.median_seconds) == (0, 1, 1, None)   # what was handed on is not hers
    assert bea.away                                  # joined four hours ago and never seen since
    assert (free.annotator, free.open, free.away) == (None, 5, False)


def test_somebody_who_is_done_is_not_away():
    study = study_of(plan=StudyPlan(1, 1, 0, 7, lease_hours=2))
    (ada,) = seat_progress(study, [Seat("s1", 1, "Ada", AT, AT)], states(1, "Ada", done=2), [], AT + timedelta(days=9))
    assert not ada.away and ada.total == 2
