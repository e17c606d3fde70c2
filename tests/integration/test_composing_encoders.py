"""Encoders that compose: Pic2Word, SEARLE and MagicLens networks with random weights on tiny backbones."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import open_clip
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file

from cir_core.encoders import Encoder, composes, load_encoder
from cir_core.encoders.composing.pseudo_word import TEMPLATES
from cir_core.errors import EncoderUnavailable

DIM, WORD = 24, 16
CONFIG = {
    "embed_dim": DIM,
    "vision_cfg": {"image_size": 32, "layers": 1, "width": 32, "head_width": 16, "patch_size": 16},
    "text_cfg": {"context_length": 12, "vocab_size": 49408, "width": WORD, "heads": 2, "layers": 1},
}
TEXTS = ["is red and longer", "has * and $ on it", ""]
Tensors = dict[str, torch.Tensor]


def _images(count: int = 3) -> list[Image.Image]:
    rng = np.random.default_rng(0)
    return [Image.fromarray(rng.integers(0, 255, (40 + i, 30, 3), dtype=np.uint8)) for i in range(count)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "tiny"
    folder.mkdir()
    (folder / "open_clip_config.json").write_text(json.dumps({"model_cfg": CONFIG, "preprocess_cfg": {}}))
    torch.manual_seed(0)
    save_file(open_clip.CLIP(**CONFIG).state_dict(), folder / "open_clip_model.safetensors")
    return folder


@pytest.fixture(scope="module")
def backbone(folder: Path) -> Encoder:
    return load_encoder(f"local-dir:{folder}", device="cpu")


def _pic2word(seed: int = 0, *, takes: int = DIM, gives: int = WORD) -> Tensors:
    torch.manual_seed(seed)
    sizes = {"layers.0.0": (20, takes), "layers.1.0": (20, 20), "fc_out": (gives, 20)}
    return {f"{name}.weight": torch.randn(size) for name, size in sizes.items()} | {
        f"{name}.bias": torch.randn(size[0]) for name, size in sizes.items()}


def _searle(seed: int = 0) -> Tensors:
    torch.manual_seed(seed)
    sizes = {"layers.0": (20, DIM), "layers.3": (20, 20), "layers.6": (WORD, 20)}
    return {f"{name}.weight": torch.randn(size) for name, size in sizes.items()} | {
        f"{name}.bias": torch.randn(size[0]) for name, size in sizes.items()}


MAPPINGS: dict[str, Callable[..., Tensors]] = {"pic2word": _pic2word, "searle": _searle}
LAST = {"pic2word": "fc_out", "searle": "layers.6"}
PUBLISHED = {  # what the released files hold beside and round the mapping
    "pic2word": lambda tensors: {
        "epoch": 30, "optimizer": {"param_groups": [{"lr": np.float64(1e-4)}]},
        "state_dict_img2text": {f"module.{name}": value for name, value in tensors.items()}},
    "searle": lambda tensors: {"epoch": 50, "Phi": tensors},
}


def _load(kind: str, tensors: Tensors, folder: Path, path: Path, **options) -> Encoder:
    if path.suffix == ".safetensors":
        save_file(tensors, path)
    else:
        torch.save(PUBLISHED[kind](tensors), path)
    return load_encoder(f"{kind}:local-dir:{folder}:{path}", device="cpu", **options)


@pytest.mark.parametrize("kind", ["pic2word", "searle"])
@pytest.mark.parametrize("text", [*TEXTS, "is longer " * 20, "costs {0} or 5 % more"])
def test_the_pseudo_word_stands_where_the_placeholder_stood(
    kind: str, text: str, folder: Path, backbone: Encoder, tmp_path: Path
) -> None:
    model = open_clip.create_model_from_pretrained(f"local-dir:{folder}", return_transform=False)
    (dog,) = open_clip.SimpleTokenizer().encode("dog")
    tensors = MAPPINGS[kind]()
    # Whatever the image, the last layer says "dog": its weights are nought and its bias is the word.
    tensors[f"{LAST[kind]}.weight"].zero_()
    tensors[f"{LAST[kind]}.bias"] = model.token_embedding.weight[dog].detach().clone()
    encoder = _load(kind, tensors, folder, tmp_path / "mapping.pt")
    assert composes(encoder)
    said = {"pic2word": "a photo of dog , ", "searle": "a photo of dog that "}[kind] + text
    expected = backbone.encode_texts([said if text else "a photo of dog"])
    np.testing.assert_allclose(encoder.encode_composed(_images(1), [text]), expected, atol=1e-5)


@pytest.mark.parametrize("kind", ["pic2word", "searle"])
def test_the_mapping_reads_the_feature_as_the_backbone_gives_it(kind: str, folder: Path, tmp_path: Path) -> None:
    model, preprocess = open_clip.create_model_from_pretrained(f"local-dir:{folder}")
    tensors = MAPPINGS[kind]()
    encoder = _load(kind, tensors, folder, tmp_path / "mapping.pt")
    activation = torch.relu if kind == "pic2word" else torch.nn.functional.gelu
    first, second, last = sorted({name.rpartition(".")[0] for name in tensors}, key=lambda n: (n == "fc_out", n))
    with torch.no_grad():
        word = model.encode_image(torch.stack([preprocess(image) for image in _images()]))
        for name in (first, second):
            word = activation(word @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"])
        word = word @ tensors[f"{last}.weight"].T + tensors[f"{last}.bias"]
        tokens = open_clip.get_tokenizer(f"local-dir:{folder}")([TEMPLATES[kind].format("is red")] * 3)
        states = model.token_embedding(tokens)
        states[:, 4] = word   # start, "a", "photo", "of", placeholder
        states = model.ln_final(model.transformer(states + model.positional_embedding, attn_mask=model.attn_mask))
        expected = states[torch.arange(3), tokens.argmax(-1)] @ model.text_projection
    rows = encoder.encode_composed(_images(), ["is red"] * 3)
    np.testing.assert_allclose(rows, torch.nn.functional.normalize(expected, dim=-1).numpy(), atol=1e-5)
    assert np.abs(rows[0] - rows[1]).max() > 1e-3, "the image must matter"


@pytest.mark.parametrize("kind", ["pic2word", "searle"])
def test_gallery_vectors_are_the_backbones_and_the_identity_is_not(
    kind: str, folder: Path, backbone: Encoder, tmp_path: Path
) -> None:
    encoder = _load(kind, MAPPINGS[kind](), folder, tmp_path / "mapping.pt")
    np.testing.assert_array_equal(encoder.encode_images(_images()), backbone.encode_images(_images()))
    np.testing.assert_array_equal(encoder.encode_texts(TEXTS), backbone.encode_texts(TEXTS))
    same = _load(kind, MAPPINGS[kind](), folder, tmp_path / "same.safetensors")
    other = _load(kind, MAPPINGS[kind](seed=1), folder, tmp_path / "other.pt")
    revisions = [one.identity.revision for one in (encoder, same, other, backbone)]
    assert revisions[0] == revisions[1] and len(set(revisions)) == 3
    assert not composes(backbone)


def test_rows_are_unit_and_do_not_depend_on_the_batch(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "network.safetensors"
    for kind, tensors in (("pic2word", _pic2word()), ("magiclens", _magiclens())):
        encoder = _load(kind, tensors, folder, path, batch_size=2)
        rows = encoder.encode_composed(_images(), TEXTS)
        assert (rows.shape, rows.dtype, encoder.dim) == ((3, DIM), np.float32, DIM)
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
        single = [encoder.encode_composed([i], [t])[0] for i, t in zip(_images(), TEXTS, strict=True)]
        np.testing.assert_allclose(rows, np.stack(single), atol=1e-5)
        assert encoder.encode_composed([], []).shape == (0, DIM)
        half = load_encoder(encoder.identity.spec, device="cpu", precision="bf16")
        assert (half.encode_composed(_images(), TEXTS) * rows).sum(1).min() > 0.99
        with pytest.raises(ValueError, match="zip"):
            encoder.encode_composed(_images(), ["one text"])


def _flax(seed: int = 0, *, heads: int = 3, hidden: int = 32, inner: int = 96) -> dict[str, np.ndarray]:
    """A MagicLens tree as flax keeps it, flattened: two layers, weights as (dim, heads, head)."""
    rng = np.random.default_rng(seed)
    tree: dict[str, np.ndarray] = {}

    def attention(name: str, width: int) -> None:
        for part in ("query", "key", "value"):
            tree[f"{name}/{part}/w"] = rng.normal(size=(DIM, heads, width // heads)) / 4
            tree[f"{name}/{part}/b"] = rng.normal(size=(heads, width // heads)) / 4
        tree[f"{name}/post/w"] = rng.normal(size=(DIM, heads, width // heads)) / 4
        tree[f"{name}/post/b"] = rng.normal(size=DIM)

    def norm(name: str) -> None:
        tree[f"{name}/scale"], tree[f"{name}/bias"] = rng.normal(size=DIM) / 4, rng.normal(size=DIM)

    for i in range(2):
        layer = f"multimodal_encoder/x_layers_{i}"
        norm(f"{layer}/layer_norm")
        norm(f"{layer}/ff_layer/layer_norm")
        attention(f"{layer}/self_attention", DIM)
        for part, (takes, gives) in {"ffn_layer1": (DIM, hidden), "ffn_layer2": (hidden, DIM)}.items():
            tree[f"{layer}/ff_layer/{part}/linear/w"] = rng.normal(size=(takes, gives)) / 4
            tree[f"{layer}/ff_layer/{part}/bias/b"] = rng.normal(size=gives)
    pooler = "contrastive_multimodal_pooler"
    tree[f"{pooler}/pooling_attn_query"] = rng.normal(size=(1, DIM))
    attention(f"{pooler}/pool_attn", inner)
    tree[f"{pooler}/pool_attn/per_dim_scale/per_dim_scale"] = rng.normal(size=inner // heads)
    norm(f"{pooler}/pool_attn_ln")
    return tree


def _magiclens(seed: int = 0, **sizes: int) -> Tensors:
    """The tree by the names and in the shapes that magiclens.md lists."""
    tensors: Tensors = {}
    for path, value in _flax(seed, **sizes).items():
        name = path.replace("/", ".").replace("x_layers_", "layers.").replace("per_dim_scale.per_dim_scale",
                                                                              "per_dim_scale")
        name = re.sub(r"\.linear\.w$|\.w$", ".weight", re.sub(r"\.bias\.b$|\.b$", ".bias", name))
        if name.endswith(("norm.scale", "_ln.scale")):
            name, value = name.removesuffix("scale") + "weight", 1 + value
        elif path.endswith("post/w"):
            value = value.reshape(DIM, -1)
        elif path.endswith("linear/w"):
            value = value.T
        elif path.endswith("/w"):
            value = value.reshape(DIM, -1).T
        elif path.endswith(("query/b", "key/b", "value/b")):
            value = value.reshape(-1)
        tensors[name] = torch.from_numpy(np.ascontiguousarray(value)).float()
    return tensors


def _by_the_formulas(tree: dict[str, np.ndarray], tokens: np.ndarray) -> np.ndarray:
    """``[n, tokens, dim]`` to unit ``[n, dim]``, in float64 and in flax's own shapes."""

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-6)
        return x * (1 + tree[f"{name}/scale"]) + tree[f"{name}/bias"]

    def attention(asking: np.ndarray, context: np.ndarray, name: str, scale: np.ndarray | float) -> np.ndarray:
        q, k, v = (np.einsum("btd,dnh->btnh", x, tree[f"{name}/{part}/w"]) + tree[f"{name}/{part}/b"]
                   for part, x in (("query", asking), ("key", context), ("value", context)))
        logits = 50 * np.tanh(np.einsum("btnh,bsnh->bnts", q * scale / np.sqrt(q.shape[-1]), k) / 50)
        weights = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
        mixed = np.einsum("bnts,bsnh->btnh", weights, v)
        return np.einsum("btnh,dnh->btd", mixed, tree[f"{name}/post/w"]) + tree[f"{name}/post/b"]

    x = tokens
    for i in range(2):
        layer = f"multimodal_encoder/x_layers_{i}"
        normed = norm(x, f"{layer}/layer_norm")
        x = x + attention(normed, normed, f"{layer}/self_attention", 1.0)
        y, ff = norm(x, f"{layer}/ff_layer/layer_norm"), f"{layer}/ff_layer"
        y = np.maximum(y @ tree[f"{ff}/ffn_layer1/linear/w"] + tree[f"{ff}/ffn_layer1/bias/b"], 0)
        x = x + y @ tree[f"{ff}/ffn_layer2/linear/w"] + tree[f"{ff}/ffn_layer2/bias/b"]
    pooler = "contrastive_multimodal_pooler"
    asking = np.repeat(tree[f"{pooler}/pooling_attn_query"][None], len(x), axis=0)
    learned = 1.442695041 * np.log1p(np.exp(tree[f"{pooler}/pool_attn/per_dim_scale/per_dim_scale"]))
    row = norm(attention(asking, x, f"{pooler}/pool_attn", learned), f"{pooler}/pool_attn_ln")[:, 0]
    return row / np.linalg.norm(row, axis=1, keepdims=True)


def test_magiclens_computes_its_formulas(folder: Path, tmp_path: Path) -> None:
    encoder = _load("magiclens", _magiclens(), folder, tmp_path / "m.safetensors")
    model = open_clip.create_model_from_pretrained(f"local-dir:{folder}", return_transform=False)
    tokenizer = open_clip.get_tokenizer(f"local-dir:{folder}")
    with torch.no_grad():
        images = model.encode_image(torch.from_numpy(np.stack([encoder.prepare(i) for i in _images()]))).numpy()
        texts, empty = model.encode_text(tokenizer(TEXTS)).numpy(), model.encode_text(tokenizer([""] * 3)).numpy()
    expected = _by_the_formulas(_flax(), np.stack([images, texts], axis=1))
    np.testing.assert_allclose(encoder.encode_composed(_images(), TEXTS), expected, atol=1e-4)
    alone = _by_the_formulas(_flax(), np.stack([images, empty], axis=1))
    np.testing.assert_allclose(encoder.encode_images(_images()), alone, atol=1e-4)
    np.testing.assert_allclose(encoder.encode_texts(TEXTS), _by_the_formulas(_flax(), texts[:, None]), atol=1e-4)


def test_magiclens_squashes_images_and_takes_towers_trained_along(folder: Path, tmp_path: Path) -> None:
    plain = _load("magiclens", _magiclens(), folder, tmp_path / "plain.safetensors")
    wide = Image.new("RGB", (96, 32), "black")
    wide.paste("white", (0, 0, 48, 32))     # a crop of the middle would be half white, too
    wide.paste("red", (0, 0, 8, 32))        # but would lose this
    assert plain.prepare(wide)[1, :, 0].max() < plain.prepare(wide)[0, :, 0].min()
    torch.manual_seed(5)
    towers = {f"clip.{name}": value for name, value in open_clip.CLIP(**CONFIG).state_dict().items()
              if name != "logit_scale"}
    along = _load("magiclens", _magiclens() | towers, folder, tmp_path / "along.safetensors")
    assert along.identity.revision != plain.identity.revision
    assert np.abs(along.encode_images(_images()) - plain.encode_images(_images())).max() > 1e-3
    del towers["clip.ln_final.bias"]
    with pytest.raises(EncoderUnavailable, match=r"lacks the tensor clip\.ln_final\.bias of shape \(16,\)"):
        _load("magiclens", _magiclens() | towers, folder, tmp_path / "part.safetensors")


class Payload:
    def __reduce__(self):
        return (print, ("code in a checkpoint ran",))


def _without(tensors: Tensors, name: str) -> Tensors:
    return {key: value for key, value in tensors.items() if key != name}


@pytest.mark.parametrize(("kind", "content", "said"), [
    ("pic2word", _pic2word(takes=32), r"layers\.0\.0 has weights of shape \(20, 32\).*image features have 24 numbers"),
    ("pic2word", _pic2word(gives=20), r"makes words of 20 numbers; the words of 'local-dir:\S+' have 16"),
    ("pic2word", _searle(), r"is not a pic2word mapping: expected fc_out\.bias.*found layers\.0\.bias"),
    ("searle", _without(_searle(), "layers.6.bias"), r"is not a searle mapping: expected .*layers\.6\.bias"),
    ("searle", {"weights": [1, 2]}, "no tensors at its top level, nor under Phi or MLP; it has weights"),
    ("searle", [torch.ones(1)], "is a list, not tensors by name"),
    ("searle", {"layers.0.weight": Payload()}, "contains Python objects beyond tensors.*Use safetensors"),
    ("magiclens", _pic2word(), "published MagicLens files are in flax format"),
    ("magiclens", _magiclens(heads=5, inner=80), "has 5 attention heads, which do not divide the 24"),
    ("magiclens", _without(_magiclens(), "multimodal_encoder.layers.1.layer_norm.bias"),
     r"lacks the tensor multimodal_encoder\.layers\.1\.layer_norm\.bias of shape \(24,\)"),
    ("magiclens", _magiclens() | {"contrastive_multimodal_pooler.pooling_attn_query": torch.ones(2, DIM)},
     r"pooling_attn_query has the shape \(2, 24\); with the backbone 'local-dir:\S+' it must be \(1, 24\)"),
    ("magiclens", _magiclens() | {"head.weight": torch.ones(1)}, r"1 tensors .* no place for, such as head\.weight"),
])
def test_a_checkpoint_that_does_not_fit(kind: str, content, said: str, folder: Path, tmp_path: Path, capsys) -> None:
    torch.save(content, tmp_path / "w.pt")
    with pytest.raises(EncoderUnavailable, match=said):
        load_encoder(f"{kind}:local-dir:{folder}:{tmp_path}/w.pt", device="cpu")
    assert "ran" not in capsys.readouterr().out


def test_what_is_not_there_is_named_and_not_fetched(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(EncoderUnavailable, match=r"No checkpoint /nowhere/phi\.pt"):
        load_encoder("searle:ViT-B-32/openai:/nowhere/phi.pt")
    (tmp_path / "broken.pt").write_bytes(b"PK not a zip")
    with pytest.raises(EncoderUnavailable, match=r"damaged|cannot be read"):
        load_encoder(f"searle:ViT-B-32/openai:{tmp_path}/broken.pt")
    (tmp_path / "broken.safetensors").write_bytes(b"short")
    with pytest.raises(EncoderUnavailable, match="cannot be read"):
        load_encoder(f"magiclens:ViT-B-32/openai:{tmp_path}/broken.safetensors")
    torch.save(_searle(), tmp_path / "phi.pt")
    with pytest.raises(EncoderUnavailable, match=r"cirque encoders fetch ViT-B-32/openai$"):
        load_encoder(f"searle:ViT-B-32/openai:{tmp_path}/phi.pt")


def test_a_text_tower_without_room_or_token_for_the_placeholder(folder: Path, tmp_path: Path) -> None:
    short = tmp_path / "short"
    short.mkdir()
    config = CONFIG | {"text_cfg": CONFIG["text_cfg"] | {"context_length": 5}}
    (short / "open_clip_config.json").write_text(json.dumps({"model_cfg": config, "preprocess_cfg": {}}))
    save_file(open_clip.CLIP(**config).state_dict(), short / "open_clip_model.safetensors")
    with pytest.raises(EncoderUnavailable, match="no room"):
        _load("pic2word", _pic2word(), short, tmp_path / "m.pt")
