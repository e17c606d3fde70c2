"""Files of a relevance model: written, read, damaged."""

import json
from dataclasses import replace

import pytest
import torch

from cir_core.errors import RelevanceMismatch, RelevanceUnavailable
from cir_core.relevance.checkpoint import (
    CARD_FILE,
    WEIGHTS_FILE,
    RelevanceCard,
    check_same,
    load_checkpoint,
    read_card,
    save_checkpoint,
)

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
