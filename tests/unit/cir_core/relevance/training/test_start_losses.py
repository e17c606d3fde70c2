"""Losses of the start of a small model, and the vectors that it learns, against what their definitions give."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F

from cir_core.relevance.training.losses import alignment_loss, half_whitened, reproduction_loss


def _with_variances(variances: list[float], count: int = 400) -> torch.Tensor:
    """``[count, d]`` rows with exactly these variances, along axes that are not coordinates, and a mean of 3."""
    rng = np.random.default_rng(5)
    raw = rng.normal(size=(count, len(variances)))
    raw -= raw.mean(axis=0)
    uncorrelated = np.linalg.qr(raw)[0] * math.sqrt(count - 1)
    turned = np.linalg.qr(rng.normal(size=(len(variances),) * 2))[0]
    return torch.from_numpy(uncorrelated * np.sqrt(variances) @ turned + 3.0)


def test_half_whitening_leaves_the_roots_of_the_variances_along_the_same_axes() -> None:
    vectors = _with_variances([16.0, 4.0, 1.0, 0.25])
    found = half_whitened(vectors)
    assert found.mean(dim=0).abs().max() < 1e-9
    before, after = torch.cov(vectors.T), torch.cov(found.T)
    torch.testing.assert_close(after @ after, before)   # the root of a symmetric matrix: of its values, on its axes
    torch.testing.assert_close(torch.linalg.eigvalsh(after), torch.tensor([0.5, 1.0, 2.0, 4.0], dtype=torch.float64))


def test_half_whitening_does_not_blow_up_axes_of_hardly_any_variance() -> None:
    found = half_whitened(_with_variances([16.0, 1.0, 1e-12]))
    # The third by 0.016 ** -0.25, which a thousandth of the largest gets: 1e-12 / sqrt(0.016).
    variances = torch.linalg.eigvalsh(torch.cov(found.T))
    assert math.isclose(variances[0].item(), 1e-12 / math.sqrt(0.016), rel_tol=1e-3)
    assert torch.isfinite(half_whitened(torch.ones(5, 3))).all()   # no variance at all


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
