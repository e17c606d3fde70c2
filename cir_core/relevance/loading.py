"""Find and load relevance models: the bundled one, or a folder."""

from __future__ import annotations

import threading
from functools import lru_cache
from pathlib import Path

from cir_core.encoders.torch_encoder import choose_device, choose_precision
from cir_core.errors import RelevanceUnavailable
from cir_core.relevance.backbones.loading import load_relevance_backbone
from cir_core.relevance.checkpoint import CARD_FILE, load_checkpoint
from cir_core.relevance.model import RelevanceModel

BUNDLED = "bundled"
OFF = "off"
_ASSETS = Path("assets/relevance")
_loading = threading.Lock()


def bundled_relevance_dir() -> Path:
    """Folder of the model that ships with cirque. It may be missing in a damaged install."""
    package = Path(__file__).resolve().parents[1]
    inside, beside = package / _ASSETS, package.parent / _ASSETS
    return inside if inside.is_dir() else beside


def folder_of(spec: str) -> Path:
    """``bundled`` or a folder. Raises ``RelevanceUnavailable`` for ``off`` and an empty name."""
    spec = spec.strip()
    if not spec or spec == OFF:
        raise RelevanceUnavailable("No relevance model is set. Set CIRQUE_RELEVANCE to bundled, or to a folder written "
                                   "by `cirque relevance train`.")
    return bundled_relevance_dir() if spec == BUNDLED else Path(spec).expanduser()


def is_there(spec: str) -> bool:
    """Whether ``spec`` names a model whose files exist. Loads nothing."""
    try:
        return (folder_of(spec) / CARD_FILE).is_file()
    except RelevanceUnavailable:
        return False


def load_relevance(
    spec: str = BUNDLED, *, device: str = "auto", precision: str = "auto", allow_downloads: bool = False
) -> RelevanceModel:
    """The model of ``spec``; loaded once a process. Raises ``RelevanceUnavailable``, ``EncoderUnavailable``."""
    with _loading:
        return _load(spec.strip(), device, precision, allow_downloads)


@lru_cache(maxsize=4)
def _load(spec: str, device: str, precision: str, allow_downloads: bool) -> RelevanceModel:
    checkpoint = load_checkpoint(folder_of(spec))
    backbone = load_relevance_backbone(checkpoint.card.backbone, device=device, allow_downloads=allow_downloads,
                                       size=checkpoint.card.size)
    chosen = choose_device(device)
    return RelevanceModel(spec, checkpoint, backbone, device=chosen, dtype=choose_precision(precision, chosen))
