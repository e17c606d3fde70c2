"""One place builds everything: settings to services for the screens."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from cir_core.service import SearchService
from cir_core.settings import Settings


@dataclass(frozen=True)
class Services:
    settings: Settings
    search: SearchService


def open_services(settings: Settings) -> Services:
    """Open the store and the galleries' door. No model is loaded until it is needed."""
    from cir_core.encoders import load_encoder
    from cir_core.language.builtin import BuiltinLanguageModel
    from cir_core.pool import SearcherPool
    from cir_core.uploads import UploadFolder
    from storage.store import open_store

    loader = partial(
        load_encoder, device=settings.device, precision=settings.precision,
        allow_downloads=settings.allow_downloads,
    )
    return Services(settings, SearchService(
        SearcherPool(settings.home, BuiltinLanguageModel, loader), open_store(settings),
        UploadFolder(settings.uploads, max_megapixels=settings.max_image_megapixels),
    ))
