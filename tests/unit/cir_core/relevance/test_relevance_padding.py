"""Target padding."""

import numpy as np
import pytest
from PIL import Image

from cir_core.images.pixels import pad_to_ratio


@pytest.mark.parametrize(("size", "ratio", "expected"), [
    ((300, 100), 1.5, (300, 200)),      # 300 / 1.5 = 200
    ((100, 300), 1.5, (200, 300)),
    ((300, 100), 1.25, (300, 240)),
    ((300, 200), 1.5, (300, 200)),      # fits exactly
    ((240, 200), 1.5, (240, 200)),
    ((300, 100), 1.0, (300, 300)),
    ((300, 100), 0, (300, 100)),
    ((7, 1), 1.5, (7, 3)),              # 4.67 less 1, halved: one row above and below
])
def test_sizes(size, ratio, expected):
    assert pad_to_ratio(Image.new("RGB", size, "white"), ratio).size == expected


def test_the_image_is_in_the_middle_of_black():
    padded = np.asarray(pad_to_ratio(Image.new("RGB", (30, 10), "white"), 1.5))
    assert (padded[5:15] == 255).all() and not padded[:5].any() and not padded[15:].any()


def test_an_image_that_fits_is_returned_itself():
    image = Image.new("RGB", (10, 10))
    assert pad_to_ratio(image, 1.5) is image
