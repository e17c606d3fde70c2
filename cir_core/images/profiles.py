"""From the colours that a file describes, by a profile or by numbers, to sRGB."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import BinaryIO, cast

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageCms

_Convert = Callable[[Image.Image], Image.Image]
_Point = tuple[float, float]        # x and y of CIE 1931

_KEPT = 2**22           # bytes of a profile whose transform is kept
_SAME = 1               # levels of 255: a transform that changes no colour by more is left out
_D50 = np.array([0.9642, 1.0, 0.8249])
_D65: _Point = (0.3127, 0.3290)
_BRADFORD = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])
SRGB_PRIMARIES: tuple[_Point, _Point, _Point] = ((0.64, 0.33), (0.30, 0.60), (0.15, 0.06))
_C: _Point = (0.310, 0.316)
# By the numbers of ITU-T H.273: the primaries of red, green and blue, and white.
_PRIMARIES: dict[int, tuple[tuple[_Point, _Point, _Point], _Point]] = {
    1: (SRGB_PRIMARIES, _D65),
    4: (((0.67, 0.33), (0.21, 0.71), (0.14, 0.08)), _C),
    5: (((0.64, 0.33), (0.29, 0.60), (0.15, 0.06)), _D65),
    6: (((0.630, 0.340), (0.310, 0.595), (0.155, 0.070)), _D65),
    7: (((0.630, 0.340), (0.310, 0.595), (0.155, 0.070)), _D65),
    9: (((0.708, 0.292), (0.170, 0.797), (0.131, 0.046)), _D65),
    11: (((0.680, 0.320), (0.265, 0.690), (0.150, 0.060)), (0.314, 0.351)),
    12: (((0.680, 0.320), (0.265, 0.690), (0.150, 0.060)), _D65),
}
_VIDEO = (1, 6, 14, 15)  # transfers of television
_QUANTIZER, _HYBRID = 16, 18
_NUMBERS = b"H.273 "    # before numbers in place of a profile
# Pictures of high dynamic range on an ordinary screen, as browsers show them: light, 1 being white (203 cd/m2, ITU-R
# BT.2408), and how much of the screen's is shown. 1,000 cd/m2 and more are the screen's white.
_LIGHT = (0.0, 1.0, 1.557, 2.793, 4.926)
_SHOWN = (0.0, 0.5, 0.665, 0.847, 1.0)
_LONGEST = 2**22        # bytes of a "meta" box that is looked through
_MOST_BOXES = 4_000           # boxes of one level looked at
_Curve = Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]]


def to_srgb(profile: bytes | None, mode: str) -> _Convert | None:
    """How to convert images of ``mode`` (L, RGB, RGBA or CMYK), whose colours ``profile`` describes, to sRGB; RGBA
    stays RGBA, all others become RGB. None if nothing is to be done: there is no profile, it cannot be read, it
    describes colours of another kind, or they are those of sRGB. ``profile``: of ICC, or from :func:`described`."""
    if profile and profile.startswith(_NUMBERS):
        primaries, transfer, *_ = (*profile[len(_NUMBERS):], 0, 0)
        # What a file has for a profile may begin so, too.
        is_ours = described(primaries, transfer, video=False) == profile
        return _of_numbers(primaries, transfer, mode) if is_ours and mode in ("L", "RGB", "RGBA") else None
    if not profile or len(profile) < 128:
        return None
    space = profile[16:20]
    if space == b"RGB " and mode in ("L", "RGB", "RGBA"):
        own = "RGBA" if mode == "RGBA" else "RGB"
        convert = _transform(profile, own)
        if convert is not None and mode == "L":
            return lambda part: convert(part.convert("RGB"))
        return convert
    if (space, mode) in ((b"GRAY", "L"), (b"CMYK", "CMYK")):
        return _transform(profile, mode)
    return None


def described(primaries: int, transfer: int, *, video: bool) -> bytes | None:
    """What stands for a profile of the colours that these numbers of ITU-T H.273 mean, in PNG, AVIF and HEIC files;
    None if they are not known. ``video``: whether values of television are for a television's screen, as browsers take
    them in PNG, else for a computer's."""
    if transfer in _VIDEO:
        transfer = _TELEVISION if video else 13
    if primaries not in _PRIMARIES or transfer not in (*_CURVES, _QUANTIZER, _HYBRID):
        return None
    return _NUMBERS + bytes((primaries, transfer))


def numbers_of(stream: BinaryIO) -> bytes | None:
    """:func:`described` of the first colours that an AVIF or HEIC file names; None if there are none that are known."""
    stream.seek(0)
    for _ in range(_MOST_BOXES):
        head = stream.read(16)
        if len(head) < 8:
            break
        length, kind = struct.unpack(">I4s", head[:8])
        begin = 8
        if length == 1 and len(head) == 16:
            length, begin = struct.unpack(">Q", head[8:])[0], 16
        if kind == b"meta":
            meta = head[begin:] + stream.read(min(length, _LONGEST))
            return _named(meta[4:length - begin])
        if length < begin:
            break
        try:
            stream.seek(length - len(head), 1)
        except (OSError, OverflowError, ValueError):    # no file is so long
            break
    return None


def _named(meta: bytes) -> bytes | None:
    for kind, properties in _boxes(meta):
        if kind == b"iprp":
            for inner, content in _boxes(properties):
                if inner == b"ipco":
                    for name, colour in _boxes(content):
                        if name == b"colr" and colour[:4] == b"nclx" and len(colour) >= 10:
                            primaries, transfer = struct.unpack(">HH", colour[4:8])
                            return described(primaries, transfer, video=False)
    return None


def _boxes(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 0
    for _ in range(_MOST_BOXES):
        if at + 8 > len(content):
            return
        length, kind = struct.unpack(">I4s", content[at:at + 8])
        if length < 8:
            return
        yield kind, content[at + 8:at + length]
        at += length


def _of_numbers(primaries: int, transfer: int, mode: str) -> _Convert | None:
    if transfer in _CURVES:
        if (primaries, transfer) == (1, 13):
            return None
        return to_srgb(matrix_profile(*_PRIMARIES[primaries], _CURVES[transfer]), mode)
    corners, white = _PRIMARIES[primaries]
    mixed = (np.linalg.inv(_lights(SRGB_PRIMARIES, _D65)) @ _lights(corners, white)).astype(np.float32)
    values = np.arange(256) / 255
    light = (_quantizer(values) if transfer == _QUANTIZER else _hybrid(values)).astype(np.float32)
    grey = _lights(corners, white)[1].astype(np.float32)

    def some(pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        parts = light[pixels]
        if transfer == _HYBRID:     # its system gamma, of 1,000 cd/m2
            parts *= np.maximum(parts @ grey, 1e-6)[:, None] ** 0.2 * (1000 / 203)
        most = np.maximum(parts.max(1), 1e-6)
        parts *= (np.interp(most, _LIGHT, _SHOWN) / most).astype(np.float32)[:, None]
        seen = (parts @ mixed.T).clip(0, 1)
        return np.rint(_to_screen(seen) * 255).astype(np.uint8)

    def convert(part: Image.Image) -> Image.Image:
        shown = some(np.asarray(part.convert("RGB")).reshape(-1, 3))
        result = Image.fromarray(shown.reshape(part.height, part.width, 3))
        if mode == "RGBA":
            result.putalpha(part.getchannel("A"))
        return result

    return convert


def _lights(primaries: Sequence[_Point], white: _Point) -> npt.NDArray[np.float64]:
    """Columns: the XYZ of red, green and blue, whose sum is white."""
    corners = np.array([_xyz(point) for point in primaries]).T
    return corners * np.linalg.solve(corners, _xyz(white))


def gamma(exponent: float) -> _Curve:
    return lambda value: value ** exponent


def matrix_profile(primaries: Sequence[_Point], white: _Point, curve: _Curve) -> bytes | None:
    """An ICC profile (version 2) of these primaries and this white; ``curve`` gives light for values, both 0 to 1. None
    if there is no such light."""
    if white[1] <= 0 or any(y <= 0 for _, y in primaries):
        return None
    try:
        ours, theirs = _BRADFORD @ _D50, _BRADFORD @ _xyz(white)
        light = np.linalg.inv(_BRADFORD) @ np.diag(ours / theirs) @ _BRADFORD @ _lights(primaries, white)
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(light).all() or np.abs(light).max() > 4:
        return None
    table = np.rint(curve(np.linspace(0, 1, 4096)).clip(0, 1) * 65535).astype(">u2").tobytes()
    curves = b"curv\0\0\0\0" + struct.pack(">I", 4096) + table
    tags = {b"desc": b"desc\0\0\0\0\0\0\0\1\0" + bytes(78), b"cprt": b"text\0\0\0\0\0", b"wtpt": _numbers(_D50),
            **{name: _numbers(column) for name, column in zip((b"rXYZ", b"gXYZ", b"bXYZ"), light.T, strict=True)}}
    begin = 128 + 4 + 12 * (len(tags) + 3)
    listed, body = b"", b""
    for name, content in tags.items():
        listed += name + struct.pack(">II", begin + len(body), len(content))
        body += content + bytes(-len(content) % 4)
    for name in (b"rTRC", b"gTRC", b"bTRC"):
        listed += name + struct.pack(">II", begin + len(body), len(curves))
    body += curves + bytes(-len(curves) % 4)
    head = (struct.pack(">I4sI4s4s4s", begin + len(body), b"", 0x02400000, b"mntr", b"RGB ", b"XYZ ") + bytes(12)
            + b"acsp" + bytes(28) + _numbers(_D50)[8:] + bytes(48))
    return bytes(head + struct.pack(">I", len(tags) + 3) + listed + body)


def _xyz(point: _Point) -> npt.NDArray[np.float64]:
    x, y = point
    return np.array([x / y, 1.0, (1 - x - y) / y])


def _numbers(values: npt.NDArray[np.float64]) -> bytes:
    return b"XYZ \0\0\0\0" + bytes(np.rint(values * 65536).astype(">i4").tobytes())


def _screen(value: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def _to_screen(light: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)


def _quantizer(value: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """SMPTE ST 2084: light in units of 203 cd/m2."""
    power = value ** (1 / 78.84375)
    light = np.maximum(power - 0.8359375, 0) / (18.8515625 - 18.6875 * power)
    return light ** (1 / 0.1593017578125) * 10_000 / 203


def _hybrid(value: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """ITU-R BT.2100 (hybrid log-gamma): the scene's light, 0 to 1."""
    return np.where(value <= 0.5, value ** 2 / 3, (np.exp((value - 0.55991073) / 0.17883277) + 0.28466892) / 12)


_TELEVISION = 7         # not a number of H.273 that browsers know: a screen's gamma of 2.4 (ITU-R BT.1886)
_CURVES: dict[int, _Curve] = {4: gamma(2.2), 5: gamma(2.8), _TELEVISION: gamma(2.4), 8: gamma(1.0), 13: _screen}


def _transform(profile: bytes, mode: str) -> _Convert | None:
    return _kept_transform(profile, mode) if len(profile) <= _KEPT else _new_transform(profile, mode)


def _new_transform(profile: bytes, mode: str) -> _Convert | None:
    target = "RGBA" if mode == "RGBA" else "RGB"
    try:
        transform = ImageCms.buildTransform(
            ImageCms.ImageCmsProfile(io.BytesIO(profile)), ImageCms.ImageCmsProfile(io.BytesIO(_screen_profile())),
            # Threads share the transform, so it keeps no pixel. Paper that is not white stays so.
            mode, target, flags=ImageCms.Flags.NOCACHE | ImageCms.Flags.NOWHITEONWHITEFIXUP)
        if mode in ("RGB", "RGBA") and _changes_nothing(transform, mode):
            return None
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return None
    return lambda part: cast(Image.Image, ImageCms.applyTransform(part, transform))


@lru_cache(maxsize=1)
def _screen_profile() -> bytes:
    """sRGB in version 2 of ICC: into one of version 4, the black of inks would be made that of the screen, which
    browsers do not do."""
    made = matrix_profile(SRGB_PRIMARIES, _D65, _screen)
    assert made is not None
    return made


_kept_transform = lru_cache(maxsize=8)(_new_transform)


def _changes_nothing(transform: ImageCms.ImageCmsTransform, mode: str) -> bool:
    """As with the profiles of sRGB that most cameras and editors put into files."""
    steps = np.linspace(0, 255, 18).astype(np.uint8)
    colours = np.stack(np.meshgrid(steps, steps, steps), -1).reshape(1, -1, 3)
    before = Image.fromarray(colours).convert(mode)
    after = np.asarray(cast(Image.Image, ImageCms.applyTransform(before, transform)), dtype=np.int16)
    return bool(np.abs(after[..., :3] - colours).max() <= _SAME)
