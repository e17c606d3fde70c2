"""Tests on the files as the benchmarks' authors released them, which are not part of cirque.

The environment variable ``CIRQUE_REFERENCE_DATA`` names the folder that holds them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotation.kinds.preference.hp_fashioniq import import_hp_study
from annotation.studies.creation import Created
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import engine_of

VARIABLE = "CIRQUE_REFERENCE_DATA"


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """The folder of released files. Skips when none was named; a wrong name is an error."""
    named = os.environ.get(VARIABLE)
    if not named:
        pytest.skip(f"{VARIABLE} does not name a folder of released files")
    folder = Path(named)
    assert folder.is_dir(), f"{VARIABLE} is {named}, which is no folder"
    return folder


@pytest.fixture(scope="session")
def imported(
    reference_data: Path, tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[SqlStudyStore, Created]]:
    """HP-FashionIQ as a study, to be read alone."""
    engine = engine_of(tmp_path_factory.mktemp("home"))
    store = SqlStudyStore(engine)
    yield store, import_hp_study(
        store, "HP-FashionIQ", reference_data / "hp_fashioniq/hpfiq.json", created_by="local")
    engine.dispose()
