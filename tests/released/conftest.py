"""Tests on the files as the benchmarks' authors released them, which are not part of cirque.

The environment variable ``CIRQUE_REFERENCE_DATA`` names the folder that holds them.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

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
