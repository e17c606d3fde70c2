"""Peak memory of decoding an image, estimated from its header."""

from __future__ import annotations

from PIL import Image

from cir_core.images.tiff_numbers import Numbers

_BYTES = {"1": 1, "L": 1, "P": 1, "I;16": 2, "I;16B": 2, "I;16L": 2, "I;16N": 2}   # per pixel; all others take 4
_RGB = 4
_SPARE = 2**20
_STRIPS = 24 * 2**20   # at most, for a strip of a million pixels in all its forms
_SCALING = 48 * 2**20   # at most, for intermediate forms between an image and its copy of 1024 pixels
# Memory of decoders besides the result, in bytes per pixel; measured with Pillow 12.3 and pillow-heif 1.8.
_DECODER = {"WEBP": 12, "AVIF": 8, "HEIF": 8}
_COEFFICIENTS = 6   # a progressive JPEG is held whole before its first line is decoded, at whatever scale


def decoding_bytes(image: Image.Image, full: tuple[int, int]) -> int:
    """Upper bound in bytes for decoding ``image`` to upright RGB. ``full``: its size, before any draft."""
    pixels, held = image.width * image.height, _BYTES.get(image.mode, 4)
    converted = image.mode != "RGBA" and (image.mode != "RGB" or image.has_transparency_data)
    turned = "exif" in image.info or image.format in ("TIFF", "HEIF", "AVIF")
    each = max(held + (_RGB if converted else 0), 2 * _RGB if turned else 0) + _DECODER.get(image.format or "", 0)
    if isinstance(image, Numbers):
        each += 3 * image.bytes_per_pixel   # the file, a strip that may be the whole image, and the numbers
    elif image.format == "TIFF":
        each += held   # a strip may be the whole image
    needed = pixels * each
    if image.info.get("progressive") or image.info.get("progression"):
        needed += full[0] * full[1] * _COEFFICIENTS
    return needed + min(pixels * 24, _STRIPS) + min(pixels * 3 // 2, _SCALING) + _SPARE
