"""Load an encoder by its spec."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import cast

from cir_core.encoders.base import Encoder
from cir_core.encoders.specs import parse_spec

# Module and function by the kind of spec, imported on demand: each has its own heavy dependencies.
_LOADERS: Mapping[str, tuple[str, str]] = {
    "transformers": ("transformers_encoder", "load_transformers"),
    "sentence-transformers": ("embedding.sentence_transformers_encoder", "load_sentence_transformers"),
    "embedding": ("embedding.embedding_encoder", "load_embedding"),
    "pic2word": ("composing.pseudo_word", "load_pseudo_word"),
    "searle": ("composing.pseudo_word", "load_pseudo_word"),
    "magiclens": ("composing.magiclens", "load_magiclens"),
}
_OPEN_CLIP = ("open_clip_encoder", "load_open_clip")           # all other kinds
_LOCAL_ONLY = frozenset({"sentence-transformers", "embedding"})   # never downloaded


def load_encoder(
    spec: str, *, device: str = "auto", precision: str = "auto", allow_downloads: bool = False, batch_size: int = 64,
) -> Encoder:
    """Load the encoder that ``spec`` names (forms: :mod:`cir_core.encoders.specs`).

    ``device`` is auto, cpu, cuda, cuda:N or mps; ``precision`` auto, fp32, fp16 or bf16 (auto: fp16 on cuda, else fp32;
    weights stay fp32, the forward pass is autocast). ``batch_size`` is the number of images or texts per forward pass.

    With ``allow_downloads`` false nothing is downloaded: weights must be in a local folder or already in the Hugging
    Face cache. ``sentence-transformers:`` and ``embedding:`` always read local folders only, and leave large models in
    the precision they run in. Raises ``EncoderUnavailable`` with the remedy.
    """
    parsed = parse_spec(spec)
    module, function = _LOADERS.get(parsed.kind, _OPEN_CLIP)
    options: dict[str, object] = {"device": device, "precision": precision, "batch_size": batch_size}
    if parsed.kind not in _LOCAL_ONLY:
        options["allow_downloads"] = allow_downloads
    return cast(Encoder, getattr(import_module(f"cir_core.encoders.{module}"), function)(parsed, **options))
