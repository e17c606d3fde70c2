"""Loading of foreign models: the Hugging Face hub only with consent, and safe messages for models that fail to load.

PyTorch's error about a checkpoint with code in it explains how to disable that check. No message of cirque repeats it.
"""

from __future__ import annotations

import pickle
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from cir_core.encoders.specs import EncoderSpec
from cir_core.errors import EncoderUnavailable

HOLDS_OBJECTS = ("contains Python objects beyond tensors, or is damaged, and was not loaded. Use safetensors, or "
                 "re-save the state dict alone")
_LONGEST = 400      # characters of a library's message
_ADVICE = re.compile(r"weights[_ -]?only|unpickl|safe_globals|torchscript archive|legacy \.tar", re.IGNORECASE)
# The hub's switch is global to the process, so two loads must not flip it at the same time.
_switch = threading.RLock()


@contextmanager
def hub_access(allowed: bool) -> Iterator[None]:
    """Within the block, ``huggingface_hub`` (and transformers, timm, open_clip, which use it) is offline
    unless ``allowed``. HF_HUB_OFFLINE in the environment is respected either way."""
    from huggingface_hub import constants

    with _switch:
        before = constants.HF_HUB_OFFLINE
        constants.HF_HUB_OFFLINE = before or not allowed
        try:
            yield
        finally:
            constants.HF_HUB_OFFLINE = before


def missing_weights(spec: EncoderSpec, what: str) -> EncoderUnavailable:
    """The error for weights that are not on this machine."""
    return EncoderUnavailable(f"{what} of encoder '{spec.text}' is not on this machine, and cirque does not download "
                              f"by itself. To download it, run: cirque encoders fetch {spec.text}")


def in_hub_cache(repo_id: str, filenames: tuple[str, ...]) -> bool:
    """Whether any of ``filenames`` of a hub repository is in the local cache."""
    from huggingface_hub import try_to_load_from_cache

    return any(isinstance(try_to_load_from_cache(repo_id, name), str) for name in filenames)


def load_failure(error: BaseException) -> str:
    """A library's load error, on one line and without a full stop at its end."""
    if holds_objects(error):
        return f"a file of weights {HOLDS_OBJECTS}"
    return (" ".join(str(error)[:8 * _LONGEST].split())[:_LONGEST] or type(error).__name__).rstrip(".")


def holds_objects(error: BaseException) -> bool:
    """Whether a checkpoint was refused for not being a plain state dict, by ``error`` or one of its causes."""
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        if isinstance(at, pickle.UnpicklingError) or _ADVICE.search(str(at)):
            return True
        seen.add(id(at))
        at = at.__cause__ or at.__context__
    return False
