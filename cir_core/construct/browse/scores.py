"""Scores of sessions, from the files of ``cirque construct judge`` in a construction's folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cir_core.construct.browse.sessions import BrowsedSession, BrowsedSessions
from cir_core.construct.judging.sample import content_digest
from cir_core.construct.judging.scores import DIMENSIONS, JudgedSession
from cir_core.datasets.files.issues import KEPT, ValidationIssues
from cir_core.datasets.files.json_files import read_array
from cir_core.datasets.readers.circled import session_of_raw
from cir_core.errors import DatasetError

_MOST_BYTES, _MOST_RECORD = 2**25, 2**20


def judged_files(folder: Path) -> list[Path]:
    """``judged.json`` in ``folder``, or in a folder in it."""
    try:
        found = [path for path in (folder / "judged.json", *sorted(folder.glob("*/judged.json")))
                 if path.is_file() and not path.is_symlink() and not path.parent.is_symlink()]
        return [path for path in found if path.stat().st_size <= _MOST_BYTES]
    except OSError:
        return []


def read_scores(files: list[Path], found: BrowsedSessions) -> dict[int, JudgedSession]:
    """Scores by the session's number. Sessions are recognized by their content, as filtered files number them anew; of
    several scores the last file's count. What cannot be read is left out."""
    judged = {(one.subset, one.content): one for path in files for one in _scores_in(path)}
    if not judged:
        return {}
    subsets = {subset for subset, _ in judged}
    scores = {}
    for one in found.sessions:
        if one.subset in subsets and (score := judged.get((one.subset, _content(one)))) is not None:
            scores[one.number] = score
    return scores


def _content(one: BrowsedSession) -> str:
    return content_digest(session_of_raw(one.result.model_dump(), one.subset, one.place))


def _scores_in(path: Path) -> Iterator[JudgedSession]:
    try:
        for _, one in read_array(path, ValidationIssues(collect=True, most=KEPT), key="sessions", most=_MOST_RECORD):
            try:
                score = JudgedSession.from_json(one)
            except (KeyError, TypeError, AttributeError):
                continue
            numbers = all(isinstance(score.scores[name], int | float) for name in DIMENSIONS)
            texts = all(isinstance(text, str) for text in (score.subset, score.reason, score.content))
            if numbers and texts and score.content:
                yield score
    except (OSError, DatasetError):
        return
