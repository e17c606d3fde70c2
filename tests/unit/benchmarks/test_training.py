"""The bundled encoder's training, on a handful of garments and a few steps."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import open_clip
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file

from benchmarks.training import losses, sample_encoder
from benchmarks.training.__main__ import main
from benchmarks.training.alignment import AlignmentRecipe, align, pooled, projected
from benchmarks.training.bpe import learn_merges, train_vocabulary, write_vocabulary
from benchmarks.training.recipe import learning_rate
from benchmarks.training.sample_data import attribute_codes, batches, jitter
from benchmarks.training.sample_model import (
    VOCABULARY_FILE,
    WEIGHTS_FILE,
    ModelInTraining,
    export,
    load_tokenizer,
    new_model,
    normalised,
)
from benchmarks.training.sample_run import TrainingRun
from benchmarks.training.sample_texts import write_partials, write_prompts
from cir_core.garments.lexicon import GROUPS, NONE
from cir_core.sample import relevance_data
from cir_core.sample.atelier.catalogue import Garment, catalogue
from cir_core.sample.evaluate_encoder import evaluate_sample_encoder, ranks_of_own
from cir_core.sample.relevance_data import IMAGE_SIZE, Pixels, rendered, shrink, take_seed

RECIPE = sample_encoder.TrainingRecipe(
    batch_size=6, captioned=4, image_epochs=1, locked_epochs=1, partials=6, prompted=2, takes=1, bfloat16=False,
    learning_rate=3e-4,
)
WITH_TEXTS = replace(RECIPE, image_epochs=0, learning_rate=sample_encoder.TrainingRecipe.learning_rate)
ALIGNMENT = AlignmentRecipe(steps=2, batch_size=6, captioned=4, partials=6, prompted=2, views=1, evaluate_every=1)


@pytest.fixture(scope="module")
def garments() -> tuple[Garment, ...]:
    return catalogue(sizes={"train": 24, "val": 6})


@pytest.fixture(scope="module")
def few() -> tuple[Garment, ...]:
    """Enough to train on."""
    return catalogue(sizes={"train": 12, "val": 3})


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("words") / VOCABULARY_FILE
    train_vocabulary(["a red dress with long sleeves", "a navy striped shirt"], path, n_merges=80)
    return path


@pytest.fixture()
def one_thread() -> Iterator[int]:
    """So small a training is quickest alone, and more so beside other work."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield 1
    torch.set_num_threads(before)


@pytest.fixture()
def patches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Coloured patches, another picture for every garment, in place of its drawing, which takes longer than a step."""
    def render(_attributes: Mapping[str, str], seed: int, *, size: int) -> Pixels:
        coarse = np.random.default_rng(seed).integers(0, 255, (8, 8, 3), dtype=np.uint8)
        return coarse.repeat(size // 8, axis=0).repeat(size // 8, axis=1)

    monkeypatch.setattr(relevance_data.draw, "render", render)


def test_merges_follow_frequency_then_the_alphabet() -> None:
    assert learn_merges(["ab ab cd"], 2) == [("a", "b</w>"), ("c", "d</w>")]
    assert learn_merges(["ab"], 5) == [("a", "b</w>")]


def test_vocabulary_file_is_reproducible_and_loads(tmp_path: Path) -> None:
    merges = learn_merges(["red red dress"], 20)
    for name in ("one.gz", "two.gz"):
        write_vocabulary(tmp_path / name, merges)
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()
    assert gzip.decompress((tmp_path / "one.gz").read_bytes()).count(b"\n") == len(merges)
    tokenizer = load_tokenizer(tmp_path / "one.gz")
    assert tokenizer.vocab_size == 512 + len(merges) + 2
    assert len(tokenizer.encode("red dress")) == 2
    assert tokenizer.decode(tokenizer.encode("a navy gown")) == "a navy gown "


def test_drawings_are_cached_and_takes_differ(tmp_path: Path, garments: tuple[Garment, ...]) -> None:
    images = rendered(garments[:2], tmp_path, size=32, takes=2, processes=1)
    assert images.shape == (2, 2, 32, 32, 3) and images.dtype == np.uint8
    assert not np.array_equal(images[0], images[1])
    assert take_seed(garments[0].seed, 0) == garments[0].seed
    files = list(tmp_path.iterdir())
    again = rendered(garments[:2], tmp_path, size=32, takes=2, processes=1)
    assert np.array_equal(images, again) and list(tmp_path.iterdir()) == files


def test_an_epoch_shows_everything_once_and_siblings_together(garments: tuple[Garment, ...]) -> None:
    train = [g for g in garments if g.split == "train"]
    pixels = np.zeros((1, len(train), 8, 8, 3), dtype=np.uint8)
    rows = [b.rows for b in batches(train, pixels, batch_size=12, rng=random.Random(0), siblings=9)]
    assert sorted(np.concatenate(rows)) == list(range(24))
    order = [train[row].family for row in np.concatenate(rows)]
    changes = sum(a != b for a, b in zip(order, order[1:], strict=False))
    assert changes == len(set(order)) - 1


def test_jitter_keeps_shape_and_nearly_the_light() -> None:
    pixels = np.full((2, 16, 16, 3), 100, dtype=np.uint8)
    out = jitter(pixels, random.Random(1))
    assert out.shape == pixels.shape and out.dtype == np.uint8
    assert out.min() >= 97 and out.max() <= 103


def test_partials_fit_their_own_garment_and_whatever_shares_the_values(
    garments: tuple[Garment, ...],
) -> None:
    batch = [g for g in garments if g.split == "train"][:12]
    codes = attribute_codes(batch)
    partials = write_partials(batch, codes, 40, random.Random(3))
    assert partials.fits.shape == (12, 40) and len(partials.texts) == 40
    assert (partials.fits.sum(axis=0) >= 1).all()
    for text, column in zip(partials.texts, partials.fits.T, strict=True):
        if text == "a dress":
            assert [bool(fit) for fit in column] == [g.category == "dress" for g in batch]


def test_prompt_book_points_at_each_group_and_category(garments: tuple[Garment, ...]) -> None:
    book = write_prompts(random.Random(0))
    start, n_values = book.spans[len(GROUPS) - 1]
    absent = start + 1 * n_values + GROUPS[-1].keys.index(NONE)  # category 1 is the shirt
    assert book.texts[absent].startswith("a shirt with no ")
    assert len(book.texts) == 3 + 3 * sum(len(group.keys) for group in GROUPS[1:])
    assert len(write_prompts(random.Random(1), 2).spans) == 2


def test_learning_rate_rises_falls_and_starts_again_for_the_locked_texts() -> None:
    recipe = sample_encoder.TrainingRecipe(locked_epochs=2, learning_rate=1.0)
    rates = [learning_rate(recipe, step, 6, 50) for step in range(300)]
    assert rates[0] < 0.05 and max(rates[:200]) > 0.98 and rates[199] < 0.01
    assert rates[200] < 0.05 and max(rates[200:]) > 0.98 and rates[-1] < 0.01


def test_losses_are_small_exactly_where_features_agree() -> None:
    eye = torch.eye(4)
    scale = torch.tensor(50.0)
    assert losses.contrastive(eye, eye, scale) < 1e-4
    assert losses.contrastive(eye, eye.roll(1, 0), scale) > 10
    fits = torch.tensor([[1.0, 0], [1, 0], [0, 1], [0, 1]])
    shared = torch.nn.functional.normalize(torch.tensor([[1.0, 1, 0, 0], [0, 0, 1, 1]]), dim=1)
    assert losses.multi_positive(eye, shared, fits, scale).abs() < 1e-4
    assert losses.multi_positive(eye, shared.flip(0), fits, scale) > 10


def test_export_loads_through_open_clip(tmp_path: Path, vocabulary: Path) -> None:
    torch.manual_seed(0)
    tokenizer = load_tokenizer(vocabulary)
    model = new_model(tokenizer.vocab_size).eval()
    export(tmp_path, model.state_dict(), vocabulary)
    assert (tmp_path / WEIGHTS_FILE).stat().st_size <= 10_000_000
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]
    assert load_file(tmp_path / WEIGHTS_FILE)["visual.trunk.patch_embed.norm.running_var"].dtype == torch.float32
    assert json.loads((tmp_path / "open_clip_config.json").read_text())["model_cfg"]["embed_dim"]

    loaded, transform = open_clip.create_model_from_pretrained(f"local-dir:{tmp_path}")
    read = open_clip.get_tokenizer(f"local-dir:{tmp_path}", bpe_path=str(tmp_path / VOCABULARY_FILE))
    picture = Image.fromarray(np.random.default_rng(0).integers(0, 255, (256, 256, 3), dtype=np.uint8))
    text = "a red dress with long sleeves"
    own = ModelInTraining(model, tokenizer)
    # What training feeds the model is what open_clip's inference transform feeds it …
    fed = normalised(shrink(picture, IMAGE_SIZE)[None])
    assert torch.allclose(transform(picture)[None], fed, atol=1e-5)
    # … and both texts and images land where they did before the weights were stored.
    loaded.eval()
    with torch.inference_mode():
        image = loaded.encode_image(transform(picture)[None], normalize=True).numpy()
        words = loaded.encode_text(read([text]), normalize=True).numpy()
    assert np.allclose(image, own.encode_images([picture]), atol=3e-3)
    assert np.allclose(words, own.encode_texts([text]), atol=3e-3)


@pytest.mark.extended
def test_training_exports_and_resumes(
    tmp_path: Path, few: tuple[Garment, ...], vocabulary: Path, one_thread: int, patches: None
) -> None:
    lines: list[str] = []
    out, cache = tmp_path / "out", tmp_path / "cache"
    cache.mkdir()
    (cache / VOCABULARY_FILE).write_bytes(vocabulary.read_bytes())

    def train(epochs: int) -> None:
        sample_encoder.train_sample_encoder(
            out, cache=cache, epochs=epochs, seed=1, threads=one_thread,
            recipe=RECIPE, alignment=replace(ALIGNMENT, steps=1), garments=few, progress=lines.append,
        )

    train(2)
    assert (out / WEIGHTS_FILE).is_file() and (cache / "state.pt").is_file()
    train(3)
    said = [line for line in lines if line.startswith("epoch")]
    assert [line.split()[1] for line in said] == ["1/2", "2/2", "3/3"]
    assert "R@1" not in said[0] and "R@1" in said[1]  # the first was for the image tower alone


def test_training_continues_from_an_encoder_with_its_texts_fixed(
    tmp_path: Path, few: tuple[Garment, ...], vocabulary: Path, one_thread: int, patches: None
) -> None:
    torch.manual_seed(4)
    start, cache = tmp_path / "start", tmp_path / "cache"
    export(start, new_model(load_tokenizer(vocabulary).vocab_size).state_dict(), vocabulary)
    train = [garment for garment in few if garment.split == "train"]
    run = TrainingRun(cache, train, WITH_TEXTS, 1, 1, start)
    before = load_file(start / WEIGHTS_FILE)
    run.one_epoch(np.array(rendered(train, tmp_path, size=IMAGE_SIZE, processes=1)))
    moved = {name for name in before if not torch.equal(before[name].half(), run.average[name].half())}
    assert "visual.trunk.classifier.weight" in moved and "visual.trunk.patch_embed.proj.weight" in moved
    assert not [name for name in moved if not name.startswith("visual.") and name != "logit_scale"]
    assert (cache / VOCABULARY_FILE).read_bytes() == vocabulary.read_bytes()


@pytest.mark.extended
def test_alignment_moves_texts_and_projection_and_no_more(
    tmp_path: Path, few: tuple[Garment, ...], vocabulary: Path, one_thread: int, patches: None
) -> None:
    torch.manual_seed(3)
    model = new_model(load_tokenizer(vocabulary).vocab_size).eval()
    start, out = export(tmp_path / "start", model.state_dict(), vocabulary), tmp_path / "out"
    pixels = np.array(rendered(few, tmp_path, size=IMAGE_SIZE, processes=1))
    with torch.inference_mode():
        assert torch.allclose(projected(model, pooled(model, pixels[0])), model.encode_image(normalised(pixels[0])),
                              atol=1e-5), "pooling and projection are the whole tower"
    lines: list[str] = []
    report = align(start, out, few, pixels, few, pixels[0], recipe=ALIGNMENT, seed=1, progress=lines.append)
    assert report.n == len(few) and lines[-1].startswith("step 2/2")
    before, after = (load_file(folder / WEIGHTS_FILE) for folder in (start, out))
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert {"visual.trunk.classifier.weight", "visual.trunk.conv_head.weight", "text_projection"} <= moved
    assert not [name for name in moved if name.startswith("visual.")
                and not name.startswith(("visual.trunk.classifier", "visual.trunk.conv_head"))]


@pytest.mark.extended
def test_steps_lower_the_loss_and_locked_texts_stay(
    tmp_path: Path, few: tuple[Garment, ...], vocabulary: Path, one_thread: int, patches: None
) -> None:
    (tmp_path / VOCABULARY_FILE).write_bytes(vocabulary.read_bytes())
    train = [g for g in few if g.split == "train"]
    run = TrainingRun(tmp_path, train, WITH_TEXTS, epochs=2, seed=1)
    rows = np.arange(WITH_TEXTS.batch_size)
    pixels = np.array(rendered(train[:len(rows)], tmp_path, size=IMAGE_SIZE, processes=1)[0])
    run.model.train()

    def step() -> float:
        loss = run.loss(pixels, rows, random.Random(0))
        run.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        run.optimiser.step()
        return loss.item()

    said = [step() for _ in range(10)]  # the first few go up and down
    assert said[-1] < 0.8 * said[0]
    words = run.model.token_embedding.weight.detach().clone()
    eyes = run.model.visual.trunk.patch_embed.proj.weight.detach().clone()
    run.epoch = 1
    step()
    assert torch.equal(run.model.token_embedding.weight, words)
    assert not torch.equal(run.model.visual.trunk.patch_embed.proj.weight, eyes)


def test_ranks_count_better_and_earlier_ties() -> None:
    scores = np.asarray([[0.5, 0.9, 0.5], [0.3, 0.3, 0.3], [0.1, 0.2, 0.1]], dtype=np.float32)
    assert ranks_of_own(scores).tolist() == [2, 2, 3]


def test_report_counts_every_group(garments: tuple[Garment, ...]) -> None:
    class Constant:
        def encode_images(self, images: list[Image.Image]) -> np.ndarray:
            return np.tile(np.eye(1, 4, dtype=np.float32), (len(images), 1))

        encode_texts = encode_images

    pictures = [np.zeros((8, 8, 3), dtype=np.uint8)] * len(garments)
    report = evaluate_sample_encoder(Constant(), garments, pictures, seed=0)
    assert report.n == 30 and report.recall_at_1 == pytest.approx(1 / 30)
    assert report.median_rank == 15.5 and report.recall_at_10 == pytest.approx(1 / 3)
    assert set(report.attribute_accuracy) == {group.key for group in GROUPS}
    category = report.attribute_accuracy["category"]
    assert (category.correct, category.total) == (10, 30)  # always the first: a dress
    assert category.by_value["dress"] == (10, 10)
    with pytest.raises(ValueError, match="garments with"):
        evaluate_sample_encoder(Constant(), garments, pictures[1:], seed=0)


@pytest.mark.parametrize("epochs", ["0", "4"])
def test_a_new_encoder_needs_epochs_after_those_of_its_images_alone(epochs: str, capsys: pytest.CaptureFixture[str],
                                                                    tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main(["encoder", "--out", str(tmp_path / "model"), "--epochs", epochs])
    assert "needs more than" in capsys.readouterr().err and not (tmp_path / "model").exists()
