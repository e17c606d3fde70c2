"""BLIP and BLIP-2 (over OPT and over T5) with random weights, saved and loaded from a folder."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from PIL import Image
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from cir_core.errors import LanguageModelUnavailable, Stopped, UnsupportedTask
from cir_core.language.base import Observer
from cir_core.language.captioners.blip import BlipCaptioner, NucleusNoise, seed_of
from cir_core.language.tasks import CaptionTask, MergeTask, Picture

KINDS = ("blip", "blip-2", "blip-2-t5")
WORDS = [
    "[PAD]", "[CLS]", "[SEP]", "[UNK]", "[DEC]", "<image>", "a", "the", "red", "blue", "green", "black", "white",
    "long", "short", "dress", "shirt", "skirt", "coat", "with", "and", "of", "photo", "sleeves", "belt", "dots",
    "stripes", "collar", "buttons", "lace", "pockets", "silk", "wool", "cotton",
]
IMAGE = WORDS.index("<image>")
SMALL = {"hidden_size": 32, "intermediate_size": 37, "num_hidden_layers": 1, "num_attention_heads": 2}
VISION = SMALL | {"image_size": 32, "patch_size": 16, "initializer_range": 0.6}
SPECIAL = {"vocab_size": len(WORDS), "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}


def _tokenizer() -> transformers.PreTrainedTokenizerFast:
    words = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]", unk_token="[UNK]",
        bos_token="[CLS]", eos_token="[SEP]", additional_special_tokens=["[DEC]", "<image>"],
    )


def _model(kind: str, *, image_token: int | None = IMAGE) -> transformers.PreTrainedModel:
    if kind == "blip":
        return transformers.BlipForConditionalGeneration(transformers.BlipConfig(
            text_config=SMALL | SPECIAL | {"encoder_hidden_size": 32, "sep_token_id": 2, "bos_token_id": 4,
                                           "max_position_embeddings": 64, "initializer_range": 0.6},
            vision_config=VISION))
    if kind == "blip-2":
        text = transformers.OPTConfig(**SPECIAL, hidden_size=32, ffn_dim=37, num_hidden_layers=1, init_std=0.6,
                                      num_attention_heads=2, max_position_embeddings=64, word_embed_proj_dim=32)
    else:
        text = transformers.T5Config(**SPECIAL, d_model=32, d_kv=16, d_ff=37, num_layers=1, num_heads=2,
                                     decoder_start_token_id=0, initializer_factor=1.5)
    return transformers.Blip2ForConditionalGeneration(transformers.Blip2Config(
        text_config=text.to_dict(), vision_config=VISION, num_query_tokens=3, image_token_index=image_token,
        initializer_range=0.6, qformer_config=SMALL | {"encoder_hidden_size": 32, "vocab_size": len(WORDS)}))


def _save(kind: str, folder: Path, *, seed: int = 0, image_token: int | None = IMAGE) -> Path:
    torch.manual_seed(seed)
    _model(kind, image_token=image_token).save_pretrained(folder)
    transformers.BlipImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder)
    _tokenizer().save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {kind: _save(kind, tmp_path_factory.mktemp("models") / kind) for kind in KINDS}


@pytest.fixture(scope="module")
def captioners(folders: dict[str, Path]) -> dict[str, BlipCaptioner]:
    return {kind: BlipCaptioner(folder, "cpu", max_tokens=8, batch_size=2) for kind, folder in folders.items()}


def _images(count: int = 3) -> list[Image.Image]:
    rng = np.random.default_rng(0)
    return [Image.fromarray(rng.integers(0, 255, (40, 50, 3), dtype=np.uint8)) for _ in range(count)]


def _caption(captioner: BlipCaptioner, image: Image.Image, sample: int = 0) -> str:
    return captioner.complete(CaptionTask(Picture.of(image), sample=sample)).caption


def _directly(kind: str, folder: Path, image: Image.Image, prompt: str = "") -> str:
    """transformers' own way: processor, generate with three beams, decode."""
    pixels = transformers.AutoImageProcessor.from_pretrained(folder)(images=image, return_tensors="pt")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    options = {"num_beams": 3, "max_new_tokens": 8, "do_sample": False}
    words = tokenizer(prompt, return_tensors="pt").input_ids
    if kind == "blip":
        model = transformers.BlipForConditionalGeneration.from_pretrained(folder).eval()
        tokens = model.generate(**pixels, input_ids=words if prompt else None, **options)
    else:
        model = transformers.Blip2ForConditionalGeneration.from_pretrained(folder).eval()
        ids = torch.cat([torch.full((1, 3), IMAGE), words], dim=1)
        tokens = model.generate(**pixels, input_ids=ids, **options)
    text = tokenizer.decode(tokens[0], skip_special_tokens=True).strip()
    if kind != "blip-2-t5":
        assert text.startswith(prompt)
        text = text.removeprefix(prompt).strip()
    return text[:1].upper() + text[1:]


@pytest.mark.parametrize("prompt", ["", "a photo of"])
@pytest.mark.parametrize("kind", KINDS)
def test_captions_are_what_transformers_generates(kind: str, prompt: str, folders: dict[str, Path]) -> None:
    captioner = BlipCaptioner(folders[kind], "cpu", prompt=prompt, max_tokens=8)
    captions = [_caption(captioner, image) for image in _images()]
    assert captions == [_directly(kind, folders[kind], image, prompt) for image in _images()]
    assert all(captions) and len(set(captions)) > 1, "the image must matter"
    assert captioner.sees and captioner.name.startswith(f"blip:{kind}@")


@pytest.mark.parametrize("kind", KINDS)
def test_batches_say_what_single_images_get(kind: str, captioners: dict[str, BlipCaptioner]) -> None:
    captioner = captioners[kind]
    for sample in (0, 1):
        assert captioner.captions(_images(), sample) == [_caption(captioner, i, sample) for i in _images()]
    assert captioner.captions([]) == []


@pytest.mark.parametrize("kind", KINDS)
def test_samples_differ_repeat_and_leave_torchs_generator_alone(
    kind: str, folders: dict[str, Path], captioners: dict[str, BlipCaptioner]
) -> None:
    captioner, image = captioners[kind], _images(1)[0]
    before = torch.random.get_rng_state()
    samples = [_caption(captioner, image, n) for n in range(1, 7)]
    assert torch.equal(before, torch.random.get_rng_state())
    assert len(set(samples)) > 2
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda n: _caption(captioner, image, n), range(1, 7))) == samples
    again = BlipCaptioner(folders[kind], "cpu", max_tokens=8)
    assert again.captions([image], 3) == [samples[2]]


def test_nucleus_noise_draws_from_the_nucleus_alone() -> None:
    # 0.5 + 0.3 < 0.9 <= 0.5 + 0.3 + 0.15: three words stay, and 0.95 of the probability with them.
    logits = torch.log(torch.tensor([[0.05, 0.5, 0.15, 0.3]])).repeat(4000, 1)
    drawn = NucleusNoise(range(4000), top_p=0.9)(torch.zeros(4000, 1), logits).argmax(-1)
    shares = torch.bincount(drawn, minlength=4) / 4000
    expected = torch.tensor([0.0, 0.5, 0.15, 0.3]) / 0.95
    # Three standard deviations of a share of a half among 4,000 are 0.024.
    assert shares[0] == 0 and torch.allclose(shares, expected, atol=0.024)
    # However small, the likeliest word is always in.
    assert (NucleusNoise(range(50), top_p=0.01)(torch.zeros(50, 1), logits[:50]).argmax(-1) == 1).all()
    one, other = _images(2)
    assert len({seed_of(one, 1), seed_of(one, 2), seed_of(other, 1)}) == 3 and seed_of(one, 1) < 2**63


def test_the_name_knows_weights_and_wording_but_not_precision(folders: dict[str, Path], tmp_path: Path) -> None:
    first = BlipCaptioner(folders["blip"], "cpu")
    assert len(first.name.rpartition("@")[2]) == 8
    assert BlipCaptioner(f"{folders['blip']}/", "cpu", "bf16").name == first.name
    names = {first.name, BlipCaptioner(folders["blip"], "cpu", prompt="a photo of").name,
             BlipCaptioner(folders["blip"], "cpu", beams=1).name,
             BlipCaptioner(_save("blip", tmp_path / "blip", seed=1), "cpu").name}
    assert len(names) == 4


@pytest.mark.parametrize("kind", KINDS)
def test_half_precision_runs(kind: str, folders: dict[str, Path]) -> None:
    half = BlipCaptioner(folders[kind], "cpu", "bf16", max_tokens=8)
    assert half.captions(_images(2), 0) and half.captions(_images(2), 1)


def test_no_pixels_are_a_remark(captioners: dict[str, BlipCaptioner]) -> None:
    captioner = captioners["blip"]
    answer = captioner.complete(CaptionTask(Picture()))
    assert not answer.caption and "pixels" in answer.notes[0]
    with pytest.raises(UnsupportedTask, match="'merge'; it captions"):
        captioner.complete(MergeTask("a red dress", "make it blue"))


class StopsAfter(Observer):
    """Asks to stop when it has been looked at ``looks`` times."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks = looks

    @property
    def stopped(self) -> bool:
        self.looks -= 1
        return self.looks < 0


def test_the_watch_hears_what_it_cost_and_can_stop(captioners: dict[str, BlipCaptioner]) -> None:
    captioner, task = captioners["blip"], CaptionTask(Picture.of(_images(1)[0]))
    watch = Observer()
    captioner.complete(task, watch)
    assert (watch.usage.calls, watch.usage.models) == (0, (captioner.name,))  # nothing went to a server
    assert 1 <= watch.usage.completion_tokens <= 8
    with pytest.raises(Stopped, match=r"before .* began"):
        captioner.complete(task, StopsAfter(0))
    stopping = StopsAfter(3)
    with pytest.raises(Stopped, match="had answered"):
        captioner.complete(task, stopping)
    # A look before, one at each of three words and one after are five of three; eight words would be ten.
    assert stopping.looks == 3 - 5


def test_folders_without_a_captioner(folders: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(LanguageModelUnavailable, match=r"No config\.json in /nowhere"):
        BlipCaptioner("/nowhere", "cpu")
    transformers.BertConfig().save_pretrained(tmp_path / "bert")
    with pytest.raises(LanguageModelUnavailable, match="is a 'bert'"):
        BlipCaptioner(tmp_path / "bert", "cpu")
    config = transformers.BlipConfig.from_pretrained(folders["blip"])
    transformers.BlipForImageTextRetrieval(config).save_pretrained(tmp_path / "itm")
    _tokenizer().save_pretrained(tmp_path / "itm")
    transformers.BlipImageProcessor().save_pretrained(tmp_path / "itm")
    with pytest.raises(LanguageModelUnavailable, match="Use one trained for captioning"):
        BlipCaptioner(tmp_path / "itm", "cpu")
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare/config.json").write_text(json.dumps({"model_type": "blip"}))
    with pytest.raises(LanguageModelUnavailable, match="could not be loaded"):
        BlipCaptioner(tmp_path / "bare", "cpu")
    with pytest.raises(LanguageModelUnavailable, match="no image_token_index"):
        BlipCaptioner(_save("blip-2", tmp_path / "old", image_token=None), "cpu")
