"""Embedding models of a few thousand random weights, saved as the real ones are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
import transformers
from PIL import Image
from tokenizers import Tokenizer, models, pre_tokenizers, processors

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>",
           "<|video_pad|>", "<image>"]
WORDS = [
    "[UNK]", "a", "the", "red", "blue", "dress", "with", "long", "longer", "sleeves", "is", "make", "it", ".", "'", "s",
    "system", "user", "assistant", "You", "are", "helpful", "Retrieve", "images", "or", "text", "relevant", "to",
    "query", "Represent", "input", "NULL", "Find", "an", "image", "that", "matches", "given", "after", "described",
    "change", "[", "INST", "]", "<", ">", "instruct", "/",
]
CHAT = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{% for part in message.content %}"
    "{% if part.type == 'image' %}<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ part.text }}{% endif %}"
    "{% endfor %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TEXT = {"vocab_size": len(SPECIAL) + len(WORDS), "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
        "num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 4096}
ROPE = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [4, 2, 2]}
TOKENS = {"image_token_id": 5, "video_token_id": 6, "vision_start_token_id": 3, "vision_end_token_id": 4}
DIM = 32


def tokenizer(*, ends: bool = False, **options: object) -> transformers.PreTrainedTokenizerFast:
    """Words by themselves; ``ends`` puts a token before and after each text, as CLIP's does."""
    vocabulary = {word: i for i, word in enumerate([*SPECIAL, *WORDS])}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    if ends:
        words.post_processor = processors.TemplateProcessing(
            single=f"{SPECIAL[1]} $A {SPECIAL[2]}", special_tokens=[(SPECIAL[1], 1), (SPECIAL[2], 2)])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token=SPECIAL[0], eos_token=SPECIAL[0], unk_token="[UNK]",
        additional_special_tokens=SPECIAL[1:], **options,
    )


def save_qwen3(folder: Path, *, seed: int = 0, chat: str | None = CHAT, padding_side: str = "left") -> Path:
    torch.manual_seed(seed)
    config = transformers.Qwen3VLConfig(
        text_config={**TEXT, "head_dim": 16, "rope_parameters": {**ROPE, "mrope_interleaved": True}},
        vision_config={"depth": 2, "hidden_size": 32, "intermediate_size": 32, "num_heads": 2, "patch_size": 8,
                       "spatial_merge_size": 2, "temporal_patch_size": 2, "out_hidden_size": 32,
                       "num_position_embeddings": 64, "deepstack_visual_indexes": [0]}, **TOKENS)
    _louder(transformers.Qwen3VLForConditionalGeneration(config)).save_pretrained(folder)
    _save_qwen_processor(folder, "Qwen3VLProcessor", "Qwen3VLVideoProcessor", 8, chat, padding_side)
    return folder


def save_qwen2(folder: Path) -> Path:
    torch.manual_seed(0)
    config = transformers.Qwen2VLConfig(
        text_config={**TEXT, "rope_parameters": ROPE},
        vision_config={"depth": 1, "embed_dim": 32, "hidden_size": 32, "num_heads": 2, "mlp_ratio": 2,
                       "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2}, **TOKENS)
    _louder(transformers.Qwen2VLForConditionalGeneration(config)).save_pretrained(folder)
    _save_qwen_processor(folder, "Qwen2VLProcessor", "Qwen2VLVideoProcessor", 14, None, "left")
    return folder


def save_llava_next(folder: Path) -> Path:
    torch.manual_seed(0)
    config = transformers.LlavaNextConfig(
        text_config=transformers.MistralConfig(**{**TEXT, "head_dim": 16}),
        vision_config=transformers.CLIPVisionConfig(
            hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2, image_size=32,
            patch_size=16),
        image_token_index=7, image_grid_pinpoints=[[32, 64], [64, 32], [64, 64]], image_seq_length=4)
    _louder(transformers.LlavaNextForConditionalGeneration(config)).save_pretrained(folder)
    images = transformers.LlavaNextImageProcessor(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32},
        image_grid_pinpoints=config.image_grid_pinpoints)
    transformers.LlavaNextProcessor(
        images, tokenizer(), patch_size=16, vision_feature_select_strategy="default", image_token="<image>",
        num_additional_image_tokens=1,
    ).save_pretrained(folder)
    return folder


def save_clip(folder: Path) -> Path:
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 37, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.CLIPConfig(
        text_config={**sizes, "vocab_size": TEXT["vocab_size"], "max_position_embeddings": 16, "pad_token_id": 0,
                     "bos_token_id": 1, "eos_token_id": 2},
        vision_config={**sizes, "image_size": 32, "patch_size": 16}, projection_dim=20)
    transformers.CLIPModel(config).save_pretrained(folder)
    images = transformers.CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})
    transformers.CLIPProcessor(images, tokenizer(ends=True, model_max_length=16)).save_pretrained(folder)
    return folder


def pictures(count: int = 3) -> list[Image.Image]:
    """Noise of different heights, so that no two take the same number of patches."""
    rng = np.random.default_rng(0)
    return [Image.fromarray(rng.integers(0, 255, (64 + 32 * i, 64, 3), dtype=np.uint8)) for i in range(count)]


def _louder(model: transformers.PreTrainedModel) -> transformers.PreTrainedModel:
    """Weights of 0.02 as new models have them say almost the same of every input."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.mul_(8)
    return model


def _save_qwen_processor(
    folder: Path, kind: str, video_kind: str, patch_size: int, chat: str | None, padding_side: str
) -> None:
    size = {"shortest_edge": 1024, "longest_edge": 65536}
    patches = {"patch_size": patch_size, "temporal_patch_size": 2, "merge_size": 2, "size": size}
    images = transformers.Qwen2VLImageProcessor(**patches)
    video = getattr(transformers, video_kind)(**patches)
    words = tokenizer(padding_side=padding_side)
    words.image_token, words.video_token = "<|image_pad|>", "<|video_pad|>"
    getattr(transformers, kind)(images, words, video, chat_template=chat).save_pretrained(folder)
