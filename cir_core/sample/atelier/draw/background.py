"""Background: a softly lit wall and the garment's shadow on it."""

from __future__ import annotations

import cv2
import numpy as np

_TINTS = (  # RGB of the wall; none so light that a white garment would vanish against it
    (214, 211, 206), (206, 209, 213), (216, 208, 198), (203, 209, 204), (212, 204, 205),
    (196, 200, 206), (208, 206, 211), (200, 196, 190),
)


def backdrop(size: int, light: tuple[float, float], rng: np.random.Generator) -> np.ndarray:
    """A wall with a gentle gradient away from the light and a slight vignette."""
    tint = np.array(_TINTS[rng.integers(len(_TINTS))], np.float32) / 255
    tint = tint * rng.uniform(0.97, 1.03) + rng.uniform(-0.008, 0.008, 3)
    small = 32
    y, x = np.mgrid[-1:1:small * 1j, -1:1:small * 1j].astype(np.float32)
    toward = (x * light[0] + y * light[1]) / np.hypot(*light)
    glow = 1 + 0.045 * toward + 0.03 * np.exp(-(x**2 + (y + 0.1) ** 2) * 1.5)
    vignette = 1 - 0.05 * np.clip(np.sqrt(x**2 + y**2) - 0.6, 0, 1) ** 1.5
    field = cv2.resize((glow * vignette).astype(np.float32), (size, size),
                       interpolation=cv2.INTER_CUBIC)
    return np.asarray(field[..., None] * tint.astype(np.float32))


def cast_shadow(coverage: np.ndarray, light: tuple[float, float]) -> np.ndarray:
    """Remaining light on the wall: a wide soft shadow and a contact shadow."""
    size = coverage.shape[0]
    small = cv2.resize(coverage, (size // 4, size // 4), interpolation=cv2.INTER_AREA)
    unit = size / 4
    shadow = np.zeros_like(small)
    for sigma, reach, amount in ((0.030, 0.028, 0.26), (0.008, 0.008, 0.24)):
        dx, dy = -light[0] * reach * unit, -light[1] * reach * unit
        moved = cv2.warpAffine(small, np.array([[1, 0, dx], [0, 1, dy]], np.float32), small.shape[::-1])
        shadow = np.maximum(shadow, 0) + amount * cv2.GaussianBlur(moved, (0, 0), sigma * unit)
    return 1 - cv2.resize(shadow, (size, size), interpolation=cv2.INTER_CUBIC)
