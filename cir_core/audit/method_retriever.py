"""One of cirque's methods over an indexed gallery, as a retriever of an audit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

from cir_core.audit.identity import method_identity
from cir_core.audit.inputs import BlackImages, settings_under
from cir_core.audit.late_encoder import LateEncoder
from cir_core.audit.models import Models
from cir_core.audit.ranked_pool import RankedPool
from cir_core.audit.records import TOP_K, Ablation, Ranking, RunCard, Variant, caption_mode_of, pools_digest
from cir_core.audit.retrievers import Problem
from cir_core.audit.strict import QueryWatch, StrictLanguageModel
from cir_core.composing import Asked, Composed
from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.errors import (
    CirqueError,
    EncoderUnavailable,
    GalleryError,
    LanguageModelUnavailable,
    MethodError,
    SearchError,
    Stopped,
    StorageError,
)
from cir_core.gallery import Gallery
from cir_core.gallery_captions import read_captions
from cir_core.images import for_encoder
from cir_core.language.base import LanguageModel
from cir_core.methods.base_query import BaseQuery
from cir_core.methods.declared import Method
from cir_core.search import Searcher
from cir_core.texts import clean_text
from cir_core.types import MethodSettings

CANNOT_GO_ON = (LanguageModelUnavailable, Stopped, EncoderUnavailable, GalleryError, MethodError, StorageError)
"""Errors that are of the retriever or the machine, not of one query: whether the gallery has
its images is looked up before."""

_In = TypeVar("_In")
_Out = TypeVar("_Out")


class MethodRetriever:
    """``method`` over the gallery that ``open_gallery`` gives, which may index it first.

    ``benchmark`` lists its pools. ``instruction`` goes before the text, on a line of its own,
    where the encoder composes by itself; other methods take none.
    """

    def __init__(
        self, name: str, method: Method, benchmark: Benchmark, open_gallery: Callable[[], Gallery], models: Models, *,
        ablation: Ablation = "black", instruction: str = "", top_k: int = TOP_K,
    ) -> None:
        self.name, self.method = name, method
        self._benchmark, self._open, self._models = benchmark, open_gallery, models
        self._ablation, self._top_k = ablation, top_k
        self._instruction = instruction if method.settings.base == "joint" else None
        if ablation == "drop" and method.settings.base == "joint":
            raise MethodError(
                f"{name!r} cannot be audited with --ablation drop: an encoder that composes by itself has no "
                "place for one input alone. Use --ablation black, or leave it out."
            )

    def card(self) -> RunCard:
        self._check_gallery()
        settings = settings_under(self.method.settings, self._ablation, "multimodal")
        return RunCard(
            dataset=self._benchmark.name, dataset_digest=self._benchmark.digest,
            pools_digest=pools_digest(self._benchmark.pools), retriever=self.name,
            identity=method_identity(settings, self._gallery, self._language, self._models.domain),
            ablation=self._ablation, instruction=self._instruction,
            caption_mode=caption_mode_of(self._benchmark.queries), top_k=self._top_k,
        )

    def rank(self, queries: Sequence[BenchmarkQuery], variant: Variant) -> Sequence[Ranking | Problem]:
        """See :class:`~cir_core.audit.retrievers.Retriever`. What can be encoded together is."""
        settings = settings_under(self.method.settings, self._ablation, variant)
        self._open_all()
        asked = self._each(lambda query: self._asked(query, variant, settings), queries)
        outcomes: list[Ranking | Problem] = [one if isinstance(one, Problem) else _UNSEEN for one in asked]
        ready = [one for one in asked if isinstance(one, Asked)]
        if not ready:
            return outcomes
        places = [place for place, one in enumerate(asked) if isinstance(one, Asked)]
        bases = self._pool(queries[places[0]]).searcher.bases(ready, settings)
        made = self._each(
            lambda i: self._completed(queries[places[i]], ready[i], bases[i], settings), range(len(ready)))
        for place, one in zip(places, self._ranked([queries[place] for place in places], made), strict=True):
            outcomes[place] = one
        return outcomes

    def close(self) -> None:
        """Lets go of the encoder, and of all that was made with it."""
        for name in ("_pools", "_black", "_models_here"):
            self.__dict__.pop(name, None)

    # -- one query ---------------------------------------------------------------------

    def _asked(self, query: BenchmarkQuery, variant: Variant, settings: MethodSettings) -> Asked | Problem:
        problem = self._unfit(query)
        if problem is not None:
            return problem
        try:
            text = clean_text(query.modification_text)
        except SearchError:
            return Problem("the modification text is empty or too long", of_query=True)
        searcher, black = self._pool(query).searcher, self._ablation == "black"
        if black and variant == "text_only":
            reference = self._black.instead_of(self._gallery, query.reference_id)
        else:
            reference = searcher.gallery_reference(query.reference_id)
            if settings.base == "joint":  # now, so that an image that cannot be read is this query's affair alone
                image = for_encoder(self._gallery.load_image(query.reference_id))
                reference = replace(reference, picture=replace(reference.picture, load=lambda: image))
        if black and variant == "image_only":
            text = ""
        asked = searcher.asked(reference, text, settings, watch=QueryWatch())
        if self._instruction and text:
            asked = replace(asked, words=replace(asked.words, text=f"{self._instruction}\n{asked.words.text}"))
        return asked

    def _unfit(self, query: BenchmarkQuery) -> Problem | None:
        pool = self._pool(query)
        if not query.target_ids:
            return Problem("its targets are hidden", of_query=True)
        for target in query.target_ids:
            if target not in pool:
                return Problem(f"the target {target!r} is not among the {len(pool)} images that are ranked",
                               of_query=True)
        if query.reference_id not in self._gallery:
            return Problem(f"the reference {query.reference_id!r} is not in gallery {self._gallery.name!r}",
                           of_query=True)
        return None

    def _completed(
        self, query: BenchmarkQuery, asked: Asked, base: BaseQuery, settings: MethodSettings
    ) -> Composed:
        made = self._pool(query).searcher.completed(asked, base, settings)
        watch = asked.stages.watch
        if isinstance(watch, QueryWatch) and watch.error is not None:
            raise watch.error
        return made

    def _ranked(
        self, queries: Sequence[BenchmarkQuery], made: Sequence[Composed | Problem]
    ) -> list[Ranking | Problem]:
        outcomes: list[Ranking | Problem] = [one if isinstance(one, Problem) else _UNSEEN for one in made]
        members: dict[str, list[tuple[int, Composed]]] = defaultdict(list)
        for place, one in enumerate(made):
            if isinstance(one, Composed):
                members[queries[place].pool].append((place, one))
        for name, ready in members.items():
            found = self._pools[name].rankings(
                [queries[place] for place, _ in ready], [one for _, one in ready], self._top_k)
            for (place, _), ranking in zip(ready, found, strict=True):
                outcomes[place] = ranking
        return outcomes

    # -- what is opened when it is needed ----------------------------------------------

    def _each(self, work: Callable[[_In], _Out], items: Sequence[_In]) -> list[_Out | Problem]:
        """``work`` of every item, in their order; errors that are of one query become problems."""
        def safely(item: _In) -> _Out | Problem:
            try:
                return work(item)
            except CANNOT_GO_ON:
                raise
            except CirqueError as error:
                return Problem(str(error))

        if self._models.workers == 1 or len(items) < 2:
            return [safely(item) for item in items]
        with ThreadPoolExecutor(self._models.workers) as threads:
            return list(threads.map(safely, items))

    def _pool(self, query: BenchmarkQuery) -> RankedPool:
        return self._pools[query.pool]

    @cached_property
    def _gallery(self) -> Gallery:
        return self._open()

    @cached_property
    def _models_here(self) -> tuple[LateEncoder, LanguageModel]:
        return self._models.of(self._gallery)

    @property
    def _encoder(self) -> LateEncoder:
        return self._models_here[0]

    @property
    def _language(self) -> LanguageModel:
        return self._models_here[1]

    @cached_property
    def _black(self) -> BlackImages:
        return BlackImages(self._encoder)

    @cached_property
    def _pools(self) -> dict[str, RankedPool]:
        strict = StrictLanguageModel(self._language)
        captions = read_captions(self._gallery) if self.method.settings.reflection else None
        pools: dict[str, RankedPool] = {}
        for name, ids in self._benchmark.pools.items():
            searcher = Searcher(self._gallery, self._encoder, strict, within=ids, domain=self._models.domain,
                                captions=captions)
            pools[name] = RankedPool(searcher)
        return pools

    def _open_all(self) -> None:
        """Before threads come in."""
        assert self._pools and self._black

    def _check_gallery(self) -> None:
        ids = dict.fromkeys(image_id for pool in self._benchmark.pools.values() for image_id in pool or ())
        missing = [image_id for image_id in ids if image_id not in self._gallery]
        if missing:
            raise GalleryError(
                f"Gallery {self._gallery.name!r} lacks {len(missing)} of the {len(ids)} images that are ranked, the "
                f"first: {missing[0]!r}. Index it from the same images as the others, or leave this retriever out."
            )


_UNSEEN = Problem("was not ranked")
