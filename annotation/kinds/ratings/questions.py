"""The five questions about a session: CIRCLED's section 5.3. Language models answer the same
(``cir_core.construct.judging.scores.DIMENSIONS``)."""

from __future__ import annotations

from dataclasses import dataclass

from cir_core.errors import StudyError
from cir_core.support.texts import quoted

PROTOCOL = "circled/1"
"""Of studies with these questions. A version that people have answered is never changed."""
POINTS = (1, 2, 3, 4, 5)
INTRO = ("A session is a search by dialogue: the searcher looks at an image, says what should be different, and gets "
         "the next image. The last image is the target, which they have in mind. Rate each session as a whole.")


@dataclass(frozen=True)
class Question:
    """Answered from 1, ``low``, to 5, ``high``. ``guide``: of the guidelines."""

    key: str
    title: str
    text: str
    low: str
    high: str
    guide: str = ""


QUESTIONS = (
    Question("naturalness", "Naturalness", "Do the texts sound like something a person would say while searching?",
             "like a machine", "like a person",
             "Look at the wording alone. Lists of attributes, stiff phrases and odd grammar speak against it; short or "
             "casual texts do not."),
    Question("coherence", "Coherence", "Does each text fit the image it is about, and do the turns follow from one "
             "another?", "without connection", "fits throughout",
             "A text refers to the image beside it and says what should be different. Texts that ask for what the "
             "image already shows, or that contradict an earlier text, speak against it."),
    Question("progress", "Progress", "Do the images come closer to the target turn by turn?",
             "no closer, or farther away", "closer with every turn",
             "Compare each image with the target: the kind of thing, its colour, its shape, its details. A step back "
             "lowers the rating. The last image before the target need not be the same as the target."),
    Question("redundancy", "Low redundancy", "Does every turn say something new?",
             "the same again and again", "always something new",
             "Asking for the same again is a repetition, in the same words or in others. The more is said twice, the "
             "lower the rating."),
    Question("overall", "Overall", "How good is the session as an example of a search by dialogue?",
             "poor", "excellent",
             "Your impression of the whole session. It need not be the mean of the other answers."),
)


def questions_of(protocol: str) -> tuple[Question, ...]:
    """Raises ``StudyError`` for a protocol of another version."""
    if protocol != PROTOCOL:
        raise StudyError(f"There are no questions {quoted(protocol)} here, only {quoted(PROTOCOL)}. Use a version of "
                         "cirque that has them: the one the study was created with, or a later one.")
    return QUESTIONS
