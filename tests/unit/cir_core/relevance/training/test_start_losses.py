"""Losses of the start of a small model, against what their definitions give."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from cir_core.relevance.training.losses import alignment_loss, reproduction_loss


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
