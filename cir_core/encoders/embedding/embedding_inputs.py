"""Batched inputs of vision-language embedding models: prompts with images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PIL import Image

from cir_core.encoders.embedding.recipes import SIDECAR, Recipe, prompt
from cir_core.encoders.embedding.universal import Images, Texts
from cir_core.encoders.files.model_folders import without_marks
from cir_core.encoders.specs import EncoderSpec
from cir_core.errors import EncoderUnavailable


class InputReader:
    """Prepares images and texts as model inputs, by a recipe. Configures ``processor`` accordingly. Raises
    ``EncoderUnavailable`` if recipe and processor are incompatible."""

    def __init__(self, spec: EncoderSpec, recipe: Recipe, processor: Any) -> None:
        self.recipe, self.processor, self.tokenizer = recipe, processor, processor.tokenizer
        self.mark = str(getattr(processor, "image_token", ""))
        if not self.mark:
            raise EncoderUnavailable(f"The processor of '{spec.text}' names no image token, so no prompt can hold an "
                                     "image. Use a model whose processor reads images and texts together.")
        if not recipe.template and not processor.chat_template:
            raise EncoderUnavailable(f"Encoder '{spec.text}' has no chat template. Put a \"template\" into {SIDECAR} "
                                     "(docs/galleries.md).")
        self.clean: Callable[[str], str] = without_marks(self.tokenizer, self.mark)
        # Attention is causal, so tokens after the last one change nothing.
        self.tokenizer.padding_side = "right"
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        self.shrink = self._sized(spec)

    def __call__(self, images: Images, texts: Texts) -> Any:
        """Padded tensors by the model's argument names, one row per input."""
        count = len(images if images is not None else texts or ())
        prompts = [
            prompt(self.recipe, self.processor, self.mark, self._cut(text), image=images is not None)
            for text in (texts if texts is not None else [""] * count)
        ]
        # A template that writes the start token itself must not get a second one.
        start = self.tokenizer.bos_token
        special = not (start and prompts[0].startswith(start))
        pictures = {} if images is None else {"images": [[self._fitted(image)] for image in images]}
        return self.processor(text=prompts, **pictures, padding=True, add_special_tokens=special, return_tensors="pt")

    def _cut(self, text: str) -> str:
        text = self.clean(text).strip()
        ids = self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        if len(ids) <= self.recipe.max_length:
            return text
        return str(self.tokenizer.decode(ids[: self.recipe.max_length]))

    def _sized(self, spec: EncoderSpec) -> bool:
        """Give the processor the recipe's pixel limits; returns whether images must be shrunk to them before it."""
        fewest, most = self.recipe.min_pixels, self.recipe.max_pixels
        images = self.processor.image_processor
        if hasattr(images, "merge_size"):  # Qwen-style, whose "edges" are numbers of pixels
            size = dict(images.size)
            images.size = size | {
                "shortest_edge": fewest or size["shortest_edge"], "longest_edge": most or size["longest_edge"]
            }
            return False
        if fewest:
            raise EncoderUnavailable(f"{SIDECAR} of '{spec.text}' asks for min_pixels, which {type(images).__name__} "
                                     "does not know. Leave it out.")
        return most is not None

    def _fitted(self, image: Image.Image) -> Image.Image:
        if self.recipe.square:
            return image.resize((self.recipe.square, self.recipe.square), Image.Resampling.BICUBIC)
        width, height = image.size
        most = self.recipe.max_pixels
        if not self.shrink or most is None or width * height <= most:
            return image
        scale = (most / (width * height)) ** 0.5
        size = max(1, int(width * scale)), max(1, int(height * scale))
        return image.resize(size, Image.Resampling.BICUBIC)
