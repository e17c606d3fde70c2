"""Offline mode: the Hugging Face hub is accessed only with consent."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from cir_core.encoders.specs import EncoderSpec
from cir_core.errors import EncoderUnavailable

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
