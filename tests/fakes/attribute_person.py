"""A chat server's script that knows what each garment of the sample is, and answers SoFT's three roles by it."""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.gallery.gallery import Gallery
from cir_core.garments.lexicon import describe
from tests.fakes.chat_server import Reply

_EDGE = 12
_TOLD = ("colour", "pattern", "sleeves", "neckline", "length", "trim", "fit")


@dataclass(frozen=True)
class Wanted:
    """What a text asks for: ``must`` exactly, the rest as the target has it, with at most four exceptions."""

    must: Mapping[str, str]
    rest: Mapping[str, str]

    def confidence(self, shown: Mapping[str, str]) -> float:
        if any(shown[group] != value for group, value in self.must.items()):
            return 0.2
        return round(1 - 0.035 * sum(shown[group] != value for group, value in self.rest.items()), 3)


class AttributePerson:
    """``person(request)`` is the reply. Images are told by their pixels, queries by reference and text."""

    def __init__(self, gallery: Gallery, benchmark: Benchmark, truth: Mapping[str, Mapping[str, str]]) -> None:
        self.truth, self._ids = truth, gallery.ids
        self._pixels = np.stack([_pixels(gallery.load_image(image_id)) for image_id in gallery.ids])
        self._wanted = {(one.reference_id, one.modification_text): self._of(one) for one in benchmark.queries}

    def answers(self, query: BenchmarkQuery, pool: Any, threshold: float = 0.85) -> set[str]:
        """The images that answer ``query``: the truth."""
        return {image_id for image_id in pool if self._of(query).confidence(self.truth[image_id]) >= threshold}

    def _of(self, query: BenchmarkQuery) -> Wanted:
        old, new = self.truth[query.reference_id], self.truth[query.target_ids[0]]
        must = {group: value for group, value in new.items() if value != old[group] or group == "category"}
        return Wanted(must, {group: value for group, value in new.items() if group not in must})

    def __call__(self, request: dict[str, Any]) -> Reply:
        schema = request["response_format"]["json_schema"]["schema"]["properties"]
        parts = request["messages"][1]["content"]
        text = "\n".join(part["text"] for part in parts if part["type"] == "text")
        images = [self._named(part["image_url"]["url"]) for part in parts if part["type"] == "image_url"]
        said = json.loads(re.search(r"(?:What is wanted|The request): (.*)", text)[1])  # type: ignore[index]
        wanted = self._wanted[images[0], said]
        if "modification" in schema:
            rest = {group: value for group, value in wanted.rest.items() if group in _TOLD}
            return _reply({"modification": describe({**_sayable(wanted.must)}),
                           "kept": describe({"category": wanted.must["category"], **rest})})
        if "scores" in schema:
            return _reply({"scores": {f"candidate {number}": wanted.confidence(self.truth[image_id])
                                      for number, image_id in enumerate(images[1:], start=1)}})
        target, distractors = self.truth[images[1]], [self.truth[image_id] for image_id in images[2:]]
        told: dict[str, str] = {}
        for other in distractors:
            if all(other[group] == value for group, value in told.items()):
                told |= dict([(group, target[group]) for group in _TOLD if other[group] != target[group]][:1])
        refined = f"{said}, that is {describe({'category': target['category'], **told})}" if told else said
        self._wanted[images[0], refined] = Wanted({**wanted.must, **told}, {
            group: value for group, value in wanted.rest.items() if group not in told})
        return _reply({"refined_caption": refined})

    def _named(self, url: str) -> str:
        image = Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))
        gaps = np.abs(self._pixels - _pixels(image)).sum(axis=1)
        return self._ids[int(np.argmin(gaps))]


def _sayable(must: Mapping[str, str]) -> dict[str, str]:
    return {group: value for group, value in must.items() if group in ("category", *_TOLD)}


def _pixels(image: Image.Image) -> np.ndarray:
    return np.asarray(image.convert("RGB").resize((_EDGE, _EDGE), Image.Resampling.BOX), dtype=np.float32).ravel()


def _reply(content: Any) -> Reply:
    return Reply(json.dumps(content))
