"""Silhouettes: the outlines of a garment's pieces, as smooth polygons.

Coordinates are garment units: x runs from the centre line (0) to the right, y
down from the top of the image; 1 is the image's side.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cir_core.sample.atelier.draw.geometry import Points, curve, mirror, pts

HEMS = {
    "dress": {"short": 0.59, "medium": 0.76, "long": 0.94},
    "shirt": {"short": 0.54, "medium": 0.72, "long": 0.90},
    "toptee": {"short": 0.49, "medium": 0.64, "long": 0.79},
}
SLEEVE_LENGTHS = {"short": 0.155, "elbow": 0.305, "long": 0.475}
TOP = 0.115  # height of the neck points


@dataclass(frozen=True)
class Sleeve:
    """One sleeve: its outline and the coordinate frame of its cloth."""

    outline: Points
    cuff: Points  # the line of the cuff's edge, from outer to inner
    origin: np.ndarray
    axis: np.ndarray  # unit vector down the sleeve
    length: float
    side: int


@dataclass(frozen=True)
class Cut:
    """All pieces of one garment, before it is placed in the image."""

    body: Points
    neck: Points  # front neckline, left to right
    hem: Points  # left to right
    inside: Points  # visible inside of the back
    sides: tuple[Points, Points]  # left and right side seams, top to bottom
    sleeves: tuple[Sleeve, ...]
    straps: tuple[Points, ...]
    armholes: tuple[Points, ...]
    waist: float
    waist_half: float
    chest_half: float
    neck_half: float
    neck_depth: float
    hem_y: float

    def half_width(self, y: np.ndarray) -> np.ndarray:
        """Half the body's width at heights ``y``."""
        left, right = self.sides
        at_left = np.interp(y, left[:, 1], -left[:, 0])
        at_right = np.interp(y, right[:, 1], right[:, 0])
        return np.asarray(((at_left + at_right) / 2).astype(np.float32))


@dataclass(frozen=True)
class _Block:
    """Half widths of the body by category, before the fit is applied."""

    shoulder: float
    chest: float
    waist: float
    hip: float
    hem: float
    underarm: float
    waist_y: float
    hip_y: float


_BLOCKS = {
    "dress": _Block(0.142, 0.130, 0.104, 0.152, 0.200, 0.250, 0.375, 0.49),
    "shirt": _Block(0.208, 0.190, 0.184, 0.186, 0.188, 0.305, 0.46, 0.60),
    "toptee": _Block(0.168, 0.155, 0.138, 0.172, 0.190, 0.275, 0.41, 0.53),
}
#: Factors on chest, waist, hip, hem and additional shoulder drop.
_FITS = {
    "slim": (0.90, 0.78, 0.82, 0.70, -0.006),
    "regular": (1.0, 1.0, 1.0, 1.0, 0.0),
    "loose": (1.20, 1.46, 1.36, 1.42, 0.020),
}
_SHIRT_FITS = {
    "slim": (0.84, 0.70, 0.78, 0.80, -0.016),
    "regular": (1.0, 1.0, 1.0, 1.0, 0.0),
    "loose": (1.22, 1.30, 1.32, 1.34, 0.030),
}


def cut(attributes: Mapping[str, str], rng: np.random.Generator) -> Cut:
    """The pieces of a garment with ``attributes``, with a little natural variation."""
    category, fit = attributes["category"], attributes["fit"]
    sleeves, neckline = attributes["sleeves"], attributes["neckline"]
    block = _BLOCKS[category]
    f_chest, f_waist, f_hip, f_hem, drop = (_SHIRT_FITS if category == "shirt" else _FITS)[fit]
    bare = sleeves in {"sleeveless", "straps"}
    wiggle = rng.uniform(0.98, 1.02, 4)

    chest, waist = block.chest * f_chest * wiggle[0], block.waist * f_waist * wiggle[1]
    hip, hem = block.hip * f_hip * wiggle[2], block.hem * f_hem * wiggle[3]
    shoulder = (block.shoulder + drop) * (0.90 if bare else 1.0)
    hem_y = HEMS[category][attributes["length"]] + rng.uniform(-0.008, 0.008)
    if attributes["trim"] == "ruffle":  # the flounce itself reaches down to the full length
        hem_y -= 0.045
    underarm = block.underarm + (0.015 if fit == "loose" else 0)

    neck_half, depth = _neck_size(neckline, category)
    shoulder_y = TOP + (shoulder - neck_half) * 0.30
    right = _side(category, chest, waist, hip, hem, underarm, hem_y, block, rng)
    left = mirror(_side(category, chest, waist, hip, hem, underarm, hem_y, block, rng))[::-1]

    if sleeves == "straps":
        body, neck, straps = _bodice(neckline, chest, underarm)
        armholes: tuple[Points, ...] = ()
        neck_half, depth = float(neck[-1, 0]), float(neck[:, 1].max()) - TOP
        back = curve([(neck_half, TOP + 0.072), (0, TOP + 0.088), (-neck_half, TOP + 0.072)])
        inside = np.concatenate([neck, back])
        hem_line = _hem(category, left[-1], right[-1], rng)
        body = np.concatenate([body, right, hem_line[::-1], left[::-1]])
    else:
        straps = ()
        neck = _neckline(neckline, neck_half, depth)
        bite = 0.030 if bare else 0.018  # how far the armhole cuts into the chest
        hole = curve([(shoulder, shoulder_y), (shoulder - bite * 0.75, (shoulder_y * 0.6 + underarm * 0.4)),
                      (min(shoulder, chest) - bite * 0.8, underarm * 0.8 + shoulder_y * 0.2),
                      (chest, underarm)])
        armholes = (mirror(hole)[::-1], hole)
        hem_line = _hem(category, left[-1], right[-1], rng)
        body = np.concatenate([neck, hole, right, hem_line[::-1], left[::-1], mirror(hole)])
        inside = _inside(neck, neck_half, neckline)

    pieces: list[Sleeve] = []
    if not bare:
        angle = rng.uniform(0.30, 0.44) + (0.06 if fit == "loose" else 0)
        angle += {"short": 0.20, "elbow": 0.08, "long": 0.0}[sleeves]
        for side in (-1, 1):
            pieces.append(_sleeve(side, sleeves, fit, category, shoulder, shoulder_y, chest, underarm,
                                  angle + rng.uniform(-0.05, 0.05), rng))
    waist_y = block.waist_y
    return Cut(body, neck, hem_line, inside, (left, right), tuple(pieces), straps, armholes,
               waist_y, waist, chest, neck_half, depth, hem_y)


def _side(category: str, chest: float, waist: float, hip: float, hem: float, underarm: float,
          hem_y: float, block: _Block, rng: np.random.Generator) -> Points:
    """The right side seam from the underarm to the hem."""
    full = {"dress": 0.94, "shirt": 0.72, "toptee": 0.64}[category]
    points = [(chest, underarm), (waist * 1.0, block.waist_y)]
    jitter = rng.uniform(-0.005, 0.005)
    if hem_y > block.hip_y + 0.05:
        points.append((hip + jitter, block.hip_y))
    reach = (hem_y - block.hip_y) / (full - block.hip_y)
    at_hem = hip + (hem - hip) * reach if reach > 0 else (
        waist + (hip - waist) * (hem_y - block.waist_y) / (block.hip_y - block.waist_y))
    if category == "dress":  # short skirts flare as much as long ones do
        at_hem = max(at_hem, hip + (hem - hip) * 0.62)
    points.append((at_hem + jitter, hem_y))
    return curve(points, steps=14)


def _hem(category: str, left: np.ndarray, right: np.ndarray, rng: np.random.Generator) -> Points:
    """The hem from left to right: shirt tails dip, tops curve gently, skirts hang round."""
    (x0, y0), (x1, y1) = left, right
    t = np.linspace(-1, 1, 41, dtype=np.float32)
    if category == "shirt":
        dip: np.ndarray = 0.040 * (1 - np.abs(t) ** 2.6) - 0.004 * np.cos(t * 9)
    elif category == "toptee":
        dip = 0.012 * (1 - t**2)
    else:
        dip = 0.020 * (1 - t**2)
    x = (x0 + x1) / 2 + t * (x1 - x0) / 2
    return np.stack([x, (y0 + y1) / 2 + t * (y1 - y0) / 2 + dip], axis=1).astype(np.float32)


def _neck_size(neckline: str, category: str) -> tuple[float, float]:
    half, depth = {
        "crew": (0.064, 0.046), "vneck": (0.066, 0.150), "scoop": (0.090, 0.125),
        "square": (0.088, 0.088), "turtleneck": (0.052, 0.020), "collar": (0.058, 0.058),
    }[neckline]
    width = {"dress": 1.02, "shirt": 1.18, "toptee": 1.10}[category]
    return half * width, depth * {"dress": 0.95, "shirt": 1.05, "toptee": 1.0}[category]


def _neckline(neckline: str, half: float, depth: float) -> Points:
    """The front neckline from the left to the right neck point."""
    if neckline == "vneck":
        right = curve([(0, TOP + depth), (half * 0.50, TOP + depth * 0.55), (half, TOP)])
        return np.concatenate([mirror(right), right[1:]])
    if neckline == "square":
        right = np.concatenate([pts((0, TOP + depth)), curve(
            [(half * 0.86, TOP + depth), (half * 0.93, TOP + depth * 0.4), (half, TOP)])])
        return np.concatenate([mirror(right), right[1:]])
    if neckline == "collar":
        right = curve([(0, TOP + depth), (half * 0.55, TOP + depth * 0.6), (half, TOP)])
        return np.concatenate([mirror(right), right[1:]])
    angle = np.linspace(np.pi, 0, 33, dtype=np.float32)
    return np.stack([half * np.cos(angle), TOP + depth * np.maximum(np.sin(angle), 0) ** 0.85], axis=1)


def _inside(neck: Points, half: float, neckline: str) -> Points:
    """The inside of the back seen through the neck opening."""
    rise = 0.024 if neckline == "collar" else 0.006
    angle = np.linspace(0, np.pi, 17, dtype=np.float32)
    back = np.stack([half * np.cos(angle), TOP - rise * np.sin(angle)], axis=1)
    return np.concatenate([neck, back])


def _bodice(neckline: str, chest: float,
            underarm: float) -> tuple[Points, Points, tuple[Points, ...]]:
    """The top edge of a garment on straps, left to right, and the two straps."""
    top, x = TOP + 0.068, chest * 0.60
    if neckline == "vneck":
        inner = curve([(0, top + 0.085), (x * 0.5, top + 0.050), (x, top)])
    elif neckline == "scoop":
        inner = curve([(0, top + 0.062), (x * 0.55, top + 0.050), (x * 0.88, top + 0.022), (x, top)])
    else:
        inner = pts((0, top + 0.012), (x * 0.5, top + 0.012), (x + 0.010, top + 0.012))
    edge = np.concatenate([mirror(inner), inner[1:]])
    down = curve([tuple(inner[-1]), (inner[-1, 0] + (chest - x) * 0.42, top + 0.040), (chest, underarm)])
    outline = np.concatenate([mirror(down), edge, down])
    strap = curve([(float(inner[-1, 0]) - 0.004, float(inner[-1, 1]) + 0.006), (x * 0.93, TOP + 0.02),
                   (x * 0.80, TOP - 0.022)])
    return outline, edge, (mirror(strap), strap)


def _sleeve(side: int, kind: str, fit: str, category: str, shoulder: float, shoulder_y: float,
            chest: float, underarm: float, angle: float, rng: np.random.Generator) -> Sleeve:
    """One sleeve set into the armhole, hanging at ``angle`` from the vertical."""
    length = SLEEVE_LENGTHS[kind] * {"dress": 0.90, "shirt": 1.0, "toptee": 0.94}[category]
    axis = np.array([np.sin(angle), np.cos(angle)], np.float32)
    across = np.array([axis[1], -axis[0]], np.float32)  # to the outside
    outer0 = np.array([shoulder - 0.012, shoulder_y - 0.003], np.float32)
    inner0 = np.array([chest - 0.012, underarm + 0.004], np.float32)
    origin = (outer0 + inner0) / 2
    scale = {"dress": 0.98, "shirt": 1.18, "toptee": 1.04}[category]
    cuff_half = {"short": 0.050, "elbow": 0.042, "long": 0.033}[kind] * scale
    cuff_half *= {"slim": 0.80, "regular": 1.05, "loose": 1.50}[fit]
    end = outer0 + axis * length * 1.02 + across * (0.006 - cuff_half * 0.4)
    tilt = 0.10 * axis * cuff_half
    cuff_outer, cuff_inner = end + across * cuff_half * 0.4 + tilt, end - across * cuff_half * 1.6 - tilt
    mid_outer = outer0 * 0.5 + cuff_outer * 0.5 + across * (0.012 + (0.014 if fit == "loose" else 0))
    mid_inner = inner0 * 0.52 + cuff_inner * 0.48 + across * 0.006
    crown = np.array([shoulder + 0.008, shoulder_y + 0.008], np.float32)  # rounds the shoulder off
    cap = outer0 * 0.80 + cuff_outer * 0.20 + across * 0.012
    seat = np.array([shoulder - 0.030, shoulder_y - 0.0095], np.float32)
    outer = curve(np.stack([seat, crown, cap, mid_outer, cuff_outer]))
    inner = curve(np.stack([cuff_inner, mid_inner, inner0]))
    cuff = curve(np.stack([cuff_outer, (cuff_outer + cuff_inner) / 2 + axis * 0.005, cuff_inner]))
    root = pts((float(inner0[0]) - 0.03, float(inner0[1]) - 0.02),
               (float(outer0[0]) - 0.04, float(outer0[1]) + 0.012))
    outline = np.concatenate([outer, cuff[1:], inner[1:], root])
    flip = np.array([side, 1], np.float32)
    return Sleeve(outline * flip, cuff * flip, origin * flip, axis * flip, length, side)
