"""What the network's outputs depend on."""

import pytest
import torch

from cir_core.relevance.backbones.base import Texts
from cir_core.relevance.qformer import START_TEMPERATURE, RelevanceNetwork
from tests.fakes.relevance import SIZE, network_of, noise, small_backbone


@pytest.fixture(scope="module")
def network():
    return network_of(small_backbone())


@pytest.fixture(scope="module")
def patches():
    return torch.from_numpy(small_backbone().image_patches([noise(0), noise(1)])).float()


def texts(*said):
    return small_backbone().texts(said)


@torch.inference_mode()
def test_shapes_and_unit_rows(network, patches):
    candidates, query = network.candidates(patches), network.query(patches, texts("red", "long blue sleeves"))
    assert candidates.shape == (2, SIZE["tokens"], SIZE["dim"]) and query.shape == (2, SIZE["dim"])
    for rows in (candidates, query):
        torch.testing.assert_close(rows.norm(dim=-1), torch.ones(rows.shape[:-1]))


@torch.inference_mode()
def test_a_query_depends_on_both_and_a_candidate_on_the_image(network, patches):
    same, other_text = network.query(patches[[0, 0, 0]], texts("is red", "is red", "has long blue sleeves"))[1:]
    other_image = network.query(patches[[1]], texts("is red"))[0]
    assert not torch.allclose(same, other_text, atol=1e-3) and not torch.allclose(same, other_image, atol=1e-3)
    one, other = network.candidates(patches)
    assert not torch.allclose(one, other, atol=1e-3)
    assert not torch.allclose(one[0], one[1], atol=1e-3)   # each token reads its own


@torch.inference_mode()
def test_candidates_do_not_depend_on_the_text_weights(network, patches):
    before = network.candidates(patches)
    changed = RelevanceNetwork(small_backbone().new_parts()).eval()
    changed.load_state_dict(network.state_dict())
    for part in (changed.text_input, changed.text_projection):
        part.weight.zero_()
    for layer in changed.qformer.encoder.layer:     # what words go through
        layer.intermediate.dense.weight.zero_()
    torch.testing.assert_close(changed.candidates(patches), before, rtol=0, atol=0)
    said = texts("red", "blue")
    assert not torch.allclose(changed.query(patches, said), network.query(patches, said))


@torch.inference_mode()
def test_padding_of_texts_does_not_matter(network, patches):
    short = texts("red")
    assert short.mask.all()
    n, _, width = short.values.shape
    noisy = torch.cat([short.values, torch.randn(n, 5, width) * 9], dim=1)
    mask = torch.cat([short.mask, torch.zeros(n, 5, dtype=torch.long)], dim=1)
    padded = network.query(patches[:1], Texts(noisy, mask))
    torch.testing.assert_close(padded, network.query(patches[:1], short), atol=1e-5, rtol=0)
    seen = network.query(patches[:1], Texts(noisy, torch.ones_like(mask)))
    assert not torch.allclose(seen, padded, atol=1e-3)     # what is not masked counts
    together = network.query(patches[[0, 0]], texts("red", "a long blue dress with dots and a belt"))[:1]
    torch.testing.assert_close(together, padded, atol=1e-4, rtol=0)


def test_weights_to_begin_with_must_fit():
    from dataclasses import replace

    parts = small_backbone().new_parts()
    network = RelevanceNetwork(parts)
    assert network.temperature.item() == pytest.approx(START_TEMPERATURE)
    state = network.state_dict()
    again = RelevanceNetwork(replace(parts, weights={k: v for k, v in state.items() if k != "temperature"}))
    assert all(torch.equal(state[name], value) for name, value in again.state_dict().items())
    with pytest.raises(ValueError, match="do not fit"):
        RelevanceNetwork(replace(parts, weights={"query_tokens": state["query_tokens"]}))
