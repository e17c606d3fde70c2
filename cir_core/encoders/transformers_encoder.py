"""``transformers:`` dual encoders: CLIP, SigLIP (and fixed-size SigLIP 2), BLIP with its ITM projections."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import torch
import transformers
from PIL import Image

from cir_core.encoders.files.fingerprint import PROBE_TEXTS, revision, transformers_marks
from cir_core.encoders.files.offline import hub_access, load_failure, missing_weights
from cir_core.encoders.specs import EncoderSpec, looks_like_path
from cir_core.encoders.torch_encoder import TorchEncoder, choose_device, choose_precision
from cir_core.errors import EncoderUnavailable
from cir_core.types.records import EncoderIdentity


@dataclass(frozen=True)
class _Family:
    """How one model type is loaded and called."""

    model_class: str
    images: Callable[[Any, torch.Tensor], torch.Tensor]
    texts: Callable[[Any, dict[str, torch.Tensor]], torch.Tensor]
    pad_to_limit: bool = False  # SigLIP was trained on padding and without a mask


def _pooled(output: Any) -> torch.Tensor:
    # transformers 5 returns an output object, 4 the tensor itself.
    return output if isinstance(output, torch.Tensor) else cast(torch.Tensor, output.pooler_output)


def _clip_images(model: Any, pixels: torch.Tensor) -> torch.Tensor:
    return _pooled(model.get_image_features(pixel_values=pixels))


def _clip_texts(model: Any, tokens: dict[str, torch.Tensor]) -> torch.Tensor:
    return _pooled(model.get_text_features(**tokens))


def _blip_images(model: Any, pixels: torch.Tensor) -> torch.Tensor:
    states: torch.Tensor = model.vision_model(pixel_values=pixels).last_hidden_state
    return cast(torch.Tensor, model.vision_proj(states[:, 0, :]))


def _blip_texts(model: Any, tokens: dict[str, torch.Tensor]) -> torch.Tensor:
    states: torch.Tensor = model.text_encoder(**tokens).last_hidden_state
    return cast(torch.Tensor, model.text_proj(states[:, 0, :]))


_FAMILIES = {
    "clip": _Family("CLIPModel", _clip_images, _clip_texts),
    "siglip": _Family("SiglipModel", _clip_images, _clip_texts, pad_to_limit=True),
    "blip": _Family("BlipForImageTextRetrieval", _blip_images, _blip_texts),
}


def load_transformers(
    spec: EncoderSpec, *, device: str, precision: str, allow_downloads: bool, batch_size: int,
    kind: type[TorchEncoder] = TorchEncoder, marks: Mapping[str, Any] | None = None,
) -> TorchEncoder:
    """The encoder of a ``transformers:`` spec. Raises ``EncoderUnavailable``. ``kind`` is the class to build from the
    model's functions; ``marks`` go into its revision."""
    chosen = choose_device(device)
    dtype = choose_precision(precision, chosen)
    source = spec.source
    if looks_like_path(source) or Path(source).is_dir():
        folder = Path(source).expanduser()
        if not (folder / "config.json").is_file():
            raise EncoderUnavailable(f"No config.json in {folder}. Name a folder written by save_pretrained or got "
                                     "from the hub.")
        source = str(folder)
    with hub_access(allow_downloads):
        try:
            config, _ = transformers.PretrainedConfig.get_config_dict(source)
            family = _family(spec, config)
            model, info = getattr(transformers, family.model_class).from_pretrained(
                source, dtype=torch.float32, output_loading_info=True
            )
            tokenizer = transformers.AutoTokenizer.from_pretrained(source, trust_remote_code=False)
            load_processor: Callable[..., Any] = transformers.AutoImageProcessor.from_pretrained
            processor = load_processor(source, trust_remote_code=False)
        except EncoderUnavailable:
            raise
        except Exception as error:  # OSError for missing files, ValueError, RuntimeError for shapes
            if isinstance(error, OSError) and source == spec.source and not allow_downloads:
                raise missing_weights(spec, "A part") from error
            raise EncoderUnavailable(f"Encoder '{spec.text}' could not be loaded: {load_failure(error)}. The folder "
                                     "needs config.json, weights, the tokenizer's files and "
                                     "preprocessor_config.json.") from error
    if info["missing_keys"]:
        raise EncoderUnavailable(f"The checkpoint of '{spec.text}' lacks {len(info['missing_keys'])} weights of "
                                 f"{family.model_class}, such as {min(info['missing_keys'])}. Use one trained for "
                                 "retrieval (for BLIP: blip-itm-…).")
    make = partial(kind, device=chosen, dtype=dtype, batch_size=batch_size)
    return _assemble(spec, family, config, model, tokenizer, processor, make, marks or {})


def _assemble(
    spec: EncoderSpec, family: _Family, config: Mapping[str, Any], model: Any, tokenizer: Any, processor: Any,
    make: Callable[..., TorchEncoder], marks: Mapping[str, Any],
) -> TorchEncoder:
    limit = min(int(tokenizer.model_max_length), int(model.config.text_config.max_position_embeddings))

    def tokenize(texts: list[str]) -> dict[str, torch.Tensor]:
        padding = "max_length" if family.pad_to_limit else "longest"
        tokens = tokenizer(texts, padding=padding, truncation=True, max_length=limit, return_tensors="pt")
        names = ("input_ids",) if family.pad_to_limit else ("input_ids", "attention_mask")
        return {name: tokens[name] for name in names}

    def preprocess(image: Image.Image) -> torch.Tensor:
        return cast(torch.Tensor, processor(images=image, return_tensors="pt")["pixel_values"][0])

    probe = tokenize(list(PROBE_TEXTS))["input_ids"].tolist()
    mark = revision(model.state_dict(), {**transformers_marks(config, processor.to_dict(), probe), **marks})
    with torch.inference_mode():
        dim = int(family.texts(model.eval(), tokenize([""])).shape[-1])
    return make(
        identity=EncoderIdentity(spec.text, mark, dim), name=spec.name, model=model, preprocess=preprocess,
        embed_images=lambda pixels: family.images(model, pixels), tokenize=tokenize,
        embed_texts=lambda tokens: family.texts(model, tokens),
    )


def _family(spec: EncoderSpec, config: Mapping[str, Any]) -> _Family:
    kind = str(config.get("model_type"))
    if kind not in _FAMILIES:
        known = "CLIP, SigLIP and BLIP"
        hint = " Use a fixed-size checkpoint of SigLIP 2, not NaFlex." if kind == "siglip2" else ""
        raise EncoderUnavailable(f"Encoder '{spec.text}' is a '{kind}' model; the transformers adapter knows "
                                 f"{known}.{hint} Many others load through open_clip (hf-hub:…).")
    return _FAMILIES[kind]
