"""Architecture of the bundled encoder, its trainable form and its files on disk."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from open_clip.model import CLIP
from open_clip.tokenizer import SimpleTokenizer
from PIL import Image
from safetensors.torch import save_file
from torch import Tensor

from cir_core.encoders.open_clip_encoder import short_texts
from cir_core.sample.relevance_data import IMAGE_SIZE, Pixels, shrink

CONTEXT_LENGTH = 64
VOCABULARY_FILE = "bpe_simple_vocab.txt.gz"
CONFIG_FILE = "open_clip_config.json"
WEIGHTS_FILE = "open_clip_model.safetensors"

#: Matches open_clip's inference transform: resize (bicubic, shorter side), crop, normalise.
PREPROCESS_CFG: dict[str, Any] = {
    "mean": [0.5, 0.5, 0.5],
    "std": [0.25, 0.25, 0.25],
    "interpolation": "bicubic",
    "resize_mode": "shortest",
}


def model_config(vocab_size: int) -> dict[str, Any]:
    """open_clip's ``model_cfg``: FasterNet-T0 (Chen et al., 2023) and a small transformer."""
    return {
        "embed_dim": 192,
        "vision_cfg": {
            "image_size": IMAGE_SIZE,
            "timm_model_name": "fasternet_t0",
            "timm_model_pretrained": False,
            "timm_pool": "avg",
            "timm_proj": "",  # the classifier layer is the projection
        },
        "text_cfg": {
            "context_length": CONTEXT_LENGTH,
            "vocab_size": vocab_size,
            "width": 160,
            "heads": 4,
            "layers": 3,
        },
    }


def new_model(vocab_size: int) -> CLIP:
    """An untrained model, initialised from torch's current random state."""
    return CLIP(**model_config(vocab_size))


def load_tokenizer(vocabulary: Path) -> SimpleTokenizer:
    """The tokenizer that ``open_clip.get_tokenizer`` builds from the exported folder."""
    return SimpleTokenizer(bpe_path=str(vocabulary), context_length=CONTEXT_LENGTH)


def normalised(pixels: Pixels) -> Tensor:
    """uint8 ``[n, size, size, 3]`` to the model's input ``[n, 3, size, size]``."""
    values = torch.from_numpy(np.ascontiguousarray(pixels)).permute(0, 3, 1, 2).float()
    mean, std = PREPROCESS_CFG["mean"][0], PREPROCESS_CFG["std"][0]
    return ((values - 255 * mean) / (255 * std)).contiguous(memory_format=torch.channels_last)


def text_features(model: CLIP, tokens: Tensor) -> Tensor:
    """Unit rows for ``[n, context]`` tokens. Without the padded tail, a training step is much shorter."""
    embed = short_texts(model)
    assert embed is not None   # the sample's text tower is CLIP's
    return F.normalize(embed(tokens).float(), dim=-1)


class ModelInTraining:
    """``encode_images`` and ``encode_texts`` of a model that is not on disk yet."""

    def __init__(self, model: CLIP, tokenizer: SimpleTokenizer) -> None:
        self.model = model
        self.tokenizer = tokenizer

    @torch.inference_mode()
    def encode_images(self, images: Sequence[Image.Image]) -> npt.NDArray[np.float32]:
        pixels = np.stack([shrink(image, IMAGE_SIZE) for image in images])
        features: Tensor = self.model.encode_image(normalised(pixels), normalize=True)
        return features.numpy()

    @torch.inference_mode()
    def encode_texts(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return text_features(self.model, self.tokenizer(list(texts))).numpy()


def export(out: Path, state: Mapping[str, Tensor], vocabulary: Path) -> Path:
    """Write the folder that open_clip loads as ``local-dir:<out>``.

    Weights are stored in half precision (the batch norms' statistics in single), which
    open_clip reads into a single-precision model; scores change in the fourth decimal.
    Each file is replaced atomically.
    """
    out.mkdir(parents=True, exist_ok=True)
    tokenizer = load_tokenizer(vocabulary)
    config = {"model_cfg": model_config(tokenizer.vocab_size), "preprocess_cfg": PREPROCESS_CFG}
    stored = {
        name: (value if _keep_exact(name, value) else value.half()).detach().clone().contiguous()
        for name, value in state.items()
    }

    weights = out / f".{WEIGHTS_FILE}.partial"
    save_file(stored, str(weights), metadata={"format": "pt"})
    weights.chmod(0o644)  # safetensors makes it readable by the owner only
    text = out / f".{CONFIG_FILE}.partial"
    text.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    words = out / f".{VOCABULARY_FILE}.partial"
    shutil.copyfile(vocabulary, words)
    os.replace(words, out / VOCABULARY_FILE)
    os.replace(text, out / CONFIG_FILE)
    os.replace(weights, out / WEIGHTS_FILE)
    return out


def _keep_exact(name: str, value: Tensor) -> bool:
    return not value.is_floating_point() or "running_" in name or name == "logit_scale"
