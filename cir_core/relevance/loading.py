"""Find and load relevance models: the bundled one, or a folder."""

from __future__ import annotations

import threading
from functools import lru_cache

from cir_core.encoders.torch_encoder import choose_device, choose_precision
from cir_core.relevance.backbones.loading import load_relevance_backbone
from cir_core.relevance.checkpoint import load_checkpoint
from cir_core.relevance.model import RelevanceModel
from cir_core.relevance.where import BUNDLED as BUNDLED
from cir_core.relevance.where import OFF as OFF
from cir_core.relevance.where import bundled_relevance_dir as bundled_relevance_dir
from cir_core.relevance.where import folder_of as folder_of
from cir_core.relevance.where import is_there as is_there

_loading = threading.Lock()


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
