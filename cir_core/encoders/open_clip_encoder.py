"""Load any open_clip model: built-in names, hub, folders, checkpoints."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

import open_clip
import torch
from open_clip.transform import PreprocessCfg, image_transform_v2
from PIL import Image

from cir_core.encoders.files.fingerprint import PROBE_TEXTS, revision
from cir_core.encoders.files.offline import hub_access, in_hub_cache, load_failure, missing_weights
from cir_core.encoders.specs import CHECKPOINT_SUFFIXES, EncoderSpec, bundled_encoder_dir
from cir_core.encoders.torch_encoder import TorchEncoder, choose_device, choose_precision
from cir_core.errors import EncoderUnavailable
from cir_core.types.records import EncoderIdentity

CONFIG_NAME = "open_clip_config.json"
VOCABULARY_NAME = "bpe_simple_vocab.txt.gz"  # a folder's own vocabulary, read instead of open_clip's
_HUB_WEIGHTS = ("open_clip_model.safetensors", "open_clip_pytorch_model.safetensors", "open_clip_pytorch_model.bin")


@dataclass(frozen=True)
class _Source:
    """Arguments with which open_clip builds the model of a spec."""

    model: str
    pretrained: str | None = None
    options: dict[str, Any] = field(default_factory=dict)    # of create_model_from_pretrained
    tokenizer: dict[str, Any] = field(default_factory=dict)  # of get_tokenizer


@dataclass(frozen=True)
class Backbone:
    """An open_clip model on the CPU in float32, with everything that determines its vectors."""

    model: Any
    tokenizer: Callable[[list[str]], torch.Tensor]   # texts to [n, context length] token ids
    preprocess: dict[str, Any]                       # the fields of open_clip's PreprocessCfg
    marks: dict[str, Any]                            # input of ``revision`` besides the weights

    @property
    def dim(self) -> int:
        with torch.inference_mode():
            return int(self.model.eval().encode_text(self.tokenizer([""])).shape[-1])


def load_open_clip(
    spec: EncoderSpec, *, device: str, precision: str, allow_downloads: bool, batch_size: int
) -> TorchEncoder:
    """The encoder of ``spec``. Raises ``EncoderUnavailable`` for missing or unfit weights."""
    chosen = choose_device(device)
    dtype = choose_precision(precision, chosen)
    backbone = load_backbone(spec, allow_downloads)
    model = backbone.model
    mark = revision(model.state_dict(), backbone.marks)
    return TorchEncoder(
        identity=EncoderIdentity(spec.text, mark, backbone.dim), name=spec.name, model=model,
        preprocess=image_pipeline(backbone.preprocess),
        embed_images=model.encode_image, tokenize=backbone.tokenizer, embed_texts=model.encode_text,
        embed_short_texts=short_texts(model), device=chosen, dtype=dtype, batch_size=batch_size,
    )


def short_texts(model: Any) -> Callable[[torch.Tensor], torch.Tensor] | None:
    """``model.encode_text`` without the padding behind the longest text, which costs most of the time and changes
    nothing but last bits: in CLIP's text tower no token sees a later one. None for towers of another kind."""
    if type(model) is not open_clip.CLIP or model.attn_mask is None or model.text_pool_type != "argmax":
        return None

    def embed(tokens: torch.Tensor) -> torch.Tensor:
        ends = tokens.argmax(dim=-1)   # the end of a text is its highest token
        length = int(ends.max()) + 1
        kind = model.transformer.get_cast_dtype()
        # Looked up here: moving the model to a GPU replaces its buffers, of which the mask is one.
        positions, mask, projection = model.positional_embedding, model.attn_mask, model.text_projection
        states = model.token_embedding(tokens[:, :length]).to(kind) + positions[:length].to(kind)
        states = model.ln_final(model.transformer(states, attn_mask=mask[:length, :length]))
        pooled: torch.Tensor = states[torch.arange(len(tokens), device=states.device), ends]
        if isinstance(projection, torch.nn.Module):
            return cast(torch.Tensor, projection(pooled))
        return pooled if projection is None else pooled @ projection

    return embed


def image_pipeline(preprocess: dict[str, Any]) -> Callable[[Image.Image], torch.Tensor]:
    """Resize, crop and normalise as open_clip does for these fields of its PreprocessCfg."""
    return cast(Callable[[Image.Image], torch.Tensor], image_transform_v2(PreprocessCfg(**preprocess), is_train=False))


def load_backbone(spec: EncoderSpec, allow_downloads: bool) -> Backbone:
    """Model, tokenizer and preprocessing of ``spec``. Raises ``EncoderUnavailable``."""
    with hub_access(allow_downloads):
        source = _locate(spec, allow_downloads)
        config = _config(source)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # QuickGELU mismatch: see _pretrained
                model = open_clip.create_model_from_pretrained(
                    source.model, source.pretrained, precision="fp32", device="cpu",
                    weights_only=True, return_transform=False, **source.options,
                )
            tokenizer = open_clip.get_tokenizer(source.model, **source.tokenizer)
        except Exception as error:  # RuntimeError, OSError, ValueError, KeyError, pickle errors
            raise _unfit(spec, error, allow_downloads) from error
    preprocess = asdict(PreprocessCfg(**model.visual.preprocess_cfg))
    tokens = tokenizer(list(PROBE_TEXTS)).tolist()
    marks = {"model": config, "preprocess": preprocess, "probe": tokens}
    if source.options.get("force_quick_gelu"):
        marks["quick_gelu"] = True
    return Backbone(model, tokenizer, preprocess, marks)


def _locate(spec: EncoderSpec, allow_downloads: bool) -> _Source:
    finders: dict[str, Callable[[], _Source]] = {
        "bundled": lambda: _folder(spec, bundled_encoder_dir()),
        "folder": lambda: _folder(spec, Path(spec.source).expanduser()),
        "pair": lambda: _pair(spec),
        "hub": lambda: _hub(spec, allow_downloads),
        "pretrained": lambda: _pretrained(spec, allow_downloads),
    }
    return finders[spec.kind]()


def _folder(spec: EncoderSpec, folder: Path) -> _Source:
    if not (folder / CONFIG_NAME).is_file():
        remedy = (
            "Reinstall cirque."
            if spec.kind == "bundled"
            else "Name a folder written by open_clip (push_to_hf_hub.save_for_hf) or downloaded from the hub."
        )
        raise EncoderUnavailable(f"No {CONFIG_NAME} in {folder}. {remedy}")
    if not any(path.suffix in CHECKPOINT_SUFFIXES for path in folder.iterdir()):
        raise EncoderUnavailable(f"No weights in {folder}: expected open_clip_model.safetensors next to {CONFIG_NAME}.")
    return _Source(f"local-dir:{folder}", tokenizer=_vocabulary(folder))


def _pair(spec: EncoderSpec) -> _Source:
    weights = Path(spec.weights).expanduser()
    if not weights.is_file():
        raise EncoderUnavailable(f"No checkpoint {weights}. Check the part after the plus in '{spec.text}'.")
    if not spec.source.endswith(".json"):
        _check_model(spec)
        return _Source(spec.source, str(weights))
    path = Path(spec.source).expanduser()
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        model_config = content.get("model_cfg", content)
        model_config["embed_dim"], model_config["vision_cfg"], model_config["text_cfg"]
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise EncoderUnavailable(f"Config {path} cannot be read as JSON: {error}.") from error
    except (KeyError, TypeError) as error:
        raise EncoderUnavailable(f"Config {path} is not the config of an open_clip model: it lacks {error}.") from error
    # open_clip identifies a config by its file name, and an equal name would replace a built-in one.
    name = f"{path.stem}@{revision({}, model_config)}"
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / f"{name}.json"
        copy.write_text(json.dumps(model_config), encoding="utf-8")
        open_clip.add_model_config(copy)
    given = content.get("preprocess_cfg", {})
    names = {"mean": "image_mean", "std": "image_std", "interpolation": "image_interpolation",
             "resize_mode": "image_resize_mode"}
    options = {names[key]: value for key, value in given.items() if key in names}
    return _Source(name, str(weights), options, _vocabulary(path.parent))


def _vocabulary(folder: Path) -> dict[str, Any]:
    path = folder / VOCABULARY_NAME
    return {"bpe_path": str(path)} if path.is_file() else {}


def _hub(spec: EncoderSpec, allow_downloads: bool) -> _Source:
    if not allow_downloads:
        for what, names in (("The config", (CONFIG_NAME,)), ("The checkpoint", _HUB_WEIGHTS)):
            if not in_hub_cache(spec.source, names):
                raise missing_weights(spec, what)
    return _Source(f"hf-hub:{spec.source}")


def _pretrained(spec: EncoderSpec, allow_downloads: bool) -> _Source:
    _check_model(spec)
    tag = open_clip.get_pretrained_cfg(spec.source, spec.tag)
    if not tag:
        tags = open_clip.list_pretrained_tags_by_model(spec.source)
        raise EncoderUnavailable(
            f"open_clip has no weights '{spec.tag}' for {spec.source}.{_suggest(spec.tag, tags)} "
            + (f"Known: {', '.join(tags)}." if tags else f"Use open_clip:{spec.source}+/WEIGHTS.safetensors.")
        )
    if not allow_downloads and not _tag_is_cached(tag):
        raise missing_weights(spec, "The checkpoint")
    # OpenAI's weights need QuickGELU; open_clip only warns when the plain model name is used with them.
    config = open_clip.get_model_config(spec.source)
    forced = tag.get("quick_gelu", False) and not config.get("quick_gelu", False)
    return _Source(spec.source, spec.tag, {"force_quick_gelu": True} if forced else {})


def _tag_is_cached(tag: dict[str, Any]) -> bool:
    if "file" in tag:
        return Path(tag["file"]).is_file()
    if hub := tag.get("hf_hub"):
        repo_id, _, filename = hub.rpartition("/")
        names = (filename, str(Path(filename).with_suffix(".safetensors"))) if filename else _HUB_WEIGHTS
        return in_hub_cache(repo_id, names)
    # open_clip's cache for downloads from plain URLs.
    return Path(Path.home(), ".cache", "clip", str(tag["url"]).rpartition("/")[2]).is_file()


def _check_model(spec: EncoderSpec) -> None:
    models = open_clip.list_models()
    if spec.source not in models:
        hint = _suggest(spec.source, models)
        name = f"{spec.source}/{spec.tag or 'NAME'}"
        raise EncoderUnavailable(f"open_clip has no model '{spec.source}'.{hint} A model on the hub is written "
                                 f"hf-hub:{name} (open_clip) or transformers:{name}.")


def _suggest(word: str, names: list[str]) -> str:
    by_lower = {name.lower(): name for name in names}
    close = get_close_matches(word.lower(), by_lower, n=3, cutoff=0.5)
    return f" Did you mean {' or '.join(by_lower[c] for c in close)}?" if close else ""


def _config(source: _Source) -> dict[str, Any]:
    try:
        return dict(open_clip.get_model_config(source.model) or {})
    except Exception as error:
        raise EncoderUnavailable(f"The config of '{source.model}' cannot be read: {error}.") from error


def _unfit(spec: EncoderSpec, error: Exception, allow_downloads: bool) -> EncoderUnavailable:
    text = load_failure(error)
    if spec.kind in ("hub", "pretrained") and not allow_downloads:
        return EncoderUnavailable(f"Encoder '{spec.text}' could not be loaded from the local cache: {text}. A part of "
                                  f"it may never have been fetched; run: cirque encoders fetch {spec.text}")
    if spec.kind in ("hub", "pretrained"):
        return EncoderUnavailable(f"Encoder '{spec.text}' could not be fetched or loaded: {text}. Check the connection "
                                  "and the name; weights copied to a folder by hand load with local-dir:/FOLDER.")
    return EncoderUnavailable(f"Encoder '{spec.text}' could not be loaded: {text}. Check that the checkpoint belongs "
                              "to the config, and convert checkpoints that contain more than tensors to safetensors.")
