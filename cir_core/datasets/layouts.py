"""Finding a benchmark's files in the layouts that people keep them in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cir_core.errors import DatasetError


def find_file(root: Path, options: Sequence[str], what: str) -> Path:
    """The first of ``options``, paths below ``root``, that is a file.

    Raises ``DatasetError`` that says ``what`` was looked for and where.
    """
    check_folder(root)
    for option in options:
        if (path := root / option).is_file():
            return path
    raise DatasetError(f"{root} does not hold {what}. Looked there for {', '.join(options)}. "
                       "Check the path and the split, or download the annotations.")


def check_folder(root: Path) -> None:
    """Raises ``DatasetError`` unless ``root`` is a folder."""
    if not root.exists():
        raise DatasetError(f"{root} is missing. Check the path.")
    if not root.is_dir():
        raise DatasetError(f"{root} is a file. Give the data set's folder.")


def hides_targets(split: str) -> bool:
    """Whether a split's records may lack their targets: CIRR's test1, CIRCO's and FashionIQ's test."""
    return split.startswith("test")
