"""Designs of a default method, each over its own strength: satisfaction against preservation of one turn.

    python -m benchmarks.designs [--home HOME] [--split val] [--requests N] [--json FILE] [--svg FILE]

The requests are those for tuning, of the validation split, which is drawn and indexed in HOME; docs/methods.md shows
the figure. ``--svg`` needs the Chromium of the tests: plotly draws in a browser.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from pathlib import Path
from urllib.parse import unquote

from cir_core.encoders import load_encoder
from cir_core.gallery.gallery import Gallery, open_gallery
from cir_core.gallery.indexing import index_folder
from cir_core.language.builtin.model import BuiltinLanguageModel
from cir_core.methods.declared import Method
from cir_core.methods.guidance import Guidance
from cir_core.sample.atelier.build import build_atelier
from cir_core.sample.atelier.ground_truth import read_attributes
from cir_core.sample.evaluate_requests import evaluate_requests
from cir_core.sample.request_set import make_request_set
from cir_core.types.methods import MethodSettings, Reflection, SoftFilter

SEED = 1
ASKED = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True)
class Design:
    title: str
    strength: str                                        # what varies
    settings: tuple[tuple[float, MethodSettings], ...]


@dataclass(frozen=True)
class Point:
    strength: float
    satisfaction: float
    preservation: float
    harmonic_mean: float


def designs() -> list[Design]:
    """The chosen one first."""
    guided = Guidance()

    def asking(**changes: float) -> tuple[tuple[float, MethodSettings], ...]:
        return tuple((asked, MethodSettings().with_parts({"guidance": replace(guided, asked=asked, **changes)}))
                     for asked in ASKED)

    def shares(make: object, values: Sequence[float] = SHARES) -> tuple[tuple[float, MethodSettings], ...]:
        assert callable(make)
        return tuple((value, make(value)) for value in values)

    return [
        Design("guided", "asked", asking()),
        Design("guided, without the picture", "asked", asking(picture=0.0)),
        Design("guided, without what stays", "asked", asking(kept=0.0)),
        Design("guided, cosines hardly sharpened (τ = 0.2)", "asked", asking(temperature=0.2)),
        Design("merged text + picture", "picture", shares(lambda weight: MethodSettings().with_parts(
            {"guidance": replace(guided, asked=0.0, kept=0.0, picture=weight)}), (0.0, 0.1, 0.2, 0.4, 0.8, 1.6))),
        Design("edit + picture (slerp)", "text_weight", shares(
            lambda weight: MethodSettings(base="slerp", text_weight=weight))),
        Design("merged text, soft filter (soft)", "λ", shares(
            lambda weight: MethodSettings(soft_filter=SoftFilter(weight)))),
        Design("merged text, reward only (soft-reward)", "λ", shares(
            lambda weight: MethodSettings(soft_filter=SoftFilter(weight, "reward")))),
        Design("edit + picture, soft filter (slerp-soft)", "λ", shares(
            lambda weight: MethodSettings(base="slerp", soft_filter=SoftFilter(weight)))),
        Design("merged text, reflection (corr)", "1 − α", shares(
            lambda weight: MethodSettings(reflection=Reflection(history_weight=1 - weight)))),
    ]


def measured(home: Path, split: str, requests: int | None) -> Iterator[tuple[Design, list[Point]]]:
    """Each design with its points, in the order of strength."""
    encoder = load_encoder("atelier", device="cpu", precision="fp32", allow_downloads=False)
    gallery, truth = _gallery(home, split)
    asked = replace(make_request_set(truth, purpose="tuning", seed=SEED), sessions=())
    for design in designs():
        methods = [Method(f"m{n}", f"{design.title} {strength:g}", "", settings)
                   for n, (strength, settings) in enumerate(design.settings)]
        report = evaluate_requests(gallery, truth, encoder, BuiltinLanguageModel(encoder), methods, seed=SEED,
                                   asked=asked, limit=requests)
        yield design, [Point(strength, *(round(one.value, 4) for one in scores.overall.measures.values()))
                       for (strength, _), scores in zip(design.settings, report.scores, strict=True)]


def _gallery(home: Path, split: str) -> tuple[Gallery, dict[str, dict[str, str]]]:
    folder, name = home / f"{split}split", split
    if not (home / "galleries" / name).is_dir():
        drawn = build_atelier(folder, splits=(split,))
        index_folder(drawn.folder, name=name, encoder=load_encoder("atelier"), home=home, manifest=drawn.manifest)
    gallery, truth = open_gallery(name, home=home), read_attributes(folder, split)
    return gallery, {image_id: truth[image_id] for image_id in gallery.ids}


def figure(found: Sequence[tuple[Design, Sequence[Point]]]) -> dict[str, object]:
    """As plotly has it."""
    traces = [{
        "type": "scatter", "mode": "lines+markers", "name": design.title,
        "x": [one.satisfaction for one in points], "y": [one.preservation for one in points],
        "line": {"width": 3.5 if not n else 1.5, "dash": ("solid", "dot", "dash")[n % 3]},
    } for n, (design, points) in enumerate(found)]
    axis = {"tickformat": ".0%", "gridcolor": "#ddd", "zeroline": False, "linecolor": "#888"}
    return {"data": traces, "layout": {
        "width": 980, "height": 560, "font": {"family": "sans-serif", "size": 13}, "margin": {"t": 24, "r": 24},
        "paper_bgcolor": "#fff", "plot_bgcolor": "#fff", "colorway": [
            "#b3261e", "#e08a00", "#7a5195", "#2f6f4f", "#1f77b4", "#555555", "#17a2a2", "#8c6d31", "#d1495b",
            "#3b528b"],
        "xaxis": axis | {"range": [0, 1.02], "title": {"text": "satisfaction@5: does what was asked"}},
        "yaxis": axis | {"range": [0.4, 1.02], "title": {"text": "preservation@5: keeps the rest"}}}}


def write_svg(drawing: dict[str, object], path: Path) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        page.add_script_tag(content=files("plotly").joinpath("package_data", "plotly.min.js").read_text("utf-8"))
        address = page.evaluate("drawing => Plotly.toImage(drawing, {format: 'svg', width: 980, height: 560})", drawing)
        browser.close()
    path.write_text(unquote(address.partition(",")[2]), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.designs", description=__doc__)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--split", default="val")
    parser.add_argument("--requests", type=int)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--svg", type=Path)
    options = parser.parse_args()
    found = list[tuple[Design, list[Point]]]()
    print("| Design | Strength | satisfaction@5 | preservation@5 | harmonic mean |")
    print("|---|---|--:|--:|--:|")
    for design, points in measured(options.home, options.split, options.requests):
        found.append((design, points))
        for one in points:
            print(f"| {design.title} | {design.strength} = {one.strength:g} | {one.satisfaction:.3f} | "
                  f"{one.preservation:.3f} | {one.harmonic_mean:.3f} |", flush=True)
    if options.json:
        options.json.write_text(json.dumps([
            {"design": design.title, "strength": design.strength, "points": [asdict(one) for one in points]}
            for design, points in found], ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    if options.svg:
        write_svg(figure(found), options.svg)


if __name__ == "__main__":
    main()
