"""CIRCLED's multi-turn sessions (paper, section 3): a fixed history of references and texts.

Two formats are read. The public one is an array of sessions. The raw or filtered one, written by the
construction, is an object whose ``results`` become sessions by the release's rule: turn 1
is the initial query, later turns are those with a picked image and a text.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from pydantic import BaseModel

from cir_core.datasets.content import Content, Source, mean, of_benchmark
from cir_core.datasets.files.issues import RAISE, ValidationIssues
from cir_core.datasets.files.json_files import first_byte, first_value, read_records
from cir_core.datasets.readers import circo
from cir_core.datasets.readers.soft_benchmark import soft_image_paths
from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.support.files import write_atomically
from cir_core.support.texts import quoted

_KIND = "Check that it is a file of CIRCLED sessions"
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class CircledTurn:
    reference_id: str
    text: str


@dataclass(frozen=True, slots=True)
class CircledSession:
    """``turns[0]`` is turn 1. ``target_ids`` is () if the file names none."""

    session_id: str
    subset: str  # "cirr_val", "fashioniq_dress_val", …
    target_ids: tuple[str, ...]
    turns: tuple[CircledTurn, ...]


@dataclass(frozen=True)
class CircledSessions(Sequence[CircledSession]):
    """Sessions of a file in its order, with notes for the user."""

    sessions: tuple[CircledSession, ...]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.sessions)

    @overload
    def __getitem__(self, place: int) -> CircledSession: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[CircledSession, ...]: ...
    def __getitem__(self, place: int | slice) -> CircledSession | tuple[CircledSession, ...]:
        return self.sessions[place]


class _Turn(BaseModel):
    turn: int
    reference_image_id: str | int
    relative_caption: str


class _Public(BaseModel):
    session_id: str
    subset: str
    ground_truth_ids: list[str | int]
    num_turns: int | None = None
    turns: list[_Turn]


class _RawTurn(BaseModel):
    turn: int
    selected_image: str | int | None = None
    relative_caption: str | None = None


class _Raw(BaseModel):
    reference_image_id: str | int
    original_query: str
    ground_truth_ids: list[str | int] = []
    success: bool = True
    turns: list[_RawTurn] = []


def read_sessions(path: Path, faults: ValidationIssues = RAISE) -> CircledSessions:
    """Read sessions in either format, including those that ``cirque sessions export`` writes.

    The number of turns is the length of ``turns``: a ``num_turns`` that differs is noted, as are sessions without
    targets. Empty ids, which pad a list, are dropped. Images of CIRCO lose their leading zeros, to match CIRCO's own
    files; a trailing ``.jpg`` is removed. Turns must be numbered 1 to L. Raises ``DatasetError`` unless ``faults``
    collects.
    """
    raw = first_byte(path) == b"{"
    records = _from_raw(path, faults) if raw else _from_public(path, faults)
    sessions: dict[str, CircledSession] = {}
    counts: Counter[str] = Counter()
    for number, record, success in records:
        counts["success"] += not success
        counts["turns"] += record.num_turns is not None and record.num_turns != len(record.turns)
        if problem := _problem(record, sessions):
            faults.add(path, number, f"session {quoted(record.session_id)} {problem}", _KIND)
        else:
            sessions[record.session_id] = session = _session(record, counts)
            counts["texts"] += any(not turn.text.strip() for turn in session.turns)
    if not sessions and not faults.count:
        faults.add(path, "results" if raw else "", "it contains no session", _KIND)
    return CircledSessions(tuple(sessions.values()), tuple(_notes(counts)))


def write_sessions(path: Path, sessions: Iterable[CircledSession]) -> None:
    """The public format: an array of records by :func:`public_record`, written as they come."""
    def lines() -> Iterator[bytes]:
        between = b"[\n"
        for session in sessions:
            text = json.dumps(public_record(session), indent=2, ensure_ascii=False)
            yield between + b"  " + text.replace("\n", "\n  ").encode()
            between = b",\n"
        yield b"[]" if between.startswith(b"[") else b"\n]"

    write_atomically(path, lines())


def public_record(session: CircledSession) -> dict[str, Any]:
    """One session in the public format, with CIRCO's twelve-digit image ids."""

    def name(image_id: str) -> str:
        return released_id(session.subset, image_id)

    return {
        "session_id": session.session_id,
        "subset": session.subset,
        "ground_truth_ids": [name(image_id) for image_id in session.target_ids],
        "num_turns": len(session.turns),
        "turns": [
            {"turn": number, "reference_image_id": name(turn.reference_id), "relative_caption": turn.text}
            for number, turn in enumerate(session.turns, 1)
        ],
    }


def released_id(subset: str, image_id: str) -> str:
    """An image's id as in CIRCLED's files: those of CIRCO have twelve digits."""
    return image_id.zfill(_DIGITS) if _of_coco(subset) and image_id.isdecimal() else image_id


def single_turn_benchmark(sessions: Sequence[CircledSession]) -> Benchmark:
    """Turn 1 of every session as a query; its id is the session's.

    Each subset is a separate pool, which the files do not list. FashionIQ's sessions start from a
    single caption each, so their caption mode is "separate". The reference stays in the gallery.
    """
    queries = tuple(
        BenchmarkQuery(
            session.session_id, session.turns[0].reference_id, session.turns[0].text, session.target_ids,
            "separate" if session.subset.startswith("fashioniq") else "single", session.subset,
        )
        for session in sessions
    )
    splits = {session.subset.rpartition("_")[2] for session in sessions}
    pools = dict.fromkeys((session.subset for session in sessions), None)
    notes = sessions.notes if isinstance(sessions, CircledSessions) else ()
    return Benchmark("circled", splits.pop() if len(splits) == 1 else "", queries, pools, image_paths, (
        *notes, "CIRCLED's files do not list a gallery: all images of the gallery are ranked."))


def content(source: Source) -> Content:
    return session_content(read_sessions(source.path, source.faults))


def session_content(sessions: CircledSessions) -> Content:
    """Counts of the sessions; their first turns are the benchmark."""
    lengths = [len(session.turns) for session in sessions]
    subsets = Counter(session.subset for session in sessions)
    return of_benchmark(single_turn_benchmark(sessions), {
        "sessions": len(sessions),
        **({f"sessions, {name}": number for name, number in subsets.items()} if len(subsets) > 1 else {}),
        "turns": sum(lengths),
        "turns of a session, mean": mean(lengths),
        "turns of a session, most": max(lengths, default=0),
        **{f"sessions of {length} turns": number for length, number in sorted(Counter(lengths).items())},
        "targets of a session, mean": mean(len(session.target_ids) for session in sessions),
    }, (turn.reference_id for session in sessions for turn in session.turns))


def image_paths(image_id: str) -> tuple[str, ...]:
    """Paths of an image in the releases of CIRCO, CIRR or FashionIQ, determined by its id."""
    return circo.image_paths(image_id) if _is_coco(image_id) else soft_image_paths(image_id)


def _from_public(path: Path, faults: ValidationIssues) -> Iterator[tuple[int, _Public, bool]]:
    for number, session in read_records(path, _Public, faults):
        yield number, session, True


def _from_raw(path: Path, faults: ValidationIssues) -> Iterator[tuple[int, _Public, bool]]:
    name: Any = first_value(path, "dataset_name")
    if not isinstance(name, str) or not name:
        faults.add(path, "key 'dataset_name'", "it is missing", _KIND)
        return
    subset = subset_of_raw(name)
    for number, raw in read_records(path, _Raw, faults, key="results"):
        yield number, _public(raw, subset, number), raw.success


def subset_of_raw(dataset_name: str) -> str:
    """The subset that a raw file's ``dataset_name`` means: the release calls one of them differently there."""
    return "circo_val" if dataset_name == "circo" else dataset_name


def session_of_raw(result: Mapping[str, Any], subset: str, number: int) -> CircledSession:
    """One valid member of a raw file's ``results`` as the ``number``-th session (from 0) of ``subset``."""
    return _session(_public(_Raw.model_validate(result), subset, number), Counter())


def _public(raw: _Raw, subset: str, number: int) -> _Public:
    turns = [_Turn(turn=1, reference_image_id=raw.reference_image_id, relative_caption=raw.original_query)]
    turns += [
        _Turn(turn=turn.turn + 1, reference_image_id=turn.selected_image, relative_caption=turn.relative_caption)
        for turn in raw.turns if turn.turn >= 1 and turn.selected_image and turn.relative_caption
    ]
    return _Public(session_id=f"{subset}_{number:04d}", subset=subset, ground_truth_ids=raw.ground_truth_ids,
                   turns=turns)


def _problem(record: _Public, sessions: dict[str, CircledSession]) -> str:
    if record.session_id in sessions:
        return "occurs twice"
    if not record.turns:
        return "has no turns"
    numbers = [turn.turn for turn in record.turns]
    if numbers != list(range(1, len(numbers) + 1)):
        return f"has turns numbered {', '.join(map(str, numbers[:10]))} instead of 1 to {len(numbers)}"
    return ""


def gallery_id(subset: str, image_id: str | int) -> str:
    """An image's id in a gallery, from that in CIRCLED's files: the opposite of :func:`released_id`."""
    if not _of_coco(subset):
        return str(image_id)
    name = str(image_id).removesuffix(".jpg")
    return str(int(name)) if name.isdecimal() else name


def _session(record: _Public, counts: Counter[str]) -> CircledSession:
    def image(value: str | int) -> str:
        counts["jpg"] += _of_coco(record.subset) and isinstance(value, str) and value.endswith(".jpg")
        return gallery_id(record.subset, value)

    targets = dict.fromkeys(filter(None, map(image, record.ground_truth_ids)))  # "" pads a list
    counts["hidden"] += not targets
    return CircledSession(
        record.session_id, record.subset, tuple(targets),
        tuple(CircledTurn(image(turn.reference_image_id), turn.relative_caption) for turn in record.turns),
    )


def _of_coco(subset: str) -> bool:
    return subset.startswith("circo")


def _is_coco(image_id: str) -> bool:
    """COCO's numbers have six digits at most; FashionIQ has ids of ten digits and no letter."""
    return image_id.isdecimal() and len(image_id) <= 6


def _notes(counts: Counter[str]) -> Iterator[str]:
    if counts["turns"]:
        yield f"{counts['turns']} sessions have a num_turns that is not the number of their turns, which counts."
    if counts["jpg"]:
        yield f"{counts['jpg']} image ids of CIRCO had .jpg behind them, which is cut off."
    if counts["success"]:
        yield f"{counts['success']} sessions of the raw file did not reach their target; they are included."
    if counts["texts"]:
        yield f"{counts['texts']} sessions have a turn without text; they are included."
    if counts["hidden"]:
        yield f"{counts['hidden']} sessions name no target: they can be searched, not scored."
