"""Motifs of printed garments: outlines on a unit square about the origin."""

from __future__ import annotations

import numpy as np

from cir_core.sample.atelier.draw.geometry import Points, curve, pts


def motif(index: int) -> list[Points]:
    """The closed outlines of motif ``index`` (taken modulo :data:`COUNT`)."""
    return _MOTIFS[index % COUNT]()


def _star() -> list[Points]:
    angle = -np.pi / 2 + np.arange(10) * np.pi / 5
    radius = np.where(np.arange(10) % 2, 0.21, 0.5)
    return [np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).astype(np.float32)]


def _disc(x: float, y: float, radius: float) -> Points:
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    return np.stack([x + radius * np.cos(angle), y + radius * np.sin(angle)], axis=1).astype(np.float32)


def _mountain() -> list[Points]:
    return [
        pts((-0.5, 0.32), (-0.14, -0.30), (0.06, 0.04), (0.18, -0.10), (0.5, 0.32)),
        _disc(0.26, -0.32, 0.12),
        pts((-0.5, 0.38), (0.5, 0.38), (0.5, 0.45), (-0.5, 0.45)),
    ]


def _sun() -> list[Points]:
    rays = []
    for angle in np.arange(12) * np.pi / 6:
        c, s = np.cos(angle), np.sin(angle)
        ray = pts((0.36, -0.035), (0.52, 0), (0.36, 0.035))
        rays.append(np.stack([ray[:, 0] * c - ray[:, 1] * s, ray[:, 0] * s + ray[:, 1] * c], axis=1))
    return [_disc(0, 0, 0.29), *rays]


def _lettering() -> list[Points]:
    """Rows of bars that look like words from afar."""
    rows = (((-0.5, -0.28), (-0.22, 0.06), (0.14, 0.5)), ((-0.42, -0.06), (0.02, 0.42)),
            ((-0.5, 0.0), (0.08, 0.22), (0.30, 0.5)))
    out = []
    for number, row in enumerate(rows):
        y = -0.30 + number * 0.25
        out += [pts((a, y), (b, y), (b, y + 0.15), (a, y + 0.15)) for a, b in row]
    return out


def _heart() -> list[Points]:
    t = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    x = 0.5 * np.sin(t) ** 3
    y = -(13 * np.cos(t) - 5 * np.cos(2 * t) - 2 * np.cos(3 * t) - np.cos(4 * t)) / 32
    return [np.stack([x, y], axis=1).astype(np.float32)]


def _waves() -> list[Points]:
    x = np.linspace(-0.5, 0.5, 40, dtype=np.float32)
    out = []
    for y in (-0.28, -0.02, 0.24):
        top = np.stack([x, y + 0.075 * np.sin(x * 4 * np.pi)], axis=1)
        out.append(np.concatenate([top, (top + np.array([0, 0.12], np.float32))[::-1]]))
    return out


def _leaf() -> list[Points]:
    right = curve([(0, -0.5), (0.24, -0.14), (0.20, 0.20), (0.02, 0.38)])
    left = right * np.array([-1, 1], np.float32)
    return [right, left[::-1], pts((-0.022, 0.36), (0.022, 0.36), (0.022, 0.54), (-0.022, 0.54))]


_MOTIFS = (_star, _mountain, _sun, _lettering, _heart, _waves, _leaf)
COUNT = len(_MOTIFS)
