"""Constructions over the colour gallery."""

from __future__ import annotations

import itertools
from typing import Any

from cir_core.construct.sessions.run import Construction
from cir_core.construct.sessions.settings import ConstructionSettings
from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.gallery.gallery import Gallery
from tests.fakes.encoder import FakeEncoder

SHOWN = ConstructionSettings(k=3)


def colour_queries(gallery: Gallery, count: int) -> tuple[BenchmarkQuery, ...]:
    """``count`` queries from any colour to any other, with texts that rarely suffice."""
    pairs = [(a, b) for a, b in itertools.product(gallery.ids[::3], gallery.ids[1::2]) if a != b]
    texts = ("more red", "less blue", "more green", "shinier")
    return tuple(
        BenchmarkQuery(f"q{n}", a, texts[n % 4], (b,), pool="cirr") for n, (a, b) in enumerate(pairs[:: 3][:count])
    )


def colour_construction(gallery: Gallery, language: Any, count: int = 24, **more: Any) -> Construction:
    benchmark = Benchmark("cirr", "val", colour_queries(gallery, count), {"cirr": None}, lambda image_id: ())
    settings = more.pop("settings", SHOWN)
    encoder = more.pop("encoder", FakeEncoder())
    return Construction(more.pop("benchmark", benchmark), gallery, encoder, language, settings, domain="scene", **more)
