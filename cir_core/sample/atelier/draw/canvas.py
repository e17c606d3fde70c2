"""Drawing surface: pieces are added as colour, relief and shadow, then lit once.

Storing colour, height and occlusion separately until the end gives every detail,
from a collar to a button, the same light as the cloth below it.
"""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from cir_core.sample.atelier.draw.geometry import Points, Pose

Box = tuple[int, int, int, int]
Paint = np.ndarray | Callable[[np.ndarray, np.ndarray], np.ndarray]
Relief = float | Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]

_SHIFT = 4  # fractional bits of cv2's polygon corners
_MARGIN = 14


class Canvas:
    """Colour, height, occlusion and coverage of the garment, in supersampled pixels."""

    def __init__(self, size: int, pose: Pose) -> None:
        self.size = size
        self.pose = pose
        self.colour = np.zeros((size, size, 3), np.float32)
        self.height = np.zeros((size, size), np.float32)
        self.occlusion = np.ones((size, size), np.float32)
        self.coverage = np.zeros((size, size), np.float32)

    def mask(self, outline: Points, margin: int = 2) -> tuple[np.ndarray, Box] | None:
        """The anti-aliased mask of a closed outline in garment units, and its box."""
        pixels = self.pose.place(outline, self.size)
        low = np.floor(pixels.min(axis=0)).astype(int) - margin
        high = np.ceil(pixels.max(axis=0)).astype(int) + margin + 1
        x0, y0 = (int(v) for v in np.clip(low, 0, self.size))
        x1, y1 = (int(v) for v in np.clip(high, 0, self.size))
        if x1 - x0 < 2 or y1 - y0 < 2:
            return None
        filled = np.zeros((y1 - y0, x1 - x0), np.uint8)
        corners = np.round((pixels - (x0, y0)) * (1 << _SHIFT)).astype(np.int32)
        cv2.fillPoly(filled, [corners], 255, cv2.LINE_AA, _SHIFT)
        return filled.astype(np.float32) * np.float32(1 / 255), (x0, y0, x1, y1)

    def lay(self, outline: Points, paint: Paint, relief: Relief = 0.0, *, raised: bool = True,
            shadow: float = 0.0, clip: bool = False, within: Points | None = None) -> None:
        """Add a piece of cloth on top.

        ``relief`` is added to the height below when ``raised``, else replaces it.
        ``shadow`` is how much the piece darkens its surroundings; ``clip`` keeps it
        inside the garment drawn so far, ``within`` inside another outline.
        """
        found = self.mask(outline, _MARGIN if shadow else 2)
        if found is None:
            return
        mask, (x0, y0, x1, y1) = found
        view = np.s_[y0:y1, x0:x1]
        if clip:
            mask = mask * self.coverage[view]
        if within is not None:
            mask = mask * self._stencil(within, (x0, y0, x1, y1))
        if shadow:
            soft = _soft(mask, 4.0 * self.size / 512)
            dx, dy = -self.pose.light[0] * 2, 2.5
            soft = cv2.warpAffine(soft, np.array([[1, 0, dx], [0, 1, dy]], np.float32),
                                  (mask.shape[1], mask.shape[0]))
            self.occlusion[view] *= 1 - shadow * soft * (1 - mask)
        x, y = self.pose.unplace(self.size, (x0, y0, x1, y1))
        colour = paint(x, y) if callable(paint) else paint
        m3 = mask[..., None]
        self.colour[view] += m3 * (colour - self.colour[view])
        height = relief(x, y, mask) if callable(relief) else relief
        if raised:
            self.height[view] += mask * height
        else:
            self.height[view] += mask * (height - self.height[view])
            self.occlusion[view] += mask * (1 - self.occlusion[view])
        if not clip:
            self.coverage[view] = np.maximum(self.coverage[view], mask)

    def _stencil(self, outline: Points, box: Box) -> np.ndarray:
        pixels = self.pose.place(outline, self.size) - (box[0], box[1])
        filled = np.zeros((box[3] - box[1], box[2] - box[0]), np.uint8)
        cv2.fillPoly(filled, [np.round(pixels * (1 << _SHIFT)).astype(np.int32)], 255,
                     cv2.LINE_AA, _SHIFT)
        return filled.astype(np.float32) * np.float32(1 / 255)

    def line(self, points: Points, width: float, *, depth: float = 0.0, dark: float = 0.0,
             soft: float = 0.0) -> None:
        """Draw a line on the cloth: a groove ``depth`` deep and ``dark`` darker (seams, stitches)."""
        pixels = self.pose.place(points, self.size)
        pad = int(6 + soft * 3)
        low = np.clip(np.floor(pixels.min(axis=0)).astype(int) - pad, 0, self.size)
        high = np.clip(np.ceil(pixels.max(axis=0)).astype(int) + pad, 0, self.size)
        (x0, y0), (x1, y1) = low, high
        if x1 - x0 < 2 or y1 - y0 < 2:
            return
        drawn = np.zeros((y1 - y0, x1 - x0), np.uint8)
        corners = np.round((pixels - low) * (1 << _SHIFT)).astype(np.int32)
        thick = max(1, round(width * self.size))
        cv2.polylines(drawn, [corners], False, 255, thick, cv2.LINE_AA, _SHIFT)
        ink: np.ndarray = drawn.astype(np.float32) * np.float32(1 / 255)
        if soft:
            ink = cv2.GaussianBlur(ink, (0, 0), soft)
        view = np.s_[y0:y1, x0:x1]
        ink *= self.coverage[view]
        self.occlusion[view] *= 1 - dark * ink
        if depth:
            self.height[view] -= depth * ink


def _soft(mask: np.ndarray, sigma: float) -> np.ndarray:
    """A blur at quarter resolution, as nothing sharp survives it anyway."""
    h, w = mask.shape
    small = cv2.resize(mask, (max(1, w // 2), max(1, h // 2)), interpolation=cv2.INTER_AREA)
    return cv2.resize(cv2.GaussianBlur(small, (0, 0), sigma / 2), (w, h))
