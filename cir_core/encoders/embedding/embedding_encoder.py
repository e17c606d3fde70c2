"""``embedding:`` encoders: vision-language models of transformers that embed images, texts and both.

Qwen3-VL-Embedding, GME (Qwen2-VL), BGE-VL-MLLM (LLaVA-NeXT) and similar models: the
input goes through a chat template, one state of the last layer is the vector. Prompts and pooling
are set by a :class:`~cir_core.encoders.embedding.recipes.Recipe`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import transformers

from cir_core.encoders.embedding.embedding_inputs import InputReader
from cir_core.encoders.embedding.late_fusion import MARK, LateFusionEncoder
from cir_core.encoders.embedding.recipes import SIDECAR, recipe_of
from cir_core.encoders.embedding.universal import ComposingUniversalEncoder, Images, Texts
from cir_core.encoders.files.fingerprint import PROBE_TEXTS, embedding_marks, revision
from cir_core.encoders.files.load_failures import load_failure
from cir_core.encoders.files.model_folders import known_model_type, model_folder, precision_for, read_object
from cir_core.encoders.files.offline import hub_access
from cir_core.encoders.specs import EncoderSpec
from cir_core.encoders.torch_encoder import TorchEncoder, choose_device, to_device
from cir_core.encoders.transformers_encoder import load_transformers
from cir_core.errors import EncoderUnavailable
from cir_core.types.records import EncoderIdentity

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
            kind=LateFusionEncoder, marks=MARK,
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
    said = reports.get_verbosity()
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
            reports.set_verbosity(said)
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
