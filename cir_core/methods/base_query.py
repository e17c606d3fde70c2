"""One turn's image and text as a vector: the base that refiners and rerankers build on.

``cirevl`` is CIReVL section 3, which CIRCLED uses for every turn's text (its eq. 4 and 8):
caption the reference, merge in the modification, encode the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cir_core.encoders.base import Encoder, composes
from cir_core.errors import EncoderUnavailable
from cir_core.language.base import LanguageModel
from cir_core.language.tasks import CaptionAnswer, Domain, MergeTask
from cir_core.method_types import MethodSettings
from cir_core.methods.feedback import BOTH, IMAGE, TEXT
from cir_core.methods.fusion import blend
from cir_core.references import Reference
from cir_core.stages import Stages
from cir_core.types import Vector

NAMES = {"cirevl": TEXT, "text-only": TEXT, "image-only": IMAGE, "slerp": BOTH, "joint": BOTH}
"""What the term of a base is called in a later turn's ledger."""


@dataclass(frozen=True)
class BaseQuery:
    """``terms`` sum up to ``vector`` ``[dim]``, unit length."""

    vector: Vector
    terms: Mapping[str, Vector]
    merged: str = ""
    notes: tuple[str, ...] = ()


def base_query(
    reference: Reference, text: str, method: MethodSettings, *, encoder: Encoder, language: LanguageModel,
    caption: CaptionAnswer | None, domain: Domain, stages: Stages,
) -> BaseQuery:
    """The vector of ``text`` said of ``reference``. ``caption`` is needed by ``cirevl`` only.

    Raises ``LanguageModelError``; ``EncoderUnavailable`` where the encoder cannot compose.
    """
    if method.base == "image-only":
        return BaseQuery(reference.features, {IMAGE: reference.features})
    if method.base == "joint":
        return _joint(reference, text, encoder, stages)
    if method.base == "cirevl":
        with stages("merge"):
            answer = language.complete(MergeTask(caption.caption if caption else "", text, domain), stages.watch)
        vector = _encode(answer.query, encoder, stages)
        return BaseQuery(vector, {TEXT: vector}, answer.query, answer.notes)
    vector = _encode(text, encoder, stages)
    if method.base == "text-only":
        return BaseQuery(vector, {TEXT: vector}, merged=text)
    mix = blend(vector, reference.features, history_weight=1 - method.text_weight)
    terms = {IMAGE: np.float32(mix.history) * reference.features, TEXT: np.float32(mix.new) * vector}
    return BaseQuery(mix.of(vector, reference.features), terms, merged=text)


def _joint(reference: Reference, text: str, encoder: Encoder, stages: Stages) -> BaseQuery:
    if not composes(encoder):
        raise EncoderUnavailable(
            f"The encoder {encoder.name!r} does not compose image and text by itself. Choose another method, or "
            "index the gallery with a composing encoder (docs/galleries.md)."
        )
    load = reference.picture.load
    if load is None:
        raise EncoderUnavailable("The reference has no pixels to compose with. Upload it again.")
    with stages("compose"):
        vector = encoder.encode_composed([load()], [text])[0]
    return BaseQuery(vector, {BOTH: vector}, merged=text)


def _encode(text: str, encoder: Encoder, stages: Stages) -> Vector:
    with stages("encode text"):
        vector: Vector = encoder.encode_texts([text])[0]
    return vector
