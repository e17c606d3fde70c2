"""A training from beginning to end, killed and resumed, over a few coloured images."""

from __future__ import annotations

import math
import os
import signal
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from PIL import Image

from cir_core.errors import RelevanceUnavailable
from cir_core.gallery.paths import locked
from cir_core.relevance.checkpoint import load_checkpoint
from cir_core.relevance.training import trainer
from cir_core.relevance.training.data import TrainingData, TrainingQuery
from cir_core.relevance.training.optimisation import alignment_loss, reproduction_loss
from cir_core.relevance.training.presets import TrainingPreset
from cir_core.relevance.training.states import CURVES_FILE, read_log
from cir_core.relevance.training.trainer import TrainingOutcome, train_relevance
from tests.fakes import forked
from tests.fakes.relevance import SIZE, small_backbone

PRESET = TrainingPreset(
    "sample", epochs=4, stages=4, negatives=4, rate=1e-3, pad=0.0, batch=6, start=2, first_batch=6,
    clip=1.0,
    size={key: value for key, value in SIZE.items() if key != "dim"} | {"dim": 192},
)
IMAGES, QUERIES = 12, 18


def coloured(row: int) -> Image.Image:
    return Image.new("RGB", (32, 40), (20 * row, 255 - 20 * row, 40 * (row % 6)))


def data() -> TrainingData:
    queries = [TrainingQuery(row % 10, (row * 3 + 1) % 10, (f"is colour {row}", "has more light"), "all")
               for row in range(QUERIES + 6)]
    held = [TrainingQuery(10, 11, ("is lighter",), "held")]
    return TrainingData("sample", IMAGES, coloured, queries[:QUERIES], {"all": np.arange(10)}, held,
                        {"held": np.array([10, 11])}, further=queries[QUERIES:])


def train(out: Path, preset: TrainingPreset = PRESET, *, at: Callable[[int], None] | None = None,
          seed: int = 5, heads: int = SIZE["heads"]) -> TrainingOutcome:
    from cir_core.relevance.backbones.open_clip import OpenClipBackbone, SmallQFormer

    backbone = OpenClipBackbone("atelier", device="cpu", size=SmallQFormer(**{**PRESET.size, "heads": heads}))

    def progress(what: str, step: int, _of: int) -> None:
        if at and "epoch" in what:
            at(step)

    return train_relevance(data(), backbone, preset, out, seed=seed, precision="fp32", progress=progress)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole")
    train(out)
    return out


def lines(out: Path) -> list[Mapping[str, Any]]:
    return list(read_log(out))


def test_every_epoch_is_logged_with_its_rebuild_and_the_model_loads(whole: Path) -> None:
    log = read_log(whole)
    # 2 epochs of 24 queries, 4 of 18, in batches of 6.
    assert [line["step"] for line in log if "loss" in line] == list(range(1, 2 * 4 + 4 * 3 + 1))
    assert [(line["epoch"], line["rebuild"]) for line in log if "rebuild" in line] == [(1, 4), (2, 2), (3, 1)]
    assert [line["epoch"] for line in log if "recall_at_10" in line] == [-2, -1, 0, 1, 2, 3]
    assert all(0 <= line["recall_at_1"] <= line["recall_at_10"] <= 1 for line in log if "recall_at_10" in line)
    card = load_checkpoint(whole).card
    assert (card.preset, card.dataset) == ("sample", "sample")
    assert (card.trained["seed"], card.trained["queries"]) == (5, QUERIES)
    assert card.size == {**SIZE, "dim": 192}   # whatever the defaults of a later version
    assert "Recall@10" in (whole / CURVES_FILE).read_text("utf-8")


@pytest.mark.parametrize("stop_at", [1, pytest.param(4, marks=pytest.mark.extended),
                                     *(pytest.param(step, marks=pytest.mark.extended) for step in (9, 14))])
def test_a_stopped_training_goes_on_as_if_it_had_not_been(tmp_path: Path, whole: Path, stop_at: int) -> None:
    def stop(step: int) -> None:
        if step == stop_at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(tmp_path, at=stop)
    done = train(tmp_path)
    assert done.resumed_at < stop_at
    assert lines(tmp_path) == lines(whole)
    assert load_checkpoint(tmp_path).revision == load_checkpoint(whole).revision


@pytest.mark.parametrize("stop_at", [
    pytest.param(2, marks=pytest.mark.extended), 8, pytest.param(16, marks=pytest.mark.extended)])
def test_a_training_goes_on_from_the_middle_of_an_epoch(
    tmp_path: Path, whole: Path, stop_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(step: int) -> None:
        if step == stop_at:
            raise KeyboardInterrupt

    monkeypatch.setattr(trainer, "_SAVE_EVERY", 1)
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path, at=stop)
    done = train(tmp_path)
    assert done.resumed_at == stop_at - 1 and done.resumed_at not in (4, 8, 11, 14, 17, 20)   # the ends of epochs
    assert lines(tmp_path) == lines(whole)
    assert load_checkpoint(tmp_path).revision == load_checkpoint(whole).revision


def test_damaged_states_and_negatives_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(step: int) -> None:
        if step == 16:
            raise KeyboardInterrupt

    monkeypatch.setattr(trainer, "_SAVE_EVERY", 1)
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path, at=stop)
    [state], weights = tmp_path.glob("states/step-*"), "model*.safetensors"
    [file] = state.glob(weights)
    kept = file.read_bytes()
    file.write_bytes(kept[: len(kept) // 2])
    with pytest.raises(RelevanceUnavailable, match=rf"training state .*{state.name} cannot be read.*Remove the folder"):
        train(tmp_path)
    file.write_bytes(kept)
    newest = max(tmp_path.glob("work/negatives-*.npz"))
    newest.write_bytes(newest.read_bytes()[:40])
    with pytest.raises(RelevanceUnavailable, match=rf"{newest.name} cannot be read.*Remove the folder"):
        train(tmp_path)


@pytest.mark.extended
def test_a_training_killed_three_times_gives_the_same_losses(tmp_path: Path, whole: Path) -> None:
    script = textwrap.dedent("""
        import sys
        from pathlib import Path
        from tests.unit.cir_core.relevance.training.test_relevance_trainer import train
        train(Path(sys.argv[1]), at=lambda step: print(step, flush=True))
    """)
    out = tmp_path / "out"
    for wanted in (3, 8, 12):
        read, write = os.pipe()
        with (tmp_path / "errors.txt").open("w") as errors, open(read) as told:
            with open(write, "w") as output:
                process = forked.start("-c", script, str(out), environment=os.environ, output=output, errors=errors)
            for line in told:
                if int(line) >= wanted:
                    process.kill()
                    break
            code = process.wait(forked.PATIENCE)
        assert code == -signal.SIGKILL, (tmp_path / "errors.txt").read_text()
    train(out)
    assert lines(out) == lines(whole)


def test_another_seed_gives_other_losses(tmp_path: Path, whole: Path) -> None:
    """The same seed gives the same ones: the training above that is stopped in its first step begins anew."""
    def stop(_step: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(tmp_path, at=stop, seed=6)
    [first] = lines(tmp_path)
    assert first["step"] == lines(whole)[0]["step"] and first["loss"] != lines(whole)[0]["loss"]


def test_a_folder_of_another_training_is_refused_at_once(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*_: object) -> None:
        raise AssertionError("image features are not computed before that")

    with monkeypatch.context() as patched:
        patched.setattr(trainer, "training_patches", nothing)
        for other in ({"preset": replace(PRESET, rate=2e-3)}, {"heads": 1}):
            with pytest.raises(RelevanceUnavailable, match="another preset, seed, data set, backbone, precision"):
                train(whole, **other)


def test_the_reading_max_teaches_every_token_at_the_start(tmp_path: Path) -> None:
    train(tmp_path, replace(PRESET, reading="max", epochs=1, stages=1))
    assert [line["epoch"] for line in read_log(tmp_path) if "recall_at_10" in line] == [-2, -1, 0]


def test_half_precision_needs_a_gpu(tmp_path: Path) -> None:
    with pytest.raises(RelevanceUnavailable, match="fp16 needs a GPU"):
        train_relevance(data(), small_backbone(), PRESET, tmp_path, precision="fp16", device="cpu")


def test_a_second_training_into_the_same_folder_is_refused(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(RelevanceUnavailable, match="Another training is writing"):
        train(tmp_path)


@pytest.mark.parametrize("rule", ["drops", pytest.param("random", marks=pytest.mark.extended)])
def test_the_other_rules_train_too(tmp_path: Path, rule: str) -> None:
    preset = replace(PRESET, rule=rule, epochs=2, stages=2, reading="max", repeated=False, start=0)
    train(tmp_path, preset)
    rebuilt = [line for line in read_log(tmp_path) if "rebuild" in line]
    assert len(rebuilt) == (rule == "drops")
    assert {line["epoch"] for line in read_log(tmp_path)} == {0, 1}   # without a start
    assert small_backbone().identity.revision == load_checkpoint(tmp_path).card.backbone_revision


def test_reproduction_is_one_less_the_mean_cosine_and_asks_further_numbers_to_be_zero() -> None:
    vectors = F.normalize(torch.tensor([[3.0, 4.0], [1.0, 0.0]]), dim=-1)
    same = F.pad(vectors, (0, 2))[:, None].expand(2, 3, 4)
    assert math.isclose(reproduction_loss(same, vectors).item(), 0.0, abs_tol=1e-6)
    # Tokens at 0.6 * 0.6 + 0.8 * 0 = 0.36 and 0.6 of a vector, the rest of their length in further numbers.
    tokens = torch.tensor([[[0.6, 0.0, 0.8, 0.0]], [[0.6, 0.0, 0.0, 0.8]]])
    assert math.isclose(reproduction_loss(tokens, vectors).item(), 1 - (0.36 + 0.6) / 2, rel_tol=1e-6)


def test_alignment_is_the_cross_entropy_of_the_target_among_all_images() -> None:
    vectors = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    queries = torch.tensor([[0.8, 0.6, 0.0], [0.0, 1.0, 0.0]])
    expected = [-math.log(math.exp(8) / (math.exp(8) + math.exp(6) + math.exp(-8))),
                -math.log(math.exp(0) / (math.exp(0) + math.exp(10) + math.exp(0)))]
    found = alignment_loss(queries, vectors, torch.tensor([0, 2]), temperature=0.1)
    assert math.isclose(found.item(), sum(expected) / 2, rel_tol=1e-5)
