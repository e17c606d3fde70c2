"""The five questions about a session, as they are written in ``assets/questions``: CIRCLED's section 5.3. Language
models answer the same (``cir_core.construct.judging.scores.DIMENSIONS``)."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from pydantic import model_validator

from annotation.studies.protocols import Part, Protocol, Text, load_protocol, newest_protocol, parse_toml
from cir_core.construct.judging.scores import DIMENSIONS

KEYS: tuple[str, ...] = DIMENSIONS
"""Of the questions of every version, in their order."""
POINTS = (1, 2, 3, 4, 5)
_FOLDER = Path(__file__).resolve().parents[3] / "assets" / "questions"


class Question(Part):
    """Answered from 1, ``low``, to 5, ``high``. ``guide``: of the guidelines."""

    key: str
    title: Text
    text: Text
    low: Text
    high: Text
    guide: Text


class Questions(Protocol):
    intro: Text
    questions: tuple[Question, ...]

    @model_validator(mode="after")
    def _all(self) -> Questions:
        if tuple(one.key for one in self.questions) != KEYS:
            raise ValueError(f"the questions are {', '.join(KEYS)}, in this order")
        return self


@lru_cache
def load_questions(protocol: str) -> Questions:
    """The questions of a study's protocol. Raises ``StudyError`` for one that cirque does not have, or is broken."""
    return load_protocol(_FOLDER, protocol, "file of questions", lambda text, where: parse_toml(Questions, text, where))


def newest_questions() -> str:
    """The protocol of new studies; a study that is there has its own."""
    return newest_protocol(_FOLDER, "circled")
