"""BLIP-2 with random weights: features, score, a training step, saved and loaded; and folders that are refused."""

import json

import numpy as np
import pytest
import torch
import transformers
from PIL import Image
from safetensors.torch import load_file, save_file

from cir_core.errors import EncoderUnavailable, RelevanceUnavailable
from cir_core.relevance.backbones.blip2 import Blip2Backbone, caption
from cir_core.relevance.backbones.loading import load_relevance_backbone
from cir_core.relevance.checkpoint import RelevanceCard, load_checkpoint, save_checkpoint
from cir_core.relevance.model import RelevanceModel, load_relevance
from cir_core.relevance.qformer import RelevanceNetwork
from cir_core.relevance.scorer import RelevanceScorer
from cir_core.relevance.store import index_features
from cir_core.relevance.training.optimisation import pair_loss
from tests.fakes.relevance import gallery_of, noise, write_photos
from tests.fakes.tiny_blip2 import DIM, PATCHES, QUERIES, VISION, save_blip2, tokenizer

IMAGES = [noise(seed) for seed in range(3)]
TEXTS = ["a red dress", "more formal with long sleeves", "blue"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_blip2(tmp_path_factory.mktemp("blip2"))


@pytest.fixture(scope="module")
def backbone(folder):
    return load_relevance_backbone(f"blip2:{folder}", device="cpu")


def model_of(folder, backbone):
    return RelevanceModel(str(folder), load_checkpoint(folder), backbone, device=torch.device("cpu"))


def card_of(backbone):
    return RelevanceCard(backbone.identity.spec, backbone.identity.revision, "max", 1.25, "qure-code", "sample")


def test_patches_are_the_image_encoders_last_hidden_states(folder, backbone):
    assert isinstance(backbone, Blip2Backbone)
    assert (backbone.patches, backbone.width) == (PATCHES, VISION["hidden_size"])
    model = transformers.Blip2ForImageTextRetrieval.from_pretrained(folder).eval()
    pixels = transformers.AutoImageProcessor.from_pretrained(folder)(images=IMAGES, return_tensors="pt")
    with torch.no_grad():
        expected = model.vision_model(**pixels).last_hidden_state.numpy()
    found = backbone.image_patches(IMAGES)
    assert found.dtype == np.float16 and found.shape == (3, PATCHES, 24)
    np.testing.assert_allclose(found, expected, atol=5e-3)
    assert backbone.image_patches([]).shape == (0, PATCHES, 24)
    assert backbone.image_patches([Image.new("L", (9, 4))]).shape == (1, PATCHES, 24)


@torch.inference_mode()
def test_untrained_candidates_and_texts_are_blip2s(folder, backbone):
    """Image and text features of the contrastive head, and the Q-Former over both of the matching head."""
    model = transformers.Blip2ForImageTextRetrieval.from_pretrained(folder).eval()
    pixels = transformers.AutoImageProcessor.from_pretrained(folder)(images=IMAGES, return_tensors="pt")
    tokens = tokenizer()(TEXTS, padding=True, return_tensors="pt")
    tokens = {name: tokens[name] for name in ("input_ids", "attention_mask")}
    network = RelevanceNetwork(backbone.new_parts()).eval()
    patches, texts = torch.from_numpy(backbone.image_patches(IMAGES)).float(), backbone.texts(TEXTS)
    contrast = model(**pixels, **tokens)
    torch.testing.assert_close(network.candidates(patches), contrast.image_embeds, atol=5e-3, rtol=0)
    matching = model(**pixels, **tokens, use_image_text_matching_head=True)
    outputs = matching.text_model_output.last_hidden_state[:, :QUERIES]
    expected = torch.nn.functional.normalize(model.text_projection(outputs).mean(dim=1), dim=-1)
    torch.testing.assert_close(network.query(patches, texts), expected, atol=5e-3, rtol=0)


def test_texts_are_processed_captions_of_32_tokens(backbone):
    assert caption('A "Red" dress; (NOT blue): 50% #1!  With~it*.') == "a red dress not blue 50% 1 with it"
    assert caption("word " * 60) == " ".join(["word"] * 50) and caption(" .!") == ""
    texts = backbone.texts(["A RED dress!", "red " * 100, ""])
    assert texts.values.shape == texts.mask.shape == (3, 32) and texts.mask.sum(dim=1).tolist() == [5, 32, 2]
    assert texts.values[0, :5].tolist() == [1, 5, 6, 8, 2] and texts.values[1, [0, -1]].tolist() == [1, 2]


def test_a_text_cannot_hold_the_image_token(backbone):
    image = tokenizer().convert_tokens_to_ids("<image>")
    for text in ("red <image> dress", "red <IMAGE> dress", "[SEP] red <im<image>age>"):
        assert image not in backbone.texts([text]).values[0].tolist()
        assert (backbone.texts([text]).values[0] == 2).sum() == 1


def test_the_network_begins_with_the_checkpoints_weights(folder, backbone, tmp_path):
    stored, network = load_file(folder / "model.safetensors"), RelevanceNetwork(backbone.new_parts())
    state = network.state_dict()
    assert {name for name in state if "position_ids" in name} == set()
    for ours, theirs in (("query_tokens", "query_tokens"), ("text_input.word_embeddings.weight",) * 2,
                         ("vision_projection.bias",) * 2, ("text_projection.weight",) * 2,
                         ("qformer.encoder.layer.0.crossattention.attention.key.weight",) * 2):
        assert torch.equal(state[ours], stored[theirs.replace("text_input", "embeddings")])
    assert (network.query_tokens.shape[1], network.text_projection.out_features) == (QUERIES, DIM)
    assert network.temperature.item() == pytest.approx(0.07)     # none is stored
    warm = Blip2Backbone(f"blip2:{save_blip2(tmp_path, temperature=0.0521)}", device="cpu")
    assert RelevanceNetwork(warm.new_parts()).temperature.item() == pytest.approx(0.0521)
    assert warm.identity.revision == backbone.identity.revision   # of what is frozen


def test_a_step_of_training_saved_and_loaded(folder, backbone, tmp_path):
    torch.manual_seed(0)
    network = RelevanceNetwork(backbone.new_parts()).train()
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3, weight_decay=0.05)
    patches = torch.from_numpy(backbone.image_patches(IMAGES)).float()
    texts, before = backbone.texts(TEXTS), {name: value.clone() for name, value in network.state_dict().items()}

    def loss():
        queries, candidates = network.query(patches, texts), network.candidates(patches)
        scores = torch.einsum("qd,ctd->qct", queries, candidates).amax(dim=2)
        return pair_loss(scores.diagonal(), scores.roll(1, dims=1).diagonal(), network.temperature)

    first = loss()
    first.backward()
    unread = ("qformer.encoder.layer.1.intermediate.", "qformer.encoder.layer.1.output.")   # words after the last layer
    assert all((value.grad is None) == name.startswith(unread) for name, value in network.named_parameters())
    optimizer.step()
    after = network.state_dict()
    for name in ("query_tokens", "temperature", "text_input.word_embeddings.weight", "text_projection.weight",
                 "vision_projection.weight", "qformer.encoder.layer.0.output.dense.weight"):
        assert not torch.equal(before[name], after[name])
    network.eval()
    for _ in range(40):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
    assert loss().item() < first.item()

    save_checkpoint(tmp_path / "model", card_of(backbone), network.state_dict(), half=False)
    model = model_of(tmp_path / "model", backbone)
    gallery = gallery_of(write_photos(tmp_path / "photos", 5), tmp_path / "home")
    index_features(gallery, model)
    scorer = RelevanceScorer(model, gallery)
    query = scorer.query(IMAGES[0], TEXTS[0])
    scores = scorer.all_scores(query)
    with torch.inference_mode():     # the images are as large as those in memory: no padding, no resizing
        direct = torch.einsum("d,ctd->ct", network.query(patches, texts)[0], network.candidates(patches)).amax(dim=1)
    np.testing.assert_allclose(scores[:3], direct, atol=3e-3)
    assert model.temperature == pytest.approx(network.temperature.item()) and np.ptp(scores) > 0.003

    again = load_relevance(str(tmp_path / "model"), device="cpu")     # the backbone is found by the description
    assert again.identity.revision == model.identity.revision
    np.testing.assert_array_equal(again.encode_queries(IMAGES, TEXTS), model.encode_queries(IMAGES, TEXTS))
    np.testing.assert_array_equal(RelevanceScorer(again, gallery).all_scores(query), scores)


def test_other_frozen_weights_are_another_revision(backbone, tmp_path):
    other = Blip2Backbone(f"blip2:{save_blip2(tmp_path / 'other', seed=1)}", device="cpu")
    same = Blip2Backbone(f"blip2:{save_blip2(tmp_path / 'mean')}", device="cpu")
    assert same.identity.revision == backbone.identity.revision != other.identity.revision
    content = json.loads((tmp_path / "mean" / "preprocessor_config.json").read_text())
    (tmp_path / "mean" / "preprocessor_config.json").write_text(json.dumps(content | {"image_mean": [0, 0, 0]}))
    darker = Blip2Backbone(f"blip2:{tmp_path / 'mean'}", device="cpu")
    assert darker.identity.revision != backbone.identity.revision
    network = RelevanceNetwork(backbone.new_parts())
    save_checkpoint(tmp_path / "model", card_of(backbone), network.state_dict(), half=True)
    with pytest.raises(RelevanceUnavailable, match="has revision"):
        model_of(tmp_path / "model", darker)


def _without(name):
    def damage(folder):
        weights = load_file(folder / "model.safetensors")
        del weights[name]
        save_file(weights, folder / "model.safetensors", {"format": "pt"})
    return damage


def _config(**changes):
    def damage(folder):
        content = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(content | changes))
    return damage


def _file(name, content):
    def damage(folder):
        if content is None:
            (folder / name).unlink()
        else:
            (folder / name).write_bytes(content)
    return damage


def _not_finite(folder):
    weights = load_file(folder / "model.safetensors")
    weights["vision_model.post_layernorm.bias"][0] = float("nan")
    save_file(weights, folder / "model.safetensors", {"format": "pt"})


@pytest.mark.parametrize(("damage", "said"), [
    (_file("config.json", None), "No config.json"),
    (_file("config.json", b"{"), "could not be loaded"),
    (_config(model_type="blip"), "is a 'blip' model, not BLIP-2"),
    (_config(qformer_config={"hidden_size": 32}), "takes no texts"),
    (_config(qformer_config=7), "could not be loaded|takes no texts"),
    (_config(num_query_tokens=4), "could not be loaded"),
    (_file("model.safetensors", None), "could not be loaded"),
    (_file("model.safetensors", b"\0" * 100), "could not be loaded"),
    (_without("vision_projection.weight"), "lacks 1 weights.*vision_projection.weight"),
    (_without("vision_model.post_layernorm.bias"), "lacks 1 weights"),
    (_not_finite, "not finite"),
    (_file("tokenizer.json", b"{}"), "could not be loaded"),
    (_file("preprocessor_config.json", b"{"), "could not be loaded"),
])
def test_damaged_folders(tmp_path, damage, said):
    damage(save_blip2(tmp_path))
    with pytest.raises(EncoderUnavailable, match=said):
        Blip2Backbone(f"blip2:{tmp_path}", device="cpu")


def test_parts_of_two_models(tmp_path):
    with pytest.raises(EncoderUnavailable, match=r"image processor of .* does not fit"):
        Blip2Backbone(f"blip2:{save_blip2(tmp_path / 'a', edge=64)}", device="cpu")
    with pytest.raises(EncoderUnavailable, match="more tokens than its Q-Former"):
        Blip2Backbone(f"blip2:{save_blip2(tmp_path / 'b', vocab_size=3)}", device="cpu")


@pytest.mark.parametrize("spec", ["blip2:", "blip2:  "])
def test_a_spec_that_names_nothing(spec):
    with pytest.raises(EncoderUnavailable, match="does not name a model"):
        Blip2Backbone(spec, device="cpu")


def test_folders_and_hub_names_that_are_not_here(tmp_path, monkeypatch):
    with pytest.raises(EncoderUnavailable, match=r"No config\.json"):
        Blip2Backbone(f"blip2:{tmp_path / 'none'}", device="cpu")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(EncoderUnavailable, match="CIRQUE_ALLOW_DOWNLOADS=true"):
        Blip2Backbone("blip2:nobody/no-such-model", device="cpu")
