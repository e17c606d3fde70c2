"""The five questions about a session: CIRCLED's section 5.3. Language models answer the same
(``cir_core.construct.judging.scores.DIMENSIONS``)."""

from __future__ import annotations

from dataclasses import dataclass

POINTS = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class Question:
    """Answered from 1, ``low``, to 5, ``high``."""

    key: str
    title: str
    text: str
    low: str
    high: str


QUESTIONS = (
    Question("naturalness", "Naturalness", "Do the texts sound like something a person would say while searching?",
             "like a machine", "like a person"),
    Question("coherence", "Coherence", "Does each text fit the image it is about, and do the turns follow from one "
             "another?", "without connection", "fits throughout"),
    Question("progress", "Progress", "Do the images come closer to the target turn by turn?",
             "no closer, or farther away", "closer with every turn"),
    Question("redundancy", "Little repetition", "Does every turn say something new?",
             "the same again and again", "always something new"),
    Question("overall", "Overall", "How good is the session as an example of a search by dialogue?",
             "poor", "excellent"),
)
