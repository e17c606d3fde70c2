"""Plane geometry: smooth curves, and the pose that places them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Points = np.ndarray  # float32 [n, 2], x and y in garment units: 1 is the image's side


def pts(*pairs: tuple[float, float]) -> Points:
    return np.array(pairs, np.float32)


def curve(points: Sequence[tuple[float, float]] | Points, steps: int = 8) -> Points:
    """A Catmull-Rom spline through ``points``, ends included."""
    p = np.asarray(points, np.float32)
    p = np.concatenate([2 * p[:1] - p[1:2], p, 2 * p[-1:] - p[-2:-1]])
    t = np.linspace(0, 1, steps, endpoint=False, dtype=np.float32)[:, None]
    out = []
    for a, b, c, d in zip(p[:-3], p[1:-2], p[2:-1], p[3:], strict=True):
        out.append(0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2
                          + (3 * b - a - 3 * c + d) * t**3))
    return np.concatenate([*out, p[-2:-1]])


def mirror(points: Points) -> Points:
    """The other side of a garment: reflected in x, in reverse order."""
    return (points * np.array([-1, 1], np.float32))[::-1]


def band(line: Points, inner: float, outer: float) -> Points:
    """The closed strip between two parallels of ``line``."""
    normal = normals(line)
    return np.concatenate([line + normal * inner, (line + normal * outer)[::-1]])


def normals(line: Points) -> Points:
    tangent = np.gradient(line, axis=0)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True) + 1e-9
    return np.stack([-tangent[:, 1], tangent[:, 0]], axis=1).astype(np.float32)


@dataclass(frozen=True)
class Pose:
    """Position of the garment in the image, and direction of the light."""

    angle: float  # radians, clockwise
    scale: float
    shift: tuple[float, float]
    light: tuple[float, float]  # direction of the light, in the image plane
    exposure: float
    tint: np.ndarray  # white balance, float32 [3]

    @classmethod
    def draw(cls, rng: np.random.Generator, sink: float) -> Pose:
        """A random pose; ``sink`` moves the garment down (short ones hang lower)."""
        side = rng.choice([-1.0, 1.0]) * rng.uniform(0.35, 0.9)
        warmth = rng.uniform(-0.016, 0.016)
        return cls(
            angle=float(rng.normal(0, 0.022)),
            scale=float(rng.uniform(0.975, 1.03)),
            shift=(0.5 + float(rng.uniform(-0.014, 0.014)), sink + float(rng.uniform(-0.012, 0.012))),
            light=(float(side), -0.75),
            exposure=float(rng.uniform(0.965, 1.035)),
            tint=np.array([1 + warmth, 1, 1 - warmth], np.float32),
        )

    def place(self, points: Points, size: int) -> Points:
        """Garment units to pixels of an image of side ``size``."""
        c, s = np.cos(self.angle) * self.scale, np.sin(self.angle) * self.scale
        p = points - np.array([0, 0.5], np.float32)
        x = c * p[:, 0] - s * p[:, 1] + self.shift[0]
        y = s * p[:, 0] + c * p[:, 1] + self.shift[1] + 0.5
        return np.stack([x, y], axis=1) * size

    def unplace(self, size: int, box: tuple[int, int, int, int]) -> tuple[np.ndarray, np.ndarray]:
        """Garment coordinates (x, y) of the pixels in ``box`` (x0, y0, x1, y1)."""
        x0, y0, x1, y1 = box
        px = (np.arange(x0, x1, dtype=np.float32) + 0.5) / size - self.shift[0]
        py = (np.arange(y0, y1, dtype=np.float32) + 0.5) / size - self.shift[1] - 0.5
        c, s = np.cos(self.angle) / self.scale, np.sin(self.angle) / self.scale
        x = c * px[None, :] + s * py[:, None]
        y = -s * px[None, :] + c * py[:, None] + 0.5
        return x.astype(np.float32), y.astype(np.float32)
