"""Trims and finishing: seams, hems, buttons, pocket, belt, ruffle, bow, contrast edges, print. Motifs of printed
garments: outlines on a unit square about the origin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cir_core.sample.atelier.draw.canvas import Canvas, Paint
from cir_core.sample.atelier.draw.cloth import Cloth
from cir_core.sample.atelier.draw.geometry import Points, band, curve, pts
from cir_core.sample.atelier.draw.palette import Colour, luminance, tonal
from cir_core.sample.atelier.draw.silhouette import TOP, Cut


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


@dataclass(frozen=True)
class Tailor:
    """Drawing context of details: surface, pieces and colours."""

    canvas: Canvas
    cut: Cut
    main: Colour
    accent: Colour | None
    cloth: Cloth
    rng: np.random.Generator

    @property
    def trim_colour(self) -> Colour:
        return self.main if self.accent is None else self.accent


def seams(t: Tailor, category: str, belted: bool) -> None:
    """Armhole seams, hem stitching and, on dresses, the waist seam."""
    for hole in t.cut.armholes:
        if t.cut.sleeves:
            t.canvas.line(hole, 0.003, depth=0.0004, dark=0.16, soft=0.9)
    if category == "shirt":  # a yoke distinguishes a shirt: seams from armhole to neck
        for hole in t.cut.armholes:
            x, y = float(hole[0, 0]), float(hole[0, 1])
            neck_x = t.cut.neck_half * 1.12 * np.sign(x)
            seam = curve([(x * 0.955, y + 0.042), ((x + neck_x) / 2, y * 0.5 + TOP * 0.5 + 0.036),
                          (neck_x, TOP + 0.026)])
            t.canvas.line(seam, 0.003, depth=0.0010, dark=0.20, soft=0.7)
    t.canvas.line(t.cut.hem - pts((0, 0.014)), 0.002, depth=0.0006, dark=0.16, soft=0.6)
    for sleeve in t.cut.sleeves:
        t.canvas.line(sleeve.cuff - sleeve.axis * 0.012, 0.002, depth=0.0006, dark=0.16, soft=0.6)
    if category == "dress" and not belted:
        half = t.cut.waist_half
        waist = curve([(-half * 1.1, t.cut.waist - 0.003), (0, t.cut.waist + 0.006),
                       (half * 1.1, t.cut.waist - 0.003)])
        t.canvas.line(waist, 0.003, depth=0.0016, dark=0.15, soft=1.0)


def hem_rib(t: Tailor, colour: Colour) -> None:
    """The ribbed band along the hem of a knitted top."""

    def ribs(x: np.ndarray, y: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return np.asarray((0.0009 * np.sin(x * 480) + 0.0012).astype(np.float32))

    t.canvas.lay(band(t.cut.hem, 0.002, -0.027), tonal(colour, 0.05), ribs, clip=True)
    t.canvas.line(t.cut.hem - pts((0, 0.027)), 0.003, depth=0.0012, dark=0.24, soft=0.7)


def piping(t: Tailor, neckline: str) -> None:
    """Contrast bands along neckline, cuffs and hem."""
    colour = t.trim_colour
    width = 0.021
    if neckline not in {"collar", "turtleneck"}:
        t.canvas.lay(band(t.cut.neck, -0.002, width * 0.9), colour, 0.0012, shadow=0.12, clip=True,
                     within=t.cut.body)
    t.canvas.lay(band(t.cut.hem, 0.003, -width * 1.15), colour, 0.0012, clip=True)
    for sleeve in t.cut.sleeves:
        edge = sleeve.cuff
        strip = np.concatenate([edge + sleeve.axis * 0.006, (edge - sleeve.axis * width)[::-1]])
        t.canvas.lay(strip, colour, 0.0012, clip=True, within=sleeve.outline)
    if t.cut.armholes and not t.cut.sleeves:
        for hole, turn in zip(t.cut.armholes, (1, -1), strict=True):
            t.canvas.lay(band(hole, -0.003 * -turn, width * 0.75 * turn), colour, 0.0012, clip=True,
                         within=t.cut.body)


def placket(t: Tailor, paint: Paint) -> None:
    """A row of buttons down the front on a placket of plain cloth."""
    top = float(np.interp(0, t.cut.neck[:, 0], t.cut.neck[:, 1]))
    bottom = float(np.interp(0, t.cut.hem[:, 0], t.cut.hem[:, 1]))
    half = 0.021
    strip = pts((-half, top - 0.006), (half, top - 0.006), (half, bottom), (-half, bottom))
    t.canvas.lay(strip, paint, 0.0016, shadow=0.18, clip=True, within=t.cut.body)
    for x in (-half + 0.004, half - 0.004):
        t.canvas.line(pts((x, top + 0.006), (x, bottom)), 0.0015, dark=0.14, soft=0.5)
    colour = t.trim_colour
    step = 0.066
    count = max(3, int((bottom - top - 0.05) / step) + 1)
    for k in range(count):
        button(t, 0.0, top + 0.028 + k * (bottom - top - 0.06) / (count - 1), 0.0142, colour)


def button(t: Tailor, x: float, y: float, radius: float, colour: Colour) -> None:
    angle = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)
    centre = np.array([x, y], np.float32)
    t.canvas.lay(centre + ring * radius, colour, 0.0030, shadow=0.45, clip=True)
    t.canvas.lay(centre + ring * radius * 0.62, colour, -0.0012, clip=True)
    hole = np.clip(colour * 0.45, 0, 1) if luminance(colour) > 0.2 else colour + 0.25
    for dx in (-1, 1):
        t.canvas.lay(centre + ring * radius * 0.15 + pts((dx * radius * 0.27, 0)), hole, clip=True)


def pocket(t: Tailor) -> None:
    """A patch pocket on the wearer's left, in accent or in a tone of the cloth."""
    colour = tonal(t.main, 0.16) if t.accent is None else t.accent
    w, h = min(0.088, t.cut.chest_half * 0.62), 0.098
    x, y = t.cut.chest_half * 0.50, 0.262 + (0.028 if t.cut.neck_depth > 0.1 else 0)
    left, right, bottom = x - w / 2, x + w / 2, y + h
    patch = np.concatenate([pts((left, y), (right, y), (right, bottom - 0.018)),
                            pts((x, bottom), (left, bottom - 0.018))])
    t.canvas.lay(patch, colour, 0.0026, shadow=0.40, clip=True)
    t.canvas.line(pts((left, y + 0.016), (right, y + 0.016)), 0.002, depth=0.0008, dark=0.25, soft=0.5)
    inset = (patch - patch.mean(axis=0)) * 0.90 + patch.mean(axis=0)
    t.canvas.line(inset[[1, 2, 3, 4, 0]], 0.0015, dark=0.22, soft=0.4)


def belt(t: Tailor) -> None:
    """A belt with a metal buckle about the waist."""
    y, half = t.cut.waist, t.cut.waist_half * 1.03 + 0.004
    middle = curve([(-half, y - 0.004), (0, y + 0.007), (half, y - 0.004)])
    colour = t.trim_colour

    def roll(x: np.ndarray, yy: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return 0.005 - 0.022 * (x / half) ** 2 * half / 0.15

    t.canvas.lay(band(middle, -0.019, 0.019), colour, roll, raised=False, shadow=0.42)
    for offset in (-0.014, 0.014):
        t.canvas.line(middle[1:-1] + pts((0, offset)), 0.0015, dark=0.18, soft=0.4)
    metal = np.array([0.80, 0.70, 0.46] if luminance(colour) < 0.62 else [0.58, 0.58, 0.60], np.float32)
    cx, cy, w, h = 0.004, y + 0.007, 0.025, 0.025
    frame = pts((cx - w, cy - h), (cx + w, cy - h), (cx + w, cy + h), (cx - w, cy + h))
    t.canvas.lay(frame, metal, 0.004, shadow=0.35)
    inner = (frame - pts((cx, cy))) * 0.62 + pts((cx, cy))
    t.canvas.lay(inner, colour * 0.92, -0.004)
    prong = pts((cx - 0.003, cy - 0.003), (cx + w, cy - 0.003), (cx + w, cy + 0.003),
                (cx - 0.003, cy + 0.003))
    t.canvas.lay(prong, metal, 0.002)


def ruffle(t: Tailor, paint: Paint, folds: int) -> None:
    """A gathered flounce along the hem with a scalloped edge."""
    hem = t.cut.hem
    x = np.linspace(0, 1, 121)
    base = np.stack([np.interp(x, np.linspace(0, 1, len(hem)), hem[:, k]) for k in (0, 1)], axis=1)
    width = float(base[-1, 0] - base[0, 0])
    middle = (base[0] + base[-1]) / 2
    deep = 0.072
    upper = (base - middle) * [0.975, 1] + middle - np.array([0, 0.030])
    spread = 1 + 0.16 * 0.2 / max(width, 0.2)
    lower = (base - middle) * [spread, 1] + middle + np.array([0, deep - 0.020])
    phase = float(t.rng.uniform(0, 6.3))
    wave = np.sin(x * folds * 2 * np.pi + phase)
    lower = lower + np.stack([np.zeros_like(x), 0.0095 * wave], axis=1)
    outline = np.concatenate([upper, lower[::-1]]).astype(np.float32)
    left = float(base[0, 0])

    def gathers(px: np.ndarray, py: np.ndarray, mask: np.ndarray) -> np.ndarray:
        along = ((px - middle[0]) / spread + middle[0] - left) / width
        fall = np.clip((py - (middle[1] - 0.03)) / deep, 0, 1)
        return np.asarray(0.006 + 0.0075 * (0.35 + 0.65 * fall) * np.sin(along * folds * 2 * np.pi + phase))

    t.canvas.lay(outline, paint, gathers, raised=False, shadow=0.40)
    t.canvas.line(upper.astype(np.float32) + pts((0, 0.006)), 0.003, depth=0.002, dark=0.30, soft=0.8)


def bow(t: Tailor) -> None:
    """A bow at the bottom of the neckline: two tails, two loops, a knot."""
    colour = t.trim_colour
    x, y = 0.0, float(t.cut.neck[:, 1].max()) + 0.020
    for side in (-1, 1):
        flip = np.array([side, 1], np.float32)
        tail = pts((0.002, 0.0), (0.016, 0.0), (0.056, 0.088), (0.040, 0.083), (0.026, 0.096))
        t.canvas.lay(tail * flip + pts((x, y)), colour * 0.93, 0.003, shadow=0.38)
    for side in (-1, 1):
        flip = np.array([side, 1], np.float32)
        loop = curve([(0, 0), (0.032, -0.033), (0.070, -0.036), (0.078, 0.002), (0.066, 0.030),
                      (0.030, 0.020), (0, 0)])

        def puff(px: np.ndarray, py: np.ndarray, mask: np.ndarray) -> np.ndarray:
            out = np.abs(px - x)
            gathers = 0.0016 * np.cos(np.arctan2(py - y, out + 1e-4) * 9)
            return np.asarray(0.006 + 0.008 * np.sin(np.clip(out / 0.075, 0, 1) * 2.6) + gathers)

        t.canvas.lay(loop * flip + pts((x, y)), colour, puff, shadow=0.42)
    knot = curve([(-0.013, -0.016), (0.013, -0.016), (0.016, 0), (0.013, 0.016), (-0.013, 0.016),
                  (-0.016, 0), (-0.013, -0.016)])
    t.canvas.lay(knot + pts((x, y)), colour * 0.97, 0.008, shadow=0.35)


def graphic(t: Tailor, collared: bool) -> None:
    """A one-colour print on the chest."""
    side = min(0.24, t.cut.chest_half * 1.35)
    low = float(t.cut.neck[:, 1].max())
    clear = 0.060 if collared else 0.022
    centre = pts((0, max(0.295, low + side * 0.5 + clear)))
    for outline in motif(int(t.rng.integers(1 << 16))):
        t.canvas.lay(outline * side + centre, t.trim_colour, 0.0, clip=True)


def strap(t: Tailor, line: Points, paint: Paint) -> None:
    """One thin shoulder strap."""
    t.canvas.lay(band(line, -0.0078, 0.0078), paint, 0.004, raised=False)
