"""Relative captions of released data sets are no acts, though they talk of "another" and "the same"."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from cir_core.language.readers.dialogue.intended import intended

EARLIER = [SimpleNamespace(number=number, modification_text=text, composition=None, reference_id="r", caption="",
                           further=(), hits=()) for number, text in enumerate(("in red", "with a belt", "longer"), 1)]


def captions(folder, name):
    if name == "circo":
        queries = json.loads((folder / "circo/annotations/val.json").read_text("utf-8"))
        return [query["relative_caption"] for query in queries]
    return [text for category in ("dress", "shirt", "toptee")
            for query in json.loads((folder / f"fashioniq/captions/cap.{category}.val.json").read_text("utf-8"))
            for text in query["captions"]]


@pytest.mark.parametrize("name", ["circo", "fashioniq"])
def test_captions_are_no_acts(reference_data, name):
    texts = captions(reference_data, name)
    assert len(texts) > 100
    taken = {text: act.kind for text in texts if (act := intended(text, EARLIER)) is not None}
    assert len(taken) <= len(texts) / 50, taken
