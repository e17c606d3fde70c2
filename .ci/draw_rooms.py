"""Draw docs/images/rooms.svg: the packages, their rooms, and the floors on which they are.

    python .ci/draw_rooms.py > docs/images/rooms.svg

The floors are those of ``tests/test_layers.py``, which checks the imports against them and this picture against both.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Left edge, top edge, width: as the packages stand above each other.
_PLACES = {"web": (20, 40, 560), "cli": (600, 40, 380), "storage": (20, 0, 460), "annotation": (520, 0, 460),
           "cir_core": (20, 0, 960)}
_ROWS = (("web", "cli"), ("storage", "annotation"), ("cir_core",))
_LINE, _HEAD, _GAP = 34, 34, 34
_STYLE = ("text{font:13px system-ui,sans-serif;fill:#1f2430}.p{font-weight:600;font-size:15px}"
          ".b{fill:#f6f5f1;stroke:#b9b4a6}.r{fill:#fff;stroke:#d8d4c9}.a{stroke:#8a8474;stroke-width:2;fill:none}")


def floors() -> Mapping[str, Sequence[str]]:
    """``ROOMS`` of ``tests/test_layers.py``, read without importing it."""
    tree = ast.parse((ROOT / "tests" / "test_layers.py").read_text("utf-8"))
    [rooms] = [node.value for node in tree.body
               if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ROOMS"]
    found: Mapping[str, Sequence[str]] = ast.literal_eval(rooms)
    return found


def draw(rooms: Mapping[str, Sequence[str]]) -> str:
    """The picture as SVG. Arrows are between packages alone; within one, a room imports rooms below it."""
    parts, top = [], 20
    for row in _ROWS:
        height = _HEAD + _LINE * max(len(rooms[package]) for package in row) + 6
        for package in row:
            left, _, width = _PLACES[package]
            parts.append(f'<rect class="b" x="{left}" y="{top}" width="{width}" height="{height}" rx="8"/>'
                         f'<text class="p" x="{left + 14}" y="{top + 23}">{package}</text>')
            for number, floor in enumerate(rooms[package]):
                names = floor.split()
                each = (width - 20) / len(names)
                for place, name in enumerate(names):
                    x, y = left + 10 + place * each, top + _HEAD + number * _LINE
                    parts.append(f'<rect class="r" x="{x + 2:g}" y="{y}" width="{each - 4:g}" height="{_LINE - 6}" '
                                 f'rx="5"/><text x="{x + each / 2:g}" y="{y + 18}" text-anchor="middle">{name}</text>')
        if "storage" in row:   # which reads the records of annotation
            parts.append(f'<path class="a" marker-end="url(#h)" d="M482 {top + _HEAD + 4 * _LINE + 14}h32"/>')
        top += height
        if row is not _ROWS[-1]:
            parts += [f'<path class="a" marker-end="url(#h)" d="M{x} {top + 3}v{_GAP - 8}"/>' for x in (250, 750)]
        top += _GAP
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 {top - _GAP + 20}" role="img" '
            'aria-label="Packages and rooms of cirque, from the top floor to the ground">'
            f"<style>{_STYLE}</style>"
            '<defs><marker id="h" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            '<path d="M0 0L8 4L0 8z" fill="#8a8474"/></marker></defs>'
            f'<rect width="1000" height="{top - _GAP + 20}" fill="#fffdf8"/>{"".join(parts)}</svg>\n')


if __name__ == "__main__":
    print(draw(floors()), end="")
