"""Studies that came with their answers, in files that others had released."""

from __future__ import annotations

from annotation.records import Study

CIRCUS_USERS = "circus-users"
HP_ANSWERS = "hp-fashioniq-answers"   # its questions may also be asked anew, and such a study is none of these


def is_imported(study: Study) -> bool:
    """Whether its people judged elsewhere: here there is nothing to show them."""
    return study.source.get("form") in (CIRCUS_USERS, HP_ANSWERS)
