"""transformers' CLIP, SigLIP and BLIP with random weights, saved and loaded from a folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from PIL import Image
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from cir_core.encoders import load_encoder
from cir_core.errors import EncoderUnavailable

TEXTS = ["a red dress", "blue dress with long sleeves", "red " * 40]
VISION = {"hidden_size": 32, "intermediate_size": 37, "num_hidden_layers": 1, "num_attention_heads": 2,
          "image_size": 32, "patch_size": 16}
WORDS = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "a", "red", "blue", "dress", "with", "long", "sleeves"]
TEXT = {"hidden_size": 32, "intermediate_size": 37, "num_hidden_layers": 1, "num_attention_heads": 2,
        "vocab_size": len(WORDS), "max_position_embeddings": 16, "pad_token_id": 0, "bos_token_id": 1,
        "eos_token_id": 2}


def _tokenizer() -> transformers.PreTrainedTokenizerFast:
    words = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]", unk_token="[UNK]",
        bos_token="[CLS]", eos_token="[SEP]", model_max_length=16,
    )


def _save(kind: str, folder: Path) -> Path:
    torch.manual_seed(0)
    size = {"height": 32, "width": 32}
    if kind == "clip":
        config = transformers.CLIPConfig(text_config=TEXT, vision_config=VISION, projection_dim=20)
        model, processor = transformers.CLIPModel(config), transformers.CLIPImageProcessor(
            size={"shortest_edge": 32}, crop_size=size)
    elif kind == "siglip":
        config = transformers.SiglipConfig(text_config=TEXT, vision_config=VISION)
        model, processor = transformers.SiglipModel(config), transformers.SiglipImageProcessor(size=size)
    else:
        config = transformers.BlipConfig(
            text_config=TEXT | {"encoder_hidden_size": 32, "sep_token_id": 2}, vision_config=VISION,
            image_text_hidden_size=24)
        model = transformers.BlipForImageTextRetrieval(config)
        processor = transformers.BlipImageProcessor(size=size)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    _tokenizer().save_pretrained(folder)
    return folder


def _images() -> list[Image.Image]:
    rng = np.random.default_rng(0)
    return [Image.fromarray(rng.integers(0, 255, (40, 50, 3), dtype=np.uint8)) for _ in range(3)]


def _directly(kind: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    processor = transformers.AutoImageProcessor.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    pixels = processor(images=_images(), return_tensors="pt")
    padding = "max_length" if kind == "siglip" else True
    tokens = tokenizer(TEXTS, padding=padding, truncation=True, max_length=16, return_tensors="pt")
    keep = ("input_ids",) if kind == "siglip" else ("input_ids", "attention_mask")
    tokens = {name: tokens[name] for name in keep}
    with torch.no_grad():
        if kind == "blip":
            model = transformers.BlipForImageTextRetrieval.from_pretrained(folder).eval()
            images = model.vision_proj(model.vision_model(**pixels)[0][:, 0])
            texts = model.text_proj(model.text_encoder(**tokens)[0][:, 0])
        else:
            output = transformers.AutoModel.from_pretrained(folder).eval()(**tokens, **pixels)
            images, texts = output.image_embeds, output.text_embeds
    return (torch.nn.functional.normalize(images, dim=-1).numpy(),
            torch.nn.functional.normalize(texts, dim=-1).numpy())


@pytest.mark.parametrize(("kind", "dim"), [("clip", 20), ("siglip", 32), ("blip", 24)])
def test_rows_equal_a_direct_forward_pass(kind: str, dim: int, tmp_path: Path) -> None:
    folder = _save(kind, tmp_path / kind)
    encoder = load_encoder(f"transformers:{folder}", device="cpu")
    images, texts = _directly(kind, folder)
    assert (encoder.dim, encoder.name) == (dim, kind)
    np.testing.assert_allclose(encoder.encode_images(_images()), images, atol=1e-5)
    np.testing.assert_allclose(encoder.encode_texts(TEXTS), texts, atol=1e-5)
    assert encoder.encode_texts([]).shape == (0, dim)
    again = load_encoder(f"transformers:{folder}", device="cpu", batch_size=1)
    assert again.identity == encoder.identity
    np.testing.assert_allclose(again.encode_texts(TEXTS), encoder.encode_texts(TEXTS), atol=1e-5)
    prepared = [encoder.prepare(image) for image in _images()]
    np.testing.assert_allclose(encoder.encode_prepared(prepared), images, atol=1e-5)


def test_a_checkpoint_without_the_projections_is_refused(tmp_path: Path) -> None:
    folder = _save("blip", tmp_path / "blip")
    config = transformers.BlipConfig.from_pretrained(folder)
    transformers.BlipModel(config).save_pretrained(folder)
    with pytest.raises(EncoderUnavailable, match="blip-itm"):
        load_encoder(f"transformers:{folder}")


def test_other_families_are_refused(tmp_path: Path) -> None:
    transformers.BertConfig().save_pretrained(tmp_path)
    with pytest.raises(EncoderUnavailable, match="'bert' model"):
        load_encoder(f"transformers:{tmp_path}")


@pytest.mark.parametrize(("spec", "said"), [
    ("transformers:/nowhere", "No config.json in /nowhere"),
    ("transformers:org/absent", "cirque encoders fetch transformers:org/absent"),
])
def test_absent_models_are_not_fetched(spec: str, said: str) -> None:
    with pytest.raises(EncoderUnavailable) as caught:
        load_encoder(spec)
    assert said in str(caught.value)
