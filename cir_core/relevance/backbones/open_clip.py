"""Small relevance models on a frozen open_clip encoder, such as the bundled one.

Patches are the image tower's last feature map; the image's vector is one more patch, because it holds details that the
map's average loses. Texts enter as the text tower's hidden states, with the text's vector in front: so the words are
learned already, as in BLIP-2, whose Q-Former begins with BERT's.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch import Tensor, nn

from cir_core.encoders.files.fingerprint import revision
from cir_core.encoders.open_clip_encoder import image_pipeline, load_backbone
from cir_core.encoders.specs import parse_spec
from cir_core.encoders.torch_encoder import choose_device, split
from cir_core.errors import EncoderUnavailable
from cir_core.relevance.backbones.base import NewParts, Patches, Texts
from cir_core.support.texts import quoted
from cir_core.types.records import EncoderIdentity

TEXT_LENGTH = 32
_BATCH = 64


@dataclass(frozen=True)
class SmallQFormer:
    """Size of the Q-Former of a small model: with the bundled encoder, a million weights."""

    hidden: int = 128
    layers: int = 2
    heads: int = 8
    intermediate: int = 512
    dim: int = 256
    tokens: int = 32

    def __post_init__(self) -> None:
        if min(asdict(self).values()) < 1 or self.hidden % self.heads:
            raise ValueError("all numbers must be positive, and hidden a multiple of heads "
                             f"({', '.join(f'{name} {value}' for name, value in asdict(self).items())})")


class OpenClipBackbone:
    """An open_clip model whose towers are frozen. Implements ``RelevanceBackbone``."""

    def __init__(self, spec: str, *, device: str = "auto", allow_downloads: bool = False,
                 size: SmallQFormer = SmallQFormer()) -> None:
        loaded = load_backbone(parse_spec(spec), allow_downloads)
        self.device, self.size = choose_device(device), size
        self._model = loaded.model.eval().requires_grad_(False).to(self.device)
        self._tokenize, self._prepare = loaded.tokenizer, image_pipeline(loaded.preprocess)
        self._lock = threading.Lock()
        blank = Image.new("RGB", (64, 64))
        with torch.inference_mode():
            features, whole = self._image_features(self._prepare(blank)[None].to(self.device))
            words, text = self._text_features(self._tokenize([""]).to(self.device))
        self._patches, self.width = features.shape[1] + 1, max(features.shape[2], whole.shape[1])
        self._dim = whole.shape[1]
        self.text_width = max(words.shape[2], text.shape[1])
        self.identity = EncoderIdentity(spec, revision(loaded.model.state_dict(), loaded.marks), self.width)

    @property
    def patches(self) -> int:
        return self._patches

    def image_patches(self, images: Sequence[Image.Image]) -> Patches:
        rows = [np.zeros((0, self.patches, self.width), np.float16)]
        for part in split(images, _BATCH):
            pixels = torch.stack([self._prepare(image.convert("RGB")) for image in part]).to(self.device)
            rows.append(self.pixel_patches(pixels))
        return np.concatenate(rows)

    def pixel_patches(self, pixels: Tensor) -> Patches:
        """:meth:`image_patches` of prepared pixels ``[n, 3, height, width]``."""
        with self._lock, torch.inference_mode():
            features, whole = self._image_features(pixels)
            # Unit variance, as a layer norm leaves each row: the sizes of the two differ by an order of magnitude.
            whole = F.layer_norm(whole, whole.shape[1:])
            features = F.layer_norm(features, features.shape[2:])
            rows = torch.cat([_padded(whole[:, None], self.width), _padded(features, self.width)], dim=1)
        return cast(Patches, rows.half().cpu().numpy())

    def texts(self, texts: Sequence[str]) -> Texts:
        tokens = self._tokenize(list(texts)).to(self.device)
        # The end token has the highest id; what is beyond it is padding, and causal attention never reads it.
        ends = tokens.argmax(dim=1)
        with self._lock, torch.inference_mode():
            words, whole = self._text_features(tokens)
            length = min(int(ends.max()) + 1, TEXT_LENGTH)
            words = F.layer_norm(words[:, :length], words.shape[2:])
            whole = F.layer_norm(whole, whole.shape[1:])
            values = torch.cat([_padded(whole[:, None], self.text_width), _padded(words, self.text_width)], dim=1)
        mask = torch.arange(length + 1, device=tokens.device)[None] <= ends[:, None] + 1
        return Texts(values.clone(), mask.long())

    def vectors(self, patches: Tensor) -> Tensor:
        return F.normalize(patches[:, 0, : self._dim], dim=-1)

    def new_parts(self) -> NewParts:
        size = self.size
        return NewParts(
            qformer={
                "hidden_size": size.hidden, "num_hidden_layers": size.layers, "num_attention_heads": size.heads,
                "intermediate_size": size.intermediate, "encoder_hidden_size": self.width,
                "cross_attention_frequency": 1, "use_qformer_text_input": True, "vocab_size": 1,
                "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0,
                # BERT's 0.02 is for layers of 768: in small ones nothing would come through at first.
                "initializer_range": size.hidden ** -0.5,
            },
            texts=nn.Linear(self.text_width, size.hidden), patches=nn.Identity(),
            dim=size.dim, tokens=size.tokens, weights={}, size=asdict(size),
        )

    def _image_features(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        out: dict[str, Any] = self._model.forward_intermediates(
            image=pixels, image_indices=1, image_output_fmt="NCHW", normalize=False)
        return out["image_intermediates"][-1].flatten(2).transpose(1, 2), out["image_features"]

    def _text_features(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        out: dict[str, Any] = self._model.forward_intermediates(text=tokens, text_indices=1, normalize=False)
        return out["text_intermediates"][-1], out["text_features"]


def _padded(rows: Tensor, width: int) -> Tensor:
    return F.pad(rows, (0, width - rows.shape[-1]))


def check_open_clip(spec: str) -> None:
    """Raises ``EncoderUnavailable`` for a spec that open_clip does not load."""
    if parse_spec(spec).kind not in ("bundled", "pretrained", "hub", "folder", "pair"):
        raise EncoderUnavailable("A relevance model is built on an open_clip model or on blip2:/FOLDER, not on "
                                 f"{quoted(spec)}. Write for example atelier or ViT-B-32/openai.")
