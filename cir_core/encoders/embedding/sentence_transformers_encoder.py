"""``sentence-transformers:`` encoders: a saved SentenceTransformer for images and texts.

Its folder contains prompts, pooling, chat template and the supported input
combinations. A model that takes an image and a text as one input composes; one that takes them
only separately, such as CLIP, is a plain dual encoder here, for the other methods.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import torch

from cir_core.encoders.embedding.universal import ComposingUniversalEncoder, Images, Texts, UniversalEncoder
from cir_core.encoders.files.fingerprint import PROBE_TEXTS, embedding_marks, revision
from cir_core.encoders.files.model_folders import model_folder, precision_for, read_array, read_object, without_marks
from cir_core.encoders.files.offline import hub_access, load_failure
from cir_core.encoders.specs import EncoderSpec
from cir_core.encoders.torch_encoder import choose_device
from cir_core.errors import EncoderUnavailable
from cir_core.types.records import EncoderIdentity

_MODULES = "modules.json"
_BATCH = 8  # for models where image and text pass through a language model


def load_sentence_transformers(spec: EncoderSpec, *, device: str, precision: str, batch_size: int) -> UniversalEncoder:
    """The encoder of a ``sentence-transformers:`` spec, from a local folder. Raises ``EncoderUnavailable``. Queries get
    the model's query prompt, gallery images its document prompt."""
    chosen = choose_device(device)
    folder = model_folder(spec, _MODULES)
    _refuse_code(folder)
    model = _loaded(spec, folder)
    for modality in ("text", "image"):
        if not model.supports(modality):
            raise EncoderUnavailable(f"Encoder '{spec.text}' takes {_listed(model)}, not {modality}s. A gallery needs "
                                     "a model for images and texts.")
    composing = model.supports(("image", "text"))
    stored = next((tensor.dtype for tensor in model.parameters()), torch.float32)
    dtype = precision_for(precision, chosen, stored)
    clean = without_marks(model.tokenizer, str(getattr(model.processor, "image_token", "")))

    def embed(images: Images, texts: Texts) -> torch.Tensor:
        inputs: list[dict[str, Any]] = [{} for _ in (images if images is not None else texts or ())]
        # As dicts: a bare text that looks like a URL or a file would be loaded as an image.
        for key, values in (("image", images), ("text", None if texts is None else [clean(text) for text in texts])):
            for item, value in zip(inputs, values or (), strict=bool(values)):
                item[key] = value
        encode = model.encode_document if texts is None else model.encode_query
        rows = encode(cast(Any, inputs), batch_size=len(inputs), convert_to_tensor=True, show_progress_bar=False)
        return cast(torch.Tensor, rows)

    mark = revision(model.state_dict(), {
        "modules": _marks(folder, model), "prompts": model.prompts, "dim": model.truncate_dim,
    })
    model = model.to(device=chosen, dtype=dtype).eval()
    with torch.inference_mode():
        dim = int(embed(None, [""]).shape[1])
    kind = ComposingUniversalEncoder if composing else UniversalEncoder
    return kind(
        identity=EncoderIdentity(spec.text, mark, dim), name=spec.name, model=model, embed=embed,
        device=chosen, dtype=dtype, batch_size=min(batch_size, _BATCH) if composing else batch_size,
    )


def _refuse_code(folder: Path) -> None:
    """Raise ``EncoderUnavailable`` for a module that is not part of the library."""
    for entry in read_array(folder / _MODULES):
        kind = str(entry.get("type")) if isinstance(entry, dict) else str(entry)
        if not kind.startswith("sentence_transformers."):
            raise EncoderUnavailable(f"{folder / _MODULES} names the module {kind}, custom code, which cirque never "
                                     "runs. If its config.json is of a type that transformers knows, "
                                     f"embedding:{folder} may load it.")


def _loaded(spec: EncoderSpec, folder: Path) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise EncoderUnavailable(f"Encoder '{spec.text}' needs sentence-transformers. Install it from the checkout: "
                                 ".venv/bin/pip install -e '.[embed]'") from error
    with hub_access(False):
        try:
            return SentenceTransformer(
                str(folder), device="cpu", trust_remote_code=False, local_files_only=True,
                model_kwargs={"dtype": "auto"},
            )
        except Exception as error:  # OSError for missing files, ValueError, ImportError, KeyError
            raise EncoderUnavailable(f"Encoder '{spec.text}' could not be loaded: {load_failure(error)}. The folder "
                                     "must be what SentenceTransformer.save_pretrained wrote, or a whole repository of "
                                     "the hub.") from error


def _marks(folder: Path, model: Any) -> list[Any]:
    """Everything besides the weights that determines the vectors, module by module."""
    marks: list[Any] = []
    for entry, module in zip(read_array(folder / _MODULES), model, strict=True):
        described = module.get_config_dict() if hasattr(module, "get_config_dict") else {}
        config = folder / str(entry.get("path", "")) / "config.json"
        if hasattr(module, "processor"):
            processor = module.processor
            sizes = getattr(processor, "image_processor", processor)
            probe = module.tokenizer(list(PROBE_TEXTS), verbose=False)["input_ids"]
            described = described | embedding_marks(
                read_object(config) if config.is_file() else {}, sizes.to_dict(), probe,
                chat=str(getattr(processor, "chat_template", None)),
            )
        marks.append([type(module).__name__, described])
    return marks


def _listed(model: Any) -> str:
    return ", ".join("+".join(one) if isinstance(one, tuple) else str(one) for one in model.modalities) or "nothing"
