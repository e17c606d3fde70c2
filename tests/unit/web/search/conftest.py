"""What the search screen is given: a gallery of colours and stand-ins. A file has its own ``language``, ``methods`` or
``relevance`` where it needs others."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cir_core.gallery.gallery import Gallery
from cir_core.images.upload_quota import UploadQuota
from cir_core.images.uploads import UploadFolder
from cir_core.language.base import LanguageModel
from cir_core.methods.declared import Method, builtin_methods
from cir_core.sessions.compare import ComparisonService
from cir_core.sessions.pool import SearcherPool
from cir_core.sessions.service import SearchService
from tests.fakes.colours import NAME, colour_gallery
from tests.fakes.comparison_store import InMemoryComparisonStore, InMemoryVoteStore
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ReplayingLanguageModel
from tests.fakes.store import InMemorySessionStore
from web.http.long_actions import Runs


@pytest.fixture
def gallery(tmp_path: Path) -> Gallery:
    return colour_gallery(tmp_path, edge=32)    # large enough to cut from


@pytest.fixture
def language() -> LanguageModel:
    return ReplayingLanguageModel({})


@pytest.fixture
def methods() -> dict[str, Method]:
    return dict(builtin_methods())


@pytest.fixture
def relevance() -> Any:
    return None


@pytest.fixture
def services(
    tmp_path: Path, gallery: Gallery, language: LanguageModel, methods: dict[str, Method], relevance: Any,
) -> SimpleNamespace:
    home = tmp_path / "home"
    pool = SearcherPool(home, lambda _: language, lambda _: FakeEncoder(), relevance=lambda _: relevance)
    search = SearchService(pool, InMemorySessionStore(), UploadFolder(home / "uploads", max_megapixels=4))
    return SimpleNamespace(
        search=search, runs=Runs(), language=language, methods=methods, quota=UploadQuota.unlimited(),
        compare=ComparisonService(search, InMemoryComparisonStore()), votes=InMemoryVoteStore(),
        settings=SimpleNamespace(gallery=NAME, max_upload_mb=5, max_turns=20, relevance="off", public_demo=False,
                                 accel_redirect="", max_image_megapixels=64))
