"""Encoders of the home folder and of a cache laid out as the hub's."""

from __future__ import annotations

import json

import numpy as np
import pytest
from safetensors.numpy import save

from cir_core.encoders.found import found_encoders
from cir_core.encoders.remembered import kept_in, remember, usual_encoder
from cir_core.errors import EncoderUnavailable, SettingsError

WHOLE = save({"a": np.zeros(400, np.float32)})


def folder(path, *, config="config.json", content=None, weights=WHOLE, name="model.safetensors"):
    path.mkdir(parents=True)
    (path / config).write_text(json.dumps(content or {}), "utf-8")
    if weights is not None:
        (path / name).write_bytes(weights)
    return path


def cached(cache, repo_id, *, ref="main", **options):
    """A repository in the cache; returns its folder."""
    repo = cache / f"models--{repo_id.replace('/', '--')}"
    commit = "a" * 40
    snapshot = folder(repo / "snapshots" / commit, **options)
    for path in list(snapshot.iterdir()):
        blob = repo / "blobs" / path.name
        blob.parent.mkdir(exist_ok=True)
        path.rename(blob)
        path.symlink_to(blob)
    (repo / "refs").mkdir()
    (repo / "refs" / ref).write_text(commit)
    return repo


def by_spec(home, cache):
    return {one.spec: one for one in found_encoders(home, cache) if one.spec}


def test_nothing_is_found_in_an_empty_home_without_a_cache(tmp_path):
    assert found_encoders(tmp_path, tmp_path / "none") == []


def test_folders_of_the_home_folder_are_named_by_what_they_hold(tmp_path):
    encoders = tmp_path / "encoders"
    folder(encoders / "a", config="open_clip_config.json")
    folder(encoders / "b", content={"model_type": "clip"})
    folder(encoders / "c", content={"model_type": "siglip"})
    folder(encoders / "d", content={"model_type": "qwen2_vl"})
    folder(encoders / "e", config="modules.json")
    assert set(by_spec(tmp_path, tmp_path / "none")) == {
        f"local-dir:{encoders}/a", f"transformers:{encoders}/b", f"transformers:{encoders}/c",
        f"embedding:{encoders}/d", f"sentence-transformers:{encoders}/e",
    }


@pytest.mark.parametrize(("options", "reason"), [
    ({"content": {"model_type": "bert"}}, "a model of type bert"),
    ({"config": "README.json"}, "neither open_clip_config.json nor config.json"),
    ({"content": {"model_type": "clip"}, "weights": None}, "has no weights"),
    ({"content": {"model_type": "clip"}, "weights": WHOLE[:-100]}, "incomplete file of weights, model.safetensors"),
    ({"config": "open_clip_config.json", "weights": b""}, "incomplete file of weights"),
    ({"content": [1]}, "a model of type None"),
])
def test_what_cannot_be_used_is_named_with_the_reason(tmp_path, options, reason):
    folder(tmp_path / "encoders" / "x", **options)
    [one] = found_encoders(tmp_path, tmp_path / "none")
    assert one.spec == "" and reason in one.problem and one.place.endswith("encoders/x")


def test_a_config_that_is_no_json_and_a_bare_checkpoint(tmp_path):
    folder(tmp_path / "encoders" / "x")
    (tmp_path / "encoders" / "x" / "config.json").write_text("{")
    (tmp_path / "encoders" / "mine.pt").write_bytes(b"x")
    problems = {one.place.rpartition("/")[2]: one.problem for one in found_encoders(tmp_path, tmp_path / "none")}
    assert "cannot be read" in problems["x"] and "open_clip:MODEL+" in problems["mine.pt"]


def test_repositories_of_the_cache_have_names_that_load(tmp_path):
    cache = tmp_path / "hub"
    cached(cache, "openai/clip-vit-base-patch32", content={"model_type": "clip"})
    cached(cache, "somebody/open-model", config="open_clip_config.json", name="open_clip_model.safetensors")
    cached(cache, "timm/vit_base_patch32_clip_224.openai", config="open_clip_config.json",
           name="open_clip_model.safetensors")
    cached(cache, "google/bert", content={"model_type": "bert"})
    (cache / "datasets--some--set" / "snapshots").mkdir(parents=True)
    assert set(by_spec(tmp_path, cache)) == {
        "transformers:openai/clip-vit-base-patch32", "hf-hub:somebody/open-model", "ViT-B-32/openai"}
    [bert] = [one for one in found_encoders(tmp_path, cache) if not one.spec]
    assert "google/bert" in bert.place and "a model of type bert" in bert.problem


def test_an_unfinished_download_says_so(tmp_path):
    cache = tmp_path / "hub"
    repo = cached(cache, "openai/clip", content={"model_type": "clip"}, weights=None)
    (repo / "blobs" / "abc.incomplete").write_bytes(b"half")
    folder(tmp_path / "encoders" / ".ViT-B-32-openai.part", config="open_clip_config.json")
    found = found_encoders(tmp_path, cache)
    assert [one.problem for one in found] == ["is a download that has not finished"] * 2


# --- texts that were encoded before ----------------------------------------------------------

def test_the_last_choice_is_kept(tmp_path):
    home = tmp_path / "not made yet"
    assert usual_encoder(home) == "atelier"
    assert remember(home, "ViT-B-32/openai") and usual_encoder(home) == "ViT-B-32/openai"
    assert not remember(home, "ViT-B-32/openai")
    assert remember(home, "atelier") and usual_encoder(home) == "atelier"


@pytest.mark.parametrize("content", [
    b"", b"{", b"[]", b"null", b'{"default": 3}', b'{"default": ""}', b'{"default": "nonsense"}', b"\xff\xfe",
    b"[" * 100_000,
])
def test_a_damaged_file_counts_as_none_and_is_replaced(tmp_path, content):
    kept_in(tmp_path).write_bytes(content)
    assert usual_encoder(tmp_path) == "atelier"
    assert remember(tmp_path, "ViT-B-16/openai") and usual_encoder(tmp_path) == "ViT-B-16/openai"


def test_a_home_that_cannot_be_written_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match=r"encoders\.json cannot be written"):
        remember(tmp_path / "file", "ViT-B-32/openai")


@pytest.mark.parametrize(("named", "kept"), [
    ("Atelier", "atelier"), ("open_clip:ViT-B-32/openai", "ViT-B-32/openai"),
    ("local-dir:./enc", "local-dir:{here}/enc"),
    ("transformers:./clip", "transformers:{here}/clip"), ("transformers:org/clip", "transformers:org/clip"),
    ("embedding:gme", "embedding:{here}/gme"), ("open_clip:ViT-B-32+w.pt", "open_clip:ViT-B-32+{here}/w.pt"),
    ("open_clip:./c.json+./w.pt", "open_clip:{here}/c.json+{here}/w.pt"),
    ("pic2word:local-dir:enc:map.pt", "pic2word:local-dir:{here}/enc:{here}/map.pt"),
])
def test_a_name_means_the_same_in_every_folder(tmp_path, monkeypatch, named, kept):
    monkeypatch.chdir(tmp_path)
    for name in ("enc", "gme", "w.pt", "map.pt"):
        (tmp_path / name).touch()
    home = tmp_path / "home"
    remember(home, named)
    assert usual_encoder(home) == kept.format(here=tmp_path)
    assert not remember(home, named)


@pytest.mark.parametrize("named", ["local-dir:nowhere", "embedding:/nowhere", "open_clip:ViT-B-32+/nowhere.pt",
                                   "searle:ViT-B-32/openai:/nowhere.pt", "sentence-transformers:./nowhere"])
def test_what_is_not_there_is_not_chosen(tmp_path, monkeypatch, named):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(EncoderUnavailable, match="nowhere"):
        remember(tmp_path / "home", named)
    assert usual_encoder(tmp_path / "home") == "atelier"
