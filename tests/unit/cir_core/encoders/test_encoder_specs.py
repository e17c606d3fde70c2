"""How encoders are named, and what is said of names that lead nowhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from cir_core.encoders import EncoderSpec, parse_spec
from cir_core.encoders.specs import FORMS
from cir_core.errors import EncoderUnavailable
from cli.galleries.encoders import app


@pytest.mark.parametrize(("text", "kind", "source", "tag", "weights", "name"), [
    ("atelier", "bundled", "", "", "", "atelier"),
    (" Atelier ", "bundled", "", "", "", "atelier"),
    ("ViT-B-32/openai", "pretrained", "ViT-B-32", "openai", "", "ViT-B-32/openai"),
    ("ViT-B-32-quickgelu/openai", "pretrained", "ViT-B-32-quickgelu", "openai", "",
     "ViT-B-32-quickgelu/openai"),
    ("open_clip:ViT-B-32/openai", "pretrained", "ViT-B-32", "openai", "", "ViT-B-32/openai"),
    ("hf-hub:laion/big", "hub", "laion/big", "", "", "laion/big"),
    ("local-dir:/models/mine/", "folder", "/models/mine/", "", "", "mine"),
    ("open_clip:/a/c.json+/b/w.pt", "pair", "/a/c.json", "", "/b/w.pt", "c (w.pt)"),
    ("open_clip:/a+b/c.json+/b+d/w.safetensors", "pair", "/a+b/c.json", "", "/b+d/w.safetensors",
     "c (w.safetensors)"),
    ("open_clip:ViT-B-32+/b/w.pt", "pair", "ViT-B-32", "", "/b/w.pt", "ViT-B-32 (w.pt)"),
    ("transformers:/models/blip", "transformers", "/models/blip", "", "", "blip"),
    ("transformers:openai/clip", "transformers", "openai/clip", "", "", "openai/clip"),
    ("sentence-transformers:/m/qwen/", "sentence-transformers", "/m/qwen/", "", "", "qwen"),
    ("embedding:~/m/gme", "embedding", "~/m/gme", "", "", "gme"),
    ("embedding:C:\\m\\gme", "embedding", "C:\\m\\gme", "", "", "gme"),
    ("pic2word:ViT-L-14/openai:/m/p2w.pt", "pic2word", "ViT-L-14/openai", "", "/m/p2w.pt",
     "pic2word ViT-L-14/openai (p2w.pt)"),
    ("searle:local-dir:/m/clip:~/phi.pt", "searle", "local-dir:/m/clip", "", "~/phi.pt", "searle clip (phi.pt)"),
    ("magiclens:open_clip:/a/c.json+/b/w.pt:/m/j.safetensors", "magiclens", "open_clip:/a/c.json+/b/w.pt", "",
     "/m/j.safetensors", "magiclens c (w.pt) (j.safetensors)"),
    ("searle:atelier:phi.pt", "searle", "atelier", "", "phi.pt", "searle atelier (phi.pt)"),
    ("searle:ViT-B-32/openai:C:\\m\\phi.pt", "searle", "ViT-B-32/openai", "", "C:\\m\\phi.pt",
     "searle ViT-B-32/openai (phi.pt)"),
    ("searle:local-dir:D:\\clip:C:\\m\\phi.pt", "searle", "local-dir:D:\\clip", "", "C:\\m\\phi.pt",
     "searle clip (phi.pt)"),
])
def test_parse(text: str, kind: str, source: str, tag: str, weights: str, name: str) -> None:
    spec = parse_spec(text)
    assert (spec.kind, spec.source, spec.tag, spec.weights, spec.name) == (kind, source, tag, weights, name)
    assert isinstance(spec, EncoderSpec)


@pytest.mark.parametrize(("text", "remedy"), [
    ("", "No encoder was named"),
    ("ViT-B-32", "Add the tag, as in ViT-B-32/openai"),
    ("/models/mine", "Write local-dir:/models/mine"),
    ("hub:org/name", "unknown prefix 'hub:'"),
    ("hf-hub:", "names nothing after the colon"),
    ("open_clip:/a/c.json", "joined by a plus sign"),
    ("open_clip:/a/c.json+/b/w.npz", "Convert it to safetensors"),
    ("pic2word:", "names nothing after the colon"),
    ("pic2word:ViT-L-14/openai", "a backbone and a checkpoint with a colon between"),
    ("searle:local-dir:/models/phi.pt", "as in searle:ViT-L-14/openai:/path/weights.pt"),
    ("magiclens:ViT-B-16/openai:/m/magic_lens_clip_base.pkl", "Convert it to safetensors"),
    ("searle:ViT-B-32:/m/phi.pt", "Add the tag, as in ViT-B-32/openai"),
    ("searle:transformers:/m/clip:/m/phi.pt", "built on 'transformers:/m/clip', which open_clip does not load"),
    ("searle:embedding:/m/gme:/m/phi.pt", "built on 'embedding:/m/gme', which open_clip does not load"),
    ("embedding:", "names nothing after the colon"),
    ("searle:pic2word:ViT-L-14/openai:/m/a.pt:/m/phi.pt", "Name a backbone such as"),
])
def test_a_spec_that_cannot_be_read_says_how_to_write_one(text: str, remedy: str) -> None:
    with pytest.raises(EncoderUnavailable) as caught:
        parse_spec(text)
    assert remedy in str(caught.value)


def test_a_composing_encoder_names_its_backbone_and_others_are_their_own() -> None:
    assert parse_spec("searle:ViT-B-32/openai:/m/phi.pt").backbone == parse_spec("ViT-B-32/openai")
    assert parse_spec("local-dir:/m").backbone == parse_spec("local-dir:/m")


def test_every_form_is_listed_by_the_command_and_on_the_page(monkeypatch) -> None:
    monkeypatch.setattr("cli.galleries.encoders.out", Console(width=200))
    listed = CliRunner().invoke(app, ["list"])
    page = (Path(__file__).parents[4] / "docs/how-to/encoders.md").read_text("utf-8")
    assert listed.exit_code == 0
    for form, what in FORMS:
        assert f"{form}  " in listed.output and what in listed.output
        assert f"`{form}`" in page or form.replace("MODEL", "ViT-B-32") in page, form


def test_importing_the_package_loads_no_model_library() -> None:
    code = ("import sys, cir_core.encoders; "
            "sys.exit(bool({'torch', 'open_clip', 'transformers', 'sentence_transformers'} & set(sys.modules)))")
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
