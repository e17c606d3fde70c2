"""Validate local folders of embedding models before anything in them runs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from cir_core.encoders.specs import EncoderSpec
from cir_core.encoders.torch_encoder import choose_precision
from cir_core.errors import EncoderUnavailable

_ADAPTER = "adapter_config.json"


def model_folder(spec: EncoderSpec, needed: str) -> Path:
    """The folder named by ``spec``, checked for a file ``needed``. Raises ``EncoderUnavailable``."""
    folder = Path(spec.source).expanduser()
    if not folder.is_dir():
        raise EncoderUnavailable(f"No folder {folder}. '{spec.kind}:' reads local folders only; get the whole "
                                 f"repository of a model first, and write {spec.kind}:/FOLDER.")
    if (folder / needed).is_file():
        return folder
    if (folder / _ADAPTER).is_file():
        raise EncoderUnavailable(f"{folder} contains an adapter ({_ADAPTER}), not a model. Merge it into the model it "
                                 "was trained on with peft (merge_and_unload, save_pretrained), with the processor's "
                                 "files beside it.")
    other = {"modules.json": "embedding", "config.json": "sentence-transformers"}
    present = next((name for name in other if (folder / name).is_file()), "")
    remedy = (f"With {present} alone it may load as {other[needed]}:{spec.source}." if present else
              "Name the folder that save_pretrained wrote or that the hub's repository was copied to.")
    raise EncoderUnavailable(f"No {needed} in {folder}. {remedy}")


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in ``path``. Raises ``EncoderUnavailable``."""
    content = _read(path)
    if not isinstance(content, dict):
        raise EncoderUnavailable(f"{path} contains a {type(content).__name__}, not a JSON object. Copy it again.")
    return content


def read_array(path: Path) -> list[Any]:
    """The JSON array in ``path``. Raises ``EncoderUnavailable``."""
    content = _read(path)
    if not isinstance(content, list):
        raise EncoderUnavailable(f"{path} contains a {type(content).__name__}, not a JSON array. Copy it again.")
    return content


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise EncoderUnavailable(f"{path} cannot be read as JSON: {error}. Copy it again or correct it.") from error


def known_model_type(spec: EncoderSpec, folder: Path, config: Mapping[str, Any]) -> str:
    """The ``model_type`` of a config.json, if transformers has a class for it.

    A folder may contain code for a type that transformers supports; that code is not used.
    Raises ``EncoderUnavailable`` if the model cannot be built without it.
    """
    import transformers

    kind = str(config.get("model_type", ""))
    if kind in transformers.CONFIG_MAPPING:
        return kind
    if "auto_map" in config:
        raise EncoderUnavailable(f"The model in {folder} needs custom code (auto_map in config.json), which cirque "
                                 "never runs. Use a model whose type transformers has built in, or make its ranks "
                                 "elsewhere.")
    raise EncoderUnavailable(f"The config.json in {folder} names the model type '{kind}', which transformers "
                             f"{transformers.__version__} does not know. Check that '{spec.text}' is a transformers "
                             "folder, or install a later transformers 5.")


def precision_for(precision: str, device: torch.device, stored: torch.dtype) -> torch.dtype:
    """As ``choose_precision``, but ``auto`` keeps bf16 weights in bf16 on a GPU. Language models trained in bf16
    overflow fp16's range."""
    if precision == "auto" and device.type == "cuda" and stored == torch.bfloat16:
        return torch.bfloat16
    return choose_precision(precision, device)


def without_marks(tokenizer: Any, *marks: str) -> Callable[[str], str]:
    """A function that removes from a text what the model would read as structure.

    That is the tokenizer's special tokens and ``marks``, such as the image's placeholder: a
    user's text must not open a second image or another role.
    """
    special = {str(token) for token in tokenizer.added_tokens_decoder.values() if token.special}
    words = sorted((special | set(marks)) - {""}, key=len, reverse=True)
    if not words:
        return lambda text: text
    pattern = re.compile("|".join(map(re.escape, words)))
    # Replaced by a space, so that the text on both sides cannot join to a new one.
    return lambda text: pattern.sub(" ", text)
