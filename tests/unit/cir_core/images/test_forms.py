"""The table of forms in forms.md: each row is shown here as it says, or refused in these words."""

import io
import re
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageCms, TiffImagePlugin

from cir_core.errors import ImageUnreadable
from cir_core.images.load import open_image
from cir_core.images.profiles import described, numbers_of, to_srgb
from tests.fakes import picture_files as files
from tests.fakes.picture_files import (
    ADOBE_RGB,
    BT_709,
    BT_2020,
    D65,
    DISPLAY_P3,
    chunk,
    encoded,
    png,
    screen,
    shown,
    tiff,
)

COLOUR = (200, 100, 50)
WIDE = np.full((16, 16, 3), COLOUR, np.uint8)
PLAIN = Image.fromarray(WIDE)
FLAT = {"JPEG": {"quality": 100, "subsampling": 0}, "PNG": {}, "WEBP": {"lossless": True}, "TIFF": {},
        "AVIF": {"quality": 100, "subsampling": "4:4:4"}}


def gamma(exponent: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda value: value ** exponent


P3, ADOBE = files.profile(screen, DISPLAY_P3), files.profile(gamma(2.2), ADOBE_RGB)
GREY = files.profile(gamma(1.8), space=b"GRAY")
IN_P3, IN_ADOBE = shown(COLOUR, screen, DISPLAY_P3), shown(COLOUR, gamma(2.2), ADOBE_RGB)
ON_WHITE = [round(255 - (255 - one) * 128 / 255) for one in COLOUR]
DEEP = WIDE.astype(np.uint16) * 257
NUMBERS = WIDE / 255


def of_bits(pixels: np.ndarray, bits: int) -> np.ndarray:
    return np.rint(pixels * (2**bits - 1)).astype(np.uint16)


def with_alpha(pixels: np.ndarray, alpha: float) -> np.ndarray:
    return np.concatenate([pixels, np.full((16, 16, 1), alpha, pixels.dtype)], 2)


def grey(pixels: np.ndarray) -> np.ndarray:
    return pixels[..., :1]


def numbered(primaries: int, transfer: int, form: str = "PNG") -> bytes:
    """Colours named by the numbers of H.273."""
    if form == "PNG":
        return png(WIDE, chunk(b"cICP", bytes((primaries, transfer, 0, 1))))
    whole = encoded(PLAIN, form, **FLAT["AVIF"])
    at = whole.index(b"nclx") + 4
    return whole[:at] + struct.pack(">HH", primaries, transfer) + whole[at + 4:]


def hdr(light: float) -> list[int]:
    """A grey of light (1: white of 203 cd/m2) as browsers show it on an ordinary screen: half of what is not bright."""
    return [int(files.as_srgb(light / 2))] * 3


def turned(form: str, **options: object) -> bytes:
    """Red above blue, stored lying on its side."""
    lying = Image.new("RGB", (32, 16), (250, 0, 0))
    lying.paste((0, 0, 250), (16, 0, 32, 16))
    exif = Image.Exif()
    exif[0x0112] = 6
    return encoded(lying, form, exif=exif.tobytes(), **options)


def frames(form: str, **options: object) -> bytes:
    return encoded(PLAIN, form, save_all=True, append_images=[Image.new("RGB", (16, 16), "blue")], **options)


def part_of_a_gif() -> bytes:
    small = bytearray(encoded(Image.new("RGB", (8, 8), "black"), "GIF"))
    small[6:10] = struct.pack("<HH", 16, 16)
    return bytes(small)


def segment(marker: int, data: bytes) -> bytes:
    """A JPEG with this segment behind its beginning."""
    whole = encoded(PLAIN, "JPEG", **FLAT["JPEG"])
    return whole[:2] + bytes((255, marker)) + struct.pack(">H", len(data) + 2) + data + whole[2:]


def framed(marker: int, bits: int = 8) -> bytes:
    """A JPEG that says that it was coded in another way."""
    whole = bytearray(encoded(PLAIN, "JPEG", **FLAT["JPEG"]))
    at = whole.index(b"\xff\xc0")
    whole[at + 1], whole[at + 4] = marker, bits
    return bytes(whole)


NOISE = Image.effect_noise((96, 64), 70).convert("RGB")
BASELINE, PROGRESSIVE = encoded(NOISE, "JPEG", quality=90), encoded(NOISE, "JPEG", quality=90, progressive=True)


def heic(image: Image.Image = PLAIN, **options: object) -> bytes:
    pytest.importorskip("pillow_heif").register_heif_opener()
    return encoded(image, "HEIF", quality=100, **options)


def preview_first() -> bytes:
    stream = io.BytesIO()
    with TiffImagePlugin.AppendingTiffWriter(stream, True) as writer:
        for size, colour, kind in (((40, 30), (0, 0, 250), 1), ((160, 120), COLOUR, 0)):
            tags = TiffImagePlugin.ImageFileDirectory_v2()
            tags[254] = kind
            Image.new("RGB", size, colour).save(writer, format="TIFF", tiffinfo=tags)
            writer.newFrame()
    return stream.getvalue()


def bmp(bits: int, *masks: int, compression: int = 0, length: int = 40) -> bytes:
    """Four pixels that are all zero."""
    data = bytes(4 * max(bits, 8) // 8) + bytes(16)
    head = struct.pack("<IiiHHIIiiII", length, 4, 1, 1, bits, 3 if masks else compression, len(data), 0, 0, 0, 0)
    head += struct.pack(f"<{len(masks)}I", *masks)
    head = head.ljust(length, b"\0") if length > 12 else struct.pack("<IHHHH", 12, 4, 1, 1, bits)
    return b"BM" + struct.pack("<IHHI", 14 + len(head) + len(data), 0, 0, 14 + len(head)) + head + data


Case = tuple[bytes | Callable[[], bytes], object]
CUT = r"is cut off: its last part is missing"
FORMS: dict[str, list[Case]] = {
    "profile of RGB": [
        *((encoded(PLAIN, form, icc_profile=P3, **FLAT[form]), IN_P3) for form in FLAT),
        *((encoded(PLAIN, form, icc_profile=ADOBE, **FLAT[form]), IN_ADOBE) for form in FLAT),
        (encoded(PLAIN.quantize(2), "PNG", icc_profile=P3), IN_P3),
        (lambda: heic(icc_profile=P3), IN_P3),
        (encoded(PLAIN, "PNG", icc_profile=files.profile(screen, DISPLAY_P3, size=1_500_000)), IN_P3),
        (encoded(Image.new("RGBA", (16, 16), (*COLOUR, 128)), "PNG", icc_profile=P3),
         [round(255 - (255 - one) * 128 / 255) for one in IN_P3]),
        (encoded(PLAIN, "PNG", icc_profile=ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()), COLOUR),
    ],
    "profile of greys": [
        *((encoded(Image.new("L", (16, 16), 120), form, icc_profile=GREY), shown([120] * 3, gamma(1.8)))
          for form in ("PNG", "JPEG", "TIFF")),
        (encoded(Image.new("LA", (16, 16), (120, 255)), "PNG", icc_profile=GREY), shown([120] * 3, gamma(1.8))),
        (encoded(Image.new("L", (16, 16), 120), "PNG", icc_profile=files.profile(gamma(1.8), BT_709)),
         shown([120] * 3, gamma(1.8))),
        (png(grey(DEEP), chunk(b"iCCP", b"x\0\0" + zlib.compress(GREY))), shown([200] * 3, gamma(1.8))),
    ],
    "CMYK": [
        (encoded(Image.new("CMYK", (16, 16), (55, 155, 205, 0)), "JPEG", quality=100), COLOUR),
        (encoded(Image.new("CMYK", (16, 16), (55, 155, 205, 0)), "TIFF"), COLOUR),
        (encoded(Image.new("CMYK", (16, 16), (0, 0, 0, 255)), "JPEG", quality=100,
                 icc_profile=files.ink_profile((96, 0, 0), (30, 0, 0))), [71] * 3),      # L* 30 is a light of 0.0623
        (encoded(Image.new("CMYK", (16, 16)), "TIFF", icc_profile=files.ink_profile((50, 0, 0), (9, 0, 0))), [119] * 3),
                                                                            # L* 50 is a light of 0.1842
    ],
    "profile that does not fit": [
        (encoded(PLAIN, "PNG", icc_profile=GREY), COLOUR),
        (encoded(PLAIN, "JPEG", icc_profile=b"no profile " * 30, **FLAT["JPEG"]), COLOUR),
        (encoded(PLAIN, "PNG", icc_profile=P3[:200]), COLOUR),
        (encoded(PLAIN, "TIFF", icc_profile=files.ink_profile((96, 0, 0), (30, 0, 0))), COLOUR),
        (png(WIDE, chunk(b"iCCP", b"x\0\0no zlib")), COLOUR),
        (png(WIDE, chunk(b"iCCP", b"x\0\0" + zlib.compress(P3), damaged=True)), COLOUR),
        (encoded(Image.new("CMYK", (16, 16), (55, 155, 205, 0)), "JPEG", quality=100, icc_profile=P3), COLOUR),
    ],
    "gAMA and cHRM of a PNG": [
        (png(WIDE, files.gamma_chunk(0.45455), files.primaries_chunk(DISPLAY_P3)),
         shown(COLOUR, gamma(2.2), DISPLAY_P3)),
        (png(WIDE, files.gamma_chunk(1.0)), shown(COLOUR, gamma(1.0))),
        (png(WIDE, files.gamma_chunk(0.45455)), COLOUR),
        (png(WIDE, files.primaries_chunk(DISPLAY_P3)), COLOUR),
        (png(WIDE, files.gamma_chunk(0), files.primaries_chunk(DISPLAY_P3)), COLOUR),
        (png(WIDE, files.gamma_chunk(0.45455), files.primaries_chunk([(0, 0)] * 3)), COLOUR),
        (png(WIDE, files.gamma_chunk(1.0), chunk(b"sRGB", b"\0")), COLOUR),
        (png(WIDE, files.gamma_chunk(1.0), chunk(b"iCCP", b"x\0\0" + zlib.compress(P3))), IN_P3),
    ],
    "colours named by numbers": [
        (numbered(12, 13), IN_P3), (numbered(9, 13), shown(COLOUR, screen, BT_2020)), (numbered(1, 13), COLOUR),
        (numbered(1, 1), shown(COLOUR, gamma(2.4))), (numbered(1, 8), shown(COLOUR, gamma(1.0))),
        (numbered(2, 2), COLOUR),
        (numbered(12, 13, "AVIF"), IN_P3), (numbered(1, 1, "AVIF"), COLOUR), (numbered(2, 2, "AVIF"), COLOUR),
        (png(WIDE, chunk(b"cICP", bytes((12, 13, 0, 1))), chunk(b"iCCP", b"x\0\0" + zlib.compress(ADOBE))), IN_P3),
        (png(WIDE, chunk(b"cICP", b"\x0c")), COLOUR),
    ],
    "high dynamic range (PQ, HLG)": [
        # ST 2084: 80 of 255 is a light of 11.9 cd/m2, BT.2100: 64 of 255 a scene of 0.021 and a light of 9.7 cd/m2.
        (png(np.full((16, 16, 3), 80, np.uint8), chunk(b"cICP", bytes((9, 16, 0, 1)))), hdr(11.9 / 203)),
        (png(np.full((16, 16, 3), 64, np.uint8), chunk(b"cICP", bytes((9, 18, 0, 1)))), hdr(9.7 / 203)),
        (png(np.full((16, 16, 3), 255, np.uint8), chunk(b"cICP", bytes((9, 16, 0, 1)))), [255] * 3),
        (png(np.full((16, 16, 4), 255, np.uint8), chunk(b"cICP", bytes((9, 18, 0, 1)))), [255] * 3),
    ],
    "gain map": [
        (encoded(PLAIN, "MPO", save_all=True, append_images=[Image.new("RGB", (8, 8))], **FLAT["JPEG"]), COLOUR),
        (segment(0xE2, b"MPF\0no list of pictures"), COLOUR),
    ],
    "transparency": [
        (png(with_alpha(WIDE, 128)), ON_WHITE), (png(with_alpha(DEEP, 128 * 257)), ON_WHITE),
        (encoded(Image.new("RGBA", (16, 16), (*COLOUR, 128)), "WEBP", lossless=True), ON_WHITE),
        (tiff(with_alpha(WIDE, 128), 2, extra=2), ON_WHITE),
        (tiff(with_alpha((WIDE * (128 / 255)).astype(np.uint8), 128), 2, extra=1), ON_WHITE),
        (tiff(with_alpha(NUMBERS.astype("f4"), 128 / 255), 2, extra=2), ON_WHITE),
        (tiff(with_alpha((NUMBERS * 128 / 255).astype("f4"), 128 / 255), 2, extra=1), ON_WHITE),
        (encoded(Image.new("P", (16, 16)), "GIF", transparency=0), [255] * 3),
        (encoded(Image.new("1", (16, 16)), "PNG", transparency=0), [255] * 3),
        (png(grey(DEEP), chunk(b"tRNS", struct.pack(">H", 200 * 257))), [255] * 3),
        (png(DEEP, chunk(b"tRNS", struct.pack(">3H", *(one * 257 for one in COLOUR)))), [255] * 3),
        (png(DEEP, chunk(b"tRNS", struct.pack(">3H", 1, 2, 3))), COLOUR),
        *((png(DEEP, chunk(b"tRNS", struct.pack(">3H", *(DEEP[0, 0] + by)))), COLOUR)      # the same in 8 bits
          for by in ((1, 0, 0), (0, 1, 0), (0, 0, -1), (9, 9, 9))),
    ],
    "16 bits": [
        (png(DEEP), COLOUR), (png(grey(DEEP)), [200] * 3),
        (png(np.concatenate([grey(DEEP), grey(DEEP)], 2)), [212] * 3),
        *((tiff(DEEP, 2, order=order, planes=planes, compression=compression), COLOUR)
          for order in "<>" for planes in (1, 2) for compression in (1, 8)),
        *((tiff(grey(DEEP), 1, order=order), [200] * 3) for order in "<>"),
        *((tiff(65535 - grey(DEEP), 0, order=order), [200] * 3) for order in "<>"),
        (tiff(with_alpha(65535 - DEEP, 0), 5), COLOUR),
    ],
    "10, 12 and 14 bits": [
        *((tiff(of_bits(pixels, bits), kind, order=order, packed=bits, compression=compression, rows=5), shown_as)
          for bits in (10, 12, 14) for order in "<>" for compression in (1, 8)
          for pixels, kind, shown_as in ((NUMBERS, 2, COLOUR), (grey(NUMBERS), 1, [200] * 3),
                                         (grey(1 - NUMBERS), 0, [200] * 3))),
        *((tiff(of_bits(np.ones((3, 13, samples)), bits), kind, packed=bits), [255] * 3)
          for bits in (10, 12, 14) for samples, kind in ((1, 1), (3, 2))),
        (tiff(with_alpha(of_bits(NUMBERS, 12), 2056), 2, packed=12, extra=2), ON_WHITE),
    ],
    "32 and 64 bits": [
        *((tiff((NUMBERS * top).astype(kind), 2, order=order), COLOUR)
          for order in "<>" for kind, top in (("u4", 2**32 - 1), ("i4", 2**31 - 1))),
        *((tiff(grey(NUMBERS * top).astype(kind), 1, order=order), [200] * 3) for order in "<>"
          for kind, top in (("u4", 2**32 - 1), ("i4", 2**31 - 1), ("i2", 2**15 - 1), ("i1", 127))),
    ],
    "floating-point numbers": [
        *((tiff(NUMBERS.astype(kind), 2, order=order, compression=compression), COLOUR)
          for kind in ("f4", "f8") for order in "<>" for compression in (1, 8)),
        (tiff(grey(NUMBERS).astype("f4"), 1), [200] * 3), (tiff(grey(NUMBERS * 255).astype("f4"), 1), [200] * 3),
        (tiff(grey(NUMBERS * 65535).astype("f8"), 1), [200] * 3), (tiff(grey(1 - NUMBERS).astype("f4"), 0), [200] * 3),
        (tiff(np.where(np.arange(16)[:, None, None] > 12, 90.0, NUMBERS).astype("f4"), 2), COLOUR),
        (tiff(np.where(np.arange(16)[:, None, None] > 12, np.nan, NUMBERS).astype("f4"), 2), COLOUR),
        (tiff(np.where(np.arange(16)[:, None, None] > 12, np.inf, NUMBERS).astype("f4"), 2), COLOUR),
    ],
    "1 bit, palettes, Lab and YCbCr": [
        (encoded(Image.new("1", (16, 16), 1), "TIFF"), [255] * 3), (encoded(PLAIN.quantize(2), "BMP"), COLOUR),
        (encoded(PLAIN.convert("LAB"), "TIFF"), COLOUR), (tiff(np.array(PLAIN.convert("YCbCr")), 6), None),
        (encoded(PLAIN, "TIFF", compression="jpeg", quality=100), COLOUR), (tiff(255 - grey(WIDE), 0), [200] * 3),
        *((tiff(np.full((16, 16, 1), 7, np.uint8), 3, order=order, compression=compression,
                colours=[one * times for one in COLOUR for _ in range(256)]), COLOUR)
          for times in (1, 256, 257) for order in "<>" for compression in (1, 8)),
        (tiff(np.full((16, 16, 1), 7, np.uint8), 3, packed=4, colours=[255] * 16 + [128] * 16 + [0] * 16),
         (255, 128, 0)),
        # One number over 255 is enough: the others are dark, as they say.
        (tiff(np.full((16, 16, 1), 7, np.uint8), 3, colours=[255] * 767 + [256]), [0] * 3),
    ],
    "orientation": [
        *((turned(form, **(FLAT[form] if form != "JPEG" else {"quality": 100})), "turned") for form in FLAT),
        (lambda: heic_turned(), "turned"),
        (segment(0xE1, b"Exif\0\0broken"), COLOUR), (png(WIDE, chunk(b"eXIf", b"broken")), COLOUR),
    ],
    "animation": [
        (frames("GIF"), COLOUR), (frames("WEBP", lossless=True), COLOUR), (frames("PNG"), COLOUR),
        (encoded(Image.new("RGB", (16, 16), "blue"), "PNG", save_all=True, append_images=[PLAIN, PLAIN.rotate(9)],
                 default_image=True), COLOUR),
        (part_of_a_gif(), [255] * 3),
    ],
    "several pictures in a TIFF": [(preview_first(), COLOUR)],
    "long or damaged metadata": [
        (png(WIDE, chunk(b"tEXt", b"x\0" + b"x" * 2_000_000)), COLOUR), (png(WIDE, chunk(b"pHYs", b"\0")), COLOUR),
        (png(WIDE, chunk(b"pHYs", bytes(9), damaged=True)), COLOUR), (png(WIDE, chunk(b"sRGB", b"")), COLOUR),
        (png(WIDE, chunk(b"gAMA", b"")), COLOUR), (png(WIDE, chunk(b"tIME", b"x", damaged=True)), COLOUR),
        (png(WIDE, chunk(b"acTL", b"\0")), COLOUR), (png(WIDE, after=chunk(b"tEXt", b"x\0x", damaged=True)), COLOUR),
        (png(WIDE, chunk(b"caBX", bytes(3_000_000))), COLOUR),
        (segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + b"x" * 65_000), COLOUR),
    ],
    "end missing, or something behind it": [
        (BASELINE[:-2], "noise"), (BASELINE[:-1], "noise"), (PROGRESSIVE[:-2], "noise"),
        (BASELINE + bytes(999), "noise"), (BASELINE + PROGRESSIVE, "noise"), (BASELINE[:-40], CUT),
        (PROGRESSIVE[:-40], CUT),
        (BASELINE[:-900] + b"\xff", CUT),
        (PROGRESSIVE[:PROGRESSIVE.rindex(b"\xff\xda")], CUT), (BASELINE[:BASELINE.index(b"\xff\xda") + 14], CUT),
        (png(WIDE)[:-12], COLOUR), (png(WIDE) + b"behind", COLOUR), (png(np.array(NOISE))[:4000], CUT),
        (encoded(PLAIN, "GIF")[:-1], None), (tiff(WIDE, 2)[:-40], CUT), (tiff(NUMBERS.astype("f4"), 2)[:-40], CUT),
        (encoded(NOISE, "TIFF", compression="tiff_lzw")[:4000], r"is cut off|is damaged"),
    ],
    "JPEG of 12 bits, lossless JPEG": [
        (framed(0xC0, 12), r"is a JPEG of 12 bits a colour, which cirque does not decode\. Save it with 8 bits"),
        (framed(0xC1, 12), r"is a JPEG of 12 bits"),
        (framed(0xC3), r"is a lossless JPEG, which cirque does not decode"),
        (framed(0xF7), r"is a lossless JPEG"),
    ],
    "BMP of other bits": [
        (bmp(16, 0xf00, 0xf0, 0xf), r"is a BMP of a form that cirque does not decode: 16 bits a pixel, of them 4, 4 "
                                    r"and 4 for red, green and blue\. Save it as PNG\.$"),
        (bmp(32, 1023 << 20, 1023 << 10, 1023), "32 bits a pixel, of them 10, 10 and 10 for"),
        (bmp(16, 0xe0, 0x1c, 0x3), "16 bits a pixel, of them 3, 3 and 2 for"),
        (bmp(32, 0xff, 0xff00, 0xff000000, length=124), "32 bits a pixel, of them 8, 8 and 8 for"),
        (bmp(2), "a form that cirque does not decode: 2 bits a pixel"), (bmp(64), "64 bits a pixel"),
        (bmp(2, length=12), "2 bits a pixel"), (bmp(0, compression=4), "a JPEG inside"),
        (bmp(0, compression=5), "a PNG inside"), (bmp(32, compression=11), "32 bits a pixel, compression 11"),
        (bmp(16, 0, 0, 0), "is damaged"), (bmp(77), "is damaged"), (bmp(24, length=41), "is damaged"),
        (bmp(16, 0xf800, 0x7e0, 0x1f), [0] * 3), (bmp(16, 0x7c00, 0x3e0, 0x1f), [0] * 3), (bmp(24), [0] * 3),
        (bmp(24, length=12), [0] * 3),
    ],
    "other TIFF": [
        (tiff(NUMBERS.astype("f2"), 2), r"is a TIFF that cirque cannot decode: RGB in 3 × 16-bit floating-"),
        (tiff(NUMBERS.astype("f4"), 2, planes=2), r"3 × 32-bit floating-point numbers, each colour by itself"),
        (tiff(DEEP, 8), r"cannot decode: Lab in 3 × 16-bit integers"),
        (tiff(np.concatenate([grey(DEEP)] * 2, 2), 1, extra=2), r"cannot decode: grey in 2 × 16-bit integers"),
        (tiff(grey(DEEP), 32803), r"cannot decode: unprocessed pixels of a camera"),
        (tiff(grey(NUMBERS).astype("c8"), 1), r"64-bit samples of format 6"),
        (tiff(WIDE, 2, compression=34933), r"cannot decode: RGB in 3 × 8-bit integers, compression 34933"),
    ],
    "other formats": [
        (encoded(PLAIN, "JPEG2000"), r"is a JPEG 2000 file, which cirque does not read\. Use JPEG, PNG"),
        (b"\xff\x0a" + bytes(50), "is a JPEG XL file"), (b"\0\0\0\x0cJXL \r\n\x87\n" + bytes(50), "is a JPEG XL file"),
        (encoded(PLAIN, "ICO"), "is a Windows icon"), (b"8BPS" + bytes(50), "is a Photoshop file"),
        (b"%PDF-1.7" + bytes(50), "is a PDF file"), (b"\0\0\0\x18ftypcrx " + bytes(50), "is a camera raw file"),
        (b"\0\0\0\x18ftypisom" + bytes(50), "is a video"),
        (b"just a text, no picture at all", "cannot be read as an image"),
    ],
}
CASES = [pytest.param(form, *case, id=f"{form}, {number}") for form, cases in FORMS.items()
         for number, case in enumerate(cases)]


def heic_turned() -> bytes:
    pytest.importorskip("pillow_heif").register_heif_opener()
    return turned("HEIF", quality=100)


@pytest.mark.parametrize(("form", "data", "expected"), CASES)
def test_a_form_is_shown_or_refused_as_the_table_says(form, data, expected):
    data = data() if callable(data) else data
    if isinstance(expected, str) and expected not in ("turned", "noise"):
        with pytest.raises(ImageUnreadable, match=expected):
            open_image(data, max_megapixels=1, name="it")
        return
    image = open_image(data, max_megapixels=1)
    assert image.mode == "RGB" and image.info == {}
    if expected == "turned":
        assert image.size == (16, 32)
        assert image.getpixel((8, 4))[0] > 200 > 60 > image.getpixel((8, 4))[2]
        assert image.getpixel((8, 28))[2] > 200 > 60 > image.getpixel((8, 28))[0]
    elif expected == "noise":
        assert image.size == NOISE.size
        assert np.abs(np.subtract(image, NOISE, dtype=int)).mean() < 12
    elif expected is not None:
        allowed = 3 if data[4:12] in (b"ftypavif", b"ftypheic", b"ftypmif1") else 2
        at = min(12, image.width - 1), min(12, image.height - 1)
        assert np.abs(np.subtract(image.getpixel(at), expected)).max() <= allowed, image.getpixel(at)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("order", "<>")
def test_numbers_are_turned_as_bytes_are(orientation, order):
    levels = np.arange(0, 240, 10, np.uint8).reshape(4, 6, 1)      # no two are the same
    rgb = np.concatenate([levels, levels[::-1], levels[:, ::-1]], 2)
    for pixels, kind in ((levels, 1), (rgb, 2)):
        expected = np.array(open_image(tiff(pixels, kind, orientation=orientation), max_megapixels=1))
        assert expected.shape == ((6, 4, 3) if orientation > 4 else (4, 6, 3))
        part = pixels / 255
        forms = [(part.astype("f4"), kind, 0), (part.astype("f8"), kind, 0),
                 ((part * (2**31 - 1)).astype("i4"), kind, 0), ((part * (2**32 - 1)).astype("u4"), kind, 0),
                 (np.rint(part * 32767).astype("i2"), kind, 0),
                 *((of_bits(part, bits), kind, bits) for bits in (10, 12, 14)), (of_bits(part, 16), kind, 0)]
        if kind == 1:
            forms += [(of_bits(1 - part, 16), 0, 0), (of_bits(1 - part, 12), 0, 12), ((1 - part).astype("f4"), 0, 0)]
        for numbers, photometric, packed in forms:
            for compression in (1, 8):
                data = tiff(numbers, photometric, order=order, orientation=orientation, packed=packed,
                            compression=compression)
                got = np.array(open_image(data, max_megapixels=1))
                assert got.shape == expected.shape
                assert np.abs(got.astype(int) - expected).max() <= 1, (numbers.dtype, photometric, packed)


def test_samples_of_12_bits_behind_a_preview():
    """They are decoded by Pillow, the first picture of a file by OpenCV."""
    whole = tiff(of_bits(np.full((90, 160, 1), 200 / 255), 12), 1, packed=12)
    small = bytearray(tiff(np.zeros((9, 16, 1), np.uint8), 1))
    begin = len(small) + len(small) % 2
    end = 10 + 12 * struct.unpack_from("<H", small, 8)[0]
    whole = bytearray(whole)
    struct.pack_into("<I", small, end, begin + 8)
    for entry in range(struct.unpack_from("<H", whole, 8)[0]):
        at = 10 + 12 * entry
        tag, kind, count = struct.unpack_from("<HHI", whole, at)
        if tag == 273 or count * (4 if kind == 4 else 2) > 4:      # what lies elsewhere
            struct.pack_into("<I", whole, at + 8, struct.unpack_from("<I", whole, at + 8)[0] + begin)
    image = open_image(bytes(small).ljust(begin, b"\0") + bytes(whole), max_megapixels=1)
    assert image.size == (160, 90) and image.getpixel((9, 9)) == (200, 200, 200)


@pytest.mark.parametrize("interlaced", [False, True])
def test_a_transparent_colour_of_16_bits_is_that_colour_alone(interlaced):
    values = np.random.default_rng(3).integers(0x1232, 0x1236, (11, 13, 3)).astype(np.uint16)
    clear = (0x1234, 0x1233, 0x1235)
    data = png(values, chunk(b"tRNS", struct.pack(">3H", *clear)))
    if interlaced:
        passes = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
        lines = b"".join(b"\0" + line.astype(">u2").tobytes() for left, top, right, down in passes
                         for line in values[top::down, left::right])
        data = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 13, 11, 16, 2, 0, 0, 1))
                + chunk(b"tRNS", struct.pack(">3H", *clear)) + chunk(b"IDAT", zlib.compress(lines))
                + chunk(b"IEND", b""))
    is_clear = (values == clear).all(2)
    assert 0 < is_clear.sum() < 20
    assert (np.array(open_image(data, max_megapixels=1)) == np.where(is_clear[..., None], 255, 0x12)).all()


def test_the_table_has_these_forms():
    page = Path(__file__).with_name("forms.md").read_text("utf-8")
    table = page.split("| Form | What cirque shows |")[1].split("\n\n")[0]
    assert re.findall(r"^\| ([^|]+?) \|", table, re.MULTILINE) == list(FORMS)


def test_a_heic_without_its_extra_says_what_is_missing(monkeypatch):
    data = heic()
    from cir_core.images import load, refusals

    heif = Image.OPEN.pop("HEIF")
    try:
        plugins = tuple(one for one in load._plugins() if one[0] is not heif[0])
        monkeypatch.setattr(load, "_plugins", lambda: plugins)
        with pytest.raises(ImageUnreadable, match="is a HEIC file, for which cirque needs the extra heic"):
            open_image(data, max_megapixels=1)
    finally:
        Image.OPEN["HEIF"] = heif
    assert refusals._reads_heic()


@pytest.mark.parametrize("rest", [
    b"", b"\1", b"\1\xff", b"\xff\x0d", b"\0\0", b"\1\1", b"\x09\x0e", b"\1\x0d\0", b"\x09\x10" * 2, bytes(122),
    bytes(10) + b"RGB " + bytes(200)])
def test_a_profile_of_a_file_is_not_taken_for_numbers(rest):
    """Those are noted as a profile that begins so."""
    ours = described(9, 16, video=False)
    mark = ours[:-2]
    for mode in ("L", "RGB", "RGBA", "CMYK"):
        assert to_srgb(mark + rest, mode) is None
    for form in ("PNG", "JPEG"):
        image = open_image(encoded(PLAIN, form, icc_profile=mark + rest, **FLAT[form]), max_megapixels=1)
        assert np.abs(np.subtract(image.getpixel((12, 12)), COLOUR)).max() <= 2
    assert to_srgb(ours, "RGB") is not None and to_srgb(ours, "CMYK") is None
    whole = files.profile(screen, DISPLAY_P3)
    assert to_srgb(mark + whole[len(mark):], "RGB") is None and to_srgb(whole, "RGB") is not None


@pytest.mark.parametrize("length", [2**64 - 1, 2**63, 2**63 - 1, 2**63 + 15, 2**62, 2**40, 17])
@pytest.mark.parametrize("kind", [b"free", b"mdat", b"uuid"])
def test_the_length_of_a_box_that_leads_nowhere(tmp_path, length, kind):
    path = tmp_path / "it"
    for form in ("AVIF", "HEIF"):
        whole = heic() if form == "HEIF" else encoded(PLAIN, form, **FLAT["AVIF"])
        first = struct.unpack(">I", whole[:4])[0]
        data = whole[:first] + struct.pack(">I4sQ", 1, kind, length) + whole[first:]
        path.write_bytes(data)
        with path.open("rb") as stream:
            assert numbers_of(io.BytesIO(data)) is None and numbers_of(stream) is None
        for source in (data, path):
            with pytest.raises(ImageUnreadable):
                open_image(source, max_megapixels=1)


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), OverflowError("too large"), MemoryError()])
def test_colours_that_cannot_be_read_from_disk(monkeypatch, error):
    def fail(stream):
        raise error

    monkeypatch.setattr("cir_core.images.load.numbers_of", fail)
    with pytest.raises(ImageUnreadable, match=r"^it "):
        open_image(encoded(PLAIN, "AVIF"), max_megapixels=1, name="it")


def test_white_of_the_profile_stays_white():
    for curve, primaries in ((screen, DISPLAY_P3), (gamma(2.2), ADOBE_RGB), (gamma(1.0), BT_709)):
        data = encoded(Image.new("RGB", (4, 4), "white"), "PNG", icc_profile=files.profile(curve, primaries))
        assert min(open_image(data, max_megapixels=1).getpixel((1, 1))) >= 254


def test_primaries_of_zero_light_are_left_alone():
    assert np.isfinite(files.lights(BT_2020, D65)).all()
    data = png(WIDE, files.gamma_chunk(0.5), files.primaries_chunk(BT_709, (0.3, 0.0)))
    assert open_image(data, max_megapixels=1).getpixel((1, 1)) == COLOUR
