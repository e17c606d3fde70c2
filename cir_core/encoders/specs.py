"""Encoder specs, as written in settings, commands and protocol cards, and loading by them.

    atelier                                       the model that ships with cirque
    ViT-B-32/openai                               open_clip: model name / pretrained tag
    hf-hub:org/name                               open_clip model on the Hugging Face hub
    local-dir:/path                               folder with open_clip_config.json and weights
    open_clip:/path/config.json+/path/weights.pt  open_clip config and checkpoint
    open_clip:ViT-B-32+/path/weights.safetensors  the same for a built-in architecture of open_clip
    transformers:/path  or  transformers:org/name CLIP, SigLIP or BLIP (ITM) of transformers
    sentence-transformers:/path                   folder of sentence-transformers, with images
    embedding:/path                               folder of a vision-language or CLIP embedding model
    pic2word:BACKBONE:/path/mapping.pt            encoders that compose: one of the open_clip forms
    searle:BACKBONE:/path/phi.pt                  above, a colon, and the checkpoint of the network
    magiclens:BACKBONE:/path/weights.safetensors  trained on top of it
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Literal, cast

from cir_core.encoders.base import Encoder
from cir_core.errors import EncoderUnavailable
from cir_core.support.files import shipped_folder

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
EncoderKind = Literal[
    "bundled", "pretrained", "hub", "folder", "pair", "transformers", "sentence-transformers", "embedding",
    "pic2word", "searle", "magiclens",
]
COMPOSING: tuple[EncoderKind, ...] = ("pic2word", "searle", "magiclens")  # on an open_clip backbone
UNIVERSAL: tuple[EncoderKind, ...] = ("sentence-transformers", "embedding")
_KINDS: dict[str, EncoderKind] = {
    "hf-hub": "hub", "local-dir": "folder", "transformers": "transformers",
    "sentence-transformers": "sentence-transformers", "embedding": "embedding",
}
_PREFIXES = ("open_clip", *_KINDS, *COMPOSING)
BUNDLED = "atelier"
CHECKPOINT_SUFFIXES = (".safetensors", ".pt", ".pth", ".bin")

_FORMS = ("Write atelier, MODEL/TAG (for example ViT-B-32/openai), hf-hub:ORG/NAME, local-dir:/FOLDER, "
          "open_clip:/CONFIG.json+/WEIGHTS.safetensors, transformers:/FOLDER or, to compose, embedding:/FOLDER, "
          "sentence-transformers:/FOLDER, pic2word:BACKBONE:/WEIGHTS.pt, searle:… or magiclens:….")

FORMS: tuple[tuple[str, str], ...] = (
    ("atelier", "the bundled model; knows only the rendered garments of the sample gallery"),
    ("MODEL/TAG", "any model of open_clip with one of its pretrained tags, such as ViT-B-32/openai"),
    ("hf-hub:org/name", "an open_clip model from the Hugging Face hub"),
    ("local-dir:/path", "a folder with open_clip_config.json and weights"),
    ("open_clip:/config.json+/weights.safetensors", "a configuration and a checkpoint of your own"),
    ("open_clip:MODEL+/weights.pt", "a known architecture with a local checkpoint"),
    ("transformers:/path", "CLIP, SigLIP or BLIP (image-text matching) of transformers; or org/name of the hub"),
    ("sentence-transformers:/path", "a folder of sentence-transformers that takes images; composes if the model does"),
    ("embedding:/path", "composes: a vision-language or CLIP embedding model (Qwen3-VL-Embedding, GME, BGE-VL)"),
    ("pic2word:BACKBONE:/mapping.pt", "composes: Pic2Word's mapping network on one of the open_clip forms"),
    ("searle:BACKBONE:/phi.pt", "composes: SEARLE's phi on one of the open_clip forms"),
    ("magiclens:BACKBONE:/weights.safetensors", "composes: MagicLens's joint encoder on one of the open_clip forms"),
)
"""All spec forms, and what they load."""


@dataclass(frozen=True)
class EncoderSpec:
    """A parsed spec. ``source`` is a model name, hub id, folder, config file or backbone, by ``kind``."""

    text: str
    kind: EncoderKind
    source: str = ""
    tag: str = ""      # pretrained tag, for "pretrained"
    weights: str = ""  # checkpoint file, for "pair" and the composing kinds

    @property
    def name(self) -> str:
        """A short readable name: no prefix, no folders."""
        if self.kind in ("bundled", "pretrained"):
            return self.text
        if self.kind == "pair":
            return f"{_last(self.source).removesuffix('.json')} ({_last(self.weights)})"
        if self.kind in COMPOSING:
            return f"{self.kind} {self.backbone.name} ({_last(self.weights)})"
        if self.kind == "hub" or (self.kind == "transformers" and not looks_like_path(self.source)):
            return self.source
        return _last(self.source)

    @property
    def backbone(self) -> EncoderSpec:
        """The backbone of a composing encoder; any other encoder itself."""
        return parse_spec(self.source) if self.kind in COMPOSING else self


def parse_spec(text: str) -> EncoderSpec:
    """Parse an encoder spec; nothing is looked up. Raises ``EncoderUnavailable``."""
    text = text.strip()
    if not text:
        raise EncoderUnavailable(f"No encoder was named. {_FORMS}")
    if text.lower() == BUNDLED:
        return EncoderSpec(BUNDLED, "bundled")
    prefix, colon, rest = text.partition(":")
    if colon and prefix in _PREFIXES:
        if not rest.strip():
            raise EncoderUnavailable(f"Encoder '{text}' names nothing after the colon. {_FORMS}")
        if prefix == "open_clip":
            return _parse_open_clip(text, rest)
        if prefix in COMPOSING:
            return _parse_composing(text, prefix, rest)
        return EncoderSpec(text, _KINDS[prefix], rest)
    if colon and len(prefix) > 1 and "/" not in prefix:  # one letter is a Windows drive
        raise EncoderUnavailable(f"Encoder '{text}' has an unknown prefix '{prefix}:'. {_FORMS}")
    if looks_like_path(text):
        raise EncoderUnavailable(f"Encoder '{text}' looks like a path. Write local-dir:{text} for a folder.")
    model, slash, tag = text.partition("/")
    if not (model and slash and tag):
        raise EncoderUnavailable(f"Encoder '{text}' does not say which weights to use. Add the tag, as in "
                                 f"{model or 'ViT-B-32'}/openai; open_clip.list_pretrained() has them all.")
    return EncoderSpec(text, "pretrained", model, tag=tag)


def _parse_open_clip(text: str, rest: str) -> EncoderSpec:
    config, plus, weights = rest.partition(".json+")
    if plus:
        config += ".json"
    else:
        config, plus, weights = rest.partition("+")
    if not plus and "/" in rest and not looks_like_path(rest):
        return parse_spec(rest)  # open_clip:ViT-B-32/openai means the same as without the prefix
    if not (config and weights):
        raise EncoderUnavailable(f"Encoder '{text}' needs a config and a checkpoint, joined by a plus sign. {_FORMS}")
    _check_suffix(weights)
    return EncoderSpec(text, "pair", config, weights=weights)


def _parse_composing(text: str, kind: EncoderKind, rest: str) -> EncoderSpec:
    # The last colon separates, unless it belongs to the drive letter of the checkpoint.
    found = re.fullmatch(r"(.+?):((?:[A-Za-z]:[\\/])?[^:]+)", rest)
    if not found or found[1] in _PREFIXES:  # the colon of local-dir:/folder is part of its spec
        raise EncoderUnavailable(f"Encoder '{text}' needs a backbone and a checkpoint with a colon between, as in "
                                 f"{kind}:ViT-L-14/openai:/path/weights.pt. {_FORMS}")
    backbone = parse_spec(found[1])
    if backbone.kind in (*COMPOSING, *UNIVERSAL, "transformers"):
        raise EncoderUnavailable(f"Encoder '{text}' is built on '{backbone.text}', which open_clip does not load. Name "
                                 "a backbone such as ViT-L-14/openai or local-dir:/FOLDER.")
    _check_suffix(found[2])
    return EncoderSpec(text, kind, found[1], weights=found[2])


def _check_suffix(weights: str) -> None:
    if not weights.endswith(CHECKPOINT_SUFFIXES):
        raise EncoderUnavailable(f"Checkpoint '{weights}' does not end in one of {', '.join(CHECKPOINT_SUFFIXES)}. "
                                 "Convert it to safetensors, which cannot carry code.")


def looks_like_path(text: str) -> bool:
    """Whether ``text`` has the form of a path rather than a name."""
    return text.startswith(("/", "./", "../", "~", "\\")) or text[1:3] in (":\\", ":/")


def _last(path: str) -> str:
    return path.rstrip("/\\").replace("\\", "/").rpartition("/")[2]


def bundled_encoder_dir() -> Path:
    """Folder of the model that ships with cirque. It may be missing in a damaged install."""
    return shipped_folder("encoders/atelier-clip")


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


@dataclass(frozen=True)
class EncoderLoader:
    """Loads an encoder once a process: this one, or another one that it is sent to. The fields are those of
    :func:`load_encoder`."""

    spec: str
    device: str = "auto"
    precision: str = "auto"
    allow_downloads: bool = False

    def __call__(self) -> Encoder:
        return _loaded(self)


@lru_cache(maxsize=1)
def _loaded(loader: EncoderLoader) -> Encoder:
    return load_encoder(**asdict(loader))
