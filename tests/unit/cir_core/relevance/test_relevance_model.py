"""A model at work, and checkpoints that it refuses."""

import numpy as np
import pytest
import torch
from PIL import Image

from cir_core.errors import EncoderUnavailable, RelevanceUnavailable
from cir_core.relevance import model as model_module
from cir_core.relevance.backbones.loading import load_relevance_backbone
from cir_core.relevance.backbones.open_clip import SmallQFormer
from cir_core.relevance.checkpoint import RelevanceCard, load_checkpoint, save_checkpoint
from cir_core.relevance.model import RelevanceModel, load_relevance
from cir_core.relevance.where import folder_of, has_files
from tests.fakes.relevance import SIZE, network_of, noise, random_model, save_random, small_backbone

TEXTS = ["is red", "a much longer text about a blue dress with long sleeves and a belt", "", "plain", "with dots"]


def test_batches_do_not_matter(tmp_path, monkeypatch):
    model, images = random_model(tmp_path), [noise(seed) for seed in range(5)]
    candidates, queries = model.encode_candidates(images), model.encode_queries(images, TEXTS)
    assert candidates.shape == (5, model.tokens, model.dim) and candidates.dtype == np.float16
    assert queries.shape == (5, model.dim) and queries.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(candidates.astype(np.float32).mean(axis=1), axis=1), 1, atol=2e-3)
    np.testing.assert_allclose(np.linalg.norm(queries, axis=1), 1, atol=1e-5)
    monkeypatch.setattr(model_module, "_BATCH", 2)
    np.testing.assert_allclose(model.encode_candidates(images), candidates, atol=2e-3)
    np.testing.assert_allclose(model.encode_queries(images, TEXTS), queries, atol=2e-3)
    alone = [model.encode_queries([image], [text])[0] for image, text in zip(images, TEXTS, strict=True)]
    np.testing.assert_allclose(alone, queries, atol=2e-3)
    assert model.encode_candidates([]).shape == (0, model.tokens, model.dim)
    assert model.encode_queries([], []).shape == (0, model.dim)


def test_scores_of_the_reading_max_are_those_of_the_best_token(tmp_path):
    model, images = random_model(tmp_path, reading="max"), [noise(seed) for seed in range(3)]
    candidates, queries = model.encode_candidates(images), model.encode_queries(images, TEXTS[:3])
    matrix = np.stack([model.scores(query, candidates) for query in queries])
    np.testing.assert_allclose(np.linalg.norm(candidates.astype(np.float32), axis=2), 1, atol=2e-3)
    best = np.einsum("qd,ctd->qct", queries, candidates.astype(np.float32)).max(axis=2)
    np.testing.assert_allclose(matrix, best, atol=1e-5)
    assert model.reading == "max" and model.temperature == pytest.approx(0.07)


def test_as_many_texts_as_images(tmp_path):
    with pytest.raises(ValueError, match="shorter"):
        random_model(tmp_path).encode_queries([noise(0), noise(1)], ["one"])


def test_padding_changes_elongated_images_alone(tmp_path):
    plain, padded = random_model(tmp_path / "a"), random_model(tmp_path / "b", pad=1.25)
    square, wide = noise(0, (60, 60)), noise(0, (120, 40))
    np.testing.assert_array_equal(plain.encode_candidates([square]), padded.encode_candidates([square]))
    assert not np.allclose(plain.encode_candidates([wide]), padded.encode_candidates([wide]), atol=1e-2)
    assert plain.identity.revision != padded.identity.revision


def test_another_backbone_is_refused(tmp_path):
    save_random(tmp_path, revision="f" * 16)
    with pytest.raises(RelevanceUnavailable, match="trained on atelier, revision ffffffffffffffff"):
        RelevanceModel("m", load_checkpoint(tmp_path), small_backbone(), device=torch.device("cpu"))


@pytest.mark.parametrize(("change", "said"), [
    ({"query_tokens": torch.zeros(1, 9, 32)}, "size mismatch for query_tokens"),
    ({"more": torch.zeros(1)}, "Unexpected key"),
    ({"temperature": None}, "Missing key"),
    ({"temperature": torch.tensor(float("nan"))}, "not finite"),
    ({"text_projection.bias": torch.full((16,), float("inf"))}, "not finite"),
])
def test_weights_that_do_not_fit(tmp_path, change, said):
    backbone = small_backbone()
    weights = {**network_of(backbone).state_dict(), **change}
    card = RelevanceCard("atelier", backbone.identity.revision, "mean", 0, "sample", "sample", size=SIZE)
    save_checkpoint(tmp_path, card, {name: value for name, value in weights.items() if value is not None}, half=False)
    with pytest.raises(RelevanceUnavailable, match=said):
        RelevanceModel("m", load_checkpoint(tmp_path), backbone, device=torch.device("cpu"))


def test_half_precision_keeps_scores(tmp_path):
    whole, half = random_model(tmp_path / "a"), random_model(tmp_path / "b", half=True)
    images = [noise(1), noise(2)]
    np.testing.assert_allclose(
        half.encode_queries(images, TEXTS[:2]), whole.encode_queries(images, TEXTS[:2]), atol=2e-2)


def test_a_model_is_loaded_from_its_folder_once(tmp_path):
    save_random(tmp_path)
    model = load_relevance(str(tmp_path), device="cpu")
    assert load_relevance(f" {tmp_path} ", device="cpu") is model and has_files(str(tmp_path))
    assert (model.tokens, model.dim, model.identity.spec) == (SIZE["tokens"], SIZE["dim"], str(tmp_path))
    direct = random_model(tmp_path / "again")
    np.testing.assert_array_equal(model.encode_candidates([noise(0)]), direct.encode_candidates([noise(0)]))


@pytest.mark.parametrize("spec", ["off", "", "  "])
def test_no_model_is_set(spec):
    assert not has_files(spec)
    with pytest.raises(RelevanceUnavailable, match="CIRQUE_RELEVANCE"):
        folder_of(spec)


def test_a_folder_that_is_not_there(tmp_path):
    assert not has_files(str(tmp_path / "none"))
    with pytest.raises(RelevanceUnavailable, match=r"relevance\.json"):
        load_relevance(str(tmp_path / "none"))


@pytest.mark.parametrize("spec", ["transformers:org/clip", "embedding:/folder", "pic2word:ViT-B-32/openai:/m.pt",
                                  "nothing", "blip2:", "blip2:/no/such/folder"])
def test_backbones_that_are_none(spec):
    with pytest.raises(EncoderUnavailable):
        load_relevance_backbone(spec, device="cpu")


@pytest.mark.parametrize("size", [{"hidden": 30, "heads": 4}, {"layers": 0}, {"wide": 3}])
def test_sizes_that_are_none(size):
    with pytest.raises(EncoderUnavailable, match="size is wrong"):
        load_relevance_backbone("atelier", device="cpu", size=size)


def test_patches_are_of_unit_variance_and_texts_have_masks():
    backbone = small_backbone()
    patches = backbone.image_patches([noise(0), Image.new("RGB", (30, 90), "red")])
    assert patches.shape == (2, backbone.patches, backbone.width) and patches.dtype == np.float16
    assert np.isfinite(patches).all() and backbone.image_patches([]).shape == (0, backbone.patches, backbone.width)
    texts = backbone.texts(["red", "a very long text " * 40])
    assert texts.values.shape[:2] == texts.mask.shape and texts.mask.shape[1] <= 33 and texts.mask[1].all()
    assert texts.mask[0].sum() < texts.mask[1].sum() and not texts.values.requires_grad
    assert SmallQFormer().hidden % SmallQFormer().heads == 0
