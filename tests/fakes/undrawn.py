"""Reports whose figures are not drawn as images, which takes most of a second for each;
``tests/unit/cir_core/reports/test_drawing.py`` draws them."""

from __future__ import annotations

import pytest

from cir_core.reports import paper
from cir_core.reports.drawing import IMAGE_FORMS


def without_images(patch: pytest.MonkeyPatch) -> None:
    """Files of images say of which figure they are."""
    patch.setattr(paper, "image_files", lambda figure, style: {
        form: f"{figure.key} as {form}, {style}".encode() for form in IMAGE_FORMS})
