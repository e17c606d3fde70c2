"""Both readings against loops, over a gallery and over pairs."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cir_core.relevance import scores
from cir_core.relevance.backbones.base import Texts
from cir_core.relevance.qformer import START_TEMPERATURE, RelevanceNetwork
from cir_core.relevance.scores import READINGS, all_scores, as_scored, gallery_scores, pair_scores, set_score
from tests.fakes.relevance import SIZE, network_of, noise, small_backbone


def unit(rng, *shape):
    rows = rng.standard_normal(shape).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def by_hand(query, tokens, reading):
    """The score of one candidate, with Python's numbers."""
    products = [sum(float(a) * float(b) for a, b in zip(query, token, strict=True)) for token in tokens]
    return max(products) if reading == "max" else sum(products) / len(products)


@pytest.mark.parametrize("reading", READINGS)
def test_all_forms_equal_plain_loops(reading):
    rng = np.random.default_rng(0)
    queries, candidates = unit(rng, 3, 8), unit(rng, 5, 4, 8).astype(np.float16)
    expected = np.array([[by_hand(query, tokens, reading) for tokens in candidates] for query in queries])
    q, c = torch.from_numpy(queries), torch.from_numpy(candidates).float()
    np.testing.assert_allclose(all_scores(q, c, reading), expected, atol=1e-6)
    np.testing.assert_allclose(pair_scores(q, c[:3], reading), np.diag(expected), atol=1e-6)
    for query, row in zip(queries, expected, strict=True):
        np.testing.assert_allclose(gallery_scores(query, candidates, reading), row, atol=1e-6)


def test_scores_of_the_reading_mean_are_cosines_of_the_mean():
    # The first image's tokens agree; the mean of the second's, (0.6, 0), has the length 0.6.
    tokens = torch.tensor([[[1.0, 0], [1, 0]], [[0.6, 0.8], [0.6, -0.8]]])
    found = as_scored(tokens, "mean")
    torch.testing.assert_close(found, torch.tensor([[[1.0, 0], [1, 0]], [[1, 4 / 3], [1, -4 / 3]]]))
    query = torch.tensor([[0.8, 0.6]])
    torch.testing.assert_close(all_scores(query, found, "mean"), torch.tensor([[0.8, 0.8]]))
    assert as_scored(tokens, "max") is tokens
    opposite = as_scored(torch.tensor([[[1.0, 0], [-1, 0]]]), "mean")   # whose mean has no direction
    assert torch.isfinite(opposite.half()).all()


def test_the_readings_of_two_tokens_written_out():
    query = np.array([1, 0], np.float32)
    candidates = np.array([[[1, 0], [0, 1]], [[0.6, 0.8], [0.6, -0.8]], [[-1, 0], [-1, 0]]], np.float16)
    np.testing.assert_allclose(gallery_scores(query, candidates, "mean"), [0.5, 0.6, -1], atol=5e-4)
    np.testing.assert_allclose(gallery_scores(query, candidates, "max"), [1, 0.6, -1], atol=5e-4)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 40), st.integers(1, 5), st.integers(1, 9), st.sampled_from(READINGS), st.integers(1, 200))
def test_blocks_do_not_matter(n, tokens, dim, reading, block):
    rng = np.random.default_rng(n)
    query, candidates = unit(rng, dim), unit(rng, n, tokens, dim).astype(np.float16)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scores, "_BLOCK", block)
        found = gallery_scores(query, candidates, reading)
    assert found.dtype == np.float32 and found.shape == (n,)
    repeated = torch.from_numpy(query)[None].expand(n, -1)
    np.testing.assert_allclose(found, pair_scores(repeated, torch.from_numpy(candidates).float(), reading), atol=1e-5)


@pytest.mark.parametrize("reading", READINGS)
def test_memory_mapped_candidates(tmp_path, reading):
    rng = np.random.default_rng(1)
    query, candidates = unit(rng, 8), unit(rng, 300, 4, 8).astype(np.float16)
    candidates.tofile(tmp_path / "f16")
    mapped = np.memmap(tmp_path / "f16", dtype="<f2", mode="c", shape=candidates.shape)
    found = gallery_scores(query, mapped, reading)
    read_only = np.memmap(tmp_path / "f16", dtype="<f2", mode="r", shape=candidates.shape)
    np.testing.assert_array_equal(found, gallery_scores(query, read_only, reading))   # and no warning of PyTorch's
    np.testing.assert_array_equal(found, gallery_scores(query, candidates, reading))
    np.testing.assert_array_equal(found[::-1][:7], gallery_scores(query, mapped[::-1][:7], reading))


def test_a_set_is_the_mean_of_its_first_k():
    assert set_score([0.5, 0.1, 0.9], 2) == pytest.approx(0.3)
    assert set_score([0.5, 0.1], 10) == pytest.approx(0.3)
    assert np.isnan(set_score([], 5))


# --- what the network's outputs depend on ----------------------------------------------------

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
