"""The method that searches of a gallery begin with.

``guided`` reads a caption of the reference. Where nothing can make one, only the words would be searched for: then a
method that takes the picture itself is better.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cir_core.encoders.base import Encoder, composes
from cir_core.errors import LanguageModelError
from cir_core.gallery.gallery import Gallery
from cir_core.language.base import LanguageModel
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.language.tasks import CaptionTask, Domain, Picture
from cir_core.language.wrappers.routed import answering
from cir_core.methods.declared import builtin_methods, usual_method
from cir_core.types.records import MethodSettings

_LOOKED_AT = 32  # images


@dataclass(frozen=True)
class Usual:
    """``reason``: a sentence, if it is not the usual method of all galleries; else ""."""

    settings: MethodSettings
    reason: str = ""

    def is_for(self, method: MethodSettings) -> bool:
        """Whether ``method`` is this one, whatever it excludes."""
        return replace(method, exclude=self.settings.exclude) == self.settings


def usual_for(gallery: Gallery, encoder: Encoder, language: LanguageModel, domain: Domain) -> Usual:
    """What searches of ``gallery`` begin with if nobody names a method. No language model on a server is asked."""
    model = answering(language, "caption")
    if not isinstance(model, BuiltinLanguageModel) or not len(gallery) or _described(gallery, model, domain):
        return Usual(usual_method())
    method = builtin_methods()["joint" if composes(encoder) else "slerp"]
    return Usual(method.settings, (
        f"searches of this gallery begin with the method {method.title}, which uses the picture itself: its images "
        "have no captions, and the built-in language model cannot describe them"
    ))


def _described(gallery: Gallery, model: BuiltinLanguageModel, domain: Domain) -> bool:
    """Whether most of some images, spread over the gallery, have a caption or get one."""
    rows = np.unique(np.linspace(0, len(gallery) - 1, _LOOKED_AT).astype(int))
    images = [gallery.image(int(row)) for row in rows]
    try:
        captions = [
            model.complete(CaptionTask(
                Picture(image.caption, image.sha256, np.asarray(gallery.features[row], dtype=np.float32)), domain,
            )).caption
            for row, image in zip(rows, images, strict=True)
        ]
    except LanguageModelError:
        return False
    return 2 * sum(map(bool, captions)) >= len(captions)
