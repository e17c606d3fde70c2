"""Base of torch encoders: batches, device, precision, unit rows, one lock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image

from cir_core.errors import EncoderUnavailable
from cir_core.types.records import EncoderIdentity, Matrix

T = TypeVar("T")
PreparedImage = npt.NDArray[np.float32]  # [3, height, width], as the model's own preprocessing leaves it

_DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


def choose_device(device: str) -> torch.device:
    """``auto`` is cuda, else mps, else cpu. Raises ``EncoderUnavailable`` for an unavailable one."""
    if device == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        chosen = torch.device(device)
        torch.empty(0, device=chosen)
    except (RuntimeError, AssertionError) as error:
        raise EncoderUnavailable(f"Device '{device}' cannot be used ({_first_line(error)}). Set CIRQUE_DEVICE to auto "
                                 "or cpu.") from error
    return chosen


def choose_precision(precision: str, device: torch.device) -> torch.dtype:
    """``auto`` is fp16 on cuda (finer than bf16 for cosines), fp32 elsewhere."""
    if precision == "auto":
        return torch.float16 if device.type == "cuda" else torch.float32
    if precision not in _DTYPES:
        raise EncoderUnavailable(f"Precision '{precision}' is not one of auto, {', '.join(_DTYPES)}.")
    return _DTYPES[precision]


def autocast(device: torch.device, dtype: torch.dtype) -> AbstractContextManager[Any]:
    return nullcontext() if dtype == torch.float32 else torch.autocast(device.type, dtype=dtype)


class TorchModel:
    """Identity, device, precision and batching of a model whose rows are unit float32."""

    def __init__(
        self, *, identity: EncoderIdentity, name: str, model: torch.nn.Module, device: torch.device,
        dtype: torch.dtype, batch_size: int = 64,
    ) -> None:
        if batch_size < 1:
            raise EncoderUnavailable(f"A batch takes at least one image, not {batch_size}.")
        self.identity, self.name, self.dim, self.batch_size = identity, name, identity.dim, batch_size
        self.device, self.dtype = device, dtype
        self.model = model.eval().requires_grad_(False).to(device)
        # One forward pass at a time: fast tokenizers and autocast caches are not shared safely.
        self._lock = threading.Lock()

    def _in_batches(self, items: Sequence[T], forward: Callable[[Sequence[T]], torch.Tensor]) -> Matrix:
        rows = []
        for part in split(items, self.batch_size):
            with self._lock, torch.inference_mode(), autocast(self.device, self.dtype):
                rows.append(forward(part).float().cpu().numpy())
        return self._unit(np.concatenate(rows)) if rows else self._empty()

    def _unit(self, rows: Matrix) -> Matrix:
        if not np.isfinite(rows).all():
            raise EncoderUnavailable(f"Encoder '{self.name}' gave numbers that are not finite. Set "
                                     "CIRQUE_PRECISION=fp32; if it happens again, the checkpoint is damaged.")
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        unit = rows / np.where(norms > 0, norms, 1.0)  # a zero row stays zero: similar to nothing
        return np.ascontiguousarray(unit, dtype=np.float32)

    def _empty(self) -> Matrix:
        return np.zeros((0, self.dim), dtype=np.float32)


class TorchEncoder(TorchModel):
    """A dual encoder over three functions. Implements ``cir_core.encoders.base.Encoder``.

    Beyond the protocol it exposes the two halves of :meth:`encode_images`, so that an
    indexer can decode and :meth:`prepare` images in threads while the model runs:
    ``encode_images(images)`` equals ``encode_prepared([prepare(i) for i in images])``.
    """

    def __init__(
        self, *, preprocess: Callable[[Image.Image], torch.Tensor], tokenize: Callable[[list[str]], Any],
        embed_images: Callable[[torch.Tensor], torch.Tensor], embed_texts: Callable[[Any], torch.Tensor],
        embed_short_texts: Callable[[Any], torch.Tensor] | None = None, **model: Any,
    ) -> None:
        super().__init__(**model)
        self._preprocess, self._tokenize = preprocess, tokenize
        self._embed_images, self._embed_texts = embed_images, embed_texts
        self._embed_short_texts = embed_short_texts or embed_texts

    def prepare(self, image: Image.Image) -> PreparedImage:
        """``[3, height, width]`` float32: resized, cropped, normalised. Needs no lock."""
        return np.asarray(self._preprocess(image.convert("RGB")).numpy(), dtype=np.float32)

    def encode_prepared(self, prepared: Sequence[PreparedImage]) -> Matrix:
        """``[n, dim]`` float32 unit rows of the results of :meth:`prepare`."""

        def forward(part: Sequence[PreparedImage]) -> torch.Tensor:
            return self._embed_images(torch.from_numpy(np.stack(part)).to(self.device))

        return self._in_batches(prepared, forward)

    def _of_pairs(
        self, pairs: Sequence[tuple[Image.Image, str]], embed: Callable[[torch.Tensor, Any], torch.Tensor]
    ) -> Matrix:
        """``[n, dim]`` float32 unit rows of ``embed``, which takes pixels ``[n, 3, height, width]`` and the tokens."""

        def forward(part: Sequence[tuple[PreparedImage, str]]) -> torch.Tensor:
            pixels = torch.from_numpy(np.stack([image for image, _ in part])).to(self.device)
            return embed(pixels, to_device(self._tokenize([text for _, text in part]), self.device))

        parts = [self._in_batches([(self.prepare(image), text) for image, text in part], forward)
                 for part in split(pairs, self.batch_size)]
        return np.concatenate(parts) if parts else self._empty()

    def encode_images(self, images: Sequence[Image.Image]) -> Matrix:
        """``[n, dim]`` float32 unit rows; no images give ``[0, dim]``."""
        # By batch, not all at once: prepared images are larger than their files.
        parts = [
            self.encode_prepared([self.prepare(image) for image in part])
            for part in split(images, self.batch_size)
        ]
        return np.concatenate(parts) if parts else self._empty()

    def encode_texts(self, texts: Sequence[str]) -> Matrix:
        """``[n, dim]`` float32 unit rows. Longer texts are cut at the context length."""
        return self._of_texts(texts, self._embed_short_texts)

    def encode_padded(self, texts: Sequence[str]) -> Matrix:
        """As :meth:`encode_texts`, with all texts padded to the context length: a vector depends on the number of
        texts in its batch, to the last bit, but not on their length."""
        return self._of_texts(texts, self._embed_texts)

    def _of_texts(self, texts: Sequence[str], embed: Callable[[Any], torch.Tensor]) -> Matrix:
        def forward(part: Sequence[str]) -> torch.Tensor:
            return embed(to_device(self._tokenize(list(part)), self.device))

        return self._in_batches(texts, forward)


def split(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def to_device(tokens: Any, device: torch.device) -> Any:
    if isinstance(tokens, dict):
        return {key: value.to(device) for key, value in tokens.items()}
    return tokens.to(device)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


class ComposingTorchEncoder(TorchEncoder):
    """A :class:`TorchEncoder` that also composes. Implements ``ComposingEncoder``.

    ``phrase`` wraps a modification text into the sentence tokenised beside the image;
    ``embed_composed`` takes pixels ``[n, 3, height, width]`` and the tokens.
    """

    def __init__(
        self, *, phrase: Callable[[str], str], embed_composed: Callable[[torch.Tensor, Any], torch.Tensor], **parts: Any
    ) -> None:
        super().__init__(**parts)
        self._phrase, self._embed_composed = phrase, embed_composed

    def encode_composed(self, images: Sequence[Image.Image], texts: Sequence[str]) -> Matrix:
        """``[n, dim]`` float32 unit rows, one per image-text pair."""
        pairs = [(image, self._phrase(text)) for image, text in zip(images, texts, strict=True)]
        return self._of_pairs(pairs, self._embed_composed)
