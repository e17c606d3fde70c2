"""A search method over an indexed gallery, as a retriever of an audit. Identity of a method for a run's card:
everything its ranks depend on, as plain JSON. Ablated inputs: a method's query under each variant."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from PIL import Image

from cir_core.audit.records import TOP_K, Ablation, Ranking, RunCard, Variant, pools_digest
from cir_core.audit.retrievers.models import LateEncoder, Models
from cir_core.captions.stored import read_captions
from cir_core.datasets.records import Benchmark, BenchmarkQuery, caption_mode_of
from cir_core.encoders.base import Encoder
from cir_core.encoders.specs import parse_spec
from cir_core.errors import EncoderUnavailable, GalleryError, MethodError, SearchError
from cir_core.evaluation.method_runs import searcher_over
from cir_core.evaluation.query_steps import Problem, composed_together, each, ranked_together
from cir_core.gallery.gallery import Gallery
from cir_core.images.load import for_encoder
from cir_core.language.base import LanguageModel
from cir_core.language.tasks import CaptionTask, Domain, MergeTask, Picture, Task
from cir_core.language.wrappers.base import conditions_of
from cir_core.methods.declared import Method
from cir_core.methods.observer import QueryWatch
from cir_core.methods.references import Reference
from cir_core.methods.relevance import needs_relevance
from cir_core.methods.steps import reads_captions, step_tasks, without_steps
from cir_core.relevance.configured import configured_model
from cir_core.search.prepare import PreparedTurn
from cir_core.search.searcher import Searcher
from cir_core.support.texts import clean_text, quoted
from cir_core.types.methods import method_to_dict
from cir_core.types.records import MethodSettings, Vector
from cir_core.version import __version__


def settings_under(settings: MethodSettings, ablation: Ablation, variant: Variant) -> MethodSettings:
    """The method as it runs under ``variant``. Nothing leaves the results (CIRCUS), and only
    "drop" makes another method of it: the remaining input alone, without any step."""
    settings = replace(settings, exclude="none")
    if ablation == "black" or variant == "multimodal":
        return settings
    return replace(without_steps(settings), base="text-only" if variant == "text_only" else "image-only")


class BlackImages:
    """All-black references, as wide and high as the image they replace. They are encoded like any image, once per size
    and one at a time, so that a vector does not depend on earlier queries."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._features: dict[tuple[int, int], Vector] = {}

    def instead_of(self, gallery: Gallery, image_id: str) -> Reference:
        """Raises ``UnknownImage``, and what the encoder raises."""
        image = gallery.image(gallery.row_of(image_id))
        size = (image.width, image.height)

        def load() -> Image.Image:
            return for_encoder(Image.new("RGB", size))

        if size not in self._features:
            self._features[size] = self._encoder.encode_images([load()])[0]
        features = self._features[size]
        name = f"black:{size[0]}x{size[1]}"
        digest = hashlib.sha256(name.encode()).hexdigest()
        return Reference(name, features, Picture(digest=digest, features=features, load=load))


def method_identity(
    settings: MethodSettings, gallery: Gallery, language: LanguageModel, domain: Domain
) -> dict[str, Any]:
    """Contains no paths or gallery names: the same files and weights give the same identity anywhere. The
    language and the relevance model are included only if the method uses one. Raises ``RelevanceUnavailable``."""
    encoder = gallery.encoder
    identity: dict[str, Any] = {
        "kind": "method",
        "version": __version__,
        "method": method_to_dict(settings),
        "encoder": {"name": _short(encoder.spec), "revision": encoder.revision, "dim": encoder.dim},
        "images": gallery.digest,
    }
    tasks = _tasks(settings, domain)
    if tasks:
        identity["language_model"] = language.name
        identity["domain"] = domain
        identity["answers"] = {role: _conditions(language, task) for role, task in tasks.items()}
    if reads_captions(settings) and (captions := read_captions(gallery)):
        identity["captions"] = captions.digest
    if needs_relevance(settings):
        identity["relevance"] = configured_model().identity.revision
    return identity


def _tasks(settings: MethodSettings, domain: Domain) -> Mapping[str, Task[Any]]:
    """The method's possible language model tasks, by role."""
    tasks: list[Task[Any]] = []
    of_steps = step_tasks(settings, domain)
    if settings.base == "cirevl" or of_steps:
        tasks.append(CaptionTask(domain=domain))
    if settings.base == "cirevl":
        tasks.append(MergeTask(domain=domain))
    return {task.role: task for task in (*tasks, *of_steps)}


def _conditions(language: LanguageModel, task: Task[Any]) -> dict[str, Any]:
    told = conditions_of(language, task)
    return {"prompt": told.prompt_version, "temperature": told.temperature}


def _short(spec: str) -> str:
    try:
        return parse_spec(spec).name
    except EncoderUnavailable:
        return spec


class MethodRetriever:
    """``method`` over the gallery from ``open_gallery``, which may index it first. ``benchmark`` lists its pools.
    ``instruction`` precedes the text, on a separate line, for an encoder that composes; other methods take none."""

    def __init__(
        self, name: str, method: Method, benchmark: Benchmark, open_gallery: Callable[[], Gallery], models: Models, *,
        ablation: Ablation = "black", instruction: str = "", top_k: int = TOP_K,
    ) -> None:
        self.name, self.method = name, method
        self._benchmark, self._open, self._models = benchmark, open_gallery, models
        self._ablation, self._top_k = ablation, top_k
        self._instruction = instruction if method.settings.base == "joint" else None
        if ablation == "drop" and method.settings.base == "joint":
            raise MethodError(f"{quoted(name)} cannot be audited with --ablation drop: an encoder that composes by "
                              "itself has no place for one input alone. Use --ablation black, or leave it out.")

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
        """See :class:`~cir_core.audit.retrievers.base.Retriever`. Queries are encoded in batches if possible."""
        settings = settings_under(self.method.settings, self._ablation, variant)
        self._open_all()
        searchers = [self._pools[query.pool] for query in queries]
        workers = self._models.workers
        asked = each(lambda query: self._prepare(query, variant, settings), queries, workers)
        made = composed_together(asked, searchers, settings, workers=workers)
        ranked = ranked_together(made, searchers, [query.target_ids for query in queries], [()] * len(queries),
                                 self._top_k)
        return [one if isinstance(one, Problem) else Ranking(one.ranks, tuple(hit.image_id for hit in one.hits))
                for one in ranked]

    def close(self) -> None:
        """Release the encoder, and everything computed with it."""
        for name in ("_pools", "_black", "_models_here"):
            self.__dict__.pop(name, None)

    # -- one query ---------------------------------------------------------------------

    def _prepare(self, query: BenchmarkQuery, variant: Variant, settings: MethodSettings) -> PreparedTurn | Problem:
        problem = self._unfit(query)
        if problem is not None:
            return problem
        try:
            text = clean_text(query.modification_text, required=settings.base != "image-only")
        except SearchError:
            return Problem("the modification text is empty or too long", of_query=True)
        searcher, black = self._pools[query.pool], self._ablation == "black"
        if black and variant == "text_only":
            reference = self._black.instead_of(self._gallery, query.reference_id)
        else:
            reference = searcher.gallery_reference(query.reference_id)
            if settings.base == "joint":  # now, so that an unreadable image affects this query only
                image = self._gallery.load_for_encoder(query.reference_id)
                reference = replace(reference, picture=replace(reference.picture, load=lambda: image))
        if black and variant == "image_only":
            text = ""
        asked = searcher.prepare(reference, text, settings, watch=QueryWatch())
        if self._instruction and text:
            asked = replace(asked, words=replace(asked.words, text=f"{self._instruction}\n{asked.words.text}"))
        return asked

    def _unfit(self, query: BenchmarkQuery) -> Problem | None:
        index = self._pools[query.pool].index
        if not query.target_ids:
            return Problem("its targets are hidden", of_query=True)
        for target in query.target_ids:
            if target not in index:
                return Problem(f"the target {quoted(target)} is not among the {len(index)} images that are ranked",
                               of_query=True)
        if query.reference_id not in self._gallery:
            return Problem(f"the reference {quoted(query.reference_id)} is not in gallery {quoted(self._gallery.name)}",
                           of_query=True)
        return None

    # -- opened on demand --------------------------------------------------------------

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
    def _pools(self) -> dict[str, Searcher]:
        reflects = reads_captions(self.method.settings)
        return {
            name: searcher_over(ids, self._gallery, self._encoder, self._language, self._models.domain,
                                reflects=reflects)
            for name, ids in self._benchmark.pools.items()
        }

    def _open_all(self) -> None:
        """Open everything before threads start."""
        assert self._pools and self._black

    def _check_gallery(self) -> None:
        ids = dict.fromkeys(image_id for pool in self._benchmark.pools.values() for image_id in pool or ())
        missing = [image_id for image_id in ids if image_id not in self._gallery]
        if missing:
            raise GalleryError(f"Gallery {quoted(self._gallery.name)} lacks {len(missing)} of the {len(ids)} images "
                               f"that are ranked, the first: {quoted(missing[0])}. Index it from the same images as "
                               "the others, or leave this retriever out.")
