"""Colour values of the named garment colours, and tones derived from them."""

from __future__ import annotations

import numpy as np

Colour = np.ndarray  # float32 [3], RGB in 0..1

_SRGB: dict[str, tuple[int, int, int]] = {
    "black": (36, 35, 38), "white": (248, 247, 244), "grey": (134, 137, 141),
    "beige": (216, 190, 148), "brown": (107, 68, 43), "red": (198, 34, 42),
    "pink": (243, 156, 186), "orange": (240, 128, 36), "yellow": (246, 207, 66),
    "green": (56, 138, 68), "teal": (20, 153, 152), "blue": (66, 134, 222),
    "navy": (34, 46, 108), "purple": (122, 66, 164),
}


def rgb(name: str) -> Colour:
    """The nominal colour called ``name``."""
    return np.array(_SRGB[name], np.float32) / 255


def dyed(name: str, rng: np.random.Generator) -> Colour:
    """``name`` as one dye lot: close to nominal, never exactly it.

    The spread is small enough that neighbours (navy and black, beige and white)
    never touch.
    """
    base = rgb(name)
    value = 1 + rng.uniform(-0.05, 0.05)
    return np.clip(base * value + rng.uniform(-0.012, 0.012, 3), 0.03, 0.985).astype(np.float32)


def luminance(colour: Colour) -> float:
    return float(colour @ np.array([0.299, 0.587, 0.114], np.float32))


def tonal(colour: Colour, step: float) -> Colour:
    """``colour`` made lighter or darker, whichever has more room, for self-coloured details."""
    if luminance(colour) < 0.3:
        return np.clip(colour + step, 0, 1).astype(np.float32)
    return np.clip(colour * (1 - step * 1.2), 0, 1).astype(np.float32)
