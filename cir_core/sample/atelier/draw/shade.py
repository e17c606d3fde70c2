"""Relief of worn cloth, and lighting."""

from __future__ import annotations

import cv2
import numpy as np

from cir_core.sample.atelier.draw.canvas import Canvas
from cir_core.sample.atelier.draw.palette import Colour, luminance

_ELEVATION = 1.25  # of the light, relative to its sideways component
_SHADOW_TINT = np.array([-0.015, -0.01, 0.02], np.float32)
_FOLDS = {"slim": 0.55, "regular": 0.85, "loose": 1.35}


class Folds:
    """Folds of one garment, their number and depth fixed by its seed."""

    def __init__(self, fit: str, category: str, rng: np.random.Generator) -> None:
        self.depth = _FOLDS[fit] * float(rng.uniform(0.85, 1.15))
        self.skirt = category == "dress"
        self.pleats = [(float(rng.uniform(*span)), float(rng.uniform(0, 6.3)), float(rng.uniform(0.5, 1)))
                       for span in ((1.6, 2.6), (3.0, 4.4), (5.0, 7.0))]
        self.drape = rng.normal(0, 1, (9, 7)).astype(np.float32)
        self.creases = rng.uniform(0, 1, (10, 4)).astype(np.float32)
        self.sleeve_noise = rng.normal(0, 1, (2, 14, 3)).astype(np.float32)

    def body(self, u: np.ndarray, x: np.ndarray, y: np.ndarray, waist: float, hem: float,
             half: float) -> np.ndarray:
        """Height of the body's cloth at normalised ``u`` (-1 to 1 across) and ``y``."""
        fall = np.clip((y - waist + 0.05) / max(hem - waist + 0.05, 0.05), 0, 1)
        pleats = np.zeros_like(u)
        for frequency, phase, amount in self.pleats:
            wander = 0.35 * np.sin(y * 9 + phase * 3)
            pleats += amount / frequency * np.sin(u * frequency * 2.4 + phase + wander)
        reach = (0.25 + 0.75 * fall) if not self.skirt else (0.10 + 0.95 * fall)
        height = (0.0215 if self.skirt else 0.0130) * self.depth * pleats * reach
        height += self._creases(x, y, waist, half)
        height -= 0.022 * u**2 * half / 0.15  # curvature of the body
        return height.astype(np.float32)

    def _creases(self, x: np.ndarray, y: np.ndarray, waist: float, half: float) -> np.ndarray:
        """A few tapering creases: off the armpits, and slanting across the waist."""
        height = np.zeros_like(x)
        for index, (a, b, c, d) in enumerate(self.creases):
            side = -1 if index % 2 else 1
            if index < 4:  # from the armpit towards the middle, falling
                cx, cy = side * half * (0.62 + 0.2 * a), waist - 0.10 - 0.04 * b
                slope, reach = 0.5 + 0.6 * c, 0.055
            else:  # about the waist and below
                cx, cy = side * half * (0.2 + 0.6 * a), waist + 0.16 * (b - 0.3)
                slope, reach = 0.2 + 0.5 * c, 0.07
            dx = (x - cx) * side
            across = (y - cy) + slope * dx + 2.0 * dx**2
            width = 0.006 + 0.007 * d
            height += 0.0034 * (0.6 + d) * np.exp(-(across / width) ** 2 - (dx / reach) ** 2)
        return height * self.depth

    def sleeve(self, s: np.ndarray, t: np.ndarray, index: int, half: float) -> np.ndarray:
        """Height of a sleeve's cloth ``s`` across and ``t`` down it (garment units)."""
        noise = self.sleeve_noise[index]
        columns = noise.shape[1]
        gx = (s / (2 * half) + 0.5) * (columns - 1)
        gy = (t + s * 0.6) / 0.036
        field = cv2.remap(_smooth(noise), (gx * 4).astype(np.float32), (gy * 4).astype(np.float32),
                          cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
        return (0.0042 * self.depth * field - 0.010 * (s / half) ** 2).astype(np.float32)


def _smooth(grid: np.ndarray) -> np.ndarray:
    rows, columns = grid.shape
    return cv2.resize(grid, (columns * 4, rows * 4), interpolation=cv2.INTER_CUBIC)


def rounding(mask: np.ndarray, size: int, radius: float, depth: float) -> np.ndarray:
    """Cloth curving away at the outline: height falls over ``radius`` towards the mask's edge."""
    h, w = mask.shape
    small = cv2.resize(mask, (w // 2, h // 2), interpolation=cv2.INTER_AREA)
    inner = cv2.distanceTransform((small > 0.5).astype(np.uint8), cv2.DIST_L2, 3)
    edge = 1 - np.clip(inner / (radius * size / 2), 0, 1)
    height = depth * (np.sqrt(1 - np.minimum(edge, 0.95) ** 2) - 1)
    return np.asarray(cv2.resize(cv2.GaussianBlur(height, (0, 0), 1.6), (w, h)))


def lit(canvas: Canvas, main: Colour, grain: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The garment under the pose's light, at half the canvas's resolution.

    Returns its colour, multiplied by its coverage, and the coverage. Light is so soft
    that halving before lighting makes no visible difference.
    """
    half = (canvas.size // 2, canvas.size // 2)

    def halved(field: np.ndarray) -> np.ndarray:
        return cv2.resize(field, half, interpolation=cv2.INTER_AREA)

    coverage = halved(canvas.coverage)
    colour = halved(canvas.colour)  # black where empty: already multiplied by coverage
    height = _extended(halved(canvas.height), coverage)
    height = cv2.GaussianBlur(height, (0, 0), 0.7)
    scale = canvas.size / 2 / 8
    gx = cv2.Sobel(height, cv2.CV_32F, 1, 0, ksize=3, scale=scale)
    gy = cv2.Sobel(height, cv2.CV_32F, 0, 1, ksize=3, scale=scale)
    lx, ly = canvas.pose.light
    norm = float(np.sqrt(lx**2 + ly**2 + _ELEVATION**2))
    facing = (-gx * lx - gy * ly + _ELEVATION) / (np.sqrt(gx**2 + gy**2 + 1) * norm)
    relative = facing * (norm / _ELEVATION)  # 1 on flat cloth
    shade = 0.34 + 0.66 * np.clip(relative, 0.22, 1.32)
    # Ambient occlusion: hollows receive less light than ridges.
    hollow = height - cv2.GaussianBlur(height, (0, 0), 7)
    shade *= 1 + np.clip(hollow * 14, -0.16, 0.07)
    occlusion = halved(canvas.occlusion)
    shade *= occlusion * grain
    # Dark cloth shows its folds by sheen, not by shadow.
    gloss = 0.26 if luminance(main) < 0.25 else 0.05
    sheen = np.clip(relative - 1.0, 0, 0.5) * gloss * occlusion * coverage
    depth = np.clip(1 - shade, 0, 1)[..., None]
    colour = colour * shade[..., None] * (1 + depth * _SHADOW_TINT)
    return colour + sheen[..., None], coverage


def _extended(height: np.ndarray, coverage: np.ndarray) -> np.ndarray:
    """``height`` extrapolated beyond the outline, so that the edge is not a cliff."""
    weight = cv2.GaussianBlur(coverage, (0, 0), 2.0)
    beyond = cv2.GaussianBlur(height * coverage, (0, 0), 2.0) / np.maximum(weight, 1e-3)
    return np.asarray(height * coverage + beyond * (1 - coverage))
