"""The built-in language model behind the :class:`~cir_core.language.base.LanguageModel` seam."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Protocol, cast

import numpy as np

from cir_core.describe import describe
from cir_core.errors import LanguageModelError, UnsupportedTask
from cir_core.language.builtin.merge import merge
from cir_core.language.tasks import A, CaptionAnswer, CaptionTask, MergeTask, Task
from cir_core.language.watch import Watch
from cir_core.types import Matrix, Vector
from cir_core.zero_shot import ZeroShotAttributes

# What else an image may show. No people: somebody often wears the garment.
OTHER_THINGS = (
    "a photo of a dog", "a photo of a cat", "a photo of an animal", "a photo of a landscape",
    "a photo of a building", "a photo of food", "a photo of a vehicle", "a photo of furniture",
    "a photo of a street", "a page of text", "a chart", "an empty picture",
)
_NOT_A_GARMENT = (
    "the built-in model only describes garments, and this image does not look like one; add captions to the "
    "gallery's manifest or connect a language model"
)
_NO_FEATURES = (
    "the built-in model describes images by their features, and there were none; index the gallery, add "
    "captions to its manifest or connect a language model"
)


class TextEncoder(Protocol):
    def encode_texts(self, texts: Sequence[str]) -> Matrix:
        """``[n, dim]`` float32, unit rows."""
        ...


class AttributePredictor(Protocol):
    def predict(self, features: Matrix) -> list[dict[str, str]]:
        """For each row of ``[n, dim]`` one value of every group of the lexicon."""
        ...


class BuiltinLanguageModel:
    """Captions by zero-shot attributes, merges by rules. Deterministic, offline, thread-safe.

    ``encoder_texts`` must be the encoder that made the features of caption tasks; None
    will do where only merges are asked for.
    """

    name = "built-in/2"
    sees = False

    def __init__(
        self,
        encoder_texts: TextEncoder | None = None,
        *,
        attributes: Callable[[TextEncoder], AttributePredictor] = ZeroShotAttributes,
    ) -> None:
        self._encoder, self._make_attributes = encoder_texts, attributes
        self._attributes: AttributePredictor | None = None
        self._others: Matrix | None = None
        self._lock = threading.Lock()

    def complete(self, task: Task[A], watch: Watch | None = None) -> A:
        """The answer to a caption or merge task. Raises ``UnsupportedTask`` for others."""
        if isinstance(task, CaptionTask):
            return cast(A, self._caption(task))
        if isinstance(task, MergeTask):
            return cast(A, merge(task.caption, task.modification_text))
        raise UnsupportedTask(
            f"The built-in language model cannot fill the role '{task.role}'; it captions and merges. "
            "Connect a language model (docs/settings.md) for this."
        )

    def _caption(self, task: CaptionTask) -> CaptionAnswer:
        picture = task.picture
        if picture.caption is not None and picture.caption.strip():
            return CaptionAnswer(caption=picture.caption)
        if task.domain != "garment":
            return CaptionAnswer(caption="", notes=(_NOT_A_GARMENT,))
        if picture.features is None:
            return CaptionAnswer(caption="", notes=(_NO_FEATURES,))
        attributes, others, encoder = self._prompts()
        row = np.atleast_2d(np.asarray(picture.features, dtype=np.float32))
        if row.shape != (1, others.shape[1]):
            raise LanguageModelError(
                f"The image's features have the shape {row.shape}, the encoder's texts {others.shape[1]} "
                "numbers. Index the gallery again with the encoder in use."
            )
        caption = describe(attributes.predict(row)[0])
        if not self._shows_garment(row[0], caption, others, encoder):
            return CaptionAnswer(caption="", notes=(_NOT_A_GARMENT,))
        return CaptionAnswer(caption=caption)

    def _shows_garment(self, features: Vector, caption: str, others: Matrix, encoder: TextEncoder) -> bool:
        # The whole caption competes, not "a dress": an encoder trained on garments alone
        # knows no dogs, and its short prompts lie too close together to compare.
        return float(features @ encoder.encode_texts([caption])[0]) >= float((others @ features).max())

    def _prompts(self) -> tuple[AttributePredictor, Matrix, TextEncoder]:
        """Prompts are encoded once, on the first caption."""
        encoder = self._encoder
        if encoder is None:
            raise LanguageModelError(
                "The built-in language model was given no encoder, so it can only merge. "
                "Load one for captions."
            )
        with self._lock:
            if self._attributes is None or self._others is None:
                self._others = encoder.encode_texts(list(OTHER_THINGS))
                self._attributes = self._make_attributes(encoder)
            return self._attributes, self._others, encoder
