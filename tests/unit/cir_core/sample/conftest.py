"""What tests of the sample look at."""

from __future__ import annotations

import pytest

from cir_core.sample.atelier.catalogue import Garment, catalogue


@pytest.fixture(scope="module")
def shipped() -> tuple[Garment, ...]:
    """The catalogue of the shipped gallery, which takes a second."""
    return catalogue()
