"""Render a garment: cut, cloth, folds, details, light, background. Background: a softly lit wall and the garment's
shadow on it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import cv2
import numpy as np

from cir_core.garments.lexicon import NONE
from cir_core.sample.atelier.draw import details, neck
from cir_core.sample.atelier.draw.canvas import Canvas, Paint, Relief
from cir_core.sample.atelier.draw.cloth import cloth
from cir_core.sample.atelier.draw.details import Tailor
from cir_core.sample.atelier.draw.geometry import Pose
from cir_core.sample.atelier.draw.palette import dyed
from cir_core.sample.atelier.draw.shade import Folds, lit, rounding
from cir_core.sample.atelier.draw.silhouette import HEMS, Sleeve, cut

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


_SUPERSAMPLING = 2


def render(attributes: Mapping[str, str], seed: int, size: int = 256) -> np.ndarray:
    """Render a garment as uint8 RGB ``[size, size, 3]``.

    Deterministic. ``attributes`` must contain every
    group of :mod:`cir_core.garments.lexicon` and satisfy
    :func:`cir_core.sample.atelier.rules.is_wearable`. Each part has random numbers of its own from
    ``seed``, so that garments of one seed differ in nothing but their attributes.
    """
    posing, walling, dyeing, cutting, weaving, folding, trimming = (
        np.random.default_rng((seed, part)) for part in range(7)
    )
    fine = size * _SUPERSAMPLING
    hem = HEMS[attributes["category"]][attributes["length"]]
    pose = Pose.draw(posing, sink=(0.92 - hem) * 0.36)
    wall = backdrop(size, pose.light, walling)
    main = dyed(attributes["colour"], dyeing)
    second = attributes["second_colour"]
    accent = None if second == NONE else dyed(second, dyeing)
    pieces = cut(attributes, cutting)
    fabric = cloth(attributes, main, main if accent is None else accent, fine, weaving)
    folds = Folds(attributes["fit"], attributes["category"], folding)
    canvas = Canvas(fine, pose)
    _assemble(attributes, Tailor(canvas, pieces, main, accent, fabric, trimming), folds)

    colour, coverage = lit(canvas, main, _grain(size))
    scene = wall * cast_shadow(coverage, pose.light)[..., None]
    picture = scene * (1 - coverage[..., None]) + colour
    picture *= pose.exposure * pose.tint
    return np.asarray(np.clip(picture * 255 + 0.5, 0, 255).astype(np.uint8))


def _assemble(attributes: Mapping[str, str], t: Tailor, folds: Folds) -> None:
    """Draw all pieces on the canvas, from back to front."""
    neckline, trim, pattern = attributes["neckline"], attributes["trim"], attributes["pattern"]
    canvas, pieces = t.canvas, t.cut
    plain: Paint = t.main
    fabric: Paint = plain if pattern == "colourblock" else t.cloth
    neck.inside(t)
    for line in pieces.straps:
        details.strap(t, line, plain)
    for index, sleeve in enumerate(pieces.sleeves):
        _lay_sleeve(t, sleeve, index, folds, pattern)
    paint, relief = _body(t, folds)
    canvas.lay(pieces.body, paint, relief, raised=False, shadow=0.24)
    if pattern == "graphic":
        details.graphic(t, neckline == "collar")
    details.seams(t, attributes["category"], trim == "belt")
    if trim == "piping":
        details.piping(t, neckline)
    if trim == "ruffle":
        own: Paint = t.main if t.accent is None or pattern == "colourblock" else t.accent
        details.ruffle(t, own, folds=int(t.rng.integers(8, 12)))
    elif attributes["category"] == "toptee" and trim != "piping":
        details.hem_rib(t, t.accent if pattern == "colourblock" and t.accent is not None else t.main)
    edge: Paint = t.accent if trim == "piping" and t.accent is not None else fabric
    if neckline == "turtleneck":
        neck.roll(t, edge)
    elif neckline != "collar" and trim != "piping":
        neck.ribbing(t, neckline)
    if trim == "buttons":
        details.placket(t, plain)
    if neckline == "collar":
        neck.collar(t, edge)
    if trim == "pocket":
        details.pocket(t)
    elif trim == "belt":
        details.belt(t)
    elif trim == "bow":
        details.bow(t)


def _body(t: Tailor, folds: Folds) -> tuple[Paint, Relief]:
    """Colour and relief of the body; the folds also shift the cloth's pattern."""
    pieces, size = t.cut, t.canvas.size

    def height(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        # Folds are smooth: half the pixels in each direction are enough.
        xs, ys = x[::2, ::2], y[::2, ::2]
        half = pieces.half_width(y[::2, y.shape[1] // 2])[:, None]
        field = folds.body(xs / half, xs, ys, pieces.waist, pieces.hem_y, pieces.chest_half)
        return cv2.resize(field, (x.shape[1], x.shape[0]), interpolation=cv2.INTER_LINEAR)

    kept: list[np.ndarray] = []

    def paint(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        kept.append(height(x, y))
        half = pieces.half_width(y[:, y.shape[1] // 2])[:, None]
        ease = 1 - 0.35 * (1 - pieces.chest_half / half)  # cloth follows the flare halfway
        return t.cloth(x * ease + kept[0] * 0.9, y + kept[0] * 0.8)

    def relief(x: np.ndarray, y: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return np.asarray(kept[0] + rounding(mask, size, 0.034, 0.0085))

    return paint, relief


def _lay_sleeve(t: Tailor, sleeve: Sleeve, index: int, folds: Folds, pattern: str) -> None:
    """Draw a sleeve, its cloth running along its own axis."""
    size = t.canvas.size
    (ax, ay), (ox, oy) = sleeve.axis, sleeve.origin
    half = 0.060
    kept: list[np.ndarray] = []  # the sleeve's folds, needed for colour and relief

    def frame(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        dx, dy = x - ox, y - oy
        return dx * ay - dy * ax, dx * ax + dy * ay

    def paint(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        s, along = frame(x, y)
        kept.append(folds.sleeve(s, along, index, half))
        if pattern == "colourblock":
            return t.main
        field = kept[0]
        return t.cloth((s + field * 1.2).astype(np.float32), (along + field * 1.2 + 0.2).astype(np.float32))

    def relief(x: np.ndarray, y: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return np.asarray(kept[0] + rounding(mask, size, 0.028, 0.0075) - 0.024)

    t.canvas.lay(sleeve.outline, paint, relief, raised=False, shadow=0.2)


@lru_cache(maxsize=4)
def _grain(size: int) -> np.ndarray:
    """Fine unevenness of the weave; identical for all garments, so it carries no attribute."""
    rng = np.random.default_rng(7)
    fine = rng.normal(0, 0.013, (size, size)).astype(np.float32)
    coarse = cv2.resize(rng.normal(0, 0.006, (size // 4, size // 4)).astype(np.float32), (size, size),
                        interpolation=cv2.INTER_CUBIC)
    return 1 + fine + coarse
