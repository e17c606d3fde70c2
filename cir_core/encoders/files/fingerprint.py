"""Encoder revision: a fingerprint that is equal if vectors are comparable."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

# Tokenised once per load: text vectors depend on the tokenizer as much as on the weights.
PROBE_TEXTS = (
    "a long navy and white striped dress with three-quarter sleeves, a v-neck and a belt",
    "The Quick brown fox; jumps over 13 lazy dogs! Ünïcode",
)

# Entries of a transformers config.json that do not concern the model: where it came from, and what wrote it.
_NOT_THE_MODEL = frozenset({"_name_or_path", "transformers_version", "dtype", "torch_dtype", "architectures"})
_PREPROCESSING = (
    "do_resize", "size", "resample", "do_center_crop", "crop_size", "do_rescale", "rescale_factor",
    "do_normalize", "image_mean", "image_std",
)
_PATCHES = (
    "patch_size", "temporal_patch_size", "merge_size", "image_grid_pinpoints", "do_pad", "min_pixels", "max_pixels",
)


def transformers_marks(
    config: Mapping[str, Any], preprocessing: Mapping[str, Any], probe: list[list[int]]
) -> dict[str, Any]:
    """Input of :func:`revision` besides the weights, for a transformers model. ``config`` and ``preprocessing`` are its
    config.json and image processor as dicts, ``probe`` the token ids of :data:`PROBE_TEXTS`."""
    return {
        "model": {key: value for key, value in config.items() if key not in _NOT_THE_MODEL},
        "preprocess": {key: preprocessing.get(key) for key in _PREPROCESSING},
        "probe": probe,
    }


def embedding_marks(
    config: Mapping[str, Any], preprocessing: Mapping[str, Any], probe: list[list[int]], *, chat: str
) -> dict[str, Any]:
    """:func:`transformers_marks` for a model that reads images as patches and has a chat template, ``chat``."""
    patches = {key: preprocessing.get(key) for key in _PATCHES}
    return {**transformers_marks(config, preprocessing, probe), "patches": patches, "chat": chat}


def revision(weights: Mapping[str, torch.Tensor], config: Mapping[str, Any]) -> str:
    """16 hex digits of a SHA-256 over tensors (by name) and ``config``.

    Tensors are hashed rather than files, so that the same weights as safetensors and as
    .pt agree; hash before moving the model, so that device and precision do not matter.
    """
    digest = hashlib.sha256()
    digest.update(json.dumps(config, sort_keys=True, default=str).encode())
    for name in sorted(weights):
        tensor = weights[name].detach().cpu().contiguous()
        digest.update(f"\0{name}\0{tensor.dtype}\0{tuple(tensor.shape)}\0".encode())
        digest.update(_bytes(tensor))
    return digest.hexdigest()[:16]


def _bytes(tensor: torch.Tensor) -> bytes:
    import torch

    # Viewed as bytes: numpy has no bfloat16. A scalar has no last dimension to view along.
    return tensor.reshape(-1).view(torch.uint8).numpy().tobytes()
