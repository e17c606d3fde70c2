"""Recipes of vision-language embedding models: prompts, pooling, sizes.

A checkpoint contains none of them, and another prompt or pooling gives other vectors. A recipe comes from the model's
type, overridden by ``cirque_embedding.json`` in its folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cir_core.encoders.files.model_folders import read_object
from cir_core.encoders.specs import EncoderSpec
from cir_core.errors import EncoderUnavailable

SIDECAR = "cirque_embedding.json"


class Recipe(BaseModel):
    """Schema of ``cirque_embedding.json``."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    pooling: Literal["last", "mean", "cls"] = "last"
    query_instruction: str = ""            # for an image with a text
    text_instruction: str | None = None    # for a text alone; None: the query's
    document_instruction: str = ""         # for a gallery image
    template: str = ""                     # Jinja of instruction, image, text; "": the chat template
    empty: str = ""                        # text used when there is neither image nor text
    min_pixels: int | None = Field(None, gt=0)
    max_pixels: int | None = Field(None, gt=0)
    square: int | None = Field(None, gt=0)        # squash images to this side first
    max_length: int = Field(1024, gt=0)           # tokens of the text
    dim: int | None = Field(None, gt=0)           # keep the first numbers only (Matryoshka)

    def instruction(self, *, image: bool, text: bool) -> str:
        """The instruction for such an input."""
        if not text and image:
            return self.document_instruction
        if image or self.text_instruction is None:
            return self.query_instruction
        return self.text_instruction


# As used by the models' authors; the composed instruction of qwen2_vl is ours.
FAMILIES: dict[str, dict[str, Any]] = {
    "qwen3_vl": {  # Qwen3-VL-Embedding
        "query_instruction": "Retrieve images or text relevant to the user's query.",
        "document_instruction": "Represent the user's input.", "empty": "NULL",
        "min_pixels": 4 * 32 * 32, "max_pixels": 1800 * 32 * 32,
    },
    "qwen2_vl": {  # GME
        "query_instruction": "Find an image that matches the given image after the described change.",
        "text_instruction": "Find an image that matches the given text.",
        "document_instruction": "You are a helpful assistant.",
        "template": "<|im_start|>system\n{{ instruction }}<|im_end|>\n<|im_start|>user\n"
                    "{% if image %}<|vision_start|>{{ image }}<|vision_end|>{% endif %}{{ text }}<|im_end|>\n"
                    "<|im_start|>assistant\n<|endoftext|>",
        "min_pixels": 256 * 28 * 28, "max_pixels": 1280 * 28 * 28,
    },
    "qwen2_5_vl": {"min_pixels": 4 * 28 * 28, "max_pixels": 1280 * 28 * 28},
    "llava_next": {  # BGE-VL-MLLM (MMRet-MLLM)
        "query_instruction": "Retrieve the target image that best meets the combined criteria by using both the "
                             "provided image and the image retrieval instructions: ",
        "text_instruction": "Find an image that matches the given text.",
        "template": "[INST] {% if text %}\n <instruct> {{ instruction }} <query>  {{ text }} \n{% endif %}"
                    "{% if image %} {{ image }}{% endif %} [/INST]",
        "square": 512,
    },
}
"""Defaults by model type, if the folder has no other settings."""


def recipe_of(spec: EncoderSpec, folder: Path, model_type: str) -> Recipe:
    """The recipe of the model in ``folder``. Raises ``EncoderUnavailable``."""
    path = folder / SIDECAR
    if not path.is_file() and model_type not in FAMILIES:
        raise EncoderUnavailable(f"Encoder '{spec.text}' is a '{model_type}' model; cirque can embed with clip, "
                                 f"{', '.join(FAMILIES)}. Describe it in {path} (docs/how-to/composing-encoders.md): "
                                 f"at least {{\"pooling\": \"last\"}}.")
    own = read_object(path) if path.is_file() else {}
    try:
        recipe = Recipe.model_validate({**FAMILIES.get(model_type, {}), **own})
        _check_slots(path, recipe.template)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise EncoderUnavailable(f"{path}: '{key}' is not usable ({first['msg']}). Keys: "
                                 f"{', '.join(Recipe.model_fields)}.") from error
    except TemplateError as error:
        raise EncoderUnavailable(f"{path}: the template cannot be read as Jinja ({error}). It may use instruction, "
                                 "image and text.") from error
    return recipe


def prompt(recipe: Recipe, processor: Any, image_mark: str, text: str, *, image: bool) -> str:
    """One input in the model's template, with ``image_mark`` in place of the image. An empty text or a missing image
    leaves no slot behind."""
    instruction = recipe.instruction(image=image, text=bool(text))
    text = text if text or image else recipe.empty
    if recipe.template:
        made: str = _compiled(recipe.template).render(
            instruction=instruction, image=image_mark if image else "", text=text
        )
        return made
    content: list[dict[str, str]] = [{"type": "image"}] if image else []
    if text:
        content.append({"type": "text", "text": text})
    conversation: list[dict[str, Any]] = [{"role": "user", "content": content}]
    if instruction:
        conversation.insert(0, {"role": "system", "content": [{"type": "text", "text": instruction}]})
    chat: str = processor.apply_chat_template(conversation, tokenize=False, add_generation_prompt=True)
    return chat


def _check_slots(path: Path, template: str) -> None:
    """Raise ``EncoderUnavailable`` (or Jinja's error) for a template that omits an input."""
    if not template:
        return
    made = _compiled(template)
    for text in ("", "TEXT"):
        rendered = made.render(instruction="", image="IMAGE", text=text)
        if rendered.count("IMAGE") != 1 or text not in rendered:
            raise EncoderUnavailable(f"{path}: the template has no place for the "
                                     f"{'text' if rendered.count('IMAGE') == 1 else 'image'}, or more than one for the "
                                     "image. Write {{ image }} once and {{ text }} where they go.")


def _compiled(template: str) -> Any:
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True)
    return environment.from_string(template)
