"""How an encoder is written in a setting, a command or a protocol card.

    atelier                                       the model that ships with cirque
    ViT-B-32/openai                               open_clip: model name / pretrained tag
    hf-hub:org/name                               open_clip model on the Hugging Face hub
    local-dir:/path                               folder with open_clip_config.json and weights
    open_clip:/path/config.json+/path/weights.pt  open_clip config and checkpoint
    open_clip:ViT-B-32+/path/weights.safetensors  the same for an architecture that open_clip knows
    transformers:/path  or  transformers:org/name CLIP, SigLIP or BLIP (ITM) of transformers
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cir_core.errors import EncoderUnavailable

Kind = Literal["bundled", "pretrained", "hub", "folder", "pair", "transformers"]
BUNDLED = "atelier"
CHECKPOINT_SUFFIXES = (".safetensors", ".pt", ".pth", ".bin")

_FORMS = (
    "Write atelier, MODEL/TAG (for example ViT-B-32/openai), hf-hub:ORG/NAME, local-dir:/FOLDER, "
    "open_clip:/CONFIG.json+/WEIGHTS.safetensors or transformers:/FOLDER."
)


@dataclass(frozen=True)
class EncoderSpec:
    """A parsed spec. ``source`` is a model name, hub id, folder or config file, by ``kind``."""

    text: str
    kind: Kind
    source: str = ""
    tag: str = ""      # pretrained tag, for "pretrained"
    weights: str = ""  # checkpoint file, for "pair"

    @property
    def name(self) -> str:
        """A short name for people: no prefix, no folders."""
        if self.kind in ("bundled", "pretrained"):
            return self.text
        if self.kind == "pair":
            return f"{_last(self.source).removesuffix('.json')} ({_last(self.weights)})"
        if self.kind == "hub" or (self.kind == "transformers" and not looks_like_path(self.source)):
            return self.source
        return _last(self.source)


def parse_spec(text: str) -> EncoderSpec:
    """The parts of an encoder spec; nothing is looked up. Raises ``EncoderUnavailable``."""
    text = text.strip()
    if not text:
        raise EncoderUnavailable(f"No encoder was named. {_FORMS}")
    if text.lower() == BUNDLED:
        return EncoderSpec(BUNDLED, "bundled")
    prefix, colon, rest = text.partition(":")
    if colon and prefix in ("hf-hub", "local-dir", "open_clip", "transformers"):
        if not rest.strip():
            raise EncoderUnavailable(f"Encoder '{text}' names nothing after the colon. {_FORMS}")
        if prefix == "open_clip":
            return _parse_open_clip(text, rest)
        kinds: dict[str, Kind] = {"hf-hub": "hub", "local-dir": "folder", "transformers": "transformers"}
        return EncoderSpec(text, kinds[prefix], rest)
    if colon and len(prefix) > 1 and "/" not in prefix:  # one letter is a Windows drive
        raise EncoderUnavailable(f"Encoder '{text}' has an unknown prefix '{prefix}:'. {_FORMS}")
    if looks_like_path(text):
        raise EncoderUnavailable(f"Encoder '{text}' looks like a path. Write local-dir:{text} for a folder.")
    model, slash, tag = text.partition("/")
    if not (model and slash and tag):
        raise EncoderUnavailable(
            f"Encoder '{text}' does not say which weights to use. Add the tag, as in "
            f"{model or 'ViT-B-32'}/openai; open_clip.list_pretrained() has them all."
        )
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
        raise EncoderUnavailable(
            f"Encoder '{text}' needs a config and a checkpoint with a plus sign between. {_FORMS}"
        )
    if not weights.endswith(CHECKPOINT_SUFFIXES):
        raise EncoderUnavailable(
            f"Checkpoint '{weights}' is none of {', '.join(CHECKPOINT_SUFFIXES)}. "
            "Convert it to safetensors, which cannot carry code."
        )
    return EncoderSpec(text, "pair", config, weights=weights)


def looks_like_path(text: str) -> bool:
    """Whether ``text`` is written as a path rather than as a name."""
    return text.startswith(("/", "./", "../", "~", "\\")) or text[1:3] in (":\\", ":/")


def _last(path: str) -> str:
    return path.rstrip("/\\").replace("\\", "/").rpartition("/")[2]
