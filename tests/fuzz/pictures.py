"""Pictures that are damaged, lie about themselves, or are of rare kinds."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Mapping
from functools import cache

import pillow_heif
from hypothesis import strategies as st
from PIL import Image

from cir_core.errors import ImageUnreadable
from cir_core.images.load import for_encoder, open_image
from tests.fuzz.inputs import spoilt_bytes, weighted
from tests.fuzz.outcome import Bad, Target

MEGAPIXELS = 64.0


@cache
def real_pictures() -> Mapping[str, bytes]:
    """Whole files of every kind that is read, drawn once."""
    plain = Image.radial_gradient("L").resize((160, 120)).convert("RGB")
    clear = plain.copy()
    clear.putalpha(Image.linear_gradient("L").resize((160, 120)))
    frames = [plain.rotate(angle) for angle in (0, 90, 180)]
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010E] = "x" * 60_000
    pillow_heif.register_heif_opener(thumbnails=False)
    grey16 = Image.frombytes("I;16", (80, 60), bytes(range(240)) * 40)
    return {
        "JPEG": _saved(plain, "JPEG"), "JPEG, progressive": _saved(plain, "JPEG", progressive=True),
        "JPEG, CMYK": _saved(plain.convert("CMYK"), "JPEG"), "JPEG, EXIF": _saved(plain, "JPEG", exif=exif),
        "PNG": _saved(plain, "PNG"), "PNG, alpha": _saved(clear, "PNG"), "PNG, 16 bit": _saved(grey16, "PNG"),
        "PNG, palette": _saved(plain.convert("P"), "PNG"),
        "PNG, animated": _saved(frames[0], "PNG", save_all=True, append_images=frames[1:]),
        "WebP": _saved(clear, "WEBP"), "WebP, animated": _saved(frames[0], "WEBP", save_all=True,
                                                                  append_images=frames[1:]),
        "GIF, animated": _saved(frames[0].convert("P"), "GIF", save_all=True,
                                append_images=[one.convert("P") for one in frames[1:]]),
        "TIFF": _saved(plain, "TIFF", compression="tiff_lzw"), "TIFF, 16 bit": _saved(grey16, "TIFF"),
        "BMP": _saved(plain, "BMP"), "AVIF": _saved(plain, "AVIF"),
        "HEIC": _saved(plain, "HEIF"),
    }


def bombs() -> Mapping[str, bytes]:
    """Small files that claim, or hold, far more than they should."""
    gif = bytearray(real_pictures()["GIF, animated"])
    gif[6:10] = struct.pack("<HH", 65535, 65535)
    bmp = bytearray(real_pictures()["BMP"])
    bmp[18:26] = struct.pack("<ii", 2**31 - 1, 2**31 - 1)
    return {
        "PNG that claims 4 gigapixels": _png(65535, 65535, b""),
        "PNG of 63 megapixels of nothing": _png(9000, 7000, zlib.compress(bytes(7000 * 1126), 9), depth=1),
        "PNG with 50 MB of text": _png(8, 8, zlib.compress(bytes(8 * 9)), text=zlib.compress(bytes(50_000_000), 9)),
        "PNG without an end": _png(4000, 4000, zlib.compress(bytes(2**24), 9))[:-40],
        "GIF that claims 4 gigapixels": bytes(gif), "BMP that claims the world": bytes(bmp),
        "JPEG of 65500 × 1": _saved(Image.new("L", (65500, 1)), "JPEG"),
    }


def spoilt_pictures() -> st.SearchStrategy[bytes]:
    whole = st.sampled_from([*real_pictures().values(), *bombs().values()])
    damaged = st.sampled_from(list(real_pictures().values())).flatmap(spoilt_bytes)
    resized = st.builds(_claiming, st.sampled_from(list(real_pictures().values())), st.integers(0, 64),
                        st.binary(min_size=4, max_size=8))
    return weighted((6, damaged), (3, resized), (2, whole), (1, st.binary(max_size=64)))


def targets() -> list[Target]:
    return [Target("pictures, decoded", spoilt_pictures(), _decode, weight=2.0)]


def _decode(content: bytes) -> str:
    try:
        image = open_image(content, max_megapixels=MEGAPIXELS, name="picture")
    except ImageUnreadable as error:
        if not str(error).startswith("picture "):
            raise Bad(f"a refusal that does not name the picture: {error}") from error
        return "refused"
    if image.mode != "RGB" or image.width * image.height > MEGAPIXELS * 1e6:
        raise Bad(f"an image of mode {image.mode} and {image.size} came through")
    for_encoder(image)
    return "read"


def _claiming(content: bytes, at: int, claim: bytes) -> bytes:
    """Other bytes in the header, where most kinds have their size."""
    return content[:at] + claim + content[at + len(claim):]


def _saved(image: Image.Image, kind: str, **options: object) -> bytes:
    content = io.BytesIO()
    image.save(content, kind, **options)  # type: ignore[arg-type]
    return content.getvalue()


def _png(width: int, height: int, pixels: bytes, *, depth: int = 8, text: bytes = b"") -> bytes:
    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, 0, 0, 0, 0))
    told = chunk(b"zTXt", b"Comment\0\0" + text) if text else b""
    return b"\x89PNG\r\n\x1a\n" + head + told + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
