"""An encoder of ViT-B-32's size: open_clip's own architecture with random weights."""

from __future__ import annotations

import json
from pathlib import Path

from cir_core.encoders import load_encoder
from cir_core.encoders.base import Encoder


def vit_b_32(folder: Path) -> Encoder:
    """Built once per run in ``folder``, loaded through the regular adapter."""
    import open_clip
    import torch
    from safetensors.torch import save_file

    target = folder / "vit-b-32"
    if not target.exists():
        target.mkdir()
        torch.manual_seed(0)
        model = open_clip.create_model("ViT-B-32", pretrained=None)
        config = open_clip.get_model_config("ViT-B-32")
        (target / "open_clip_config.json").write_text(json.dumps({"model_cfg": config, "preprocess_cfg": {}}))
        weights = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
        save_file(weights, str(target / "open_clip_model.safetensors"))
    return load_encoder(f"local-dir:{target}")
