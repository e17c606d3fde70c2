"""Embedding models for images, texts and both, with random weights, through the code that loads real ones."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from PIL import Image

from cir_core.encoders import ComposingEncoder, composes, load_encoder
from cir_core.encoders.embedding.embedding_encoder import pooled
from cir_core.encoders.embedding.recipes import SIDECAR
from cir_core.errors import EncoderUnavailable
from cir_core.gallery.indexing import index_folder
from cir_core.images.uploads import UploadFolder
from cir_core.sessions.pool import SearcherPool
from cir_core.sessions.service import SearchService
from cir_core.types.records import MethodSettings
from tests.fakes.language import ScriptedLanguageModel
from tests.fakes.store import InMemorySessionStore
from tests.fakes.tiny_embedding import (
    DIM,
    pictures,
    save_clip,
    save_llava_next,
    save_qwen2,
    save_qwen3,
    tokenizer,
)

TEXTS = ["is red", "make it longer with long blue sleeves", "a dress"]
SAVE = {"qwen3": save_qwen3, "qwen2": save_qwen2, "llava": save_llava_next, "clip": save_clip}
VISION = "<|vision_start|><|image_pad|><|vision_end|>"
PROMPTS = {  # as the models' authors write them: a text, an image, both
    "qwen3": (
        "<|im_start|>system\nRetrieve images or text relevant to the user's query.<|im_end|>\n"
        "<|im_start|>user\nis red<|im_end|>\n<|im_start|>assistant\n",
        "<|im_start|>system\nRepresent the user's input.<|im_end|>\n"
        f"<|im_start|>user\n{VISION}<|im_end|>\n<|im_start|>assistant\n",
        "<|im_start|>system\nRetrieve images or text relevant to the user's query.<|im_end|>\n"
        f"<|im_start|>user\n{VISION}is red<|im_end|>\n<|im_start|>assistant\n",
    ),
    "qwen2": (
        "<|im_start|>system\nFind an image that matches the given text.<|im_end|>\n"
        "<|im_start|>user\nis red<|im_end|>\n<|im_start|>assistant\n<|endoftext|>",
        "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
        f"<|im_start|>user\n{VISION}<|im_end|>\n<|im_start|>assistant\n<|endoftext|>",
        "<|im_start|>system\nFind an image that matches the given image after the described change.<|im_end|>\n"
        f"<|im_start|>user\n{VISION}is red<|im_end|>\n<|im_start|>assistant\n<|endoftext|>",
    ),
    "llava": (
        "[INST] \n <instruct> Find an image that matches the given text. <query>  is red \n [/INST]",
        "[INST]  <image> [/INST]",
        "[INST] \n <instruct> Retrieve the target image that best meets the combined criteria by using both the "
        "provided image and the image retrieval instructions:  <query>  is red \n <image> [/INST]",
    ),
}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    base = tmp_path_factory.mktemp("models")
    folders = {kind: save(base / kind) for kind, save in SAVE.items()}
    _sidecar(folders["qwen2"], min_pixels=1024, max_pixels=65536)  # GME's own would be 200,000 and more
    _sidecar(folders["llava"], square=64)
    return folders


@pytest.fixture(scope="module")
def encoder(models: dict[str, Path]) -> ComposingEncoder:
    loaded = load_encoder(f"embedding:{models['qwen3']}", device="cpu")
    assert composes(loaded)
    return loaded


def _sidecar(folder: Path, **keys: object) -> Path:
    (folder / SIDECAR).write_text(json.dumps(keys), encoding="utf-8")
    return folder


def _with(folder: Path, copy: Path, **keys: object) -> ComposingEncoder:
    shutil.copytree(folder, copy)
    loaded = load_encoder(f"embedding:{_sidecar(copy, **keys)}", device="cpu")
    assert composes(loaded)
    return loaded


def _directly(folder: Path, prompt: str, image: Image.Image | None) -> np.ndarray:
    """The last state of one input by itself, through the model with its language head."""
    model = transformers.AutoModelForImageTextToText.from_pretrained(folder).eval()
    processor = transformers.AutoProcessor.from_pretrained(folder)
    pictures = {} if image is None else {"images": [image]}
    inputs = processor(text=[prompt], **pictures, return_tensors="pt")
    with torch.no_grad():
        state = model(**inputs, output_hidden_states=True).hidden_states[-1][0, -1]
    return torch.nn.functional.normalize(state, dim=0).numpy()


@pytest.mark.parametrize("kind", ["qwen3", "qwen2", "llava"])
def test_rows_equal_a_forward_pass_of_the_authors_prompt(kind: str, models: dict[str, Path]) -> None:
    loaded = load_encoder(f"embedding:{models[kind]}", device="cpu")
    image = pictures(1)[0]
    assert composes(loaded) and (loaded.dim, loaded.name) == (DIM, kind)
    rows = [loaded.encode_texts(["is red"]), loaded.encode_images([image]), loaded.encode_composed([image], ["is red"])]
    for row, prompt, shown in zip(rows, PROMPTS[kind], (None, image, image), strict=True):
        np.testing.assert_allclose(row[0], _directly(models[kind], prompt, shown), atol=1e-5)


@pytest.mark.parametrize("kind", ["qwen3", "qwen2", "llava", "clip"])
def test_rows_are_unit_and_do_not_depend_on_the_batch(kind: str, models: dict[str, Path]) -> None:
    loaded = load_encoder(f"embedding:{models[kind]}", device="cpu", batch_size=2)
    assert composes(loaded)
    images = pictures()
    texts = [*TEXTS[:2], "  "]
    together = loaded.encode_composed(images, texts)
    one_by_one = [loaded.encode_composed([i], [t])[0] for i, t in zip(images, texts, strict=True)]
    np.testing.assert_allclose(together, np.stack(one_by_one), atol=1e-5)
    np.testing.assert_allclose(loaded.encode_texts(TEXTS), [loaded.encode_texts([t])[0] for t in TEXTS], atol=1e-5)
    alone = loaded.encode_images(images)
    np.testing.assert_allclose(alone, [loaded.encode_images([i])[0] for i in images], atol=1e-5)
    np.testing.assert_allclose(together[2], alone[2], atol=1e-5)  # a blank text asks for the image as it is
    assert np.abs(together[:2] - alone[:2]).max() > 1e-2
    assert np.abs(together[:2] - loaded.encode_texts(texts[:2])).max() > 1e-2
    for rows in (together, alone, loaded.encode_texts(["", "is red"])):
        assert (rows.dtype, rows.shape[1]) == (np.float32, loaded.dim)
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    for nothing in (loaded.encode_images([]), loaded.encode_texts([]), loaded.encode_composed([], [])):
        assert nothing.shape == (0, loaded.dim)
    with pytest.raises(ValueError, match="zip"):
        loaded.encode_composed(images, ["one text"])


def test_the_side_of_the_padding_is_not_the_folders_affair(encoder: ComposingEncoder, tmp_path: Path) -> None:
    right = load_encoder(f"embedding:{save_qwen3(tmp_path / 'right', padding_side='right')}", device="cpu")
    assert right.identity.revision == encoder.identity.revision
    np.testing.assert_allclose(right.encode_texts(TEXTS), encoder.encode_texts(TEXTS), atol=1e-6)


def test_pooling_looks_at_no_padding() -> None:
    states = torch.tensor([[[1.0], [3.0], [8.0]], [[1.0], [3.0], [8.0]]])
    mask = torch.tensor([[1, 1, 0], [0, 1, 1]])  # padded on the right, on the left
    assert pooled(states, mask, "last").tolist() == [[3], [8]]
    assert pooled(states, mask, "cls").tolist() == [[1], [3]]
    assert pooled(states, mask, "mean").tolist() == [[2], [5.5]]  # (1+3)/2, (3+8)/2


def test_the_sidecar_is_followed_and_identifies(
    encoder: ComposingEncoder, models: dict[str, Path], tmp_path: Path
) -> None:
    folder, images = models["qwen3"], pictures()
    query = _with(folder, tmp_path / "query", query_instruction="Find a dress", text_instruction="Find")
    np.testing.assert_allclose(query.encode_images(images), encoder.encode_images(images), atol=1e-6)
    assert np.abs(query.encode_composed(images, TEXTS) - encoder.encode_composed(images, TEXTS)).max() > 1e-2
    assert np.abs(query.encode_texts(TEXTS) - encoder.encode_texts(TEXTS)).max() > 1e-2
    document = _with(folder, tmp_path / "document", document_instruction="a dress")
    assert np.abs(document.encode_images(images) - encoder.encode_images(images)).max() > 1e-2
    np.testing.assert_allclose(document.encode_texts(TEXTS), encoder.encode_texts(TEXTS), atol=1e-6)
    short = _with(folder, tmp_path / "short", dim=8)
    first = encoder.encode_texts(TEXTS)[:, :8]
    np.testing.assert_allclose(
        short.encode_texts(TEXTS), first / np.linalg.norm(first, axis=1, keepdims=True), atol=1e-5)
    mean = _with(folder, tmp_path / "mean", pooling="mean")
    assert np.abs(mean.encode_texts(TEXTS) - encoder.encode_texts(TEXTS)).max() > 1e-2
    small = _with(folder, tmp_path / "small", max_pixels=2048)
    assert np.abs(small.encode_images(images) - encoder.encode_images(images)).max() > 1e-3
    revisions = [one.identity.revision for one in (encoder, query, document, short, mean, small)]
    assert len(set(revisions)) == len(revisions) and short.dim == 8
    other = load_encoder(f"embedding:{save_qwen3(tmp_path / 'other', seed=1)}", device="cpu")
    assert other.identity.revision not in revisions


def test_a_persons_text_is_only_text(encoder: ComposingEncoder, models: dict[str, Path], tmp_path: Path) -> None:
    image = pictures(1)
    plain = encoder.encode_composed(image, ["is red a dress"])
    tricky = f"is red {VISION}<|im_end|><|image_<|image_pad|>pad|> a dress"
    assert encoder.encode_composed(image, [tricky]).shape == (1, DIM)
    marked = encoder.encode_composed(image, ["is red<|image_pad|>a dress"])
    np.testing.assert_allclose(marked, plain, atol=1e-5)
    braces = encoder.encode_texts(["{{ 7 * 7 }} {% for %}"])
    assert np.isfinite(braces).all()
    cut = _with(models["qwen3"], tmp_path / "cut", max_length=3)
    np.testing.assert_allclose(cut.encode_composed(image, ["is red a " + "dress " * 99]),
                               cut.encode_composed(image, ["is red a"]), atol=1e-5)


def test_without_image_and_text_the_recipe_says_something(
    encoder: ComposingEncoder, models: dict[str, Path]
) -> None:
    prompt = PROMPTS["qwen3"][0].replace("is red", "NULL")
    np.testing.assert_allclose(encoder.encode_texts([" "])[0], _directly(models["qwen3"], prompt, None), atol=1e-5)


def test_an_image_like_a_line_and_half_precision(encoder: ComposingEncoder) -> None:
    row = encoder.encode_images([Image.new("RGB", (1200, 3), (255, 0, 0))])
    assert row.shape == (1, DIM)
    half = load_encoder(encoder.identity.spec, device="cpu", precision="bf16")
    assert composes(half) and half.identity == encoder.identity
    rows = encoder.encode_composed(pictures(), TEXTS)
    assert (half.encode_composed(pictures(), TEXTS) * rows).sum(1).min() > 0.98


def test_a_clip_model_adds_image_and_text(models: dict[str, Path]) -> None:
    folder = models["clip"]
    fused = load_encoder(f"embedding:{folder}", device="cpu")
    plain = load_encoder(f"transformers:{folder}", device="cpu")
    model = transformers.CLIPModel.from_pretrained(folder).eval()
    processor = transformers.CLIPProcessor.from_pretrained(folder)
    inputs = processor(text=TEXTS, images=pictures(), padding=True, return_tensors="pt")
    with torch.no_grad():
        total = model.get_image_features(pixel_values=inputs["pixel_values"]).pooler_output
        total = total + model.get_text_features(inputs["input_ids"], inputs["attention_mask"]).pooler_output
    assert composes(fused) and not composes(plain)
    np.testing.assert_allclose(
        fused.encode_composed(pictures(), TEXTS), torch.nn.functional.normalize(total, dim=-1).numpy(), atol=1e-5)
    np.testing.assert_array_equal(fused.encode_images(pictures()), plain.encode_images(pictures()))
    assert fused.identity.revision != plain.identity.revision


@pytest.mark.parametrize(("keys", "said"), [
    ({"poling": "last"}, r"'poling' is not usable \(Extra inputs.*Keys: pooling, query_instruction"),
    ({"pooling": "max"}, "'pooling' is not usable"),
    ({"dim": 64}, "'dim' is 64, but the model's vectors have 32 numbers"),
    ({"max_pixels": "many"}, "'max_pixels' is not usable"),
    ({"template": "{% if text %}{{ text }}"}, "cannot be read as Jinja"),
    ({"template": "{{ caption }}"}, "cannot be read as Jinja.*'caption' is undefined"),
    ({"template": "{{ text }}"}, "has no place for the image"),
])
def test_a_sidecar_that_cannot_be_followed(keys, said: str, models: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(EncoderUnavailable, match=said):
        _with(models["qwen3"], tmp_path / "copy", **keys)


def test_folders_that_are_something_else(models: dict[str, Path], tmp_path: Path) -> None:
    def refused(said: str, spec: str) -> None:
        with pytest.raises(EncoderUnavailable, match=said):
            load_encoder(spec, device="cpu")

    refused("No folder /nowhere", "embedding:/nowhere")
    refused("reads local folders only", "embedding:org/model")
    refused("No config.json in", f"embedding:{tmp_path}")
    refused("No modules.json in .* it may load as embedding:", f"sentence-transformers:{models['qwen3']}")
    (tmp_path / "adapter_config.json").write_text("{}")
    refused("Merge it into the model", f"embedding:{tmp_path}")
    config = tmp_path / "config.json"
    config.write_text('{"model_type": "own_vl", "auto_map": {"AutoModel": "modeling.Own"}}')
    (tmp_path / "modeling.py").write_text("raise SystemExit('ran')")
    refused("needs custom code", f"embedding:{tmp_path}")
    config.write_text('{"model_type": "own_vl"}')
    refused("'own_vl', which transformers .* does not know", f"embedding:{tmp_path}")
    config.write_text('{"model_type": "bert"}')
    refused("is a 'bert' model; cirque can embed with clip, qwen3_vl", f"embedding:{tmp_path}")
    config.write_text('{"model_type": ')
    refused(r"config\.json cannot be read as JSON", f"embedding:{tmp_path}")
    refused("has no chat template", f"embedding:{save_qwen3(tmp_path / 'mute', chat=None)}")
    empty = tmp_path / "empty"
    shutil.copytree(models["qwen3"], empty, ignore=shutil.ignore_patterns("*.safetensors"))
    refused("could not be loaded", f"embedding:{empty}")
    other = transformers.CLIPModel(transformers.CLIPConfig.from_pretrained(models["clip"]))
    other.save_pretrained(tmp_path / "weights")
    shutil.copy(tmp_path / "weights/model.safetensors", empty)
    refused(r"lacks \d+ weights of Qwen3VLModel, such as", f"embedding:{empty}")
    _sidecar(shutil.copytree(models["clip"], tmp_path / "clip"), pooling="mean")
    refused("is for models with a prompt", f"embedding:{tmp_path / 'clip'}")


@pytest.fixture(scope="module")
def saved(models: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of sentence-transformers: one that takes image and text together, CLIP, one of texts."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    base = tmp_path_factory.mktemp("saved")
    joint = Transformer(str(models["qwen3"]), processing_kwargs={"chat_template": {"add_generation_prompt": True}})
    prompts = {"query": "Retrieve images or text relevant to the user's query.",
               "document": "Represent the user's input."}
    pooling = Pooling(DIM, pooling_mode="lasttoken")
    transformers.BertModel(transformers.BertConfig(
        vocab_size=99, hidden_size=DIM, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
    )).save_pretrained(base / "bert")
    tokenizer(model_max_length=16).save_pretrained(base / "bert")
    parts = {"joint": [joint, pooling], "clip": [Transformer(str(models["clip"]))],
             "texts": [Transformer(str(base / "bert")), Pooling(DIM)]}
    for name, modules in parts.items():
        said = prompts if name == "joint" else None
        SentenceTransformer(modules=modules, prompts=said, device="cpu").save_pretrained(str(base / name))
    return {name: base / name for name in parts}


def test_sentence_transformers_that_takes_both_composes(
    saved: dict[str, Path], encoder: ComposingEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = load_encoder(f"sentence-transformers:{saved['joint']}", device="cpu", batch_size=2)
    assert composes(loaded) and (loaded.dim, loaded.name) == (DIM, "joint")
    images = pictures()
    # Its prompts are the recipe's instructions and its template the same, so both ways agree.
    np.testing.assert_allclose(loaded.encode_images(images), encoder.encode_images(images), atol=1e-5)
    np.testing.assert_allclose(loaded.encode_texts(TEXTS), encoder.encode_texts(TEXTS), atol=1e-5)
    rows = loaded.encode_composed(images, [*TEXTS[:2], ""])
    np.testing.assert_allclose(rows, encoder.encode_composed(images, [*TEXTS[:2], ""]), atol=1e-5)
    np.testing.assert_allclose(loaded.encode_composed(images[:1], TEXTS[:1])[0], rows[0], atol=1e-5)
    np.testing.assert_allclose(rows[2], loaded.encode_images(images)[2], atol=1e-5)

    def asked(*_: object, **__: object) -> None:
        raise AssertionError("a text was fetched")

    monkeypatch.setattr("socket.socket.connect", asked)
    address = loaded.encode_texts(["https://example.org/a.png"])
    np.testing.assert_allclose(address, encoder.encode_texts(["https://example.org/a.png"]), atol=1e-5)


def test_sentence_transformers_revisions(saved: dict[str, Path], tmp_path: Path) -> None:
    def mark(folder: Path) -> str:
        return load_encoder(f"sentence-transformers:{folder}", device="cpu").identity.revision

    copy = shutil.copytree(saved["joint"], tmp_path / "copy")
    assert mark(copy) == mark(saved["joint"])
    path = copy / "config_sentence_transformers.json"
    path.write_text(path.read_text().replace("Represent the user's input.", "Represent it."))
    assert mark(copy) != mark(saved["joint"])


def test_sentence_transformers_of_one_modality_at_a_time(saved: dict[str, Path], models: dict[str, Path]) -> None:
    loaded = load_encoder(f"sentence-transformers:{saved['clip']}", device="cpu")
    plain = load_encoder(f"transformers:{models['clip']}", device="cpu")
    assert not composes(loaded)
    np.testing.assert_allclose(loaded.encode_images(pictures()), plain.encode_images(pictures()), atol=1e-5)
    np.testing.assert_allclose(loaded.encode_texts(TEXTS), plain.encode_texts(TEXTS), atol=1e-5)
    with pytest.raises(EncoderUnavailable, match="takes text, not images"):
        load_encoder(f"sentence-transformers:{saved['texts']}", device="cpu")


def test_sentence_transformers_with_code_or_without_the_library(
    saved: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = shutil.copytree(saved["clip"], tmp_path / "copy")
    modules = json.loads((copy / "modules.json").read_text())
    (copy / "modules.json").write_text(json.dumps([{**modules[0], "type": "own_module.Own"}]))
    (copy / "own_module.py").write_text("raise SystemExit('ran')")
    with pytest.raises(EncoderUnavailable, match=r"own_module\.Own.*never runs.*embedding:"):
        load_encoder(f"sentence-transformers:{copy}")
    (copy / "modules.json").write_text("{}")
    with pytest.raises(EncoderUnavailable, match="not a JSON array"):
        load_encoder(f"sentence-transformers:{copy}")
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(EncoderUnavailable, match=r"\.venv/bin/pip install -e '\.\[embed\]'"):
        load_encoder(f"sentence-transformers:{saved['clip']}")


def test_a_gallery_is_indexed_and_searched_with_both_together(
    encoder: ComposingEncoder, tmp_path: Path
) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    rng = np.random.default_rng(0)
    for i in range(30):
        Image.fromarray(rng.integers(0, 255, (40 + i, 48, 3), dtype=np.uint8)).save(photos / f"{i:02}.png")
    home = tmp_path / "home"
    index_folder(photos, name="looks", encoder=encoder, home=home)
    pool = SearcherPool(home, lambda _: ScriptedLanguageModel("never asked"), lambda _: encoder)
    service = SearchService(pool, InMemorySessionStore(), UploadFolder(home / "uploads", max_megapixels=4))
    session = service.start("looks", method=MethodSettings(base="joint"))
    reference_id = service.gallery("looks").images[7].image_id
    turn = service.run_turn(session.session_id, "make it red", reference_id=reference_id, k=5).turn
    with Image.open(photos / "07.png") as picture:
        vector = encoder.encode_composed([picture.convert("RGB")], ["make it red"])[0]
    np.testing.assert_allclose(turn.vector, vector, atol=1e-5)
    assert len(turn.hits) == 5 and turn.merged_text == "make it red"
