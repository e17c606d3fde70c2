"""Pictures that show no garment: scenes, faces, text, noise, food. Drawn with PIL and numpy from a seed."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

Colour = tuple[int, int, int]
_SIZES = ((320, 320), (400, 300), (300, 400), (360, 270))
_WORDS = ("Invoice", "total", "meeting at ten", "chapter two", "of the", "EXIT", "sale ends", "platform 4", "no entry",
          "kilometres", "open daily", "the quick brown fox", "call me", "return by", "page", "and so on")


def pictures(seed: int, each: int = 8) -> list[tuple[str, Image.Image]]:
    """``each`` pictures of every kind, with its name. Other seeds give other pictures."""
    rng = np.random.default_rng(seed)
    return [(name, draw(rng)) for name, draw in KINDS.items() for _ in range(each)]


def scene(rng: np.random.Generator) -> Image.Image:
    """Hills, a city or the sea, under a sky."""
    width, height = _size(rng)
    image = _gradient(width, height, _shade(rng, (90, 150, 210)), _shade(rng, (230, 225, 215)))
    pen = ImageDraw.Draw(image)
    horizon = int(height * rng.uniform(0.4, 0.65))
    x, y, r = rng.integers(20, width - 20), rng.integers(15, horizon), rng.integers(10, 30)
    pen.ellipse((x - r, y - r, x + r, y + r), fill=_shade(rng, (250, 220, 130)))
    kind = rng.integers(3)
    if kind == 0:
        for layer in range(4):
            base, phase = horizon + layer * (height - horizon) // 4, rng.uniform(0, 6)
            line = [(i, base + 25 * math.sin(i / rng.uniform(38, 42) + phase)) for i in range(0, width + 8, 8)]
            pen.polygon([*line, (width, height), (0, height)], fill=_shade(rng, (60 + 12 * layer, 110, 60)))
    elif kind == 1:
        pen.rectangle((0, horizon, width, height), fill=_shade(rng, (90, 90, 95)))
        left = 0
        while left < width:
            wide, top = int(rng.integers(25, 70)), int(rng.integers(20, horizon))
            pen.rectangle((left, top, left + wide, horizon + 20), fill=_shade(rng, (130, 120, 120)))
            for wx in range(left + 5, left + wide - 6, 12):
                for wy in range(top + 6, horizon + 10, 14):
                    pen.rectangle((wx, wy, wx + 6, wy + 8), fill=_shade(rng, (220, 205, 120)))
            left += wide + int(rng.integers(0, 8))
    else:
        pen.rectangle((0, horizon, width, height), fill=_shade(rng, (40, 90, 140)))
        for _ in range(60):
            wx, wy = rng.integers(0, width), rng.integers(horizon, height)
            pen.line((wx, wy, wx + rng.integers(8, 50), wy), fill=_shade(rng, (150, 185, 205)), width=2)
        bx = rng.integers(40, width - 40)
        pen.polygon([(bx - 30, horizon), (bx + 30, horizon), (bx + 20, horizon + 14), (bx - 20, horizon + 14)],
                    fill=_shade(rng, (120, 60, 40)))
        pen.polygon([(bx, horizon - 50), (bx, horizon - 4), (bx + 26, horizon - 4)], fill=(240, 240, 235))
    return _photographed(image, rng)


def face(rng: np.random.Generator) -> Image.Image:
    """A head that fills the picture."""
    width, height = _size(rng)
    image = _gradient(width, height, _any(rng), _any(rng))
    pen = ImageDraw.Draw(image)
    skin = _shade(rng, ((240, 205, 180), (200, 150, 115), (120, 80, 60))[rng.integers(3)])
    hair = _shade(rng, ((40, 30, 25), (150, 105, 60), (190, 60, 40), (200, 195, 190))[rng.integers(4)])
    cx, cy, rx = width / 2 + rng.integers(-20, 20), height * 0.5, width * rng.uniform(0.26, 0.36)
    ry = rx * rng.uniform(1.2, 1.4)
    pen.ellipse((cx - rx * 1.15, cy - ry * 1.2, cx + rx * 1.15, cy + ry * rng.uniform(0.2, 0.9)), fill=hair)
    pen.ellipse((cx - rx, cy - ry, cx + rx, cy + ry), fill=skin)
    pen.chord((cx - rx, cy - ry * 1.1, cx + rx, cy + ry * 0.2), 190, 350, fill=hair)
    for side in (-1, 1):
        ex, ey, er = cx + side * rx * 0.42, cy - ry * 0.08, rx * 0.17
        pen.ellipse((ex - er, ey - er * 0.6, ex + er, ey + er * 0.6), fill=(250, 250, 250))
        pen.ellipse((ex - er * 0.45, ey - er * 0.45, ex + er * 0.45, ey + er * 0.45), fill=_shade(rng, (70, 90, 80)))
        pen.arc((ex - er * 1.5, ey - er * 2, ex + er * 1.5, ey + er), 200, 340, fill=hair, width=4)
    pen.line((cx, cy, cx - rx * 0.1, cy + ry * 0.28, cx + rx * 0.08, cy + ry * 0.3), fill=_darker(skin), width=3)
    mouth = (cx - rx * 0.4, cy + ry * 0.35, cx + rx * 0.4, cy + ry * rng.uniform(0.6, 0.75))
    pen.chord(mouth, 10, 170, fill=(180, 70, 75))
    return _photographed(image, rng)


def text(rng: np.random.Generator) -> Image.Image:
    """A page, a sign or a screen of words."""
    width, height = _size(rng)
    dark = rng.random() < 0.35
    paper, ink = (_shade(rng, (40, 45, 60)), (235, 235, 230)) if dark else (_shade(rng, (240, 238, 230)), (30, 30, 35))
    image = Image.new("RGB", (width, height), paper)
    pen = ImageDraw.Draw(image)
    y, size = 14, int(rng.integers(13, 40))
    while y < height - 10:
        line = " ".join(rng.choice(_WORDS, size=6))
        fits = max(4, int((width - 32) / (0.55 * size)))
        pen.text((16, y), line[:fits], fill=ink, font=ImageFont.load_default(size))
        y += int(size * rng.uniform(1.2, 1.7))
    if rng.random() < 0.4:
        pen.rectangle((4, 4, width - 5, height - 5), outline=_any(rng), width=6)
    return image.rotate(float(rng.uniform(-4, 4)), fillcolor=paper)


def noise(rng: np.random.Generator) -> Image.Image:
    """Static, coarse blotches, gradients."""
    width, height = _size(rng)
    kind = rng.integers(3)
    if kind == 0:
        return Image.fromarray(rng.integers(0, 256, (height, width, 3), dtype=np.uint8))
    if kind == 1:
        cells = rng.integers(4, 30)
        small = Image.fromarray(rng.integers(0, 256, (cells, cells, 3), dtype=np.uint8))
        return small.resize((width, height), Image.Resampling.BICUBIC)
    grey = rng.normal(rng.uniform(60, 200), rng.uniform(15, 50), (height, width, 1)).repeat(3, axis=2)
    return Image.fromarray(np.clip(grey, 0, 255).astype(np.uint8)).filter(ImageFilter.GaussianBlur(1))


def food(rng: np.random.Generator) -> Image.Image:
    """A plate, a pizza, a cup of coffee or a bowl of fruit on a table, from above."""
    width, height = _size(rng)
    image = _gradient(width, height, _shade(rng, (150, 110, 75)), _shade(rng, (110, 75, 50)))
    pen = ImageDraw.Draw(image)
    for x in range(0, width, int(rng.integers(24, 60))):
        pen.line((x, 0, x + rng.integers(-8, 8), height), fill=_shade(rng, (95, 65, 45)), width=2)
    cx, cy, r = width / 2, height / 2, min(width, height) * rng.uniform(0.34, 0.45)
    kind = rng.integers(4)
    _disc(pen, cx, cy, r, _shade(rng, (240, 238, 232)))
    _disc(pen, cx, cy, r * 0.82, _shade(rng, ((225, 222, 215), (225, 160, 70), (75, 45, 28), (235, 235, 230))[kind]))
    for _ in range((14, 22, 3, 9)[kind]):
        angle, far = rng.uniform(0, 2 * math.pi), r * 0.62 * math.sqrt(rng.uniform())
        x, y = cx + far * math.cos(angle), cy + far * math.sin(angle)
        size = r * rng.uniform(0.08, 0.2) * (1.6 if kind == 3 else 1)
        colours = (((70, 130, 50), (190, 60, 40), (235, 200, 90)), ((170, 40, 35), (60, 90, 40)),
                   ((190, 150, 110), (210, 175, 140)), ((220, 140, 30), (200, 40, 40), (240, 210, 70), (100, 50, 110)))
        choice = colours[kind]
        _disc(pen, x, y, size, _shade(rng, choice[rng.integers(len(choice))]))
    if kind == 2:
        pen.arc((cx + r * 0.8, cy - r * 0.3, cx + r * 1.35, cy + r * 0.3), 250, 110, fill=(238, 236, 230), width=10)
    return _photographed(image, rng)


KINDS: dict[str, Callable[[np.random.Generator], Image.Image]] = {
    "scene": scene, "face": face, "text": text, "noise": noise, "food": food,
}


def _size(rng: np.random.Generator) -> tuple[int, int]:
    return _SIZES[rng.integers(len(_SIZES))]


def _any(rng: np.random.Generator) -> Colour:
    red, green, blue = (int(value) for value in rng.integers(20, 236, 3))
    return red, green, blue


def _shade(rng: np.random.Generator, colour: Colour) -> Colour:
    red, green, blue = (int(np.clip(value + rng.integers(-18, 19), 0, 255)) for value in colour)
    return red, green, blue


def _darker(colour: Colour) -> Colour:
    return colour[0] * 3 // 4, colour[1] * 3 // 4, colour[2] * 3 // 4


def _disc(pen: ImageDraw.ImageDraw, x: float, y: float, r: float, colour: Colour) -> None:
    pen.ellipse((x - r, y - r, x + r, y + r), fill=colour)


def _gradient(width: int, height: int, top: Colour, bottom: Colour) -> Image.Image:
    share = np.linspace(0, 1, height)[:, None, None]
    column = np.array(top) * (1 - share) + np.array(bottom) * share
    return Image.fromarray(np.broadcast_to(column, (height, width, 3)).astype(np.uint8))


def _photographed(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """A little out of focus, with grain."""
    soft = np.asarray(image.filter(ImageFilter.GaussianBlur(float(rng.uniform(0.4, 1.6)))), dtype=np.float32)
    return Image.fromarray(np.clip(soft + rng.normal(0, rng.uniform(2, 9), soft.shape), 0, 255).astype(np.uint8))
