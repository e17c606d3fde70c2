from __future__ import annotations

import pytest

from cir_core.encoders.remembered import kept_in, remember, usual_encoder
from cir_core.errors import EncoderUnavailable, SettingsError


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
