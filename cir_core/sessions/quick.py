"""Multi-turn search in a few lines, without the web app or a database.

    from cir_core import open_search

    search = open_search("atelier")
    first = search.start(search.gallery.ids[0], "in red, with long sleeves")
    second = first.refine(first.hits[2].image_id, "without the belt")
    print(second.merged_text, [search.describe(hit.image_id) for hit in second.hits[:5]])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from PIL import Image

from cir_core.encoders import load_encoder
from cir_core.errors import SearchError
from cir_core.gallery.gallery import Gallery, open_gallery
from cir_core.images.load import for_encoder, process_image
from cir_core.images.pixels import to_rgb
from cir_core.index.near_duplicates import FOLD_AT, Fold, folded_page
from cir_core.index.stored import open_index
from cir_core.language.base import LanguageModel
from cir_core.language.connect import language_models
from cir_core.language.readers.scene import Scene
from cir_core.language.tasks import Picture
from cir_core.language.wrappers.cached import MemoryCache
from cir_core.methods.declared import all_methods, find_method
from cir_core.methods.references import join
from cir_core.search.searcher import Previous, Reference, Searcher, TurnResult
from cir_core.settings import get_settings
from cir_core.support.texts import clean_text
from cir_core.types.composition import Adjustment
from cir_core.types.records import Hit, MethodSettings, Vector

Given = str | Path | Image.Image
"""A reference: an image id of the gallery, a file or an image."""


@dataclass(frozen=True)
class Step:
    """Result of one turn; :meth:`refine` makes the next one. Steps are immutable,
    so several can continue from the same one."""

    found: TurnResult
    references: tuple[str, ...]
    features: tuple[Vector, ...]  # each turn's own vector, for methods that aggregate them
    further: tuple[str, ...]      # references beside the first, of all turns
    _search: Search = field(repr=False)

    @property
    def hits(self) -> tuple[Hit, ...]:
        return self.found.hits

    @property
    def merged_text(self) -> str:
        return self.found.merged_text

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done otherwise than asked, and what to know of the results."""
        return self.found.notes

    def folded(self, similarity: float = FOLD_AT, *, k: int = 60) -> tuple[Fold, ...]:
        """The results with near-duplicates folded: the first ``k`` images that do not resemble a better one with a
        cosine of at least ``similarity``, each with the images ``similar`` to it. Ranks stay as they are."""
        search = self._search
        if not self.hits:
            return ()
        return folded_page(
            lambda depth: search.searcher.adjust(self.found, search.method, Adjustment(), k=depth).hits,
            search.searcher.features_of, k, similarity)

    def refine(self, pick: Given | Sequence[Given], text: str, *, k: int = 60) -> Step:
        """Continue with ``pick`` (an image id, a file or an image, or several of them) as the new reference."""
        previous = Previous(self.found.vector, self.found.hits, self.references, self.features,
                            self.found.composition, self.further)
        return self._search._turn(pick, text, k, previous)


class Search:
    """One gallery, ready to search."""

    def __init__(self, searcher: Searcher, method: MethodSettings, why: str = "") -> None:
        """``why``: a note for first turns on why this method was chosen."""
        self.searcher = searcher
        self.method = method
        self._why = why

    @property
    def gallery(self) -> Gallery:
        return self.searcher.gallery

    def describe(self, image_id: str) -> str:
        """The caption of a gallery image, by the language model if it has none; "" if that cannot describe it.
        Raises ``UnknownImage``, ``LanguageModelError``."""
        return self.searcher.describe(image_id)

    def start(self, reference: Given | Sequence[Given], text: str, *, k: int = 60) -> Step:
        """First turn. ``reference`` is an image id of the gallery, a file or an image, or a list of up to 4 of them:
        then their mean vector and what their captions share is the reference. Raises ``SearchError``, e.g. for an image
        that is given twice."""
        return self._turn(reference, text, k, None)

    def _turn(self, reference: Given | Sequence[Given], text: str, k: int, previous: Previous | None) -> Step:
        if isinstance(reference, str | Path | Image.Image):
            reference = [reference]
        if not reference:
            raise SearchError("There is no reference. Give an image id, a file or an image.")
        known = join([self._reference(one, place) for place, one in enumerate(reference, start=1)])
        known, text, said = self._pointed(known, text) if known.joined else (known, text, ())
        found = self.searcher.turn(known, text, self.method, previous=previous, k=k)
        if said:
            own = [note for note in found.notes if not note.startswith("not understood")]
            found = replace(found, notes=(*said, *own))
        if self._why and previous is None:
            found = replace(found, notes=(self._why, *found.notes))
        after = Previous.after(previous, known.image_ids, found.vector, found.hits, found.composition)
        return Step(found, after.references, after.features, after.further, self)

    def _pointed(self, known: Reference, text: str) -> tuple[Reference, str, tuple[str, ...]]:
        """Reference and text where ``text`` speaks of one of several ("the colour of the second picture"); notes."""
        parts = {one.image_id: one for one in known.parts}
        scene = Scene((), known.image_id, lambda ids: [self.searcher.said_of(parts[one]).caption for one in ids],
                      further=known.image_ids[1:])
        pointed = self.searcher.reader.follow(clean_text(text, required=False), scene)
        chosen = known if pointed.further is None else parts[pointed.reference_id or known.image_id]
        return chosen, pointed.text, pointed.notes

    def _reference(self, reference: Given, place: int) -> Reference:
        if isinstance(reference, str):
            return self.searcher.gallery_reference(reference)
        if isinstance(reference, Path):
            image = process_image(reference, for_encoder, max_megapixels=get_settings().max_image_megapixels)
        else:
            image = for_encoder(to_rgb(reference))
        features = self.searcher.encoder.encode_images([image])[0]
        name = "own image" if place == 1 else f"own image {place}"
        return Reference(name, features, Picture(features=features, load=lambda: image))


def open_search(
    gallery: str = "atelier", *, method: str | MethodSettings | None = None,
    language: LanguageModel | None = None, home: Path | None = None,
) -> Search:
    """Open ``gallery`` with the encoder it was indexed with. Without ``language`` the language model is that of the
    settings, as in the web app; its answers are kept for as long as the search is.

    ``method`` is the name of a method (``cirque methods`` lists them, also those of ``CIRQUE_METHODS``) or settings of
    your own. Without it searches begin with ``guided``, or, where nothing can describe the gallery's images, with a
    method that uses the picture itself, which the notes of the first turn say. Raises ``CirqueError``.
    """
    settings = get_settings()
    settings = settings.model_copy(update={"home": home or settings.home})
    if isinstance(method, str):
        method = find_method(method, all_methods(settings.methods)).settings
    opened = open_gallery(gallery, home=settings.home)
    encoder = load_encoder(
        opened.encoder.spec, device=settings.device, precision=settings.precision,
        allow_downloads=settings.allow_downloads,
    )
    index, _ = open_index(opened)
    searcher = Searcher(opened, encoder, language or language_models(settings, MemoryCache())(encoder), index=index)
    if method is not None:
        return Search(searcher, method)
    return Search(searcher, searcher.usual.settings, searcher.usual.reason)
