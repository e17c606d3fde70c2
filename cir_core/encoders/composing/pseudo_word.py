"""Pic2Word and SEARLE: the reference image becomes one word of the text tower.

A mapping network turns the image's CLIP feature, not normalised, into a word embedding; it replaces a placeholder in a
sentence with the modification text, which the text tower then encodes like any other. Pic2Word: Saito et al., CVPR
2023, section 3; SEARLE: Baldrati et al., ICCV 2023, section 3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import torch

from cir_core.encoders.files.checkpoints import read_weights
from cir_core.encoders.files.fingerprint import revision
from cir_core.encoders.open_clip_encoder import Backbone, image_pipeline, load_backbone, short_texts
from cir_core.encoders.specs import EncoderSpec
from cir_core.encoders.torch_encoder import ComposingTorchEncoder, choose_device, choose_precision
from cir_core.errors import EncoderUnavailable
from cir_core.types.records import EncoderIdentity

START = "a photo of"
PLACEHOLDERS = {"pic2word": "*", "searle": "$"}
TEMPLATES = {"pic2word": "a photo of * , {}", "searle": "a photo of $ that {}"}
"""The sentence around a modification text, as worded in each paper's evaluation."""

_INSIDE = {"pic2word": ("state_dict_img2text",), "searle": ("Phi", "MLP")}  # entries of published files


def load_pseudo_word(
    spec: EncoderSpec, *, device: str, precision: str, allow_downloads: bool, batch_size: int
) -> ComposingTorchEncoder:
    """The encoder of a ``pic2word:`` or ``searle:`` spec. Raises ``EncoderUnavailable``. Single images and texts get
    the backbone's vectors."""
    chosen = choose_device(device)
    dtype = choose_precision(precision, chosen)
    weights = read_weights(spec, _INSIDE[spec.kind])
    backbone = load_backbone(spec.backbone, allow_downloads)
    model, dim = backbone.model, backbone.dim
    words = _word_table(spec, model)
    mapping = _mapping(spec, weights, dim, words.embedding_dim)
    place = _place(spec, backbone)

    def embed_composed(pixels: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        pseudo_words = mapping(model.encode_image(pixels))

        def replace(_module: torch.nn.Module, _inputs: Any, embedded: torch.Tensor) -> torch.Tensor:
            embedded = embedded.clone()
            embedded[:, place] = pseudo_words.to(embedded.dtype)
            return embedded

        # The tower runs unchanged, whatever its family; only its word table is replaced.
        with words.register_forward_hook(replace):
            return cast(torch.Tensor, model.encode_text(tokens))

    parts = torch.nn.ModuleDict({"backbone": model, "mapping": mapping})
    mark = revision(parts.state_dict(), {**backbone.marks, "template": TEMPLATES[spec.kind]})
    return ComposingTorchEncoder(
        identity=EncoderIdentity(spec.text, mark, dim), name=spec.name, model=parts,
        preprocess=image_pipeline(backbone.preprocess),
        embed_images=model.encode_image, tokenize=backbone.tokenizer, embed_texts=model.encode_text,
        embed_short_texts=short_texts(model),
        phrase=_phrase(spec), embed_composed=embed_composed,
        device=chosen, dtype=dtype, batch_size=batch_size,
    )


def _phrase(spec: EncoderSpec) -> Callable[[str], str]:
    template, bare = TEMPLATES[spec.kind], f"{START} {PLACEHOLDERS[spec.kind]}"
    return lambda text: template.format(text) if text.strip() else bare


def _word_table(spec: EncoderSpec, model: torch.nn.Module) -> torch.nn.Embedding:
    for tower in (model, getattr(model, "text", None)):
        table = getattr(tower, "token_embedding", None)
        if isinstance(table, torch.nn.Embedding):
            return table
    raise EncoderUnavailable(f"The text tower of '{spec.source}' is not of CLIP's kind, so it has no place for a "
                             "pseudo-word. Name the backbone that the mapping was trained with, such as "
                             "ViT-L-14/openai.")


def _mapping(
    spec: EncoderSpec, weights: Mapping[str, torch.Tensor], image_dim: int, word_dim: int
) -> torch.nn.Sequential:
    """The mapping network: linear layers of any width with ReLU (Pic2Word) or GELU (SEARLE) between."""
    names = _layer_names(spec, weights)
    layers: list[torch.nn.Module] = []
    takes = image_dim
    for name in names:
        weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
        if weight.ndim != 2 or weight.shape[1] != takes or bias.shape != weight.shape[:1]:
            what = "the backbone's image features have" if name == names[0] else "the layer before gives"
            raise EncoderUnavailable(f"In checkpoint {spec.weights} the layer {name} has weights of shape "
                                     f"{tuple(weight.shape)} and a bias of {tuple(bias.shape)}, but {what} {takes} "
                                     "numbers. Name the backbone that it was trained with.")
        linear = torch.nn.Linear(takes, weight.shape[0])
        linear.load_state_dict({"weight": weight, "bias": bias})
        layers += [linear, torch.nn.ReLU() if spec.kind == "pic2word" else torch.nn.GELU()]
        takes = weight.shape[0]
    if takes != word_dim:
        raise EncoderUnavailable(f"The mapping in {spec.weights} makes words of {takes} numbers; the words of "
                                 f"'{spec.source}' have {word_dim}. Name the backbone that it was trained with.")
    return torch.nn.Sequential(*layers[:-1])


def _layer_names(spec: EncoderSpec, weights: Mapping[str, torch.Tensor]) -> list[str]:
    if spec.kind == "searle":
        names = ["layers.0", "layers.3", "layers.6"]
    else:
        hidden = sum(name.startswith("layers.") and name.endswith(".weight") for name in weights)
        names = [*(f"layers.{i}.0" for i in range(hidden)), "fc_out"]
    expected = {f"{name}.{part}" for name in names for part in ("weight", "bias")}
    if expected != weights.keys():
        raise EncoderUnavailable(f"Checkpoint {spec.weights} is not a {spec.kind} mapping: expected "
                                 f"{', '.join(sorted(expected))}, found {', '.join(sorted(weights)[:8])}. Write "
                                 "the prefix of its kind: pic2word: or searle:.")
    return names


def _place(spec: EncoderSpec, backbone: Backbone) -> int:
    """Position of the placeholder's token. Texts after it do not move it."""
    without, there = backbone.tokenizer([START, f"{START} {PLACEHOLDERS[spec.kind]}"]).tolist()
    place = next((i for i, (a, b) in enumerate(zip(without, there, strict=True)) if a != b), len(there))
    # One token for it, then the end token, which must also fit.
    if place + 1 >= len(there) or there[place + 1] != without[place]:
        raise EncoderUnavailable(f"The tokenizer of '{spec.source}' has no single token, or no room, for the "
                                 f"placeholder in '{START} {PLACEHOLDERS[spec.kind]}'. Name the backbone that the "
                                 "mapping was trained with.")
    return place
