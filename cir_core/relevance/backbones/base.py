"""Backbone of a relevance model: frozen image features, and how its texts enter the Q-Former."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image

from cir_core.types.records import EncoderIdentity

Patches = npt.NDArray[np.float16]   # [n, patches, width]


@dataclass(frozen=True)
class Texts:
    """Texts as the Q-Former takes them in: ``values`` ``[n, length]`` token ids or ``[n, length, width]`` features,
    and ``mask`` ``[n, length]``, 1 where there is a token."""

    values: torch.Tensor
    mask: torch.Tensor

    def to(self, device: torch.device) -> Texts:
        return Texts(self.values.to(device), self.mask.to(device))


class RelevanceBackbone(Protocol):
    """Frozen features behind a relevance model. Thread-safe."""

    @property
    def identity(self) -> EncoderIdentity:
        """Spec and revision of the weights; ``dim`` is the width of a patch."""

    @property
    def patches(self) -> int: ...

    @property
    def width(self) -> int: ...

    def image_patches(self, images: Sequence[Image.Image]) -> Patches:
        """``[n, patches, width]`` float16. Images are RGB, upright."""

    def texts(self, texts: Sequence[str]) -> Texts:
        """At most ``text_length`` tokens of each text, cut off at the end."""

    def vectors(self, patches: torch.Tensor) -> torch.Tensor | None:
        """``[n, d]`` unit rows of ``[n, patches, width]``: the encoder's own image vectors, which an untrained network
        begins with; ``None`` if its weights bring that along."""

    def new_parts(self) -> NewParts:
        """Fresh parts of a network over these features (before training), from torch's random state."""


@dataclass(frozen=True)
class NewParts:
    """What a backbone contributes to a network: the configuration of ``Blip2QFormerModel``, the module that embeds
    :class:`Texts`, the module that the patches go through first, and trained tensors to begin with, if it has any."""

    qformer: Mapping[str, Any]
    texts: torch.nn.Module
    patches: torch.nn.Module
    dim: int
    tokens: int
    weights: Mapping[str, torch.Tensor]
    size: Mapping[str, int] = field(default_factory=dict)   # of a Q-Former that the backbone does not decide
