"""Shared records, frozen and plain, without behaviour beyond look-ups; opaque ids.

Ranks start at 1. Scores are cosines (inner products of unit vectors) unless a record
says otherwise. Ids are opaque strings.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from cir_core.types.composition import Composition
from cir_core.types.methods import DOMAINS as DOMAINS
from cir_core.types.methods import Domain as Domain
from cir_core.types.methods import Exclude as Exclude
from cir_core.types.methods import MethodSettings as MethodSettings
from cir_core.types.methods import Reflection as Reflection
from cir_core.types.methods import SoftFilter as SoftFilter
from cir_core.types.vectors import Matrix as Matrix
from cir_core.types.vectors import Vector as Vector

UPLOAD_PREFIX = "upload:"
"""Reference ids of images that are not in the gallery: ``upload:<sha256, 32 hex>``."""


@dataclass(frozen=True)
class EncoderIdentity:
    """Identity of an encoder; vectors are comparable only if it is equal."""

    spec: str       # how to load it again: "atelier", "ViT-B-32/openai", "local-dir:…"
    revision: str   # 16 hex digits of a hash over weights, architecture and preprocessing
    dim: int


@dataclass(frozen=True)
class Hit:
    """One image of a ranked list; ``parts`` add up to ``score`` (empty if not requested)."""

    image_id: str
    score: float
    rank: int
    parts: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class ProtocolCard:
    """Everything a number or a result list depends on. ``digest`` is a hash of it."""

    gallery: str
    gallery_size: int
    gallery_digest: str
    split: str
    encoder: EncoderIdentity
    language_model: str
    method: MethodSettings
    caption_mode: str   # "single": the text as typed; "joined": FashionIQ's two captions with " and "
    tie_rule: str       # "score, then gallery order"
    seed: int | None
    version: str        # cirque's own
    digest: str         # 16 hex digits
    scope: str = "whole gallery"   # what a query is ranked against, e.g. "each category separately"
    max_turns: int | None = None   # longest session of an evaluation; its AUC depends on it
    captions: str = ""             # 16 hex of the gallery's optimised captions, if it has any
    domain: str = "garment"        # what prompts say the images show
    stand_ins: tuple[str, ...] = ()  # language models that answered for one that was unavailable
    relevance: str = ""            # revision of the relevance model, if the method uses one
    index: str = ""                # the approximate index that lists came from, if they did


@dataclass(frozen=True)
class Turn:
    """One search turn. Never changed after it is stored. ``vector`` is the query after this turn, unit length; the next
    turn builds on it. ``hits`` are the best of the gallery without ``excluded_ids``."""

    turn_id: str
    session_id: str
    branch_id: str
    parent_id: str | None
    number: int                      # depth in the tree, the first turn is 1
    reference_id: str
    modification_text: str
    caption: str                     # the language model's caption of the reference
    merged_text: str                 # the description that was encoded
    notes: tuple[str, ...]           # remarks on this turn for the user
    vector: Vector = field(compare=False, repr=False)
    hits: tuple[Hit, ...] = field(repr=False)
    excluded_ids: tuple[str, ...]
    target_rank: int | None          # in the gallery without excluded_ids; None without a target
    timings_ms: Mapping[str, float]  # stage → milliseconds
    protocol_digest: str
    created_at: datetime
    composition: Composition | None = None  # None in turns stored before it was recorded

    @property
    def further(self) -> tuple[str, ...]:
        """References beside ``reference_id``."""
        return self.composition.further if self.composition else ()

    def rank_of(self, image_id: str) -> int | None:
        return next((hit.rank for hit in self.hits if hit.image_id == image_id), None)


@dataclass(frozen=True)
class Branch:
    """A line of turns. A turn on a tip continues its branch, any other starts a new one."""

    branch_id: str
    session_id: str
    number: int      # 1 for the first branch of a session
    name: str        # "" until the user names it


@dataclass(frozen=True)
class Thumb:
    """A person's own judgement of an image among a turn's results: ``up``, "this is what I asked for", or not. It
    changes no ranking. ``person``: the account's name, or without accounts a random id of the browser."""

    turn_id: str
    image_id: str
    person: str
    up: bool
    created_at: datetime


@dataclass(frozen=True)
class SearchSession:
    """A tree of turns over one gallery. Immutable: the store returns a new one."""

    session_id: str
    gallery: str
    method: MethodSettings
    protocol: ProtocolCard
    target_id: str | None = None     # find-a-target mode: the image to find
    target_live: bool = False        # show its rank after each turn, not only at the end
    target_revealed: bool = False    # found or given up: ranks are shown
    title: str = ""
    created_at: datetime | None = None
    branches: tuple[Branch, ...] = ()
    turns: tuple[Turn, ...] = ()     # in the order they were created
    thumbs: tuple[Thumb, ...] = ()   # of each person at most one for an image of a turn, oldest first

    def turn(self, turn_id: str) -> Turn | None:
        return next((t for t in self.turns if t.turn_id == turn_id), None)

    def path_to(self, turn_id: str) -> tuple[Turn, ...]:
        """Turns from the first one to ``turn_id``, in order. Empty if unknown."""
        by_id = {t.turn_id: t for t in self.turns}
        path: list[Turn] = []
        current = by_id.get(turn_id)
        while current is not None:
            path.append(current)
            current = by_id.get(current.parent_id) if current.parent_id else None
        return tuple(reversed(path))

    def tip_of(self, branch_id: str) -> Turn | None:
        """The last turn of a branch."""
        return next((t for t in reversed(self.turns) if t.branch_id == branch_id), None)

    def thumbs_of(self, turn_id: str) -> tuple[Thumb, ...]:
        return tuple(thumb for thumb in self.thumbs if thumb.turn_id == turn_id)

    @property
    def latest(self) -> Turn | None:
        return self.turns[-1] if self.turns else None


_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford base 32: no i, l, o, u


def new_id(length: int = 16) -> str:
    """A random id for URLs: 5 bits per character, no ambiguous letters."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))
