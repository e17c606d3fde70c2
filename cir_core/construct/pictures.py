"""Gallery images as language models get them: the image alone, or a caption for a model that does not see."""

from __future__ import annotations

from dataclasses import replace

from cir_core.gallery.gallery import Gallery
from cir_core.language.base import LanguageModel
from cir_core.language.observer import Observer
from cir_core.language.tasks import Picture
from cir_core.search.captioning import Captioner
from cir_core.types.domains import Domain


class Pictures:
    """Thread-safe. Captions are those of the gallery's manifest or of the role ``caption``."""

    def __init__(self, gallery: Gallery, language: LanguageModel, domain: Domain) -> None:
        self._gallery, self._sees = gallery, language.sees
        self._captioner = Captioner(language, domain)

    def of(self, image_id: str, watch: Observer | None = None) -> Picture:
        """Raises ``UnknownImage``, ``LanguageModelError``."""
        row = self._gallery.row_of(image_id)
        image = self._gallery.image(row)
        picture = Picture(None, image.sha256, self._gallery.features[row],
                          lambda: self._gallery.load_for_encoder(image_id))
        if self._sees:
            return picture
        return replace(picture, caption=image.caption or self._captioner.caption(image_id, picture, watch).caption)
