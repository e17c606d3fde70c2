"""Sources of sessions, and a sample of them that is stratified by source and subset.

CIRCLED compares about sixty sessions of each subset of each source (section 5.3).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cir_core.construct.describe.sets import SubsetSessions
from cir_core.datasets.readers.circled import CircledSession

SAMPLE = 60


@dataclass(frozen=True)
class Source:
    """Where sessions come from, e.g. "circled" or "unfiltered"."""

    name: str
    subsets: tuple[SubsetSessions, ...]

    @property
    def digest(self) -> str:
        """16 hex digits over the content of the sessions."""
        found = hashlib.sha256()
        for subset in self.subsets:
            for session in subset.sessions:
                found.update(_bytes([session.session_id, *_content(session)]))
        return found.hexdigest()[:16]


@dataclass(frozen=True)
class SampledSession:
    source: str
    session: CircledSession


def sources_as_json(sources: Sequence[Source]) -> dict[str, dict[str, Any]]:
    """By name: the digest, and the number of sessions by subset."""
    return {one.name: {"digest": one.digest, "sessions": {part.name: len(part.sessions) for part in one.subsets}}
            for one in sources}


def draw_sample(sources: Sequence[Source], size: int, seed: int) -> tuple[SampledSession, ...]:
    """``size`` sessions of each subset of each source, or all of them where there are fewer; sources by name.

    They are drawn by a hash of ``seed`` and a session's content: neither other sources nor their order nor the order
    or the ids of the sessions change which ones, and a larger sample contains a smaller one. The first of each subset
    come first, so that a run that stops early has judged as many of each.
    """
    drawn = []
    for place, source in enumerate(sorted(sources, key=lambda one: one.name)):
        for subset in source.subsets:
            ordered = sorted(subset.sessions, key=lambda one: hashlib.sha256(_bytes([seed, *_content(one)])).digest())
            drawn += [(number, place, subset.name, SampledSession(source.name, session))
                      for number, session in enumerate(ordered[:size])]
    return tuple(one for *_, one in sorted(drawn, key=lambda one: one[:3]))


def content_digest(session: CircledSession) -> str:
    """16 hex digits over what a session says, whatever its id: files number their sessions by themselves."""
    return hashlib.sha256(_bytes(_content(session))).hexdigest()[:16]


def _content(session: CircledSession) -> list[Any]:
    return [session.subset, session.target_ids, [[turn.reference_id, turn.text] for turn in session.turns]]


def _bytes(content: Any) -> bytes:
    return json.dumps(content).encode()
