"""Relevance models on BLIP-2's image-text model of ``transformers`` (Li et al., 2023), as in CIRQRS.

The image encoder is frozen; the Q-Former, its tokens, word embeddings and projections begin with the checkpoint's.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
import transformers
from PIL import Image
from torch import nn
from transformers.models.blip_2.modeling_blip_2 import Blip2TextEmbeddings

from cir_core.encoders.files.fingerprint import PROBE_TEXTS, revision, transformers_marks
from cir_core.encoders.files.model_folders import without_marks
from cir_core.encoders.files.offline import hub_access, load_failure
from cir_core.encoders.specs import looks_like_path
from cir_core.encoders.torch_encoder import autocast, choose_device, choose_precision, split
from cir_core.errors import EncoderUnavailable
from cir_core.relevance.backbones.base import NewParts, Patches, Texts
from cir_core.types.records import EncoderIdentity

TEXT_LENGTH = 32    # tokens (CIRQRS)
CAPTION_WORDS = 50  # BLIP's caption processing
_BATCH = 32
_PUNCTUATION = re.compile(r'[.!"()*#:;~]')
_FILES = "config.json, weights, the tokenizer's files and preprocessor_config.json"
# Names in the checkpoint that differ from those of a RelevanceNetwork.
_RENAMED = {"embeddings.": "text_input.", "temp": "temperature"}
_PARTS = ("query_tokens", "qformer.", "vision_projection.", "text_projection.", "embeddings.")


class _ImageTextModel(transformers.Blip2ForImageTextRetrieval):  # type: ignore[no-untyped-call]
    """With the contrastive temperature ``temp``, which LAVIS's checkpoints have and transformers' class drops."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.temp = nn.Parameter(torch.ones(()))


class Blip2Backbone:
    """``blip2:/FOLDER`` or ``blip2:ORG/NAME``. Implements ``RelevanceBackbone``.

    Raises ``EncoderUnavailable`` for a missing, damaged or other model. The revision is that of what is frozen: image
    encoder, preprocessing, tokenizer and configuration; the other weights are replaced by trained ones.
    """

    def __init__(self, spec: str, *, device: str = "auto", allow_downloads: bool = False) -> None:
        self.device = choose_device(device)
        self._dtype = choose_precision("auto", self.device)
        source = _source(spec)
        with hub_access(allow_downloads):
            try:
                content, _ = transformers.PretrainedConfig.get_config_dict(source)
                _check_kind(spec, content)
                load: Callable[..., Any] = _ImageTextModel.from_pretrained
                model, info = load(source, dtype=torch.float32, output_loading_info=True)
                self._tokenizer = transformers.AutoTokenizer.from_pretrained(source, trust_remote_code=False)
                load_processor: Callable[..., Any] = transformers.AutoImageProcessor.from_pretrained
                self._processor = load_processor(source, trust_remote_code=False)
            except EncoderUnavailable:
                raise
            except Exception as error:  # OSError for missing files, ValueError, RuntimeError for shapes
                if isinstance(error, OSError) and not Path(source).is_dir() and not allow_downloads:
                    raise EncoderUnavailable(
                        f"A part of {spec} is not on this machine, and cirque does not download by itself. Set "
                        "CIRQUE_ALLOW_DOWNLOADS=true, or name a folder: blip2:/FOLDER.") from error
                raise EncoderUnavailable(f"The BLIP-2 model {spec} could not be loaded: {load_failure(error)}. It "
                                         f"needs {_FILES}.") from error
        _check_weights(spec, info["missing_keys"])
        self._config = model.config
        self._weights = _starting_weights(model, stored_temperature="temp" not in info["missing_keys"])
        vision = model.vision_model.eval().requires_grad_(False)
        self._plain = without_marks(self._tokenizer)
        self._lock = threading.Lock()
        probe = self._tokens(list(PROBE_TEXTS))["input_ids"]
        marks = transformers_marks(content, self._processor.to_dict(), probe.tolist())
        mark = revision(vision.state_dict(), marks)
        self._vision = vision.to(self.device)
        self.spec, self.identity = spec, EncoderIdentity(spec, mark, int(self._config.vision_config.hidden_size))
        self._patches = self._check_parts(int(probe.max()))

    @property
    def patches(self) -> int:
        return self._patches

    @property
    def width(self) -> int:
        return self.identity.dim

    def image_patches(self, images: Sequence[Image.Image]) -> Patches:
        """``[n, patches, width]`` float16: the image encoder's last hidden states, the class token's first. Images are
        RGB, upright. Raises ``EncoderUnavailable`` if a number is not finite."""
        rows = [np.zeros((0, self.patches, self.width), np.float16)]
        rows += [self._batch(part) for part in split(images, _BATCH)]
        return np.concatenate(rows)

    def texts(self, texts: Sequence[str]) -> Texts:
        """Token ids ``[n, length]`` of processed captions, at most 32 each."""
        tokens = self._tokens(texts)
        return Texts(tokens["input_ids"], tokens["attention_mask"])

    def vectors(self, patches: torch.Tensor) -> None:
        return None   # the Q-Former is trained already

    def new_parts(self) -> NewParts:
        qformer = self._config.qformer_config
        embeddings: Callable[..., nn.Module] = Blip2TextEmbeddings
        return NewParts(
            qformer=qformer.to_diff_dict(), texts=embeddings(qformer), patches=nn.Identity(),
            dim=int(self._config.image_text_hidden_size), tokens=int(self._config.num_query_tokens),
            weights=self._weights,
        )

    def _tokens(self, texts: Sequence[str]) -> Mapping[str, torch.Tensor]:
        limit = min(TEXT_LENGTH, int(self._tokenizer.model_max_length),
                    int(self._config.qformer_config.max_position_embeddings))
        captions = [caption(self._plain(text.lower())) for text in texts]
        with self._lock:
            found: Mapping[str, torch.Tensor] = self._tokenizer(
                captions, padding="longest", truncation=True, max_length=limit, return_tensors="pt")
        return found

    def _batch(self, images: Sequence[Image.Image]) -> Patches:
        pixels = torch.stack([
            self._processor(images=image.convert("RGB"), return_tensors="pt")["pixel_values"][0] for image in images])
        with self._lock, torch.inference_mode(), autocast(self.device, self._dtype):
            states = self._vision(pixel_values=pixels.to(self.device)).last_hidden_state
        rows = states.half().cpu().numpy()
        if not np.isfinite(rows).all():
            raise EncoderUnavailable(f"The image encoder of {self.spec} gave numbers that are not finite in half "
                                     "precision. Copy its weights again, or use another BLIP-2 model.")
        return cast(Patches, rows)

    def _check_parts(self, highest_token: int) -> int:
        """Number of patches; raises if image processor, tokenizer and weights do not belong together."""
        words = int(self._config.qformer_config.vocab_size)
        if highest_token >= words:
            raise EncoderUnavailable(f"The tokenizer of {self.spec} has more tokens than its Q-Former ({words}). "
                                     "Copy the whole repository of one model again.")
        try:
            return len(self._batch([Image.new("RGB", (64, 64))])[0])
        except (RuntimeError, ValueError, KeyError) as error:
            raise EncoderUnavailable(f"The image processor of {self.spec} does not fit its image encoder: "
                                     f"{load_failure(error)}. Copy the whole repository of one model again.") from error


def caption(text: str) -> str:
    """BLIP's caption processing: lower-case, ``.!"()*#:;~`` to spaces, at most 50 words."""
    return " ".join(_PUNCTUATION.sub(" ", text.lower()).split()[:CAPTION_WORDS])


def _source(spec: str) -> str:
    source = spec.partition(":")[2].strip()
    if not source:
        raise EncoderUnavailable(f"{spec} does not name a model. Write blip2:/FOLDER or blip2:ORG/NAME, such as "
                                 "blip2:Salesforce/blip2-itm-vit-g.")
    if not looks_like_path(source) and not Path(source).is_dir():
        return source
    folder = Path(source).expanduser()
    if not (folder / "config.json").is_file():
        raise EncoderUnavailable(f"No config.json in {folder}. Name a folder with a BLIP-2 image-text model "
                                 "(Blip2ForImageTextRetrieval), written by save_pretrained or got from the hub.")
    return str(folder)


def _check_kind(spec: str, config: Mapping[str, Any]) -> None:
    kind = str(config.get("model_type"))
    if kind != "blip-2":
        raise EncoderUnavailable(f"{spec} is a '{kind}' model, not BLIP-2. Name a Blip2ForImageTextRetrieval, such as "
                                 "blip2:Salesforce/blip2-itm-vit-g.")
    if not (config.get("qformer_config") or {}).get("use_qformer_text_input"):
        raise EncoderUnavailable(f"The Q-Former of {spec} takes no texts (use_qformer_text_input in config.json): this "
                                 "is BLIP-2 for captions. Name a Blip2ForImageTextRetrieval, such as "
                                 "blip2:Salesforce/blip2-itm-vit-g.")


def _check_weights(spec: str, missing: Sequence[str]) -> None:
    lacking = sorted(name for name in missing if name.startswith(("vision_model.", *_PARTS)))
    if lacking:
        raise EncoderUnavailable(f"The checkpoint of {spec} lacks {len(lacking)} weights of BLIP-2's image-text model, "
                                 f"such as {lacking[0]}. Name a Blip2ForImageTextRetrieval, such as "
                                 "blip2:Salesforce/blip2-itm-vit-g.")


def _starting_weights(model: nn.Module, *, stored_temperature: bool) -> dict[str, torch.Tensor]:
    """The checkpoint's tensors under the names of a ``RelevanceNetwork``."""
    found = {}
    for name, value in model.state_dict().items():
        if name.startswith(_PARTS) or (name == "temp" and stored_temperature):
            prefix = next((old for old in _RENAMED if name.startswith(old)), "")
            found[_RENAMED.get(prefix, "") + name.removeprefix(prefix)] = value
    return found
