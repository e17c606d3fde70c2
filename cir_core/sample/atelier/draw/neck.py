"""Necklines: the dark inside of the back, ribbing, roll necks and shirt collars."""

from __future__ import annotations

import numpy as np

from cir_core.sample.atelier.draw.canvas import Paint
from cir_core.sample.atelier.draw.details import Tailor
from cir_core.sample.atelier.draw.geometry import band, curve, mirror, pts
from cir_core.sample.atelier.draw.palette import luminance, tonal
from cir_core.sample.atelier.draw.silhouette import TOP


def inside(t: Tailor) -> None:
    """The inside of the back, as a ghost mannequin shows it, with a woven label."""
    outline = t.cut.inside
    dark = t.main * 0.60 if luminance(t.main) > 0.2 else t.main * 0.72
    depth = max(t.cut.neck_depth, 0.03)

    def paint(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        fall = np.clip((y - TOP + 0.02) / (depth + 0.02), 0, 1)
        return (dark * (0.78 + 0.30 * fall)[..., None]).astype(np.float32)

    t.canvas.lay(outline, paint, -0.02, raised=False)
    if t.cut.straps:
        return
    back = curve([(-t.cut.neck_half, TOP), (0, TOP + 0.010), (t.cut.neck_half, TOP)])
    t.canvas.line(back + pts((0, 0.006)), 0.003, dark=0.25, soft=0.8)
    if t.cut.neck_depth > 0.035:
        label = np.array([0.93, 0.92, 0.89] if luminance(t.main) < 0.7 else [0.42, 0.42, 0.44], np.float32)
        patch = pts((-0.014, TOP + 0.008), (0.014, TOP + 0.008), (0.014, TOP + 0.023),
                    (-0.014, TOP + 0.023))
        t.canvas.lay(patch, label * 0.85, 0.001, clip=True)


def ribbing(t: Tailor, neckline: str) -> None:
    """The finished edge of a round, V, scoop or square neckline."""
    if t.cut.straps:
        t.canvas.line(t.cut.neck + pts((0, 0.009)), 0.002, depth=0.0008, dark=0.18, soft=0.5)
        return
    colour = tonal(t.main, 0.05)
    width = 0.018 if neckline == "crew" else 0.010
    t.canvas.lay(band(t.cut.neck, -0.001, width), colour, 0.0014, shadow=0.15, clip=True, within=t.cut.body)


def roll(t: Tailor, paint: Paint) -> None:
    """A roll neck: a tube above the shoulders, folded over once."""
    half, rise = t.cut.neck_half * 1.06, 0.062
    tube = np.concatenate([
        curve([(-half * 1.22, TOP + 0.024), (-half * 1.02, TOP - 0.010), (-half, TOP - rise)]),
        curve([(-half, TOP - rise), (0, TOP - rise - 0.008), (half, TOP - rise)]),
        curve([(half, TOP - rise), (half * 1.02, TOP - 0.010), (half * 1.22, TOP + 0.024)]),
        curve([(half * 1.22, TOP + 0.024), (0, TOP + 0.044), (-half * 1.22, TOP + 0.024)]),
    ])

    def round_(x: np.ndarray, y: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return np.asarray((0.008 - 0.020 * (x / half) ** 2 + 0.0008 * np.sin(x * 420)).astype(np.float32))

    t.canvas.lay(tube, paint, round_, raised=False, shadow=0.42)
    fold = curve([(-half * 1.06, TOP - 0.006), (0, TOP + 0.012), (half * 1.06, TOP - 0.006)])
    t.canvas.line(fold, 0.004, depth=0.004, dark=0.34, soft=1.2)
    mouth = curve([(-half, TOP - rise), (0, TOP - rise - 0.008), (half, TOP - rise), (0, TOP - rise + 0.011),
                   (-half, TOP - rise)])
    t.canvas.lay(mouth, (t.main * 0.52).astype(np.float32), -0.01, clip=True)


def collar(t: Tailor, paint: Paint) -> None:
    """A shirt collar: the stand behind, two pointed leaves in front."""
    half, depth = t.cut.neck_half, t.cut.neck_depth
    stand = np.concatenate([
        curve([(-half * 1.02, TOP + 0.006), (-half * 0.92, TOP - 0.028), (0, TOP - 0.040),
               (half * 0.92, TOP - 0.028), (half * 1.02, TOP + 0.006)]),
        curve([(half * 0.90, TOP + 0.008), (0, TOP - 0.006), (-half * 0.90, TOP + 0.008)]),
    ])
    t.canvas.lay(stand, paint, -0.006, raised=False)
    t.canvas.line(curve([(-half * 0.9, TOP + 0.006), (0, TOP - 0.008), (half * 0.9, TOP + 0.006)]), 0.003,
                  dark=0.3, soft=0.8)
    leaf = np.concatenate([
        curve([(0.003, TOP + depth * 1.02), (half * 0.50, TOP + depth * 0.42), (half * 0.90, TOP - 0.026)]),
        curve([(half * 1.0, TOP - 0.024), (half * 1.30, TOP + 0.012), (half * 1.46, TOP + 0.040)]),
        pts((half * 1.10, TOP + depth + 0.054)),
        pts((0.003, TOP + depth * 1.02)),
    ])
    for outline in (leaf, mirror(leaf)):
        t.canvas.lay(outline, paint, 0.0045, raised=False, shadow=0.42)
        rim = np.concatenate([outline, outline[:1]])
        # A dark collar on dark cloth shows by its lit edge, any other by its shaded one.
        t.canvas.line(rim, 0.002, dark=-0.8 if luminance(t.main) < 0.2 else 0.10, soft=0.5)
