"""MagicLens: a small transformer over an image's and a text's CLIP features.

Zhang et al., ICML 2024, section 3.3. Queries (image and text) and gallery (image and the empty
text) go through the same network. Its tensors, by name:

    multimodal_encoder.layers.{i}.layer_norm.{weight,bias}
    multimodal_encoder.layers.{i}.self_attention.{query,key,value,post}.{weight,bias}
    multimodal_encoder.layers.{i}.ff_layer.layer_norm.{weight,bias}
    multimodal_encoder.layers.{i}.ff_layer.{ffn_layer1,ffn_layer2}.{weight,bias}
    contrastive_multimodal_pooler.pooling_attn_query                 [1, dim]
    contrastive_multimodal_pooler.pool_attn.{query,key,value,post}.{weight,bias}
    contrastive_multimodal_pooler.pool_attn.per_dim_scale            [width of a head]
    contrastive_multimodal_pooler.pool_attn_ln.{weight,bias}
    clip.*                     the jointly trained towers, with open_clip's names; optional
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import cast

import torch
from torch import nn

from cir_core.encoders.files.checkpoints import load_exactly, read_weights
from cir_core.encoders.files.fingerprint import revision
from cir_core.encoders.open_clip_encoder import image_pipeline, load_backbone
from cir_core.encoders.specs import EncoderSpec
from cir_core.encoders.torch_encoder import ComposingTorchEncoder, choose_device, choose_precision
from cir_core.errors import EncoderUnavailable
from cir_core.types.records import EncoderIdentity

_CAP = 50.0       # attention logits stay between ± this
_EPSILON = 1e-6   # of every layer norm
_TOWERS = "clip."
_POOLER = "contrastive_multimodal_pooler.pool_attn."
_NOT_TRAINED_ALONG = ("logit_scale", "logit_bias")


class Attention(nn.Module):
    """Multi-head attention with capped logits; ``scaled`` learns the scale of each dimension."""

    def __init__(self, dim: int, inner: int, heads: int, *, scaled: bool) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(dim, inner) for _ in range(3))
        self.post = nn.Linear(inner, dim)
        self.per_dim_scale = nn.Parameter(torch.ones(inner // heads)) if scaled else None

    def forward(self, asking: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        query, key, value = (
            layer(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for layer, x in ((self.query, asking), (self.key, context), (self.value, context))
        )
        scale = query.shape[-1] ** -0.5
        if self.per_dim_scale is not None:  # 1/ln 2, so that a learned zero means no change
            query = query * (nn.functional.softplus(self.per_dim_scale) / math.log(2))
        logits = _CAP * torch.tanh(query @ key.transpose(-2, -1) * scale / _CAP)
        return cast(torch.Tensor, self.post((logits.softmax(-1) @ value).transpose(1, 2).flatten(2)))


class FeedForward(nn.Module):
    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.layer_norm = nn.LayerNorm(dim, eps=_EPSILON)
        self.ffn_layer1, self.ffn_layer2 = nn.Linear(dim, hidden), nn.Linear(hidden, dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + cast(torch.Tensor, self.ffn_layer2(self.ffn_layer1(self.layer_norm(x)).relu()))


class Layer(nn.Module):
    def __init__(self, dim: int, hidden: int, heads: int) -> None:
        super().__init__()
        self.layer_norm = nn.LayerNorm(dim, eps=_EPSILON)
        self.self_attention = Attention(dim, dim, heads, scaled=False)
        self.ff_layer = FeedForward(dim, hidden)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        normed = self.layer_norm(x)
        return cast(torch.Tensor, self.ff_layer(x + self.self_attention(normed, normed)))


class Stack(nn.Module):
    def __init__(self, dim: int, hidden: int, heads: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(*(Layer(dim, hidden, heads) for _ in range(layers)))


class Pooler(nn.Module):
    """Attention pooling with one learned query."""

    def __init__(self, dim: int, inner: int, heads: int) -> None:
        super().__init__()
        self.pooling_attn_query = nn.Parameter(torch.zeros(1, dim))
        self.pool_attn = Attention(dim, inner, heads, scaled=True)
        self.pool_attn_ln = nn.LayerNorm(dim, eps=_EPSILON)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        asking = self.pooling_attn_query.expand(len(tokens), -1, -1)
        return cast(torch.Tensor, self.pool_attn_ln(self.pool_attn(asking, tokens))[:, 0])


class JointEncoder(nn.Module):
    """``[n, tokens, dim]`` features to ``[n, dim]``. Sizes are read from the checkpoint's tensors."""

    def __init__(self, dim: int, *, hidden: int, inner: int, heads: int, layers: int) -> None:
        super().__init__()
        self.multimodal_encoder = Stack(dim, hidden, heads, layers)
        self.contrastive_multimodal_pooler = Pooler(dim, inner, heads)

    def forward(self, *features: torch.Tensor) -> torch.Tensor:
        tokens = self.multimodal_encoder.layers(torch.stack(features, dim=1))
        return cast(torch.Tensor, self.contrastive_multimodal_pooler(tokens))


def load_magiclens(
    spec: EncoderSpec, *, device: str, precision: str, allow_downloads: bool, batch_size: int
) -> ComposingTorchEncoder:
    """The encoder of a ``magiclens:`` spec. Raises ``EncoderUnavailable``.

    A text alone is passed through the network as its only token, which MagicLens was not trained
    on. Images are squashed to a square, bilinearly, as in its evaluation.
    """
    chosen = choose_device(device)
    dtype = choose_precision(precision, chosen)
    weights = read_weights(spec)
    backbone = load_backbone(spec.backbone, allow_downloads)
    model, tokenizer, dim = backbone.model, backbone.tokenizer, backbone.dim
    if any(name.startswith(_TOWERS) for name in weights):
        load_exactly(model, weights, spec, prefix=_TOWERS, optional=_NOT_TRAINED_ALONG)
    own = {name: value for name, value in weights.items() if not name.startswith(_TOWERS)}
    joint = _shaped(spec, own, dim)
    load_exactly(joint, own, spec)

    def embed_images(pixels: torch.Tensor) -> torch.Tensor:
        images = model.encode_image(pixels)
        nothing = model.encode_text(tokenizer([""]).to(pixels.device))
        return cast(torch.Tensor, joint(images, nothing.expand_as(images)))

    parts = nn.ModuleDict({"backbone": model, "joint": joint})
    preprocess = backbone.preprocess | {"interpolation": "bilinear", "resize_mode": "squash"}
    mark = revision(parts.state_dict(), {**backbone.marks, "preprocess": preprocess, "composes": spec.kind})
    return ComposingTorchEncoder(
        identity=EncoderIdentity(spec.text, mark, dim), name=spec.name, model=parts,
        preprocess=image_pipeline(preprocess), embed_images=embed_images, tokenize=tokenizer,
        embed_texts=lambda tokens: joint(model.encode_text(tokens)), phrase=str.strip,
        embed_composed=lambda pixels, tokens: joint(model.encode_image(pixels), model.encode_text(tokens)),
        device=chosen, dtype=dtype, batch_size=batch_size,
    )


def _shaped(spec: EncoderSpec, weights: Mapping[str, torch.Tensor], dim: int) -> JointEncoder:
    try:
        inner = len(weights[f"{_POOLER}query.weight"])
        heads = inner // len(weights[f"{_POOLER}per_dim_scale"])
        hidden = len(weights["multimodal_encoder.layers.0.ff_layer.ffn_layer1.weight"])
    except KeyError as error:
        raise EncoderUnavailable(f"Checkpoint {spec.weights} lacks the tensor {error.args[0]}. The published MagicLens "
                                 "files are in flax format and must be converted once, as listed in "
                                 "cir_core/encoders/composing/magiclens.md.") from error
    layers = {name.split(".")[2] for name in weights if name.startswith("multimodal_encoder.layers.")}
    if heads < 1 or dim % heads:
        raise EncoderUnavailable(f"Checkpoint {spec.weights} has {heads} attention heads, which do not divide the "
                                 f"{dim} numbers of '{spec.source}'. Name the backbone that it was trained with.")
    return JointEncoder(dim, hidden=hidden, inner=inner, heads=heads, layers=len(layers))
