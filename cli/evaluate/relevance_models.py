"""The relevance model that a command names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cir_core.settings import get_settings

if TYPE_CHECKING:
    from cir_core.relevance.model import RelevanceModel


def open_relevance(spec: str) -> RelevanceModel:
    """``bundled`` or a folder, on the configured device. Raises ``RelevanceUnavailable``, ``EncoderUnavailable``."""
    from cir_core.relevance.loading import load_relevance

    settings = get_settings()
    return load_relevance(spec, device=settings.device, precision=settings.precision,
                          allow_downloads=settings.allow_downloads)
