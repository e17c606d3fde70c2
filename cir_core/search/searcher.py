"""One turn of multi-turn composed image retrieval, over one gallery, without a database.

A base makes the turn's vector and joins it with the turns before; the method's steps, in the order of their table,
move that query or rescore the gallery. :class:`Searcher` holds no state of a session; everything a
turn depends on comes in, everything it found goes out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from cir_core.encoders.base import Encoder
from cir_core.errors import LanguageModelError, RelevanceUnavailable, SearchError
from cir_core.gallery.gallery import Gallery
from cir_core.gallery.integrity import damage_note
from cir_core.index.flat import FlatIndex
from cir_core.language.base import LanguageModel, Observer
from cir_core.language.readers.choosing import by_rules, reader_for, undescribed
from cir_core.language.readers.reader import RequestReader
from cir_core.language.several import one_caption
from cir_core.language.tasks import CaptionAnswer, Domain, Picture
from cir_core.methods.base_query import BaseQuery, base_queries, words_of
from cir_core.methods.feedback import ComposedQuery
from cir_core.methods.observer import StageTimer, TurnObserver
from cir_core.methods.references import Previous as Previous
from cir_core.methods.references import Reference as Reference
from cir_core.methods.references import check_marks, excluded_ids
from cir_core.methods.relevance import RelevanceScores, needs_relevance
from cir_core.methods.step import GalleryView, StepTurn
from cir_core.methods.steps import counts_marks, reads_captions, step_rerank, step_score, step_tasks, steps_of
from cir_core.relevance.configured import configured_scorer
from cir_core.search.adjusting import TurnResult as TurnResult
from cir_core.search.adjusting import adjusted
from cir_core.search.caches import Captioner, Descriptions, Marked, TextVectors
from cir_core.search.far_pictures import UNLIKE, FarPictures
from cir_core.search.prepare import Composed, PreparedTurn, apply_history
from cir_core.search.protocol import make_card
from cir_core.search.ranking import Ranked, rank
from cir_core.search.usual import Usual, foreign_share, instead_of, usual_for
from cir_core.support.texts import MAX_TEXT as MAX_TEXT
from cir_core.support.texts import clean_text as clean_text
from cir_core.types.composition import Adjustment, Composition, Constraints, Marks
from cir_core.types.records import Matrix, MethodSettings, ProtocolCard, Vector

_READ = 500   # images that say what a gallery shows


class StoredCaptions(Protocol):
    """Captions built for a gallery in advance (``cirque captions build``)."""

    @property
    def digest(self) -> str: ...

    def caption_of(self, image_id: str) -> str | None: ...


class Searcher:
    """Composed retrieval over one gallery with one encoder and one language model.

    ``within`` limits ranking to those images of the gallery: FashionIQ, for one, ranks
    each category separately. The order of a sequence decides ties, by default the
    gallery's. References may come from outside. ``index`` is the gallery's own
    (:func:`cir_core.index.stored.open_index`); without it search is exact, as evaluations need it.
    """

    def __init__(
        self, gallery: Gallery, encoder: Encoder, language: LanguageModel,
        *, within: Collection[str] | None = None, domain: Domain = "garment",
        captions: StoredCaptions | None = None, captions_problem: str = "",
        relevance: Callable[[Gallery], RelevanceScores] = configured_scorer, index: FlatIndex | None = None,
    ) -> None:
        gallery.check_encoder(encoder)
        self.gallery = gallery
        self.encoder = encoder
        self.language = language
        self.domain = domain
        self.captions = captions
        self.captions_problem = captions_problem  # why existing captions cannot be read
        self._relevance = relevance
        self._captioner = Captioner(language, domain)
        self.descriptions = Descriptions(gallery, encoder, domain)
        self._texts = TextVectors(encoder)
        self._unlike = Marked()
        self._far = FarPictures(gallery.features)
        if within is None:
            self.index = index or FlatIndex(gallery.features, gallery.ids)
        else:
            rows = [gallery.row_of(image_id) for image_id in dict.fromkeys(within)]
            if not isinstance(within, Sequence):
                rows.sort()
            # Features of the whole gallery in its own order stay memory-mapped.
            features = gallery.features if rows == list(range(len(gallery))) else gallery.features[rows]
            self.index = FlatIndex(features, [gallery.ids[row] for row in rows])

    @cached_property
    def usual(self) -> Usual:
        """The method that searches here begin with, and why if it is not the usual one."""
        return usual_for(self.gallery, self.encoder, self.language, self.domain)

    @cached_property
    def reader(self) -> RequestReader:
        """What reads the requests of this gallery."""
        return reader_for(self.domain, self.some_features(_READ), self.encoder)

    def some_features(self, most: int) -> Matrix:
        """``[n, dim]`` of at most so many images, spread over the gallery."""
        size = len(self.gallery)
        rows = np.unique(np.linspace(0, max(0, size - 1), min(size, most)).astype(np.intp))
        return np.asarray(self.gallery.features[rows], dtype=np.float32)

    @cached_property
    def foreign(self) -> float:
        """The share of the gallery's pictures that show something its encoder does not know."""
        return foreign_share(self.gallery, self.encoder)

    def unlike(self, image_ids: Sequence[str]) -> frozenset[str]:
        """Those of the gallery's ``image_ids`` that show something its encoder does not know. Each is read once."""
        return self._unlike.among(image_ids, lambda new: undescribed(self.features_of(new), self.encoder))

    def able(self, reference: Reference, method: MethodSettings) -> tuple[MethodSettings, tuple[str, ...]]:
        """``method``, or what stands in for it with this reference, with a note
        (:func:`cir_core.search.usual.instead_of`)."""
        if not self.needs_caption(method):
            return method, ()
        pictures = [one.picture for one in reference.parts if one.picture]
        return instead_of(method, pictures, self.encoder, self.language, self.domain)

    @cached_property
    def by_rules(self) -> Searcher:
        """The same search with the built-in rules in place of the language model."""
        other = copy(self)
        other.language = by_rules(self.encoder)
        other._captioner = Captioner(other.language, self.domain)
        for made in ("usual", "by_rules"):   # with the other language model
            other.__dict__.pop(made, None)
        return other

    def card(
        self, method: MethodSettings, *, split: str | None = None, caption_mode: str = "single",
        scope: str = "whole gallery", domain: str = "",
    ) -> ProtocolCard:
        """What a search here depends on; ``split`` and ``domain`` are its own unless given."""
        read = self.captions.digest if self.captions and reads_captions(method) else ""
        return make_card(
            gallery=self.gallery.name, gallery_size=len(self.gallery), gallery_digest=self.gallery.digest,
            split=self.gallery.split if split is None else split, encoder=self.encoder.identity,
            language_model=self.language.name, method=method, caption_mode=caption_mode, scope=scope, captions=read,
            domain=domain or self.domain, relevance=self.relevance_revision(method), index=self.index.description,
        )

    def relevance(self) -> RelevanceScores:
        """The gallery's scores by CIRQRS. Raises ``RelevanceUnavailable``."""
        return self._relevance(self.gallery)

    def relevance_revision(self, method: MethodSettings) -> str:
        """Revision of the relevance model that ``method`` uses; "" if it uses none, or there is none."""
        try:
            return self.relevance().revision if needs_relevance(method) else ""
        except RelevanceUnavailable:
            return ""

    def features_of(self, image_ids: Sequence[str]) -> Matrix:
        """``[n, dim]`` stored vectors of gallery images."""
        rows = [self.gallery.row_of(image_id) for image_id in image_ids]
        return np.asarray(self.gallery.features[rows], dtype=np.float32)

    def text_vector(self, text: str) -> Vector:
        """``[dim]`` of a text, unmodified, cached."""
        vector: Vector = self.text_vectors([text])[0]
        return vector

    def text_vectors(self, texts: Sequence[str]) -> Matrix:
        """``[n, dim]`` of texts, one at least, unmodified, cached."""
        return self._texts.encode_texts(texts)

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

    def describe(self, image_id: str) -> str:
        """The caption of a gallery image, by the language model if it has none. Raises ``LanguageModelError``."""
        known = self.gallery.caption_of(image_id)
        return known or self._captioner.caption(image_id, self.picture_of(image_id)).caption

    def _stored_caption(self, image_id: str) -> str:
        optimised = self.captions.caption_of(image_id) if self.captions else None
        known = optimised or self.gallery.caption_of(image_id)
        if known or self.language.sees:
            return known or ""
        try:
            return self.describe(image_id)
        except LanguageModelError:
            return ""

    def turn(
        self, reference: Reference, text: str, method: MethodSettings, *, previous: Previous | None = None,
        marks: Marks = Marks(), k: int = 60, target_id: str | None = None, watch: TurnObserver | None = None,
        without: Sequence[str] = (),
    ) -> TurnResult:
        """Run one turn. ``previous`` is None for the first one; ``marks`` refer to its hits. Images ``without`` which
        the gallery is ranked come on top of those that the method excludes.

        Raises:
            SearchError: empty or overlong text, k out of range, contradictory marks.
            LanguageModelError, EncoderUnavailable: the base cannot be computed.
        """
        text = clean_text(text, required=method.base != "image-only")
        _check_k(k)
        made = self.compose(reference, text, method, previous=previous, marks=marks, watch=watch, without=without)
        ranked = self._rank(made.query, made.composition, k, made.excluded, target_id, made.stages)
        left_out = (damage_note(self.gallery.lost),) if self.gallery.lost else ()
        own = [one for one in reference.parts if one.image_id not in self.gallery] if method.base != "text-only" else []
        unlike = (UNLIKE,) if any(self._far.is_far(one.features) for one in own) else ()
        return TurnResult(
            made.caption, made.merged, (*left_out, *unlike, *made.notes), made.query.vector, ranked.hits, made.excluded,
            ranked.target_rank, made.stages.milliseconds, made.composition, made.method,
        )

    def compose(
        self, reference: Reference, text: str, method: MethodSettings, *, previous: Previous | None = None,
        marks: Marks = Marks(), watch: TurnObserver | None = None, without: Sequence[str] = (),
    ) -> Composed:
        """:meth:`turn` without its last step, the ranking. The text may be empty: then the
        reference alone is the query. Raises as :meth:`turn` does."""
        if previous is not None:
            check_marks(self.gallery, reference, marks)
        method, instead = self.able(reference, method)
        asked = self.prepare(reference, text, method, watch=watch)
        [base] = self.encode_bases([asked], method, asked.stages)
        made = self.finish_query(asked, base, method, previous=previous, marks=marks, without=without)
        return replace(made, notes=(*instead, *made.notes))

    def prepare(
        self, reference: Reference, text: str, method: MethodSettings, *, watch: TurnObserver | None = None,
        constraints: Constraints | None = None,
    ) -> PreparedTurn:
        """First part of :meth:`compose`: the language model calls of the base. With ``constraints`` none is asked for
        those of SoFT, nor for a caption for them."""
        text = clean_text(text, required=False)
        stages = StageTimer(watch)
        asks = method if constraints is None else method.with_parts({"soft_filter": None})
        caption = self.caption(reference, asks, stages)
        merges = method.base == "cirevl"   # by the language model, which gets the text as typed
        said = text if merges or not text else self.reader.in_english(text)
        words = words_of(said, method, language=self.language, caption=caption, domain=self.domain, stages=stages)
        return PreparedTurn(reference, text, caption, words, stages, constraints)

    def encode_bases(self, asked: Sequence[PreparedTurn], method: MethodSettings,
              stages: StageTimer | None = None) -> list[BaseQuery]:
        """Second part of :meth:`compose`, for several turns: one encoder batch, whose time is
        recorded in ``stages``."""
        return base_queries([one.reference for one in asked], [one.words for one in asked], method,
                            encoder=self.encoder, stages=stages or StageTimer())

    def finish_query(
        self, asked: PreparedTurn, base: BaseQuery, method: MethodSettings, *, previous: Previous | None = None,
        marks: Marks = Marks(), without: Sequence[str] = (),
    ) -> Composed:
        """The last part: history, and what the method's steps make of the query."""
        reference, caption, stages = asked.reference, asked.caption, asked.stages
        start = apply_history(base, reference, previous, marks, method, self.features_of)
        if not np.any(start.vector):
            raise SearchError("The terms of the query cancel out. Choose smaller weights or another image.")
        excluded = excluded_ids(self.gallery, reference, previous, method.exclude, without)

        query, notes = start, [*(caption.notes if caption else ()), *base.notes]
        if marks and (previous is None or not counts_marks(method)):
            marks = Marks()
            notes.append("the marks were not used: only feedback (eq. 9) or guidance of a later turn uses them")
        turn = StepTurn(reference, asked.text, asked.said, base.merged, self._gallery_view(excluded), self.encoder,
                        self.language, self.domain, stages, len(previous.references) + 1 if previous else 1,
                        previous.composition if previous else None, constraints=asked.constraints, marks=marks)
        kept: dict[str, Any] = {}
        for step, settings in steps_of(method):
            parts, more = step.ask(settings, turn)
            kept, notes = {**kept, **parts}, [*notes, *more]
        for step, settings in steps_of(method):
            query, parts, more = step.refine(query, settings, turn)
            kept, notes = {**kept, **parts}, [*notes, *more]
        composition = Composition(
            base.vector, tuple(start.terms.items()), marks=marks, usage=stages.watch.usage,
            further=reference.image_ids[1:]).with_parts(kept)
        return Composed(asked.said, base.merged, tuple(dict.fromkeys(notes)), query, composition, excluded, stages,
                        method)

    def adjust(
        self, found: TurnResult, method: MethodSettings, adjustment: Adjustment, *, k: int = 60,
        target_id: str | None = None,
    ) -> TurnResult:
        """``found`` as it is after ``adjustment``, without asking a language model. Raises ``SearchError`` for what
        cannot be used."""
        _check_k(k)
        stages = StageTimer()
        query, composition, notes = adjusted(found, method, adjustment, self.encoder, stages)
        ranked = self._rank(query, composition, k, found.excluded_ids, target_id, stages)
        if adjustment.wording is not None:
            found = replace(found, caption=adjustment.wording.caption, merged_text=adjustment.wording.merged_text)
        return replace(
            found, vector=query.vector, notes=notes, hits=ranked.hits, target_rank=ranked.target_rank,
            timings_ms=stages.milliseconds, composition=composition,
        )

    def needs_caption(self, method: MethodSettings) -> bool:
        """Whether the reference has to be captioned."""
        if method.base == "cirevl":
            return True
        # A model that sees looks for itself when a step asks it.
        return not self.language.sees and bool(step_tasks(method, self.domain))

    def caption(self, reference: Reference, method: MethodSettings, stages: StageTimer) -> CaptionAnswer | None:
        """Caption of the reference, of several images those of all as one text; None if ``method`` needs none. Raises
        ``LanguageModelError``."""
        # Of several pictures a model that sees has to know what they share, too.
        if not (self.needs_caption(method) or (reference.joined and step_tasks(method, self.domain))):
            return None
        with stages("caption"):
            return self.said_of(reference, stages.watch)

    def said_of(self, reference: Reference, watch: Observer | None = None) -> CaptionAnswer:
        """The language model's caption of a reference (see :meth:`caption`). Raises ``LanguageModelError``."""
        answers = [self._captioner.caption(one.image_id, one.picture, watch) for one in reference.parts]
        if len(answers) == 1:
            return answers[0]
        return CaptionAnswer(caption=one_caption([answer.caption for answer in answers]),
                             notes=tuple(dict.fromkeys(note for answer in answers for note in answer.notes)))

    def _rank(
        self, query: ComposedQuery, composition: Composition, k: int, excluded: Sequence[str],
        target_id: str | None, stages: StageTimer,
    ) -> Ranked:
        score = step_score(query.vector, composition, self._texts, stages)
        rerank = step_rerank(composition, self.relevance, stages)
        with stages("search"):
            return rank(self.index, self.features_of, query, score=score, k=k, excluded=excluded, target_id=target_id,
                        rerank=rerank, row_of=self.gallery.row_of)

    def _gallery_view(self, excluded: Sequence[str]) -> GalleryView:
        return GalleryView(
            best=lambda vector, k: self.index.search(vector, k, exclude=excluded),
            features=self.features_of, picture=self.picture_of, captions=self.stored_captions,
            captions_problem=self.captions_problem, relevance=self.relevance,
        )


def _check_k(k: int) -> None:
    if not 1 <= k <= 1000:
        raise SearchError(f"k is {k}; ask for 1 to 1000 results.")
