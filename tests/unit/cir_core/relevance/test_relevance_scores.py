"""Both readings against loops, over a gallery and over pairs."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cir_core.relevance import scores
from cir_core.relevance.scores import READINGS, all_scores, as_scored, gallery_scores, pair_scores, set_score


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
