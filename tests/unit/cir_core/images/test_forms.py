"""The table of forms in docs/galleries.md: each of its rows is shown here as it says, or refused in these words."""

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
        assert np.abs(np.subtract(image.getpixel((12, 12)), expected)).max() <= allowed, image.getpixel((12, 12))


def test_the_table_has_these_forms():
    page = (Path(__file__).parents[4] / "docs" / "galleries.md").read_text("utf-8")
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


def test_white_of_the_profile_stays_white():
    for curve, primaries in ((screen, DISPLAY_P3), (gamma(2.2), ADOBE_RGB), (gamma(1.0), BT_709)):
        data = encoded(Image.new("RGB", (4, 4), "white"), "PNG", icc_profile=files.profile(curve, primaries))
        assert min(open_image(data, max_megapixels=1).getpixel((1, 1))) >= 254


def test_primaries_of_zero_light_are_left_alone():
    assert np.isfinite(files.lights(BT_2020, D65)).all()
    data = png(WIDE, files.gamma_chunk(0.5), files.primaries_chunk(BT_709, (0.3, 0.0)))
    assert open_image(data, max_megapixels=1).getpixel((1, 1)) == COLOUR
