"""What is true of images is asked once of each."""

from __future__ import annotations

from collections.abc import Sequence

from cir_core.search.caches import Marked


def test_each_image_is_asked_of_once() -> None:
    asked: list[list[str]] = []

    def long(image_ids: Sequence[str]) -> list[bool]:
        asked.append(list(image_ids))
        return [len(image_id) > 1 for image_id in image_ids]

    marked = Marked()
    assert marked.among(["a", "bb", "a"], long) == {"bb"}
    assert marked.among(["bb", "ccc", "a"], long) == {"bb", "ccc"}
    assert marked.among([], long) == frozenset()
    assert asked == [["a", "bb"], ["ccc"]]
