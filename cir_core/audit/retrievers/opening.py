"""Open retrievers from specs: look up or index galleries, read files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cir_core.audit.aggregate import check_cards
from cir_core.audit.circus.circus_files import pools_on_card
from cir_core.audit.circus.circus_form import file_sha256
from cir_core.audit.circus.rank_files import read_ranks
from cir_core.audit.records import Ablation, RetrieverRun, RunCard, pools_digest
from cir_core.audit.retrievers.base import RanksRetriever, Retriever
from cir_core.audit.retrievers.method_retriever import MethodRetriever
from cir_core.audit.retrievers.models import Load, Models
from cir_core.audit.retrievers.specs import RetrieverSpec
from cir_core.audit.scope import over_gallery
from cir_core.datasets.records import Benchmark, caption_mode_of
from cir_core.errors import DatasetError, GalleryError
from cir_core.gallery.gallery import Gallery, list_galleries, open_gallery
from cir_core.gallery.indexing import index_source
from cir_core.gallery.progress import IndexProgress
from cir_core.support.texts import quoted

Indexing = Callable[[str, IndexProgress], None]


@dataclass(frozen=True)
class Audited:
    """Common inputs of all retrievers of an audit. ``whole`` is the benchmark as in its files,
    ``benchmark`` the part to rank: perhaps its first queries, over the images in ``base``."""

    benchmark: Benchmark
    whole: Benchmark
    base: Gallery | None
    home: Path
    ablation: Ablation = "black"
    instruction: str = ""
    indexing: Indexing | None = None


def open_retrievers(specs: Sequence[RetrieverSpec], audited: Audited, models: Models) -> list[Retriever]:
    """Retrievers in the order of ``specs``; no model is loaded yet, and nothing indexed.

    Raises ``GalleryError`` if a gallery is needed and none was named, ``MethodError`` for an
    ablation that a method does not support, ``DatasetError`` for a file of ranks that does not match, or
    whose ranks are not comparable with those of the other retrievers.
    """
    opened = [_open(spec, audited, models) for spec in specs]
    cards = [one.card() if isinstance(one, RanksRetriever) else _expected(spec, audited)
             for spec, one in zip(specs, opened, strict=True)]
    check_cards(cards)
    of_file: dict[str, str] = {}
    for spec, card in zip(specs, cards, strict=True):
        if spec.ranks is None:
            continue
        earlier = of_file.setdefault(file_sha256(spec.ranks), card.retriever)
        if earlier != card.retriever:
            raise DatasetError(f"{quoted(earlier)} and {quoted(card.retriever)} have the same ranks, from one file or "
                               "a copy of it, and would count twice. Leave one out.")
    return opened


def gallery_of_ranks(files: Sequence[Path], benchmark: Benchmark, usual: Gallery) -> Gallery | None:
    """``usual`` if a file of ``files`` was written by an audit over it, else None: then the ranks are over the images
    that the data set's own files list. Raises ``DatasetError`` for a file that is missing."""
    over = {pools_on_card(path) for path in files} - {"", pools_digest(benchmark.pools)}
    if not over:
        return None
    try:
        pools = over_gallery(benchmark, usual).pools
    except GalleryError:   # it has none of the images
        return None
    return usual if pools_digest(pools) in over else None


def _expected(spec: RetrieverSpec, audited: Audited) -> RunCard:
    """The audit part of a method's card, known without opening or indexing its gallery."""
    assert spec.method is not None
    composes = spec.method.settings.base == "joint"
    return RunCard(
        dataset=audited.benchmark.name, dataset_digest=audited.benchmark.digest,
        pools_digest=pools_digest(audited.benchmark.pools), retriever=spec.name, identity={},
        ablation=audited.ablation, instruction=audited.instruction if composes else None,
        caption_mode=caption_mode_of(audited.benchmark.queries),
    )


def _open(spec: RetrieverSpec, audited: Audited, models: Models) -> Retriever:
    if spec.ranks is not None:
        run = _ranks(spec.ranks, audited)
        if spec.name:
            run = replace(run, card=replace(run.card, retriever=spec.name))
        return RanksRetriever(run, audited.benchmark)
    assert spec.method is not None
    base = audited.base
    if base is None:
        raise GalleryError(f"{quoted(spec.name)} ranks the images of a gallery. Name it with --gallery.")

    def gallery() -> Gallery:
        if spec.gallery:
            return open_gallery(spec.gallery, home=audited.home)
        if spec.encoder:
            return encoded_again(base, spec.encoder, audited.home, models.load_encoder, audited.indexing)
        return base

    return MethodRetriever(spec.name, spec.method, audited.benchmark, gallery, models,
                           ablation=audited.ablation, instruction=audited.instruction)


def _ranks(path: Path, audited: Audited) -> RetrieverRun:
    """Ranks of the audited queries or, if those are only the first ones, of all."""
    try:
        return read_ranks(path, audited.benchmark)
    except DatasetError:
        if len(audited.whole.queries) == len(audited.benchmark.queries):
            raise
    return read_ranks(path, replace(audited.whole, pools=audited.benchmark.pools))


def encoded_again(base: Gallery, spec: str, home: Path, load: Load, indexing: Indexing | None = None) -> Gallery:
    """A gallery of the images of ``base`` under the encoder ``spec``: an existing one, or a new one named after
    ``base`` and the encoder's revision. Resumes after an interruption. Raises what loading and indexing raise."""
    for info in list_galleries(home):
        if info.status == "complete" and info.encoder.spec == spec:
            found = open_gallery(info.name, home=home)
            if found.digest == base.digest:
                return found
    encoder = load(spec)
    if encoder.identity.revision == base.encoder.revision:
        return base
    name = f"{base.name[:47]}-{encoder.identity.revision}"
    index_source(
        base.source, name=name, encoder=encoder, home=home, split=base.split, max_megapixels=base.max_megapixels,
        entries=[base.entry(row) for row in range(len(base))],
        progress=(lambda progress: indexing(name, progress)) if indexing else None,
    )
    return open_gallery(name, home=home)
