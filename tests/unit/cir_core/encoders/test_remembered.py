from __future__ import annotations

import pytest

from cir_core.encoders.remembered import kept_in, remember, usual_encoder
from cir_core.errors import SettingsError


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
