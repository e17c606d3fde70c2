"""One turn's image and text as a vector: the base that refiners and rerankers build on.

``cirevl`` is CIReVL section 3, which CIRCLED uses for every turn's text (its section 4.2.1 and eq. 8):
caption the reference, merge in the modification, encode the text. Texts are prepared before
vectors, so that many queries can be encoded as a batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from cir_core.encoders.base import Encoder, composes
from cir_core.errors import EncoderUnavailable
from cir_core.language.base import LanguageModel
from cir_core.language.tasks import CaptionAnswer, Domain, MergeTask
from cir_core.methods.feedback import BOTH, IMAGE, TEXT
from cir_core.methods.fusion import blend
from cir_core.methods.observer import StageTimer
from cir_core.methods.parameters import Label, Section, declare
from cir_core.methods.references import Reference
from cir_core.support.maths import unit
from cir_core.support.texts import quoted
from cir_core.types.methods import MethodSettings
from cir_core.types.records import Matrix, Vector

NAMES = {"cirevl": TEXT, "text-only": TEXT, "image-only": IMAGE, "slerp": BOTH, "joint": BOTH}
"""Name of a base's term in a later turn's score parts."""

BASE_SECTION = Section("Slerp", "base", declare(MethodSettings, Label("text_weight", "text versus image")), "slerp")


@dataclass(frozen=True)
class Words:
    """``text`` is encoded, ``merged`` is shown as the query; both "" if there is no text."""

    text: str
    merged: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class BaseQuery:
    """``terms`` sum up to ``vector`` ``[dim]``, unit length."""

    vector: Vector
    terms: Mapping[str, Vector]
    merged: str = ""
    notes: tuple[str, ...] = ()


def words_of(
    text: str, method: MethodSettings, *, language: LanguageModel, caption: CaptionAnswer | None, domain: Domain,
    stages: StageTimer,
) -> Words:
    """The text that the base of ``method`` encodes. Only ``cirevl`` needs
    ``caption`` and calls ``language``; without a modification text there is nothing to merge, and the caption
    is the query. Raises ``LanguageModelError``."""
    if method.base == "image-only":
        return Words("")
    if method.base != "cirevl":
        return Words(text, text)
    description = caption.caption if caption else ""
    if not text:
        return Words(description, description)
    with stages("merge"):
        answer = language.complete(MergeTask(description, text, domain), stages.watch)
    return Words(answer.query, answer.query, answer.notes)


def base_queries(
    references: Sequence[Reference], words: Sequence[Words], method: MethodSettings, *, encoder: Encoder,
    stages: StageTimer,
) -> list[BaseQuery]:
    """Encode ``words`` with ``references``, pairwise, as a batch.

    Raises ``EncoderUnavailable`` if the encoder cannot compose, ``ImageUnreadable``.
    """
    if method.base == "image-only":
        return [BaseQuery(one.features, {IMAGE: one.features}) for one in references]
    texts = [one.text for one in words]
    if method.base == "joint":
        vectors = _joint(references, texts, encoder, stages)
    else:
        with stages("encode text"):
            vectors = encoder.encode_texts(texts)
    return [
        BaseQuery(*_mixed(vector, reference, method), one.merged, one.notes)
        for vector, reference, one in zip(vectors, references, words, strict=True)
    ]


def _mixed(vector: Vector, reference: Reference, method: MethodSettings) -> tuple[Vector, Mapping[str, Vector]]:
    """The query from an encoded vector, and its terms."""
    if method.base != "slerp":
        return vector, {NAMES[method.base]: vector}
    mix = blend(vector, reference.features, history_weight=1 - method.text_weight)
    terms = {IMAGE: np.float32(mix.history) * reference.features, TEXT: np.float32(mix.new) * vector}
    return mix.of(vector, reference.features), terms


def _joint(references: Sequence[Reference], texts: Sequence[str], encoder: Encoder, stages: StageTimer) -> Matrix:
    if not composes(encoder):
        raise EncoderUnavailable(
            f"The encoder {quoted(encoder.name)} does not compose image and text by itself. Choose another method, or "
            "index the gallery with a composing encoder (docs/how-to/composing-encoders.md)."
        )
    parts = [reference.parts for reference in references]
    with stages("compose"):
        found = encoder.encode_composed([_pixels(one) for several in parts for one in several],
                                        [text for text, several in zip(texts, parts, strict=True) for _ in several])
    if len(found) == len(references):
        return found
    rows = iter(found)   # each picture with the text, then the mean, as of the pictures alone
    return np.stack([unit(np.sum([next(rows) for _ in several], axis=0)) for several in parts])


def _pixels(reference: Reference) -> Image.Image:
    load = reference.picture.load
    if load is None:
        raise EncoderUnavailable("The reference has no pixels to compose with. Upload it again.")
    return load()
