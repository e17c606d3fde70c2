"""CIReVL's composition: caption the reference, merge in the modification, encode the text.

Source: CIReVL section 3, which CIRCLED uses for every turn's text (its eq. 4 and 8).
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from PIL import Image

from cir_core.encoders.base import Encoder
from cir_core.language.base import LanguageModel
from cir_core.language.tasks import CaptionTask, MergeTask
from cir_core.types import Vector


@dataclass(frozen=True)
class MergedText:
    """The text side of a turn and how long each stage took (milliseconds)."""

    caption: str
    merged: str
    vector: Vector
    notes: tuple[str, ...]
    timings_ms: dict[str, float]


def merge_and_encode(
    language: LanguageModel, encoder: Encoder, *, text: str, image: Image.Image | None,
    features: Vector | None, known_caption: str | None, cached_caption: str | None = None,
) -> MergedText:
    """Caption → merge → encode. ``cached_caption`` spares the caption of a known reference."""
    timings: dict[str, float] = {}
    notes: list[str] = []

    started = perf_counter()
    if cached_caption is not None:
        caption = cached_caption
    else:
        answer = language.complete(
            CaptionTask(image=image, features=features, known_caption=known_caption)
        )
        caption = answer.caption
        notes += answer.notes
    timings["caption"] = (perf_counter() - started) * 1000

    started = perf_counter()
    merge = language.complete(MergeTask(caption=caption, modification_text=text))
    notes += merge.notes
    timings["merge"] = (perf_counter() - started) * 1000

    started = perf_counter()
    vector = encoder.encode_texts([merge.query])[0]
    timings["encode text"] = (perf_counter() - started) * 1000
    return MergedText(caption, merge.query, vector, tuple(notes), timings)
