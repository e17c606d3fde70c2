"""Regions of an image: what is accepted, and which pixels are cut."""

import math

import numpy as np
import pytest
from PIL import Image

from cir_core.errors import ImageUnreadable, SearchError
from cir_core.images.uploads import checked_region, crop, cut_out


@pytest.mark.parametrize(("values", "said"), [
    (None, "four numbers"), ("0,0,1,1", "four numbers"), ([0, 0, 1], "four numbers"), ([0, 0, 1, 1, 1], "four numbers"),
    ([0, 0, True, 1], "four numbers"), ([0, 0, "1", 1], "four numbers"), ([0, 0, math.nan, 1], "four numbers"),
    ([0, 0, math.inf, 1], "four numbers"), ([0, 0, 10**400, 1], "four numbers"), ([0, None, 1, 1], "four numbers"),
    ([-0.1, 0, 0.5, 0.5], "beyond"), ([0.6, 0, 0.5, 0.5], "beyond"), ([0, 0.9, 0.5, 0.2], "beyond"),
    ([0, 0, 0, 0.5], "empty"), ([0.5, 0.5, 0.2, -0.2], "empty"),
])
def test_what_is_no_region(values, said):
    with pytest.raises(SearchError, match=said):
        checked_region(values)


def test_rounding_in_a_browser_is_forgiven():
    assert checked_region([0.1, 0.7, 0.9 + 1e-9, 0.3 + 1e-9]) == pytest.approx((0.1, 0.7, 0.9, 0.3))
    assert checked_region([-1e-9, 0, 1, 1]) == (0, 0, 1, 1)


def test_the_pixels_that_the_region_touches():
    pixels = np.arange(40 * 60 * 3, dtype=np.uint8).reshape(40, 60, 3)
    part = crop(Image.fromarray(pixels), (0.25, 0.1, 0.5, 0.5))
    np.testing.assert_array_equal(np.asarray(part), pixels[4:24, 15:45])
    assert crop(Image.fromarray(pixels), (0, 0, 1, 1)).size == (60, 40)
    # From 0.3 · 60 = 18.0 to 35.4: the last pixel counts whole.
    assert crop(Image.fromarray(pixels), (0.3, 0, 0.29, 1)).width == 18


def test_a_region_of_a_few_pixels_is_refused():
    with pytest.raises(SearchError, match="15 × 40 pixels of the picture; it needs at least 16 × 16"):
        crop(Image.new("RGB", (60, 40)), (0, 0, 0.25, 1))


def test_a_file_is_turned_upright_first_and_a_large_region_made_small(tmp_path):
    """Stored lying, red on its left; turned clockwise (orientation 6), red is on top."""
    lying = Image.new("RGB", (3000, 1500), "blue")
    lying.paste("red", (0, 0, 1500, 1500))
    exif = Image.Exif()
    exif[0x0112] = 6
    lying.save(tmp_path / "photo.jpg", exif=exif)
    part = cut_out(tmp_path / "photo.jpg", (0, 0, 1, 0.4), max_megapixels=8)
    assert part.size == (1024, 819) or part.size == (1024, 820)
    assert part.getpixel((500, 500))[0] > 200
    with pytest.raises(ImageUnreadable, match="missing"):
        cut_out(tmp_path / "gone.jpg", (0, 0, 1, 1), max_megapixels=8)
    with pytest.raises(SearchError, match="at least"):
        cut_out(tmp_path / "photo.jpg", (0, 0, 0.001, 0.001), max_megapixels=8)
