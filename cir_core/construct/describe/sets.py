"""Sets of sessions and their sizes: CIRCLED's Tables 1 and 4."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cir_core.construct.filtering.stages import STAGES_FILE
from cir_core.datasets.files.json_files import first_byte
from cir_core.datasets.readers.circled import CircledSession, read_sessions
from cir_core.datasets.readers.circled_raw import RawFile, open_raw, text_in
from cir_core.datasets.readers.multi_turn_fashioniq import is_multi_turn_fashioniq, read_multi_turn_fashioniq
from cir_core.errors import DatasetError
from cir_core.support.texts import quoted

_GENERAL = "general"    # what is no garment, in the paper's Table 1


@dataclass(frozen=True)
class SubsetSessions:
    """``gallery``: images that are ranked, None if the file does not say; ``language_model``: what wrote the texts, ""
    if it does not say."""

    name: str
    sessions: tuple[CircledSession, ...]
    gallery: int | None = None
    language_model: str = ""


@dataclass(frozen=True)
class SizeRow:
    """``by_turns``: number of turns to number of sessions. ``images``: different ones that the sessions name."""

    name: str
    category: str
    sessions: int
    turns: int
    images: int
    gallery: int | None
    by_turns: Mapping[int, int]

    @property
    def mean_turns(self) -> float | None:
        return self.turns / self.sessions if self.sessions else None


def read_sets(paths: Sequence[Path]) -> tuple[list[SubsetSessions], list[str]]:
    """The sessions in files of the public or the raw format or of Multi-turn FashionIQ, or in folders of them, by
    subset; and the readers' notes.

    Of a filter's folder the public files are read, of a construction's the raw ones. Raises ``DatasetError``, also for
    a session that two files have.
    """
    found: dict[str, list[CircledSession]] = {}
    galleries: dict[str, int] = {}
    writers: dict[str, str] = {}
    notes: list[str] = []
    for path in _files(paths):
        sessions = (read_multi_turn_fashioniq if is_multi_turn_fashioniq(path) else read_sessions)(path)
        notes += [f"{path.name}: {note}" for note in sessions.notes]
        for session in sessions:
            found.setdefault(session.subset, []).append(session)
        raw = _raw_file(path)
        if raw is not None and sessions:
            if raw.images is not None:
                galleries[sessions[0].subset] = raw.images
            writers[sessions[0].subset] = text_in(raw.head, "config", "language_model")
    for name, members in found.items():
        twice = [one for one, count in Counter(session.session_id for session in members).items() if count > 1]
        if twice:
            raise DatasetError(f"Two of the files have the session {quoted(twice[0])} of {name}. Describe each file by "
                               "itself.")
    return [SubsetSessions(name, tuple(members), galleries.get(name), writers.get(name, ""))
            for name, members in found.items()], notes


def size_rows(subsets: Sequence[SubsetSessions]) -> list[SizeRow]:
    """A row for each subset, and one of their sums if there are several."""
    rows = [_row(one.name, _category(one.name), [one], one.gallery) for one in subsets]
    if len(rows) > 1:
        galleries = [row.gallery for row in rows]
        total = None if None in galleries else sum(size or 0 for size in galleries)
        rows.append(_row("all", ", ".join(dict.fromkeys(row.category for row in rows)), subsets, total))
    return rows


def _row(name: str, category: str, subsets: Sequence[SubsetSessions], gallery: int | None) -> SizeRow:
    lengths = Counter(len(session.turns) for one in subsets for session in one.sessions)
    images = {(one.name, image_id) for one in subsets for session in one.sessions
              for image_id in (*session.target_ids, *(turn.reference_id for turn in session.turns))}
    return SizeRow(name, category, lengths.total(), sum(turns * count for turns, count in lengths.items()), len(images),
                   gallery, dict(sorted(lengths.items())))


def _category(subset: str) -> str:
    """"dress" of "fashioniq_dress_val"."""
    parts = subset.split("_")
    return parts[1] if len(parts) == 3 else _GENERAL


def _files(paths: Sequence[Path]) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        folder = next((one for one in (path / "public", path / "raw") if one.is_dir()), path)
        inside = sorted(one for one in folder.glob("*.json") if not one.name.startswith("."))
        filtered = next((one / STAGES_FILE for one in (path, path.parent) if (one / STAGES_FILE).is_file()), None)
        if filtered:
            inside = [one for one in inside if one.stat().st_size > len("[]")]      # a subset may have none left
        if filtered and not inside:
            raise DatasetError(f"{path} has no session: {filtered} says how many the filters dropped.")
        if not inside:
            raise DatasetError(f"{path} contains no file of sessions. Give a folder that cirque construct wrote, or a "
                               "file.")
        files += inside
    return files


def _raw_file(path: Path) -> RawFile | None:
    """The raw file, or the one beside a public file."""
    beside = path.parent.parent / "raw" / path.name
    raw = path if first_byte(path) == b"{" else beside if path.parent.name == "public" and beside.is_file() else None
    return open_raw(raw) if raw else None
