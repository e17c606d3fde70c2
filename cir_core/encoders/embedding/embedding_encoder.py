"""``embedding:`` encoders: vision-language models of transformers that embed images, texts and both.

Qwen3-VL-Embedding, GME (Qwen2-VL), BGE-VL-MLLM (LLaVA-NeXT) and similar models: the
input goes through a chat template, one state of the last layer is the vector. Prompts and pooling
are set by a :class:`~cir_core.encoders.embedding.recipes.Recipe`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from PIL import Image

from cir_core.encoders.embedding.recipes import SIDECAR, Recipe, prompt, recipe_of
from cir_core.encoders.embedding.universal import ComposingUniversalEncoder, Images, Texts, rows_of_pairs
from cir_core.encoders.files.fingerprint import PROBE_TEXTS, embedding_marks, revision
from cir_core.encoders.files.model_folders import (
    known_model_type,
    model_folder,
    precision_for,
    read_object,
    without_marks,
)
from cir_core.encoders.files.offline import hub_access, load_failure
from cir_core.encoders.specs import EncoderSpec
from cir_core.encoders.torch_encoder import TorchEncoder, choose_device, to_device
from cir_core.encoders.transformers_encoder import load_transformers
from cir_core.errors import EncoderUnavailable
from cir_core.types.records import EncoderIdentity, Matrix

_LATE_FUSION = {"fusion": "sum"}  # in the revision: distinguishes it from the plain dual encoder, which cannot compose
_BATCH = 8  # an image takes up to some two thousand tokens here


def load_embedding(
    spec: EncoderSpec, *, device: str, precision: str, batch_size: int
) -> ComposingUniversalEncoder | TorchEncoder:
    """The encoder of an ``embedding:`` spec, from a local folder. Raises ``EncoderUnavailable``."""
    chosen = choose_device(device)
    folder = model_folder(spec, "config.json")
    config = read_object(folder / "config.json")
    if known_model_type(spec, folder, config) == "clip":
        if (folder / SIDECAR).is_file():
            raise EncoderUnavailable(f"{folder / SIDECAR} is for models with a prompt; a CLIP model has none and adds "
                                     "image and text. Remove the file.")
        return load_transformers(
            spec, device=device, precision=precision, allow_downloads=False, batch_size=batch_size,
            kind=LateFusionEncoder, marks=_LATE_FUSION,
        )
    recipe = recipe_of(spec, folder, str(config["model_type"]))
    model, processor = _loaded(spec, folder)
    dtype = precision_for(precision, chosen, next(model.parameters()).dtype)
    reader = InputReader(spec, recipe, processor)
    probe = processor.tokenizer(list(PROBE_TEXTS), verbose=False)["input_ids"]
    chat = "" if recipe.template else str(processor.chat_template)
    mark = revision(model.state_dict(), {
        **embedding_marks(config, processor.image_processor.to_dict(), probe, chat=chat),
        "recipe": recipe.model_dump(exclude_defaults=True),
    })
    model = model.to(device=chosen, dtype=dtype).eval()

    def embed(images: Images, texts: Texts) -> torch.Tensor:
        inputs = to_device(dict(reader(images, texts)), chosen)
        states = model(**inputs, use_cache=False).last_hidden_state
        return pooled(states, inputs["attention_mask"], recipe.pooling)[:, : recipe.dim]

    dim = int(model.config.get_text_config().hidden_size)
    if recipe.dim is not None and recipe.dim > dim:
        raise EncoderUnavailable(f"{folder / SIDECAR}: 'dim' is {recipe.dim}, but the model's vectors have {dim} "
                                 "numbers.")
    return ComposingUniversalEncoder(
        identity=EncoderIdentity(spec.text, mark, recipe.dim or dim), name=spec.name, model=model, embed=embed,
        device=chosen, dtype=dtype, batch_size=min(batch_size, _BATCH),
    )


def pooled(states: torch.Tensor, mask: torch.Tensor, pooling: str) -> torch.Tensor:
    """Pool states ``[n, tokens, dim]`` to ``[n, dim]``; ``mask`` ``[n, tokens]`` is 0 for padding. Works for padding on
    either side."""
    if pooling == "mean":
        weights = mask.unsqueeze(-1).to(states.dtype)
        return (states * weights).sum(1) / weights.sum(1)
    places = torch.arange(mask.shape[1], device=mask.device)
    chosen = (mask * places).argmax(1) if pooling == "last" else mask.argmax(1)
    return states[torch.arange(len(states), device=states.device), chosen]


def _loaded(spec: EncoderSpec, folder: Path) -> tuple[Any, Any]:
    """Model (in the precision it is stored in) and processor. Code in the folder is not run."""
    reports: Any = transformers.logging
    verbosity = reports.get_verbosity()
    with hub_access(False):
        try:
            # It would report the language model's head as unexpected; relevant mismatches are checked below.
            reports.set_verbosity_error()
            model, info = transformers.AutoModel.from_pretrained(
                folder, dtype="auto", output_loading_info=True, trust_remote_code=False, local_files_only=True
            )
            load_processor: Any = transformers.AutoProcessor.from_pretrained
            processor = load_processor(folder, trust_remote_code=False, local_files_only=True)
        except Exception as error:  # OSError for missing files, ValueError, RuntimeError for shapes
            raise EncoderUnavailable(f"Encoder '{spec.text}' could not be loaded: {load_failure(error)}. The folder "
                                     "needs config.json, weights, the tokenizer's files and the "
                                     "processor's.") from error
        finally:
            reports.set_verbosity(verbosity)
    if missing := info["missing_keys"]:
        raise EncoderUnavailable(f"The checkpoint of '{spec.text}' lacks {len(missing)} weights of "
                                 f"{type(model).__name__}, such as {min(missing)}. Copy the folder again, or check "
                                 "that its config.json is the weights' own.")
    for part in ("tokenizer", "image_processor"):
        if not hasattr(processor, part):
            raise EncoderUnavailable(f"Encoder '{spec.text}' has no {part.replace('_', ' ')}: "
                                     f"{type(processor).__name__} was found. A gallery needs a model for images and "
                                     "texts.")
    return model, processor


class LateFusionEncoder(TorchEncoder):
    """Dual encoder with additive composition, for CLIP-sized BGE-VL (MMRet) and plain CLIP. Implements
    ``ComposingEncoder``.

    The query is the sum of the projected image and text features, not normalised before:
    MegaPairs (Zhou et al., 2412.14475) trained its CLIP models this way, as did UniIR its score fusion.
    """

    def encode_composed(self, images: Sequence[Image.Image], texts: Sequence[str]) -> Matrix:
        """``[n, dim]`` float32 unit rows. A blank text gives the vector of the image alone."""
        return rows_of_pairs(images, texts, self.encode_images, self._sums, self._empty())

    def _sums(self, pairs: Sequence[tuple[Image.Image, str]]) -> Matrix:
        return self._of_pairs(pairs, lambda pixels, tokens: self._embed_images(pixels) + self._embed_texts(tokens))


class InputReader:
    """Prepares images and texts as model inputs, by a recipe. Configures ``processor`` accordingly. Raises
    ``EncoderUnavailable`` if recipe and processor are incompatible."""

    def __init__(self, spec: EncoderSpec, recipe: Recipe, processor: Any) -> None:
        self.recipe, self.processor, self.tokenizer = recipe, processor, processor.tokenizer
        self.mark = str(getattr(processor, "image_token", ""))
        if not self.mark:
            raise EncoderUnavailable(f"The processor of '{spec.text}' names no image token, so no prompt can contain "
                                     "an image. Use a model whose processor reads images and texts together.")
        if not recipe.template and not processor.chat_template:
            raise EncoderUnavailable(f"Encoder '{spec.text}' has no chat template. Put a \"template\" into {SIDECAR} "
                                     "(docs/how-to/composing-encoders.md).")
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
