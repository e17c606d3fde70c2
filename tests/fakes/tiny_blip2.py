"""BLIP-2's image-text model with a few thousand random weights, saved as the real one is."""

from __future__ import annotations

from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, pre_tokenizers, processors

WORDS = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "<image>", "a", "red", "blue", "dress", "with", "long", "sleeves", "more",
         "formal", "<", ">", "image"]
VISION = {"hidden_size": 24, "intermediate_size": 37, "num_hidden_layers": 1, "num_attention_heads": 2,
          "image_size": 32, "patch_size": 16, "initializer_range": 0.4}
QFORMER = {"hidden_size": 32, "intermediate_size": 37, "num_hidden_layers": 2, "num_attention_heads": 2,
           "vocab_size": len(WORDS), "max_position_embeddings": 40, "pad_token_id": 0, "use_qformer_text_input": True}
TEXT = {"model_type": "opt", "vocab_size": len(WORDS), "hidden_size": 16, "ffn_dim": 16, "num_hidden_layers": 1,
        "num_attention_heads": 2, "word_embed_proj_dim": 16, "max_position_embeddings": 32}
QUERIES, DIM, PATCHES = 3, 20, 5   # 2 x 2 patches and the class token


def tokenizer() -> transformers.PreTrainedTokenizerFast:
    words = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]", unk_token="[UNK]",
        bos_token="[CLS]", eos_token="[SEP]", additional_special_tokens=["<image>"], model_max_length=512)


def save_blip2(
    folder: Path, *, seed: int = 0, temperature: float | None = None, edge: int = 32, **qformer: object
) -> Path:
    """``temperature``: stored as LAVIS does; ``edge``: pixels of the image processor; the rest changes the Q-Former."""
    torch.manual_seed(seed)
    config = transformers.Blip2Config(
        vision_config=VISION, qformer_config=QFORMER | qformer, text_config=TEXT, num_query_tokens=QUERIES,
        image_text_hidden_size=DIM, initializer_range=0.4)
    model = transformers.Blip2ForImageTextRetrieval(config)
    with torch.no_grad():   # transformers begins with zeros and tiny numbers
        for value in model.parameters():
            value.copy_(torch.randn_like(value) * 0.2)
    model.save_pretrained(folder)
    if temperature is not None:
        weights = load_file(folder / "model.safetensors")
        save_file({**weights, "temp": torch.tensor(temperature)}, folder / "model.safetensors", {"format": "pt"})
    transformers.BlipImageProcessor(size={"height": edge, "width": edge}).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder
