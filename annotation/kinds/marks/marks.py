"""What people are asked about a query's candidates, as it is written in ``assets/marks``. SoFT's stage 1 asks a
language model the same."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from annotation.studies.protocols import Part, Protocol, Text, load_protocol, newest_protocol, parse_toml

MARKS = ("yes", "no", "unsure")
_FOLDER = Path(__file__).resolve().parents[3] / "assets" / "marks"


class Guideline(Part):
    title: Text
    text: Text


class Marking(Protocol):
    intro: Text
    guide: tuple[Guideline, ...]


@lru_cache
def load_marking(protocol: str) -> Marking:
    """What is asked by a study's protocol. Raises ``StudyError`` for one that cirque does not have, or is broken."""
    return load_protocol(_FOLDER, protocol, "file of marks", lambda text, where: parse_toml(Marking, text, where))


def newest_marking() -> str:
    """The protocol of new studies; a study that is there has its own."""
    return newest_protocol(_FOLDER, "soft-targets")
