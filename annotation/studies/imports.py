"""Studies imported with their answers from released files."""

from __future__ import annotations

from annotation.records import Study

CIRCUS_USERS = "circus-users"
HP_ANSWERS = "hp-fashioniq-answers"   # a study that asks its questions again has another kind of source


def is_imported(study: Study) -> bool:
    """Whether the study was annotated elsewhere, and cannot be annotated here."""
    return study.source.get("form") in (CIRCUS_USERS, HP_ANSWERS)
