"""One turn of multi-turn composed image retrieval, over one gallery, without a database.

A method has three steps, each optional: a base computes the turn's vector and
combines it with previous turns, a refiner (CoRR) moves it, a reranker
(SoFT) rescores the gallery. :class:`Searcher` is stateless: everything a
turn depends on is passed in, everything it finds is returned.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from cir_core.encoders.base import Encoder
from cir_core.errors import LanguageModelError, SearchError
from cir_core.gallery.gallery import Gallery
from cir_core.index.flat import FlatIndex
from cir_core.language.base import LanguageModel
from cir_core.language.tasks import CaptionAnswer, Domain, Picture
from cir_core.methods.base_query import BaseQuery, base_queries, words_of
from cir_core.methods.constraints import ask_constraints
from cir_core.methods.feedback import ComposedQuery
from cir_core.methods.observer import TurnObserver
from cir_core.methods.references import Previous as Previous
from cir_core.methods.references import Reference as Reference
from cir_core.methods.references import check_marks, excluded_ids
from cir_core.methods.reflection import Looking, reflect
from cir_core.methods.soft_filter import soft_score
from cir_core.methods.timings import StageTimer
from cir_core.search.adjusting import adjusted
from cir_core.search.captioning import Captioner
from cir_core.search.prepare import Composed, PreparedTurn, apply_history
from cir_core.search.protocol import make_card
from cir_core.search.ranking import Ranked, rank
from cir_core.search.result import TurnResult as TurnResult
from cir_core.search.text_vectors import TextVectors
from cir_core.support.texts import MAX_TEXT as MAX_TEXT
from cir_core.support.texts import clean_text as clean_text
from cir_core.types.composition import Adjustment, Composition, Constraints, Marks, ReflectionRound
from cir_core.types.records import Matrix, MethodSettings, ProtocolCard, Vector


class StoredCaptions(Protocol):
    """Captions built for a gallery in advance (``cirque captions build``)."""

    @property
    def digest(self) -> str: ...

    def caption_of(self, image_id: str) -> str | None: ...


class Searcher:
    """Composed retrieval over one gallery with one encoder and one language model.

    ``within`` limits ranking to those images of the gallery: FashionIQ, for one, ranks
    each category separately. The order of a sequence decides ties, by default the
    gallery's. References may come from outside.
    """

    def __init__(
        self, gallery: Gallery, encoder: Encoder, language: LanguageModel,
        *, within: Collection[str] | None = None, domain: Domain = "garment",
        captions: StoredCaptions | None = None, captions_problem: str = "",
    ) -> None:
        gallery.check_encoder(encoder)
        self.gallery = gallery
        self.encoder = encoder
        self.language = language
        self.domain = domain
        self.captions = captions
        self.captions_problem = captions_problem  # why existing captions cannot be read
        self._captioner = Captioner(language, domain)
        self._texts = TextVectors(encoder)
        if within is None:
            self.index = FlatIndex(gallery.features, gallery.ids)
        else:
            rows = [gallery.row_of(image_id) for image_id in dict.fromkeys(within)]
            if not isinstance(within, Sequence):
                rows.sort()
            # Features of the whole gallery in its own order stay memory-mapped.
            features = gallery.features if rows == list(range(len(gallery))) else gallery.features[rows]
            self.index = FlatIndex(features, [gallery.ids[row] for row in rows])

    def card(self, method: MethodSettings) -> ProtocolCard:
        """The protocol card of searches with ``method``."""
        read = self.captions.digest if self.captions and method.reflection else ""
        return make_card(
            gallery=self.gallery.name, gallery_size=len(self.gallery), gallery_digest=self.gallery.digest,
            split=self.gallery.split, encoder=self.encoder.identity, language_model=self.language.name,
            method=method, captions=read, domain=self.domain,
        )

    def features_of(self, image_ids: Sequence[str]) -> Matrix:
        """``[n, dim]`` stored vectors of gallery images."""
        rows = [self.gallery.row_of(image_id) for image_id in image_ids]
        return np.asarray(self.gallery.features[rows], dtype=np.float32)

    def text_vector(self, text: str) -> Vector:
        """``[dim]`` of a text, unmodified, cached."""
        vector: Vector = self._texts.encode_texts([text])[0]
        return vector

    def picture_of(self, image_id: str) -> Picture:
        """A gallery image for a language model; its pixels are decoded on demand."""
        image = self.gallery.image(self.gallery.row_of(image_id))
        return Picture(
            image.caption, image.sha256, self.features_of([image_id])[0],
            lambda: self.gallery.load_for_encoder(image_id),
        )

    def gallery_reference(self, image_id: str) -> Reference:
        """A gallery image as reference."""
        picture = self.picture_of(image_id)
        return Reference(image_id, self.features_of([image_id])[0], picture)

    def stored_captions(self, image_ids: Sequence[str]) -> tuple[str, ...]:
        """Known captions of these images: optimised ones, then those of the manifest, then those of a
        model that needs no pixels; "" for an image without one, () if all lack one."""
        captions = tuple(self._stored_caption(image_id) for image_id in image_ids)
        return captions if any(captions) else ()

    def _stored_caption(self, image_id: str) -> str:
        optimised = self.captions.caption_of(image_id) if self.captions else None
        known = optimised or self.gallery.caption_of(image_id)
        if known or self.language.sees:
            return known or ""
        try:
            return self._captioner.caption(image_id, self.picture_of(image_id)).caption
        except LanguageModelError:
            return ""

    def turn(
        self, reference: Reference, text: str, method: MethodSettings, *, previous: Previous | None = None,
        marks: Marks = Marks(), k: int = 60, target_id: str | None = None, watch: TurnObserver | None = None,
    ) -> TurnResult:
        """Run one turn. ``previous`` is None for the first one; ``marks`` refer to its hits.

        Raises:
            SearchError: empty or overlong text, k out of range, contradictory marks.
            LanguageModelError, EncoderUnavailable: the base cannot be computed.
        """
        text = clean_text(text, required=method.base != "image-only")
        _check_k(k)
        made = self.compose(reference, text, method, previous=previous, marks=marks, watch=watch)
        ranked = self._rank(made.query, made.composition, k, made.excluded, target_id, made.stages)
        return TurnResult(
            made.caption, made.merged, made.notes, made.query.vector, ranked.hits, made.excluded,
            ranked.target_rank, made.stages.milliseconds, made.composition,
        )

    def compose(
        self, reference: Reference, text: str, method: MethodSettings, *, previous: Previous | None = None,
        marks: Marks = Marks(), watch: TurnObserver | None = None,
    ) -> Composed:
        """:meth:`turn` without its last step, the ranking. The text may be empty: then the
        reference alone is the query. Raises as :meth:`turn` does."""
        if previous is not None:
            check_marks(self.gallery, reference, marks)
        asked = self.prepare(reference, text, method, watch=watch)
        [base] = self.encode_bases([asked], method, asked.stages)
        return self.finish_query(asked, base, method, previous=previous, marks=marks)

    def prepare(
        self, reference: Reference, text: str, method: MethodSettings, *, watch: TurnObserver | None = None
    ) -> PreparedTurn:
        """First part of :meth:`compose`: the language model calls of the base."""
        text = clean_text(text, required=False)
        stages = StageTimer(watch)
        caption = self.caption(reference, method, stages)
        words = words_of(text, method, language=self.language, caption=caption, domain=self.domain, stages=stages)
        return PreparedTurn(reference, text, caption, words, stages)

    def encode_bases(self, asked: Sequence[PreparedTurn], method: MethodSettings,
              stages: StageTimer | None = None) -> list[BaseQuery]:
        """Second part of :meth:`compose`, for several turns: one encoder batch, whose time is
        recorded in ``stages``."""
        return base_queries([one.reference for one in asked], [one.words for one in asked], method,
                            encoder=self.encoder, stages=stages or StageTimer())

    def finish_query(
        self, asked: PreparedTurn, base: BaseQuery, method: MethodSettings, *, previous: Previous | None = None,
        marks: Marks = Marks(),
    ) -> Composed:
        """Last part of :meth:`compose`: history, SoFT constraints, and the rounds of reflection."""
        reference, text, caption, stages = asked.reference, asked.text, asked.caption, asked.stages
        start = apply_history(base, reference, previous, marks, method, self.features_of)
        if not np.any(start.vector):
            raise SearchError("The terms of the query cancel out. Choose smaller weights or another image.")
        excluded = excluded_ids(self.gallery, reference, previous, method.exclude)

        query, notes = start, [*(caption.notes if caption else ()), *base.notes]
        if marks and (previous is None or method.history != "feedback"):
            marks = Marks()
            notes.append("the marks were not used: only feedback (eq. 9) of a later turn uses them")
        constraints = None
        if method.soft_filter is not None:  # before the rounds, so that stopping them leaves the filter
            constraints, more = ask_constraints(self.language, reference, asked.said, text, self.domain, stages)
            notes += more
        rounds: tuple[ReflectionRound, ...] = ()
        if method.reflection is not None:
            if self.captions_problem and method.reflection.fusion != "pseudo-feedback":
                notes.append(self.captions_problem)
            query, rounds, more = reflect(
                start, method.reflection, reference=reference, caption=asked.said, text=text, merged=base.merged,
                looking=self._looking(excluded), encoder=self.encoder, language=self.language, domain=self.domain,
                stages=stages,
            )
            notes += more
        composition = Composition(
            base.vector, tuple(start.terms.items()), rounds, marks, constraints,
            method.soft_filter, stages.watch.usage,
        )
        return Composed(asked.said, base.merged, tuple(dict.fromkeys(notes)), query, composition, excluded, stages)

    def adjust(
        self, found: TurnResult, method: MethodSettings, adjustment: Adjustment, *, k: int = 60,
        target_id: str | None = None,
    ) -> TurnResult:
        """``found`` with other constraints, another λ or other rounds, without a language model
        call. Raises ``SearchError`` for invalid chips, λ, text or k."""
        _check_k(k)
        stages = StageTimer()
        query, composition, notes = adjusted(found, method, adjustment, self.encoder, stages)
        ranked = self._rank(query, composition, k, found.excluded_ids, target_id, stages)
        return replace(
            found, vector=query.vector, notes=notes, hits=ranked.hits, target_rank=ranked.target_rank,
            timings_ms=stages.milliseconds, composition=composition,
        )

    def needs_caption(self, method: MethodSettings) -> bool:
        """Whether the reference has to be captioned."""
        if method.base == "cirevl":
            return True
        reflects = method.reflection is not None and method.reflection.fusion != "pseudo-feedback"
        # A vision model uses the image itself for reflection and filtering.
        return not self.language.sees and (reflects or method.soft_filter is not None)

    def caption(self, reference: Reference, method: MethodSettings, stages: StageTimer) -> CaptionAnswer | None:
        """Caption of the reference; None if ``method`` needs none. Raises ``LanguageModelError``."""
        if not self.needs_caption(method):
            return None
        with stages("caption"):
            return self._captioner.caption(reference.image_id, reference.picture, stages.watch)

    def _rank(
        self, query: ComposedQuery, composition: Composition, k: int, excluded: Sequence[str],
        target_id: str | None, stages: StageTimer,
    ) -> Ranked:
        soft = None
        if composition.soft_filter is not None:
            with stages("encode constraints"):
                soft = soft_score(query.vector, composition.constraints or Constraints(), composition.soft_filter,
                                  self._texts)
        with stages("search"):
            return rank(self.index, self.features_of, query, soft=soft, k=k, excluded=excluded, target_id=target_id)

    def _looking(self, excluded: Sequence[str]) -> Looking:
        return Looking(
            best=lambda vector, k: self.index.search(vector, k, exclude=excluded),
            features=self.features_of, picture=self.picture_of, captions=self.stored_captions,
        )


def _check_k(k: int) -> None:
    if not 1 <= k <= 1000:
        raise SearchError(f"k is {k}; ask for 1 to 1000 results.")
