"""Load checkpoints of networks trained on top of a backbone: named tensors, never code."""

from __future__ import annotations

import pickle
import warnings
import zipfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy._core.multiarray import scalar
from safetensors import SafetensorError
from safetensors.torch import load_file

from cir_core.encoders.files.offline import HOLDS_OBJECTS, holds_objects, load_failure
from cir_core.encoders.specs import EncoderSpec
from cir_core.errors import EncoderUnavailable

# Training states such as Pic2Word's hold learning rates as numpy numbers, under numpy's
# old or new module name. All three only construct numbers.
_NUMBERS: list[Any] = [
    (scalar, "numpy.core.multiarray.scalar"), (scalar, "numpy._core.multiarray.scalar"),
    np.dtype, type(np.dtype(np.float64)),
]
_DATA_PARALLEL = "module."


def read_weights(spec: EncoderSpec, inside: Sequence[str] = ()) -> dict[str, torch.Tensor]:
    """The tensors of ``spec.weights`` by name, float32, on the CPU.

    ``inside`` names the entries under which published files nest the network among other
    things: the first one present is read, or the top level if none is. The prefix
    ``module.`` of data-parallel training is removed. Raises ``EncoderUnavailable``.
    """
    path = Path(spec.weights).expanduser()
    if not path.is_file():
        raise EncoderUnavailable(f"No checkpoint {path}. Check the part after the last colon in '{spec.text}'.")
    content = _read(path)
    for name in inside:
        if isinstance(content.get(name), Mapping):
            content = content[name]
            break
    tensors = {
        str(name).removeprefix(_DATA_PARALLEL): value.float()
        for name, value in content.items() if isinstance(value, torch.Tensor)
    }
    if not tensors:
        named = f", nor under {' or '.join(inside)}" if inside else ""
        raise EncoderUnavailable(f"Checkpoint {path} has no tensors at its top level{named}; it has {_some(content)}. "
                                 "Save the network's state_dict by itself, as safetensors or .pt.")
    return tensors


def load_exactly(
    module: torch.nn.Module, tensors: Mapping[str, torch.Tensor], spec: EncoderSpec, *,
    prefix: str = "", optional: Collection[str] = (),
) -> None:
    """Load ``tensors`` into ``module``: same names (after ``prefix``) and shapes, nothing more. ``optional`` ones may
    be missing and remain unchanged. Raises ``EncoderUnavailable`` with the expected and the actual tensors."""
    state = module.state_dict()
    given = {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
    for name, value in state.items():
        if name not in given:
            if name in optional:
                continue
            raise EncoderUnavailable(f"Checkpoint {spec.weights} lacks the tensor {prefix}{name} of shape "
                                     f"{tuple(value.shape)}; it has {_some(given)}. docs/how-to/composing-encoders.md "
                                     "lists the names.")
        if given[name].shape != value.shape:
            raise EncoderUnavailable(f"In checkpoint {spec.weights} the tensor {prefix}{name} has the shape "
                                     f"{tuple(given[name].shape)}; with the backbone '{spec.source}' it must be "
                                     f"{tuple(value.shape)}. Name the backbone it was trained with.")
    if extra := sorted(given.keys() - state.keys()):
        raise EncoderUnavailable(f"Checkpoint {spec.weights} has {len(extra)} tensors that this architecture has no "
                                 f"place for, such as {prefix}{extra[0]}. docs/how-to/composing-encoders.md lists the "
                                 "names.")
    module.load_state_dict(given, strict=False)


def _read(path: Path) -> Mapping[str, Any]:
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        with torch.serialization.safe_globals(_NUMBERS), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)     # about a TorchScript archive, which is refused anyway
            content = torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    except (pickle.UnpicklingError, OSError, RuntimeError, EOFError, ValueError, SafetensorError) as error:
        if holds_objects(error):
            raise EncoderUnavailable(f"Checkpoint {path} {HOLDS_OBJECTS}.") from error
        raise EncoderUnavailable(f"Checkpoint {path} cannot be read ({load_failure(error)}). Copy it again.") from error
    if not isinstance(content, Mapping):
        raise EncoderUnavailable(f"Checkpoint {path} is a {type(content).__name__}, not tensors by name. Save the "
                                 "network's state_dict.")
    return content


def _some(content: Mapping[str, Any]) -> str:
    names = [str(name) for name in content]
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "") if names else "nothing"
