"""FashionIQ's caption and split files, which the sample gallery uses too."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cir_core.errors import DatasetError

CATEGORIES = ("dress", "shirt", "toptee")


@dataclass(frozen=True)
class FashionIQQuery:
    """One record of ``cap.<category>.<split>.json``; its ``candidate`` is the reference."""

    reference_id: str
    target_id: str
    captions: tuple[str, ...]  # empty ones dropped
    category: str

    @property
    def joined(self) -> str:
        """Both captions as one text: "c0 and c1" (caption mode "joined")."""
        return " and ".join(self.captions)


def read_queries(folder: Path, category: str, split: str) -> list[FashionIQQuery]:
    """Queries of one category, in file order. Raises ``DatasetError`` naming file and record."""
    path = folder / "captions" / f"cap.{category}.{split}.json"
    queries = []
    for number, record in enumerate(_read_list(path)):
        try:
            captions = tuple(text for text in map(str.strip, record["captions"]) if text)
            queries.append(FashionIQQuery(record["candidate"], record["target"], captions, category))
        except (TypeError, KeyError, AttributeError) as error:
            raise DatasetError(
                f"{path}, record {number}: expected candidate, target and a list of captions ({error!r})."
            ) from error
    return queries


def read_split(folder: Path, category: str, split: str) -> list[str]:
    """The category's whole gallery: image ids of ``split.<category>.<split>.json``."""
    return [str(name) for name in _read_list(folder / "image_splits" / f"split.{category}.{split}.json")]


def _read_list(path: Path) -> list[Any]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise DatasetError(f"{path} is missing. Check the data set's folder.") from None
    except ValueError as error:
        raise DatasetError(f"{path} is not valid JSON: {error}.") from error
    if not isinstance(content, list):
        raise DatasetError(f"{path} should hold a JSON array.")
    return content
