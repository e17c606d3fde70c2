"""A folder such as people have: good files of every kind between broken ones."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

NAMES = (
    "with space", "it's quoted", 'say "cheese"', "emoji 👗", "连衣裙", "فستان", "платье", "naïve",
    "100% wool", "a#b?c&d", "semi;colon", "[brackets]", "dot.in.name", "-dash", "CAPITAL",
)


@dataclass(frozen=True)
class MixedFolder:
    """``good``: relative paths that must end up in a gallery. ``bad``: path to a part of the
    reason that a report must give."""

    root: Path
    good: frozenset[str]
    bad: dict[str, str]


def make_mixed_folder(path: Path, n: int = 220, seed: int = 20261121) -> MixedFolder:
    """Write about ``n`` files (at least 60) under ``path``; the same ones for the same seed."""
    rng = np.random.default_rng(seed)
    path.mkdir(parents=True, exist_ok=True)
    good: set[str] = set()

    def picture(width: int = 60, height: int = 48) -> Image.Image:
        base = rng.integers(0, 256, 3)
        noise = rng.integers(-20, 20, (height, width, 3))
        return Image.fromarray((base + noise).clip(0, 255).astype(np.uint8))

    def save(relative: str, image: Image.Image, **options: object) -> None:
        target = path / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        image.save(target, **options)
        good.add(relative)

    for name in NAMES:
        save(f"names/{name}.jpg", picture())
        save(f"{name}/inside.png", picture())
    _kinds(save, picture)
    bad = _broken(path, picture)
    (path / "loop").symlink_to(path, target_is_directory=True)
    (path / "nowhere.png").symlink_to("absent.png")
    bad["nowhere.png"] = "is missing"
    (path / "folder.jpg").mkdir()
    save("folder.jpg/child.jpg", picture())
    (path / ".hidden").mkdir()
    picture().save(path / ".hidden/secret.jpg")
    number = 0
    while len(good) + len(bad) < n:
        suffix = ("jpg", "png", "webp", "bmp", "tiff", "gif")[number % 6]
        save(f"plain/{number % 7}/{number:04}.{suffix}", picture(*rng.integers(20, 200, 2)))
        number += 1
    return MixedFolder(path, frozenset(good), bad)


def _kinds(save, picture) -> None:  # type: ignore[no-untyped-def]
    save("kinds/tiny.png", picture(1, 1))
    save("kinds/thin.png", picture(1, 900))
    save("kinds/large.jpg", picture(2400, 1800))
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        save(f"kinds/exif{orientation}.jpg", picture(), exif=exif)
    save("kinds/grey.jpg", picture().convert("L"))
    save("kinds/cmyk.jpg", picture().convert("CMYK"))
    save("kinds/bilevel.png", picture().convert("1"))
    save("kinds/palette.png", picture().convert("P"))
    alpha = picture().convert("RGBA")
    alpha.putalpha(Image.linear_gradient("L").resize(alpha.size))
    save("kinds/transparent.png", alpha)
    save("kinds/grey alpha.png", picture().convert("LA"))
    save("kinds/transparent.webp", alpha)
    frames = [picture().convert("P") for _ in range(3)]
    save("kinds/animated.gif", frames[0], save_all=True, append_images=frames[1:], duration=50)
    save("kinds/animated.webp", picture(), save_all=True, append_images=[picture()])
    deep = np.linspace(0, 65535, 60 * 48).reshape(48, 60).astype(np.uint16)
    save("kinds/16bit.png", Image.fromarray(deep))
    save("kinds/float.tiff", Image.fromarray((deep / 65535).astype(np.float32)))
    save("kinds/lab.tiff", picture().convert("LAB"))
    save("kinds/png in disguise.jpg", picture(), format="PNG")
    save("kinds/jpeg in disguise.dat", picture(), format="JPEG")
    # The same stem twice: these ids keep their endings.
    save("kinds/twin.jpg", picture())
    save("kinds/twin.png", picture())


def _broken(path: Path, picture) -> dict[str, str]:  # type: ignore[no-untyped-def]
    folder = path / "broken"
    folder.mkdir()
    picture(200, 200).save(folder / "whole.jpg")
    whole = (folder / "whole.jpg").read_bytes()
    (folder / "whole.jpg").unlink()
    picture(200, 200).save(folder / "whole.png")
    whole_png = (folder / "whole.png").read_bytes()
    (folder / "whole.png").unlink()
    contents = {
        "zero.jpg": (b"", "empty"),
        "text.jpg": (b"This is no picture.\n" * 20, "cannot be read as an image"),
        "notes.txt": (b"colour; size\n", "cannot be read as an image"),
        "page.html": (b"<!doctype html><title>404</title>", "cannot be read as an image"),
        "cut.jpg": (whole[: len(whole) // 2], "cut off"),
        "cut.png": (whole_png[: len(whole_png) // 2], "cut off"),
        "header only.png": (whole_png[:20], "damaged"),
        "scrambled.png": (whole_png[:60] + bytes(400) + whole_png[460:], "damaged"),
        "huge.png": (huge_png(20000, 20000), "400 megapixels"),
        "bomb.png": (huge_png(60000, 60000), "3600 megapixels"),
    }
    for name, (content, _) in contents.items():
        (folder / name).write_bytes(content)
    return {f"broken/{name}": reason for name, (_, reason) in contents.items()}


def huge_png(width: int, height: int) -> bytes:
    """A few bytes whose header claims ``width`` x ``height``."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1000)))
        + chunk(b"IEND", b"")
    )
