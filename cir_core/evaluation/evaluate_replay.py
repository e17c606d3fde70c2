"""Replay fixed sessions under a method, and CIRCLED's figures with intervals. Sessions with fixed references and
texts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from cir_core.encoders.base import Encoder
from cir_core.evaluation.evaluate_single import Progress, looks_at, rank_of_target, without_exclusions
from cir_core.evaluation.metrics.bootstrap import MeanEstimate, share_estimates
from cir_core.evaluation.metrics.multi_turn import session_values
from cir_core.methods.declared import Method
from cir_core.search.searcher import Previous, Searcher
from cir_core.types.composition import Usage
from cir_core.types.records import Matrix, MethodSettings, ProtocolCard

if TYPE_CHECKING:
    from PIL import Image

@dataclass(frozen=True)
class FixedTurn:
    reference_id: str
    text: str


@dataclass(frozen=True)
class FixedSession:
    category: str
    target_id: str
    turns: tuple[FixedTurn, ...]


def digest_of(sessions: Sequence[FixedSession]) -> str:
    """16 hex digits over the content of the sessions."""
    text = json.dumps([asdict(session) for session in sessions], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


SessionKind = Literal["neutral", "built"]


@dataclass(frozen=True)
class SessionScores:
    """``ranks`` holds the target's rank after each turn of each session, in the order of the
    set. ``measures``: "Hits@10(1)" …, "Final R@10" and "AUC", means over sessions, as shares."""

    method: str
    title: str
    protocol: ProtocolCard
    ranks: Sequence[Sequence[int]] = field(repr=False)
    measures: Mapping[str, MeanEstimate]
    usage: Usage = Usage()


@dataclass(frozen=True)
class SessionSet:
    """``longest`` is CIRCLED's L_max, which the AUC depends on."""

    kind: SessionKind
    sessions: Sequence[FixedSession] = field(repr=False)
    longest: int
    digest: str

    @classmethod
    def of(cls, kind: SessionKind, sessions: Sequence[FixedSession]) -> SessionSet:
        return cls(kind, tuple(sessions), max(len(one.turns) for one in sessions), digest_of(sessions))

    @property
    def measures(self) -> tuple[str, ...]:
        return (*(f"Hits@10({turn})" for turn in range(1, self.longest + 1)), "Final R@10", "AUC")


def score_sessions(
    method: Method, fixed: SessionSet, searchers: Mapping[str, Searcher], card: ProtocolCard, *,
    seed: int, progress: Progress | None = None,
) -> SessionScores:
    """Run every session of the set. ``searchers`` by category."""
    settings = without_exclusions(method)
    ranks, usage = list[list[int]](), Usage()
    for done, session in enumerate(fixed.sessions, start=1):
        of_turns, spent = replay(searchers[session.category], session, settings)
        ranks.append(of_turns)
        usage += spent
        if progress:
            progress(f"{method.title}, {fixed.kind} sessions", done, len(fixed.sessions))
    found = share_estimates([session_values(ranks, fixed.longest)], seed=seed)
    measures = dict(zip(fixed.measures, found, strict=True))
    return SessionScores(method.name, method.title, card, ranks, measures, usage)


def replay(searcher: Searcher, session: FixedSession, settings: MethodSettings) -> tuple[list[int], Usage]:
    """The target's rank after each turn of ``session``. The state carried over from the previous
    turn (hits, query, vectors) is the method's own; reference and text are the session's."""
    previous: Previous | None = None
    ranks, usage = list[int](), Usage()
    for turn in session.turns:
        found = searcher.turn(
            searcher.gallery_reference(turn.reference_id), turn.text, settings, previous=previous,
            k=looks_at(settings), target_id=session.target_id,
        )
        ranks.append(rank_of_target(found, session.target_id))
        usage += found.composition.usage
        previous = Previous.after(previous, [turn.reference_id], found.vector, found.hits, found.composition)
    return ranks, usage


class RememberingEncoder:
    """Encoder with a cache of texts, and of images composed with texts. Over fixed sessions most methods encode the
    same ones."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._known: dict[tuple[Hashable, ...], Matrix] = {}

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._encoder, name)
        return partial(self._composed, found) if name == "encode_composed" else found

    def _composed(
        self, encode: Callable[[Sequence[Image.Image], Sequence[str]], Matrix], images: Sequence[Image.Image],
        texts: Sequence[str],
    ) -> Matrix:
        content = (hashlib.sha256(f"{one.mode} {one.size} ".encode() + one.tobytes()).digest() for one in images)
        key = (*content, *texts)
        if key not in self._known:
            self._known[key] = encode(images, texts)
        return self._known[key]

    def encode_texts(self, texts: Sequence[str]) -> Matrix:
        key: tuple[Hashable, ...] = tuple(texts)
        if key not in self._known:
            self._known[key] = self._encoder.encode_texts(texts)
        return self._known[key]

    def forget(self) -> None:
        """Drop everything encoded so far."""
        self._known.clear()
