"""open_clip models with random weights, through every local way of naming them."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import open_clip
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file

from cir_core.encoders import Encoder, load_encoder
from cir_core.encoders.open_clip_encoder import short_texts
from cir_core.errors import EncoderUnavailable

CONFIG = {
    "embed_dim": 24,
    "vision_cfg": {"image_size": 32, "layers": 1, "width": 32, "head_width": 16, "patch_size": 16},
    "text_cfg": {"context_length": 12, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 1},
}
SIGLIP = CONFIG | {"init_logit_bias": -10, "custom_text": True}
PREPROCESS = {
    "mean": [0.5, 0.4, 0.3], "std": [0.2, 0.3, 0.4], "interpolation": "bilinear", "resize_mode": "squash",
}
TEXTS = ["a red dress", "a blue dress with long sleeves " * 5, ""]


def _images(count: int = 5) -> list[Image.Image]:
    rng = np.random.default_rng(0)
    return [Image.fromarray(rng.integers(0, 255, (40 + i, 30, 3), dtype=np.uint8)) for i in range(count)]


def _write(folder: Path, config: dict, *, seed: int = 0) -> Path:
    folder.mkdir()
    content = {"model_cfg": config, "preprocess_cfg": PREPROCESS}
    (folder / "open_clip_config.json").write_text(json.dumps(content))
    torch.manual_seed(seed)
    arguments = {key: value for key, value in config.items() if key != "custom_text"}
    model = (open_clip.CustomTextCLIP if config.get("custom_text") else open_clip.CLIP)(**arguments)
    save_file(model.state_dict(), folder / "open_clip_model.safetensors")
    torch.save(model.state_dict(), folder.with_suffix(".pt"))
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _write(tmp_path_factory.mktemp("models") / "tiny", CONFIG)


@pytest.fixture(scope="module")
def encoder(folder: Path) -> Encoder:
    return load_encoder(f"local-dir:{folder}", device="cpu", batch_size=2)


def test_rows_equal_a_direct_forward_pass(folder: Path, encoder: Encoder) -> None:
    model, preprocess = open_clip.create_model_from_pretrained(f"local-dir:{folder}")
    model.eval()
    with torch.no_grad():
        images = model.encode_image(torch.stack([preprocess(i) for i in _images()]), normalize=True)
        tokens = open_clip.get_tokenizer(f"local-dir:{folder}")(TEXTS)
        texts = model.encode_text(tokens, normalize=True)
    np.testing.assert_allclose(encoder.encode_images(_images()), images.numpy(), atol=1e-5)
    np.testing.assert_allclose(encoder.encode_texts(TEXTS), texts.numpy(), atol=1e-5)
    # Padding is left out, up to the longest text of a batch.
    alone = np.concatenate([encoder.encode_texts([text]) for text in TEXTS])
    np.testing.assert_allclose(alone, texts.numpy(), atol=1e-5)


def test_texts_without_padding_follow_a_model_that_moves(folder: Path) -> None:
    """Moving a model to another device replaces its buffers; the mask is one."""
    model, _ = open_clip.create_model_from_pretrained(f"local-dir:{folder}")
    embed = short_texts(model.eval())
    assert embed is not None
    tokens = open_clip.get_tokenizer(f"local-dir:{folder}")(TEXTS[1:2])
    with torch.no_grad():
        before = embed(tokens)
        length = len(model.attn_mask)
        model.attn_mask = torch.full((length, length), -torch.inf).fill_diagonal_(0)   # each token sees itself alone
        np.testing.assert_allclose(embed(tokens), model.encode_text(tokens), atol=1e-5)
        assert not np.allclose(before, embed(tokens), atol=1e-3)


def test_rows_are_unit_float32_and_none_for_nothing(encoder: Encoder) -> None:
    rows = encoder.encode_images(_images())
    assert isinstance(encoder, Encoder)
    assert (rows.shape, rows.dtype) == ((5, 24), np.float32)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert encoder.encode_images([]).shape == encoder.encode_texts([]).shape == (0, 24)
    assert (encoder.dim, encoder.name) == (24, "tiny")


def test_prepared_images_give_the_same_rows(encoder) -> None:
    images = _images()
    with ThreadPoolExecutor(4) as pool:
        prepared = list(pool.map(encoder.prepare, images))
        rows = list(pool.map(lambda one: encoder.encode_prepared([one])[0], prepared))
    assert prepared[0].shape == (3, 32, 32) and prepared[0].dtype == np.float32
    np.testing.assert_allclose(np.stack(rows), encoder.encode_images(images), atol=1e-5)


def test_the_same_weights_have_the_same_revision(folder: Path, encoder: Encoder) -> None:
    pair = load_encoder(f"open_clip:{folder}/open_clip_config.json+{folder.with_suffix('.pt')}")
    assert pair.identity.revision == encoder.identity.revision
    assert len(encoder.identity.revision) == 16
    np.testing.assert_allclose(pair.encode_images(_images()), encoder.encode_images(_images()), atol=1e-5)
    np.testing.assert_allclose(pair.encode_texts(TEXTS), encoder.encode_texts(TEXTS), atol=1e-5)


def test_other_weights_or_preprocessing_have_another_revision(tmp_path: Path, encoder: Encoder) -> None:
    other = _write(tmp_path / "other", CONFIG, seed=1)
    assert load_encoder(f"local-dir:{other}").identity.revision != encoder.identity.revision
    changed = _write(tmp_path / "changed", CONFIG)
    content = json.loads((changed / "open_clip_config.json").read_text())
    content["preprocess_cfg"]["mean"] = [0.5, 0.5, 0.5]
    (changed / "open_clip_config.json").write_text(json.dumps(content))
    assert load_encoder(f"local-dir:{changed}").identity.revision != encoder.identity.revision


def test_a_config_file_named_like_a_built_in_model_replaces_nothing(folder: Path, tmp_path: Path) -> None:
    config = tmp_path / "ViT-B-32.json"
    config.write_text(json.dumps(CONFIG))
    assert load_encoder(f"open_clip:{config}+{folder.with_suffix('.pt')}").dim == 24
    assert open_clip.get_model_config("ViT-B-32")["embed_dim"] == 512


def test_custom_text_towers_load(tmp_path: Path) -> None:
    siglip = load_encoder(f"local-dir:{_write(tmp_path / 'siglip', SIGLIP)}")
    assert siglip.encode_texts(TEXTS).shape == (3, 24)


def test_half_precision_stays_close(folder: Path, encoder: Encoder) -> None:
    half = load_encoder(f"local-dir:{folder}", device="cpu", precision="bf16")
    assert half.identity == encoder.identity
    assert (half.encode_images(_images()) * encoder.encode_images(_images())).sum(1).min() > 0.999


def test_a_known_architecture_takes_a_local_checkpoint(tmp_path: Path) -> None:
    save_file(open_clip.create_model("ViT-S-32-alt", pretrained=None).state_dict(), tmp_path / "weights.safetensors")
    loaded = load_encoder(f"open_clip:ViT-S-32-alt+{tmp_path}/weights.safetensors", device="cpu")
    assert loaded.dim == 256 and loaded.encode_images(_images(1)).shape == (1, 256)


def test_the_bundled_model_tells_colours_apart() -> None:
    bundled = load_encoder("atelier", device="cpu")
    red, gown, blue = bundled.encode_texts(["a red dress", "a red gown", "a blue dress"])
    assert red @ gown > red @ blue


class Payload:
    def __reduce__(self):
        return (print, ("code in a checkpoint ran",))


def test_a_checkpoint_with_code_is_refused(folder: Path, tmp_path: Path, capsys) -> None:
    torch.save({"state_dict": Payload()}, tmp_path / "evil.pt")
    with pytest.raises(EncoderUnavailable, match="convert checkpoints"):
        load_encoder(f"open_clip:{folder}/open_clip_config.json+{tmp_path}/evil.pt")
    assert "ran" not in capsys.readouterr().out


@pytest.mark.parametrize(("spec", "said"), [
    ("ViT-B32/openai", "Did you mean ViT-B-32"),
    ("ViT-B-32/opanai", "Did you mean openai?"),
    ("openai/clip-vit-base-patch32", "transformers:openai/clip-vit-base-patch32"),
    ("local-dir:/nowhere", "No open_clip_config.json in /nowhere"),
    ("open_clip:ViT-B-32+/nowhere/w.pt", "No checkpoint /nowhere/w.pt"),
])
def test_a_name_that_leads_nowhere(spec: str, said: str) -> None:
    with pytest.raises(EncoderUnavailable) as caught:
        load_encoder(spec)
    assert said in str(caught.value)


@pytest.mark.parametrize("spec", ["ViT-B-32/openai", "hf-hub:laion/none", "ViT-B-16-SigLIP/webli"])
def test_absent_weights_are_not_fetched_but_named(spec: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(EncoderUnavailable) as caught:
        load_encoder(spec)
    assert f"cirque encoders fetch {spec}" in str(caught.value)


def test_unfit_weights_device_precision_and_batch(folder: Path, tmp_path: Path) -> None:
    wider = tmp_path / "wider.json"
    wider.write_text(json.dumps(CONFIG | {"embed_dim": 32}))
    with pytest.raises(EncoderUnavailable, match="belongs to"):
        load_encoder(f"open_clip:{wider}+{folder.with_suffix('.pt')}")
    with pytest.raises(EncoderUnavailable, match="CIRQUE_DEVICE"):
        load_encoder(f"local-dir:{folder}", device="gpu")
    with pytest.raises(EncoderUnavailable, match="not one of auto"):
        load_encoder(f"local-dir:{folder}", precision="fp8")
    with pytest.raises(EncoderUnavailable, match="at least one"):
        load_encoder(f"local-dir:{folder}", batch_size=0)
