"""Common benchmark records: queries, and the images they are ranked against."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

CaptionMode = Literal["single", "joined", "clip4cir", "m-beir", "separate", "first"]
"""How a query's text is made from its captions: FashionIQ has two per query.

"single": there was one. "joined": "a and b". "clip4cir": stripped of ``.?, ``, the first one
capitalised, joined by " and ". "m-beir": joined by " and ", capitalised, a full stop.
"separate": each caption is a separate query (CIRCLED). "first": the first one only.
"""

ImagePaths = Callable[[str], Sequence[str]]
"""Image id to its possible paths in releases, relative to a root folder."""


@dataclass(frozen=True, slots=True)
class BenchmarkQuery:
    """One single-turn query.

    ``target_ids`` is () where a test split hides it. ``pool`` is its key in :attr:`Benchmark.pools`, ``excluded_ids``
    are removed before ranking (CIRR: the reference), ``subset_ids`` are CIRR's five candidates.
    """

    query_id: str
    reference_id: str
    modification_text: str
    target_ids: tuple[str, ...]
    caption_mode: CaptionMode = "single"
    pool: str = ""
    excluded_ids: tuple[str, ...] = ()
    subset_ids: tuple[str, ...] = ()
    aspects: tuple[str, ...] = ()   # CIRCO's semantic aspects
    captions: tuple[str, ...] = field(default=(), compare=False)    # as in the file, if the text is made of several


def group_of(pool: str) -> str:
    """What a pool counts with: the part of its name before a slash, which names a query's own pool
    ("focus_object/12"); else itself."""
    return pool.partition("/")[0]


def caption_mode_of(queries: Iterable[BenchmarkQuery]) -> str:
    """The queries' caption mode as in protocol and run cards; several are joined by "+"."""
    return "+".join(sorted({query.caption_mode for query in queries}))


@dataclass(frozen=True)
class Benchmark:
    """A data set's queries in file order. ``pools``: name to image ids in the order that decides
    ties; a pool that the files do not list is None and means the whole gallery."""

    kind: str                            # "fashioniq", "cirr", "circo", "mbeir", "lasco", "sample", …
    split: str
    queries: Sequence[BenchmarkQuery]
    pools: Mapping[str, Sequence[str] | None]
    image_paths: ImagePaths
    notes: tuple[str, ...] = ()          # remarks on these files for the user
    dataset: str = ""                    # own name if the kind is a format shared by many: M-BEIR's "cirr"
    lines: Mapping[str, int] = field(default_factory=dict)   # if lines were dropped: query id to its line, from 0
    boxes: Mapping[str, tuple[float, float, float, float]] = field(default_factory=dict)
    """Images that are cut out of those at their paths: id to left, top, width and height in pixels."""

    @property
    def name(self) -> str:
        """Kind, own name and split, as in "cirr-val" and "mbeir-cirr-test": its gallery's default name."""
        return "-".join(part for part in (self.kind, self.dataset.lower(), self.split) if part)

    @property
    def own_galleries(self) -> bool:
        """Whether each query is ranked among images of its own (GeneCIS)."""
        return any("/" in name for name in self.pools)

    def line_of(self, position: int) -> int:
        """The query's line in its file, from 0; CIRCUS's files refer to it."""
        return self.lines.get(self.queries[position].query_id, position)

    @property
    def image_ids(self) -> Sequence[str]:
        """Every image that is ranked or referenced, each once, pools first."""
        ids = dict.fromkeys(image_id for pool in self.pools.values() for image_id in pool or ())
        for query in self.queries:
            ids.setdefault(query.reference_id)
            ids.update(dict.fromkeys(query.target_ids))
        return tuple(ids)

    @cached_property
    def digest(self) -> str:
        """16 hex digits over queries and pools: two copies of the same release agree. ``dataset`` is not included."""
        sha = hashlib.sha256(f"{self.kind}\n{self.split}\n".encode())
        for query in self.queries:
            values = [getattr(query, one.name) for one in dataclasses.fields(query) if one.compare]
            sha.update(json.dumps(values, ensure_ascii=True).encode() + b"\n")
        for name, pool in self.pools.items():
            sha.update(f"{name}\n{'*' if pool is None else len(pool)}\n".encode())
            for image_id in pool or ():
                sha.update(image_id.encode() + b"\0")
        return sha.hexdigest()[:16]
