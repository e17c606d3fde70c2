"""A model at work, and checkpoints that it refuses."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from cir_core.errors import EncoderUnavailable, RelevanceMismatch, RelevanceUnavailable
from cir_core.relevance import model as model_module
from cir_core.relevance.backbones.loading import load_relevance_backbone
from cir_core.relevance.backbones.open_clip import SmallQFormer
from cir_core.relevance.checkpoint import (
    CARD_FILE,
    WEIGHTS_FILE,
    RelevanceCard,
    check_same,
    load_checkpoint,
    read_card,
    save_checkpoint,
)
from cir_core.relevance.model import RelevanceModel, load_relevance
from cir_core.relevance.training.negatives import Schedule, between_drops, top_below_target
from cir_core.relevance.training.optimisation import pair_loss
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


# --- checkpoints -----------------------------------------------------------------------------

CARD = RelevanceCard("atelier", "0123456789abcdef", "mean", 1.5, "cirqrs-paper", "sample", {"hidden": 32}, {"seed": 7})


def weights():
    rng = torch.Generator().manual_seed(0)
    return {"a.weight": torch.randn(4, 3, generator=rng), "temperature": torch.tensor(0.0701)}


def test_round_trip(tmp_path):
    saved = save_checkpoint(tmp_path / "new" / "model", CARD, weights(), half=False)
    loaded = load_checkpoint(tmp_path / "new" / "model")
    assert loaded.card == CARD == read_card(tmp_path / "new" / "model") and loaded.revision == saved.revision
    assert all(torch.equal(loaded.weights[name], value) for name, value in weights().items())
    assert sorted(path.name for path in (tmp_path / "new" / "model").iterdir()) == [CARD_FILE, WEIGHTS_FILE]


def test_half_precision_but_for_the_temperature(tmp_path):
    saved = save_checkpoint(tmp_path, CARD, weights(), half=True)
    loaded = load_checkpoint(tmp_path)
    assert loaded.revision == saved.revision
    assert loaded.weights["a.weight"].dtype == torch.float16 and float(loaded.weights["temperature"]) == (
        pytest.approx(0.0701, abs=1e-8))
    assert torch.equal(loaded.weights["a.weight"], weights()["a.weight"].half())


def test_training_goes_on_with_its_own_tensors(tmp_path):
    value = torch.ones(2, 2, requires_grad=True)
    saved = save_checkpoint(tmp_path, CARD, {"a": value}, half=False)
    with torch.no_grad():
        value += 1
    assert torch.equal(saved.weights["a"], torch.ones(2, 2))


def test_the_revision_is_of_what_scores_depend_on(tmp_path):
    def revision(card=CARD, **changed):
        return save_checkpoint(tmp_path, card, weights() | changed, half=False).revision

    same = {revision(), revision(replace(CARD, trained={"seed": 8})),
            revision(replace(CARD, backbone="ViT-B-32/openai")),
            revision(replace(CARD, preset="qure-code", dataset="fashioniq"))}
    other = [revision(replace(CARD, reading="max")), revision(replace(CARD, pad=1.25)),
             revision(replace(CARD, backbone_revision="f" * 16)), revision(replace(CARD, size={"hidden": 64})),
             revision(**{"a.weight": torch.zeros(4, 3)}), revision(temperature=torch.tensor(0.08))]
    assert len(same) == 1 and len({*same, *other}) == 7


def test_a_missing_folder(tmp_path):
    with pytest.raises(RelevanceUnavailable, match="cirque relevance train"):
        load_checkpoint(tmp_path / "none")


@pytest.mark.parametrize("content", [
    "", "{", "[]", '"text"', "null", "{}", '{"format": 1}', "[" * 100_000, b"\xff\xfe\x00",
])
def test_damaged_json(tmp_path, content):
    save_checkpoint(tmp_path, CARD, weights(), half=False)
    (tmp_path / CARD_FILE).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(RelevanceUnavailable, match="does not describe a relevance model"):
        load_checkpoint(tmp_path)


@pytest.mark.parametrize("changes", [
    {"format": 3}, {"format": None}, {"reading": "median"}, {"reading": ["mean"]}, {"pad": "wide"}, {"pad": -1},
    {"pad": 0.5}, {"pad": True}, {"pad": float("nan")}, {"backbone": 3}, {"preset": None}, {"size": [1]},
    {"size": {"hidden": "32"}}, {"trained": "long"}, {"unknown": 1},
])
def test_other_formats_and_values(tmp_path, changes):
    save_checkpoint(tmp_path, CARD, weights(), half=False)
    content = json.loads((tmp_path / CARD_FILE).read_text()) | changes
    (tmp_path / CARD_FILE).write_text(json.dumps(content))
    with pytest.raises(RelevanceUnavailable, match="does not describe a relevance model"):
        read_card(tmp_path)


def test_models_from_before_scores_were_cosines(tmp_path):
    def of_earlier(reading):
        made = save_checkpoint(tmp_path, replace(CARD, reading=reading), weights(), half=False)
        content = json.loads((tmp_path / CARD_FILE).read_text()) | {"format": 1}
        (tmp_path / CARD_FILE).write_text(json.dumps(content))
        return made

    assert of_earlier("max").revision == load_checkpoint(tmp_path).revision   # the best token's score is as it was
    of_earlier("mean")
    with pytest.raises(RelevanceUnavailable, match=r"another scale.*train the model again"):
        load_checkpoint(tmp_path)


@pytest.mark.parametrize("damage", [
    lambda content: b"", lambda content: content[:-5], lambda content: b"\xff" * 8 + content[8:], lambda content: None,
])
def test_damaged_weights(tmp_path, damage):
    save_checkpoint(tmp_path, CARD, weights(), half=False)
    content = damage((tmp_path / WEIGHTS_FILE).read_bytes())
    if content is None:
        (tmp_path / WEIGHTS_FILE).unlink()
    else:
        (tmp_path / WEIGHTS_FILE).write_bytes(content)
    with pytest.raises(RelevanceUnavailable, match="cannot be read"):
        load_checkpoint(tmp_path)


def test_one_changed_bit_and_files_of_two_checkpoints(tmp_path):
    save_checkpoint(tmp_path / "one", CARD, weights(), half=False)
    save_checkpoint(tmp_path / "two", CARD, weights() | {"a.weight": torch.zeros(4, 3)}, half=False)
    content = bytearray((tmp_path / "one" / WEIGHTS_FILE).read_bytes())
    content[-1] ^= 1
    (tmp_path / "one" / WEIGHTS_FILE).write_bytes(content)
    with pytest.raises(RelevanceUnavailable, match="do not belong together"):
        load_checkpoint(tmp_path / "one")
    (tmp_path / "one" / WEIGHTS_FILE).write_bytes((tmp_path / "two" / WEIGHTS_FILE).read_bytes())
    with pytest.raises(RelevanceUnavailable, match="do not belong together"):
        load_checkpoint(tmp_path / "one")


def test_scores_of_one_revision_only():
    check_same({})
    check_same({"run one": "a" * 16, "run two": "a" * 16})
    with pytest.raises(RelevanceMismatch, match="run two"):
        check_same({"run one": "a" * 16, "run two": "b" * 16})


# --- the loss, both rules and the schedule ---------------------------------------------------

# Multiples of 1/8, of which many are equal and whose differences are exact.
POOLS = st.lists(st.integers(-8, 8).map(lambda n: n / 8), min_size=1, max_size=30)


def top_reference(scores, target, n):
    """CIRQRS, section 3.3, with sorted tuples."""
    below = sorted((-score, row) for row, score in enumerate(scores) if score < scores[target])
    return [row for _, row in below[:n]] or [row for row in range(len(scores)) if row != target]


def drops_reference(scores, target):
    """QuRe's rule, with ranks from 0 and pairs of (drop, rank before it)."""
    ranked = sorted(range(len(scores)), key=lambda row: (-scores[row], row))
    after = ranked.index(target)
    drops = [(scores[ranked[rank]] - scores[ranked[rank + 1]], rank) for rank in range(after, len(ranked) - 1)]
    if not drops:
        return [row for row in range(len(scores)) if row != target]
    drops.sort(key=lambda drop: (-drop[0], drop[1]))
    for (_, one), (_, other) in zip(drops, drops[1:], strict=False):
        if abs(one - other) > 1:
            return [ranked[rank] for rank in range(min(one, other) + 1, max(one, other) + 1)]
    return ranked[after + 1:]


@settings(deadline=None, max_examples=400)
@given(POOLS, st.data())
def test_rules_equal_the_references(pool, data):
    place = data.draw(st.sampled_from(["anywhere", "top", "bottom"]))
    order = sorted(range(len(pool)), key=lambda row: pool[row])
    target = {"top": order[-1], "bottom": order[0], "anywhere": data.draw(st.integers(0, len(pool) - 1))}[place]
    scores, n = np.array(pool, np.float32), data.draw(st.integers(1, 8))
    assert top_below_target(scores, target, n).tolist() == top_reference(pool, target, n)
    assert between_drops(scores, target).tolist() == drops_reference(pool, target)
    for found in (top_below_target(scores, target, n), between_drops(scores, target)):
        assert target not in found and len(set(found.tolist())) == len(found) and found.dtype == np.int64


def test_top_of_scores_written_out():
    scores = np.array([0.9, 0.5, 0.7, 0.5, 0.1, 0.4], np.float32)
    assert top_below_target(scores, 2, 3).tolist() == [1, 3, 5]     # equal scores by row; never row 0, above the target
    assert top_below_target(scores, 1, 9).tolist() == [5, 4]        # row 3 equals the target
    assert top_below_target(scores, 4, 2).tolist() == [0, 1, 2, 3, 5]   # none below: all others


def test_drops_of_scores_written_out():
    # Ranked: 0.95 | target 0.9, 0.85, 0.5, 0.45, 0.4, 0.1: the drops 0.35 (to row 3) and 0.3 (to row 6) enclose
    # rows 3, 4 and 5.
    scores = np.array([0.95, 0.9, 0.85, 0.5, 0.45, 0.4, 0.1], np.float32)
    assert between_drops(scores, 1).tolist() == [3, 4, 5]
    assert between_drops(scores, 5).tolist() == [6]                 # one drop: all below
    assert between_drops(scores, 6).tolist() == [0, 1, 2, 3, 4, 5]  # none below: all others
    # The steepest, 0.4 and 0.3, are neighbours; the next pair in the order of steepness is 0.3 and 0.2.
    steps = np.array([1.0, 0.6, 0.3, 0.25, 0.05, 0.0], np.float32)
    assert between_drops(steps, 0).tolist() == [2, 3]


def test_the_loss_is_the_divergence_of_one_and_zero_from_the_softmax():
    rng = torch.Generator().manual_seed(0)
    positive, negative = torch.randn(20, generator=rng), torch.randn(20, generator=rng)
    tau = 0.07
    plain = [math.log1p(math.exp(-(float(p) - float(n)) / tau)) for p, n in zip(positive, negative, strict=True)]
    assert float(pair_loss(positive, negative, tau)) == pytest.approx(sum(plain) / 20, rel=1e-5)
    logits = torch.log_softmax(torch.stack([positive, negative], dim=1) / tau, dim=1)
    divergence = F.kl_div(logits, torch.tensor([[1.0, 0.0]]).expand(20, 2), reduction="batchmean")
    assert float(pair_loss(positive, negative, tau)) == pytest.approx(float(divergence), rel=1e-5)
    assert float(pair_loss(torch.zeros(3), torch.zeros(3), tau)) == pytest.approx(math.log(2))


def test_the_loss_moves_scores_and_temperature_and_stays_finite():
    positive, negative = torch.zeros(2, requires_grad=True), torch.ones(2, requires_grad=True)
    tau = torch.tensor(0.01, requires_grad=True)
    loss = pair_loss(positive, negative, tau)
    loss.backward()
    assert loss.item() == pytest.approx(100) and (positive.grad < 0).all() and (negative.grad > 0).all()
    assert float(tau.grad) < 0 and torch.isfinite(tau.grad)


def test_schedules_of_the_paper():
    assert Schedule(30, 5, 50).rebuilds == ((6, 50), (12, 25), (18, 12), (24, 6))
    assert Schedule(50, 6, 100).rebuilds == ((8, 100), (16, 50), (24, 25), (32, 12), (40, 6), (48, 3))
    assert [Schedule(30, 5, 50).rebuild(epoch) for epoch in (0, 5, 6, 7, 29)] == [None, None, 50, None, None]


def test_a_schedule_never_falls_below_one_negative():
    assert Schedule(5, 5, 2).rebuilds == ((1, 2), (2, 1), (3, 1), (4, 1))
    assert Schedule(3, 1, 9).rebuilds == ()     # warm-up alone


@pytest.mark.parametrize(("epochs", "stages", "n"), [(5, 6, 10), (5, 0, 10), (0, 0, 10), (5, 2, 0), (-1, 1, 5)])
def test_bad_schedules(epochs, stages, n):
    with pytest.raises(ValueError, match="cannot have"):
        Schedule(epochs, stages, n)
