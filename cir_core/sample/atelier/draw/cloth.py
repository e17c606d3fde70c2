"""Cloth: patterns as repeating tiles, mapped in cloth coordinates."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import cv2
import numpy as np

from cir_core.sample.atelier.draw.palette import Colour, luminance

TILE = 0.5  # garment units that one tile covers

Cloth = Callable[[np.ndarray, np.ndarray], np.ndarray]


def cloth(attributes: Mapping[str, str], main: Colour, accent: Colour, size: int,
          rng: np.random.Generator) -> Cloth:
    """A function from cloth coordinates (u, v) to colour, for a canvas of side ``size``."""
    pattern = attributes["pattern"]
    if pattern in {"plain", "graphic"}:
        return lambda u, v: main
    if pattern == "colourblock":
        return _colourblock(attributes, main, accent, size, rng)
    side = round(TILE * size)
    tile = {"stripes": _stripes, "pinstripes": _pinstripes, "dots": _dots, "checks": _checks,
            "floral": _floral}[pattern](side, main, accent, rng)
    scale = np.float32(side / TILE)

    def painted(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return cv2.remap(tile, (u * scale).astype(np.float32), (v * scale).astype(np.float32),
                          cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP)

    return painted


def _mix(cover: np.ndarray, main: Colour, accent: Colour) -> np.ndarray:
    return np.asarray((main + cover[..., None] * (accent - main)).astype(np.float32))


def _comb(side: int, count: int, share: float) -> np.ndarray:
    """``count`` soft-edged bars over ``side`` pixels, each filling ``share`` of its period."""
    phase = (np.arange(side) + 0.5) / side * count % 1
    edge = np.abs(phase - 0.5) * side / count  # pixels from the bar's middle
    return np.clip(share * side / count / 2 - edge + 0.5, 0, 1).astype(np.float32)


def _stripes(side: int, main: Colour, accent: Colour, rng: np.random.Generator) -> np.ndarray:
    bars = _comb(side, int(rng.integers(7, 11)), float(rng.uniform(0.35, 0.44)))
    return _mix(np.repeat(bars[:, None], side, axis=1), main, accent)


def _pinstripes(side: int, main: Colour, accent: Colour, rng: np.random.Generator) -> np.ndarray:
    bars = _comb(side, int(rng.integers(10, 14)), float(rng.uniform(0.33, 0.42)))
    return _mix(np.repeat(bars[None, :], side, axis=0), main, accent)


def _dots(side: int, main: Colour, accent: Colour, rng: np.random.Generator) -> np.ndarray:
    count = int(rng.integers(5, 9))
    step = side / count
    radius = step * rng.uniform(0.25, 0.31)
    yy, xx = np.mgrid[0:side, 0:side].astype(np.float32) + 0.5
    cover = np.zeros((side, side), np.float32)
    for offset in (0.25, 0.75):  # two square lattices, staggered
        dx = (xx / step - offset) % 1 - 0.5
        dy = (yy / step - offset) % 1 - 0.5
        cover = np.maximum(cover, np.clip(radius - np.sqrt(dx**2 + dy**2) * step + 0.5, 0, 1))
    return _mix(cover, main, accent)


def _checks(side: int, main: Colour, accent: Colour, rng: np.random.Generator) -> np.ndarray:
    count = int(rng.integers(5, 8))
    share = 0.5 if rng.random() < 0.5 else float(rng.uniform(0.34, 0.44))
    bars = _comb(side, count, share)
    warp, weft = np.meshgrid(bars, bars)
    cover = 0.5 * (warp + weft)  # where both cross, the accent is full
    if share < 0.5:  # plaid: a fine line between the broad bands
        fine = np.roll(_comb(side, count, 0.09), side // count // 2)
        lines = np.maximum(*np.meshgrid(fine, fine))
        cover = np.maximum(cover, 0.75 * lines)
    return _mix(cover, main, accent)


def _floral(side: int, main: Colour, accent: Colour, rng: np.random.Generator) -> np.ndarray:
    leaf = np.clip(main * 0.70 if luminance(main) > 0.25 else main + 0.14, 0, 1)
    heart = np.clip(accent * 0.62 if luminance(accent) > 0.45 else accent + 0.30, 0, 1)
    tile = np.empty((side, side, 3), np.float32)
    tile[:] = main
    cells = int(rng.integers(4, 6))
    step = side / cells
    for row in range(cells):
        for column in range(cells):
            stagger = 0.5 if row % 2 else 0.0
            x = (column + 0.5 + stagger + rng.uniform(-0.13, 0.13)) * step
            y = (row + 0.5 + rng.uniform(-0.13, 0.13)) * step
            radius = step * rng.uniform(0.30, 0.40)
            turn = rng.uniform(0, 2 * np.pi)
            for ox in (-side, 0, side):
                for oy in (-side, 0, side):
                    if -step < x + ox < side + step and -step < y + oy < side + step:
                        _flower(tile, x + ox, y + oy, radius, turn, accent, leaf, heart)
    return tile


def _flower(tile: np.ndarray, x: float, y: float, radius: float, turn: float, petal: Colour,
            leaf: Colour, heart: Colour) -> None:
    def blob(distance: float, angle: float, axes: tuple[float, float], colour: Colour) -> None:
        centre = (x + distance * np.cos(angle), y + distance * np.sin(angle))
        cv2.ellipse(tile, (round(centre[0] * 16), round(centre[1] * 16)),
                    (max(8, round(axes[0] * 16)), max(8, round(axes[1] * 16))),
                    float(np.degrees(angle)), 0, 360, colour.tolist(), -1, cv2.LINE_AA, 4)

    for side in (0.5, 2.6):
        blob(radius * 1.12, turn + side, (radius * 0.42, radius * 0.17), leaf)
    for k in range(5):
        blob(radius * 0.52, turn + k * 2 * np.pi / 5, (radius * 0.46, radius * 0.34), petal)
    blob(0, turn, (radius * 0.24, radius * 0.24), heart)


def _colourblock(attributes: Mapping[str, str], main: Colour, accent: Colour, size: int,
                 rng: np.random.Generator) -> Cloth:
    """Main colour above, accent below, the seam level or slanting."""
    low, high = {"dress": (0.36, 0.42), "shirt": (0.40, 0.46), "toptee": (0.36, 0.40)}[
        attributes["category"]]
    if attributes["length"] == "short":
        low, high = low - 0.04, high - 0.04
    split = float(rng.uniform(low, high))
    slant = float(rng.choice([0.0, 0.0, rng.uniform(-0.45, 0.45)]))

    def painted(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        edge = (v - split - slant * u) * size
        return _mix(np.clip(edge + 0.5, 0, 1), main, accent)

    return painted
