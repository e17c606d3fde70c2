"""How encoders are named, and what is said of names that lead nowhere."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cir_core.encoders import EncoderSpec, parse_spec
from cir_core.errors import EncoderUnavailable


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
    ("open_clip:/a/c.json", "a plus sign between"),
    ("open_clip:/a/c.json+/b/w.npz", "Convert it to safetensors"),
])
def test_a_spec_that_cannot_be_read_says_how_to_write_one(text: str, remedy: str) -> None:
    with pytest.raises(EncoderUnavailable) as caught:
        parse_spec(text)
    assert remedy in str(caught.value)


def test_importing_the_package_loads_no_model_library() -> None:
    code = ("import sys, cir_core.encoders; "
            "sys.exit(bool({'torch', 'open_clip', 'transformers'} & set(sys.modules)))")
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
