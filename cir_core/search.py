"""One turn of multi-turn composed image retrieval, over one gallery, without a database.

Turn 1 is CIReVL: caption the reference, merge the modification text, encode, rank by
cosine. From turn 2 on the query is CIRCLED's eq. 9. :class:`Searcher` holds no state of a
session; everything a turn depends on comes in, everything it found goes out.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from PIL import Image

from cir_core.encoders.base import Encoder
from cir_core.errors import SearchError
from cir_core.gallery import Gallery
from cir_core.index import FlatIndex
from cir_core.language.base import LanguageModel
from cir_core.methods.captions_edit import merge_and_encode
from cir_core.methods.feedback import IMAGE, TEXT, ComposedQuery, compose, update_query
from cir_core.types import Hit, Matrix, MethodSettings, Turn, Vector

MAX_TEXT = 1000
# Marks that reorder the text around them: stored, they would garble every list that shows it.
_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True)
class Reference:
    """A reference image as the searcher needs it. ``features`` is its unit vector."""

    image_id: str
    features: Vector
    image: Image.Image | None = None
    known_caption: str | None = None
    cached_caption: str | None = None


@dataclass(frozen=True)
class Previous:
    """What the next turn needs of the turn before: its query and what the person saw."""

    vector: Vector
    hits: tuple[Hit, ...]
    references: tuple[str, ...]  # of all turns so far, the first one first

    @classmethod
    def of(cls, path: Sequence[Turn]) -> Previous | None:
        """From the turns of a branch, in order; None before the first turn."""
        if not path:
            return None
        return cls(path[-1].vector, path[-1].hits, tuple(turn.reference_id for turn in path))


@dataclass(frozen=True)
class Found:
    """The outcome of one turn (see :class:`~cir_core.types.Turn` for the fields)."""

    caption: str
    merged_text: str
    notes: tuple[str, ...]
    vector: Vector
    hits: tuple[Hit, ...]
    excluded_ids: tuple[str, ...]
    target_rank: int | None
    timings_ms: dict[str, float]


class Searcher:
    """Composed retrieval over one gallery with one encoder and one language model.

    ``within`` limits what is ranked to those images of the gallery, in gallery order:
    FashionIQ, for one, ranks each category by itself. References may come from outside.
    """

    def __init__(
        self, gallery: Gallery, encoder: Encoder, language: LanguageModel,
        *, within: Collection[str] | None = None,
    ) -> None:
        gallery.check_encoder(encoder)
        self.gallery = gallery
        self.encoder = encoder
        self.language = language
        if within is None:
            self.index = FlatIndex(gallery.features, gallery.ids)
        else:
            rows = sorted(gallery.row_of(image_id) for image_id in within)
            self.index = FlatIndex(gallery.features[rows], [gallery.ids[row] for row in rows])

    def features_of(self, image_ids: Sequence[str]) -> Matrix:
        """``[n, dim]`` stored vectors of gallery images."""
        rows = [self.gallery.row_of(image_id) for image_id in image_ids]
        return np.asarray(self.gallery.features[rows], dtype=np.float32)

    def gallery_reference(self, image_id: str, cached_caption: str | None = None) -> Reference:
        """A gallery image as reference. No pixels are decoded: its vector is stored."""
        return Reference(
            image_id, self.features_of([image_id])[0],
            known_caption=self.gallery.caption_of(image_id), cached_caption=cached_caption,
        )

    def turn(
        self, reference: Reference, text: str, method: MethodSettings, *,
        previous: Previous | None = None, k: int = 60, target_id: str | None = None,
    ) -> Found:
        """Run one turn. ``previous`` is None for the first one.

        Raises:
            SearchError: empty or overlong text, k out of range.
        """
        text = clean_text(text, required=method.base != "image-only")
        if not 1 <= k <= 1000:
            raise SearchError(f"k is {k}; ask for 1 to 1000 results.")

        base, merged = self._base_query(reference, text, method)
        base_name = IMAGE if method.base == "image-only" else TEXT
        if previous is None:
            query = compose({base_name: base})
        else:
            query = self._continue(previous, reference, base, base_name, method)
        if not np.any(query.vector):
            raise SearchError("The query cancels out to nothing. Choose smaller weights or another image.")

        started = perf_counter()
        excluded = self._excluded(reference, previous, method)
        hits = self._with_ledger(self.index.search(query.vector, k, exclude=excluded), query)
        merged.timings_ms["search"] = (perf_counter() - started) * 1000

        target_rank = None
        if target_id is not None:
            # A target that was itself picked as reference is still looked for.
            hidden = [image_id for image_id in excluded if image_id != target_id]
            target_rank = self.index.rank_of(query.vector, target_id, exclude=hidden)
        return Found(
            merged.caption, merged.merged, merged.notes, query.vector, hits, excluded,
            target_rank, merged.timings_ms,
        )

    def _base_query(self, reference: Reference, text: str, method: MethodSettings) -> tuple[Vector, _Text]:
        if method.base == "image-only":
            return reference.features, _Text("", "", (), {})
        if method.base == "text-only":
            started = perf_counter()
            vector = self.encoder.encode_texts([text])[0]
            return vector, _Text("", text, (), {"encode text": (perf_counter() - started) * 1000})
        merged = merge_and_encode(
            self.language, self.encoder, text=text, image=reference.image, features=reference.features,
            known_caption=reference.known_caption, cached_caption=reference.cached_caption,
        )
        return merged.vector, _Text(merged.caption, merged.merged, merged.notes, merged.timings_ms)

    def _continue(
        self, previous: Previous, reference: Reference, base: Vector, base_name: str, method: MethodSettings
    ) -> ComposedQuery:
        seen = [hit.image_id for hit in previous.hits[: method.feedback_depth]]
        others = [image_id for image_id in seen if image_id != reference.image_id]
        return update_query(
            previous.vector, reference.features, self.features_of(others), base,
            alpha=method.alpha, beta=method.beta, gamma=method.gamma, text_name=base_name,
        )

    def _excluded(
        self, reference: Reference, previous: Previous | None, method: MethodSettings
    ) -> tuple[str, ...]:
        if method.exclude == "none":
            return ()
        ids = [reference.image_id]
        if method.exclude == "history" and previous is not None:
            ids = [*previous.references, *ids]
        return tuple(dict.fromkeys(image_id for image_id in ids if image_id in self.gallery))

    def _with_ledger(self, hits: Sequence[Hit], query: ComposedQuery) -> tuple[Hit, ...]:
        if not hits:
            return ()
        features = self.features_of([hit.image_id for hit in hits])
        names = list(query.terms)
        parts = features @ np.stack([query.terms[name] for name in names]).T  # [hits, terms]
        return tuple(
            Hit(hit.image_id, hit.score, hit.rank,
                tuple(zip(names, map(float, row), strict=True)))
            for hit, row in zip(hits, parts, strict=True)
        )


@dataclass(frozen=True)
class _Text:
    caption: str
    merged: str
    notes: tuple[str, ...]
    timings_ms: dict[str, float]


def clean_text(text: str, *, required: bool = True) -> str:
    """The text as it is searched and stored: NFC, one line, no control characters."""
    text = unicodedata.normalize("NFC", text or "")
    text = "".join(" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text if c not in _BIDI)
    text = " ".join(text.encode("utf-8", "replace").decode().split())
    if all(unicodedata.category(c) in ("Cf", "Zs") for c in text):  # joiners and spaces alone show nothing
        text = ""
    if required and not text:
        raise SearchError("Say what should be different, for example “in red, with long sleeves”.")
    if len(text) > MAX_TEXT:
        raise SearchError(f"The text has {len(text)} characters; {MAX_TEXT} is the most. Shorten it.")
    return text
