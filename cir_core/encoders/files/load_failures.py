"""Safe messages for models that could not be loaded.

PyTorch's error about a checkpoint with code in it explains how to disable that check. No message of cirque repeats it.
"""

from __future__ import annotations

import pickle
import re

HOLDS_OBJECTS = ("holds Python objects beyond tensors, or is damaged, and was not loaded. Use safetensors, or re-save "
                 "the state dict alone")
_LONGEST = 400      # characters of a library's message
_ADVICE = re.compile(r"weights[_ -]?only|unpickl|safe_globals|torchscript archive|legacy \.tar", re.IGNORECASE)


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
