"""``python -m benchmarks.papers FOLDER…``: compiles the LaTeX of reports, with every engine and in classes of one and
two columns, and counts errors, boxes that are more than 1 pt too wide and characters that no font has. Exits with 1 if
it finds any. Also says how many tables and figures were scaled down. Needs TeX Live with its recommended and extra
packages of LaTeX, LuaTeX, XeTeX, science and publishers."""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.own_settings import environment_of

ENGINES = ("pdflatex", "xelatex", "lualatex")
CLASSES = (r"\documentclass{article}", r"\documentclass[twocolumn]{article}", r"\documentclass[conference]{IEEEtran}")
_SCALED = re.compile(rb"Tables and figures scaled down: (\d+)")
_OVERFULL = re.compile(rb"Overfull \\[hv]box \(([\d.]+)pt")


@dataclass(frozen=True)
class Compiled:
    errors: tuple[str, ...]
    too_wide: tuple[float, ...]    # points beyond the margin
    missing: int                   # characters
    too_high: int                  # floats
    scaled: int                    # tables and figures

    @property
    def good(self) -> bool:
        return not (self.errors or self.too_wide or self.missing or self.too_high)


def compiled(folder: Path, engine: str, document_class: str) -> Compiled:
    """``report.tex`` of ``folder``, in a copy of it."""
    with tempfile.TemporaryDirectory() as place:
        copy = Path(shutil.copytree(folder, Path(place) / "report"))
        document = copy / "report.tex"
        document.write_text(document.read_text("utf-8").replace(CLASSES[0], document_class), "utf-8")
        subprocess.run([engine, "-interaction=nonstopmode", document.name], cwd=copy, env=environment_of(copy),
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=600, check=False)
        log = (copy / "report.log").read_bytes()
    errors = [line.decode(errors="replace") for line in log.splitlines() if line.startswith(b"!")]
    widths = [float(found) for found in _OVERFULL.findall(log)]
    return Compiled(tuple(errors), tuple(width for width in widths if width > 1), log.count(b"Missing character"),
                    log.count(b"Float too large"), sum(map(int, _SCALED.findall(log))))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="a folder with report.tex")
    engines = [engine for engine in ENGINES if shutil.which(engine)]
    if not engines:
        sys.exit("No LaTeX was found. Install TeX Live.")
    bad = 0
    for folder in parser.parse_args(arguments).folders:
        for engine in engines:
            for document_class in CLASSES:
                found = compiled(folder, engine, document_class)
                bad += not found.good
                print(f"{folder.name}  {engine:8}  {document_class:40}  errors {len(found.errors)}, too wide "
                      f"{len(found.too_wide)} ({max(found.too_wide, default=0):.0f} pt), too high {found.too_high}, "
                      f"missing characters {found.missing}, scaled down {found.scaled}",
                      *found.errors[:3], sep="\n    " if found.errors else "")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
