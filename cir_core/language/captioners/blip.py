"""Local captioning with BLIP and BLIP-2 of transformers, from a folder. Reproducible nucleus sampling: every row
samples from its own generator.

Holtzman et al., ICLR 2020. transformers samples from torch's global generator, which
threads and the neighbours in a batch share; here noise is added to the logits instead, and
the largest taken (Gumbel-max: the argmax of logits and Gumbel noise is a sample from their softmax).
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import torch
import transformers
from PIL import Image
from transformers import LogitsProcessor

from cir_core.encoders.files.fingerprint import PROBE_TEXTS, revision, transformers_marks
from cir_core.encoders.files.offline import hub_access, load_failure
from cir_core.encoders.torch_encoder import autocast, choose_device, choose_precision, split
from cir_core.errors import LanguageModelError, LanguageModelUnavailable, Stopped, UnsupportedTask
from cir_core.language.base import Observer
from cir_core.language.tasks import A, CaptionAnswer, CaptionTask, Task
from cir_core.types.composition import Usage


def seed_of(image: Image.Image, sample: int) -> int:
    """63 bits of a SHA-256 over the pixels and the sample number."""
    digest = hashlib.sha256(f"{sample} {image.mode} {image.size} ".encode() + image.tobytes())
    return int.from_bytes(digest.digest()[:8], "big") >> 1


class NucleusNoise(LogitsProcessor):
    """Makes greedy decoding sample from the smallest set of tokens whose probabilities reach ``top_p``. One seed per
    row of the batch."""

    def __init__(self, seeds: Sequence[int], top_p: float) -> None:
        # On the CPU, so that every device samples the same.
        self._generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        self._top_p = top_p

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        scores = scores.float()
        ordered, places = scores.softmax(-1).sort(dim=-1, descending=True)
        beyond = ordered.cumsum(-1) - ordered >= self._top_p   # the tokens before already reach it
        outside = torch.zeros_like(beyond).scatter(-1, places, beyond)
        noise = torch.stack([
            -torch.empty(scores.shape[-1]).exponential_(generator=generator).log()
            for generator in self._generators
        ])
        return (scores + noise.to(scores.device)).masked_fill(outside, -torch.inf)


_CLASSES = {"blip": "BlipForConditionalGeneration", "blip-2": "Blip2ForConditionalGeneration"}
_NO_PIXELS = "the captioner looks at pixels, and there were none; add captions to the gallery's manifest"
_NO_WORDS = "the captioner found no words for this image"


class BlipCaptioner:
    """Caption role only. Implements ``LanguageModel``; offline and thread-safe.

    ``path`` is a folder with config.json, weights, the tokenizer's files and preprocessor_config.json, as from the hub
    or ``save_pretrained``. ``device`` and ``precision`` are those of encoders, but ``auto`` is bf16 on cuda: T5, inside
    some of BLIP-2, overflows fp16. ``prompt`` is the beginning of every caption for BLIP ("a photo of", removed from
    the answer) and an instruction for BLIP-2 ("Question: what is in the picture? Answer:").

    Sample 0 is the best of ``beams`` beams; others use nucleus sampling with ``top_p``,
    deterministic for the same pixels and sample number. Captions have at
    most ``max_tokens`` tokens. All of this is in the name, which is ``blip:<folder>@<8 hex>``.

    Raises ``LanguageModelUnavailable`` for a folder without such a model, ``EncoderUnavailable``
    for a device or precision that cannot be used.
    """

    sees = True

    def __init__(
        self, path: Path | str, device: str = "auto", precision: str = "auto", *, prompt: str = "",
        beams: int = 3, top_p: float = 0.9, max_tokens: int = 40, batch_size: int = 8,
    ) -> None:
        folder = Path(path).expanduser()
        self._device = choose_device(device)
        on_cuda = precision == "auto" and self._device.type == "cuda"
        self._dtype = choose_precision("bf16" if on_cuda else precision, self._device)
        self._beams, self._top_p, self._max_tokens, self._batch_size = beams, top_p, max_tokens, batch_size
        model, self._tokenizer, self._processor, config = _load(folder)
        self._prompt_ids: list[int] = self._tokenizer(prompt)["input_ids"]
        self._has_prompt = bool(prompt)
        probe = self._tokenizer(list(PROBE_TEXTS))["input_ids"]
        mark = revision(model.state_dict(), transformers_marks(config, self._processor.to_dict(), probe) | {
            "prompt": prompt, "beams": beams, "top_p": top_p, "max_tokens": max_tokens,
        })
        self.name = f"blip:{folder.resolve().name}@{mark[:8]}"
        # Half the memory in half precision; BLIP-2 has up to twelve billion weights.
        self._model = model.eval().requires_grad_(False).to(device=self._device, dtype=self._dtype)
        self._is_second = config["model_type"] == "blip-2"
        self._lock = threading.Lock()

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        """The answer to a caption task. Raises ``UnsupportedTask`` for others and ``Stopped``."""
        if not isinstance(task, CaptionTask):
            raise UnsupportedTask(f"{self.name} cannot fill the role '{task.role}'; it captions. Connect a language "
                                  "model for this (docs/how-to/language-models.md).")
        if task.picture.load is None:
            return cast(A, CaptionAnswer(caption="", notes=(_NO_PIXELS,)))
        (caption,) = self._captions([task.picture.load()], task.sample, watch)
        return cast(A, CaptionAnswer(caption=caption, notes=() if caption else (_NO_WORDS,)))

    def captions(self, images: Sequence[Image.Image], sample: int = 0) -> list[str]:
        """A caption for each image, in batches, identical to those of :meth:`complete`."""
        return [caption for part in split(images, self._batch_size) for caption in self._captions(part, sample, None)]

    def _captions(self, images: Sequence[Image.Image], sample: int, watch: Observer | None) -> list[str]:
        rgb = [image.convert("RGB") for image in images]
        pixels = self._processor(images=rgb, return_tensors="pt")["pixel_values"].to(self._device, self._dtype)
        options: dict[str, Any] = {"num_beams": self._beams}
        if sample > 0:
            noise = NucleusNoise([seed_of(image, sample) for image in rgb], self._top_p)
            options = {"num_beams": 1, "logits_processor": transformers.LogitsProcessorList([noise])}
        if watch is not None:
            options["stopping_criteria"] = transformers.StoppingCriteriaList([_Asked(watch)])
        with self._lock, torch.inference_mode(), autocast(self._device, self._dtype):
            if watch is not None and watch.stopped:
                raise Stopped(f"Stopped before {self.name} began. Search again to ask once more.")
            tokens = self._generate(pixels, options)
            texts = self._tokenizer.batch_decode(tokens, skip_special_tokens=True)
        if watch is not None:
            if watch.stopped:
                raise Stopped(f"Stopped before {self.name} had answered. Search again to ask once more.")
            # Nothing was sent to a server, so it does not count as a call.
            watch.spent(Usage(completion_tokens=int(tokens.numel()), models=(self.name,)))
        return [_tidy(text) for text in texts]

    def _generate(self, pixels: torch.Tensor, options: dict[str, Any]) -> torch.Tensor:
        """``[n, tokens]``: the tokens after the prompt."""
        model = self._model
        common = {"max_new_tokens": self._max_tokens, "do_sample": False, **options}
        if not self._is_second:
            # The model drops the end token and puts its own start token first.
            ids = self._rows(self._prompt_ids, pixels) if self._has_prompt else None
            begun = len(self._prompt_ids) - 1 if self._has_prompt else 1
            return cast(torch.Tensor, model.generate(pixel_values=pixels, input_ids=ids, **common)[:, begun:])
        seen = [model.config.image_token_id] * model.config.num_query_tokens
        ids = self._rows(seen + self._prompt_ids, pixels)
        tokens = model.generate(pixel_values=pixels, input_ids=ids, attention_mask=torch.ones_like(ids), **common)
        # A decoder repeats its prompt; T5 only answers.
        return cast(torch.Tensor, tokens if model.config.is_encoder_decoder else tokens[:, ids.shape[1]:])

    def _rows(self, ids: list[int], pixels: torch.Tensor) -> torch.Tensor:
        return torch.tensor([ids], device=self._device).repeat(len(pixels), 1)


class _Asked(transformers.StoppingCriteria):
    """Ends every row at the next token once the watch requests a stop."""

    def __init__(self, watch: Observer) -> None:
        self._watch = watch

    def __call__(self, input_ids: torch.Tensor, scores: Any, **kwargs: Any) -> torch.Tensor:
        return torch.full((len(input_ids),), self._watch.stopped, device=input_ids.device, dtype=torch.bool)


def _load(folder: Path) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Model in its stored precision, tokenizer, image processor and config.json."""
    if not (folder / "config.json").is_file():
        raise LanguageModelUnavailable(f"No config.json in {folder}. Name a folder with a captioning BLIP or BLIP-2, "
                                       "downloaded from the hub or written by save_pretrained; cirque does not fetch "
                                       "it.")
    with hub_access(allowed=False):
        try:
            config, _ = transformers.PretrainedConfig.get_config_dict(folder, local_files_only=True)
            kind = str(config.get("model_type"))
            if kind not in _CLASSES:
                raise LanguageModelUnavailable(f"The model in {folder} is a '{kind}'; the local captioner reads BLIP "
                                               "and BLIP-2. Serve others behind an address and connect that "
                                               "(docs/how-to/language-models.md).")
            model, info = getattr(transformers, _CLASSES[kind]).from_pretrained(
                folder, dtype="auto", local_files_only=True, output_loading_info=True
            )
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
            processor = cast(Any, transformers.AutoImageProcessor).from_pretrained(folder, local_files_only=True)
        except LanguageModelError:
            raise
        except Exception as error:  # OSError for missing files, ValueError, RuntimeError for shapes
            raise LanguageModelUnavailable(f"The captioner in {folder} could not be loaded: {load_failure(error)}. The "
                                           "folder needs config.json, weights, the tokenizer's files and "
                                           "preprocessor_config.json.") from error
    if info["missing_keys"]:
        raise LanguageModelUnavailable(f"The checkpoint in {folder} lacks {len(info['missing_keys'])} weights of "
                                       f"{_CLASSES[kind]}, such as {min(info['missing_keys'])}. Use one trained for "
                                       "captioning (blip-image-captioning-…, blip2-…).")
    if kind == "blip-2" and model.config.image_token_id is None:
        raise LanguageModelUnavailable(f"The config.json in {folder} has no image_token_index, so the image has no "
                                       "place among the words. Get the current revision of the checkpoint.")
    return model, tokenizer, processor, config


def _tidy(text: str) -> str:
    line = " ".join(text.split())
    return line[:1].upper() + line[1:]
