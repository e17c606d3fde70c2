"""Tests get no settings of the shell that starts them: its database may be one in which people work, its language model
one that costs money."""

from __future__ import annotations

import os

from benchmarks.own_settings import without_settings

KEPT = frozenset({"CIRQUE_REFERENCE_DATA", "CIRQUE_TEST_DATABASE_URL"})


def forget_settings() -> None:
    """From here on neither this process nor one that it starts has any but those for tests."""
    for name in os.environ.keys() - without_settings(os.environ).keys() - KEPT:
        del os.environ[name]
