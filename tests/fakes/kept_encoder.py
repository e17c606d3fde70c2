"""The encoder of the sample, loaded once in a process for all that ask for it as it is by default: the weights are read
and its words for garments encoded in 1.3 s of CPU, and tests start hundreds of commands and servers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

_MODULE = "cir_core.encoders.open_clip_encoder"


def keep_encoder(*, warm: bool = False) -> None:
    """From now on, if what loads it is imported already. ``warm``: load it at once, for processes forked from here."""
    if _MODULE not in sys.modules:
        return
    from cir_core.encoders.specs import BUNDLED, load_encoder
    from cir_core.garments.zero_shot import attributes_of

    module: Any = sys.modules[_MODULE]
    module.load_open_clip = _kept(module.load_open_clip, BUNDLED)
    if warm:
        import torch

        threads = torch.get_num_threads()
        torch.set_num_threads(1)    # those of OpenMP do not outlive a fork: the child waits for them for ever
        attributes_of(load_encoder(BUNDLED))
        torch.set_num_threads(threads)


def _kept(load: Callable[..., Any], kept: str) -> Callable[..., Any]:
    once = cache(load)

    def load_or_take(spec: Any, **options: Any) -> Any:
        return (once if spec.text == kept else load)(spec, **options)

    return load_or_take
