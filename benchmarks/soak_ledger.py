"""Client-side ledger of acknowledged writes, and its comparison with the database.

Each client appends to a separate file, a line for each acknowledgement, before it continues. At the end all lines
are compared with the database. A line has a digest of the data sent: a stored answer with other contents
is *changed*, a missing one *lost*, one stored twice, or never sent, *doubled*.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from benchmarks.own_settings import settings_of
from benchmarks.soak_database import described

What = Literal["answer", "draft", "turn", "upload", "interrupted"]


@dataclass(frozen=True)
class Line:
    """``key`` is a global name of the stored record: annotator and token, a turn's id, an upload's."""

    what: What
    key: str
    digest: str = ""
    revision: int = 0
    place: str = ""       # the item, or the session


class Ledger:
    """Ledger file of one client."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8")

    def write(self, line: Line) -> None:
        self._file.write(json.dumps(asdict(line)) + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def read_ledgers(folder: Path) -> list[Line]:
    paths = sorted(folder.glob("*.jsonl"))
    return [Line(**json.loads(row)) for path in paths for row in path.read_text("utf-8").splitlines()]


def digest_of(content: object) -> str:
    """Equal for equal JSON."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Stored:
    """Contents of a database, in the ledger's format."""

    lines: Sequence[Line]
    faults: Sequence[str] = ()      # of the database itself
    database: str = ""              # its description


@dataclass
class Verdict:
    """``cut_off``: stored turns whose response was never received, at most one per interrupted
    search. More of them count as doubled."""

    acknowledged: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    cut_off: int = 0

    @property
    def sound(self) -> bool:
        return not (self.lost or self.doubled or self.changed or self.faults)


def compare(ledger: Iterable[Line], stored: Stored) -> Verdict:
    """Compare acknowledged with stored records."""
    verdict = Verdict(faults=list(stored.faults))
    told: dict[tuple[str, str], Line] = {}
    interrupted = 0
    for line in ledger:
        if line.what == "interrupted":
            interrupted += 1
            continue
        before = told.setdefault((line.what, line.key), line)
        if before != line:
            verdict.changed.append(f"{line.what} {line.key} was acknowledged as {before} and as {line}")
    verdict.acknowledged.update(what for what, _ in told)
    kept: dict[tuple[str, str], list[Line]] = {}
    for line in stored.lines:
        kept.setdefault((line.what, line.key), []).append(line)
    for name, line in told.items():
        found = kept.get(name, [])
        if not found:
            verdict.lost.append(f"{line.what} {line.key}")
        elif len(found) > 1:
            verdict.doubled.append(f"{line.what} {line.key}, {len(found)} times")
        elif found[0] != line:
            verdict.changed.append(f"{line.what} {line.key}: sent {line}, kept {found[0]}")
    unknown = [name for name in kept if name not in told]
    turns = [name for name in unknown if name[0] == "turn"]
    verdict.cut_off = min(len(turns), interrupted)
    verdict.doubled += [f"{what} {key}, which nobody was told of" for what, key in unknown
                        if what == "answer"] + [f"turn {key}" for _, key in turns[interrupted:]]
    return verdict


def stored_in(home: Path, database: str = "") -> Stored:
    """Contents of ``database`` (none: the file in ``home``) and the folders of ``home``."""
    from sqlalchemy import select

    from annotation.kinds.preference.answers import as_shown
    from cir_core.images.uploads import UploadFolder
    from storage.backups.integrity import inspect_database
    from storage.engine.database import reading
    from storage.mapping import tables
    from storage.opening import open_home_database
    from storage.stores import open_stores

    settings = settings_of(home, database_url=database)
    stores, lines = open_stores(settings), []
    for study in stores.studies.studies():
        extra: Mapping[tuple[str, str], Mapping[str, Any]] = {
            (one.item_id, one.annotator): one.extra for one in stores.studies.assignments(study.study_id)}
        for one in stores.studies.judgements(study.study_id, history=True):
            answer = (as_shown(one.answer, extra[one.item_id, one.annotator]) if study.kind == "preference"
                      else one.answer)
            lines.append(Line("answer", f"{one.annotator}/{one.token}", digest_of(answer), one.revision, one.item_id))
        for name in {seat.annotator for seat in stores.studies.seats(study.study_id)} - {None}:
            lines += [Line("draft", f"{name}/{draft.item_id}", digest_of(draft.answer["note"]))
                      for draft, _ in stores.studies.drafts(study.study_id, str(name))]
    for summary in stores.sessions.sessions(1_000_000):
        lines += [Line("turn", turn.turn_id, digest_of([[hit.image_id, hit.rank] for hit in turn.hits]),
                       place=summary.session_id) for turn in stores.sessions.session(summary.session_id).turns]
    stores.close()
    engine, _ = open_home_database(settings)
    uploads = UploadFolder(settings.uploads, max_megapixels=settings.max_image_megapixels)
    with reading(engine) as connection:
        for upload_id, in connection.execute(select(tables.uploads.c.upload_id)):
            lines.append(Line("upload", upload_id, hashlib.sha256(uploads.load(upload_id).tobytes()).hexdigest()[:24]))
    faults, name = inspect_database(engine).faults, described(engine)
    engine.dispose()
    return Stored(lines, faults, name)
