"""The method that searches of a gallery begin with, and what stands in for a method that a picture is no use for.

``guided`` reads a caption of the reference. Where nothing can make one, only the words would be searched for: then a
method that takes the picture itself is better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cir_core.encoders.base import Encoder, composes
from cir_core.errors import LanguageModelError
from cir_core.gallery.gallery import Gallery
from cir_core.language.base import LanguageModel
from cir_core.language.readers.choosing import is_by_rules, undescribed
from cir_core.language.tasks import CaptionTask, Domain, Picture
from cir_core.language.wrappers.routed import answering
from cir_core.methods.declared import Method, builtin_methods, usual_method
from cir_core.methods.steps import steps_of
from cir_core.types.records import MethodSettings

UNREAD = ("this picture shows none of the drawn garments that the gallery's encoder knows, so there is no description "
          "to search with: searched by ")
_LOOKED_AT = 32  # images
_SHARE_OF = 500


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
    if not is_by_rules(model) or not len(gallery) or _described(gallery, model, domain):
        return Usual(usual_method())
    method = _by_picture(encoder)
    if foreign_share(gallery, encoder) > 0.5:
        return Usual(method.settings, (
            f"searches of this gallery begin with the method {method.title}, which uses the picture itself: the "
            "gallery's encoder knows drawn garments only and can describe nothing else"
        ))
    return Usual(method.settings, (
        f"searches of this gallery begin with the method {method.title}, which uses the picture itself: its images "
        "have no captions, and the built-in language model cannot describe them"
    ))


def foreign_share(gallery: Gallery, encoder: Encoder) -> float:
    """The share of pictures, of some spread over ``gallery``, that show something its encoder does not know
    (:func:`cir_core.language.readers.choosing.undescribed`); 0 for encoders of which that cannot be told."""
    if not len(gallery):
        return 0.0
    rows = np.unique(np.linspace(0, len(gallery) - 1, _SHARE_OF).astype(int))
    return float(undescribed(gallery.features[rows], encoder).mean())


def instead_of(
    method: MethodSettings, pictures: Sequence[Picture], encoder: Encoder, language: LanguageModel, domain: Domain
) -> tuple[MethodSettings, tuple[str, ...]]:
    """``method``, which needs a caption of the reference; or, where one of its ``pictures`` shows something that the
    encoder does not know and only the built-in model could describe it, the picture itself in place of the caption and
    no step that asks a language model, with a note."""
    rows = [one.features for one in pictures if one.features is not None and not (one.caption or "").strip()]
    if not rows or not is_by_rules(answering(language, "caption")):
        return method, ()
    if not undescribed(np.stack(rows), encoder).any():
        return method, ()
    other = _by_picture(encoder)
    base = other.settings.base if method.base == "cirevl" else method.base
    asking = {step.name: None for step, settings in steps_of(method) if step.tasks(settings, domain)}
    return (replace(method, base=base).with_parts(asking),
            (f"{UNREAD}{other.title}, which uses the picture itself",))


def _by_picture(encoder: Encoder) -> Method:
    return builtin_methods()["joint" if composes(encoder) else "slerp"]


def _described(gallery: Gallery, model: LanguageModel, domain: Domain) -> bool:
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
