"""Muon against PyTorch's own, which computes in bfloat16, and AdamW against PyTorch's exactly."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from cir_core.relevance.training.optimisation import MuonAdamW, orthogonal


def matrices(seed: int) -> list[Tensor]:
    random = torch.Generator().manual_seed(seed)
    return [torch.randn(*shape, generator=random) for shape in ((6, 24), (24, 6), (6, 24), (16, 16))]


def test_singular_values_come_near_one_and_singular_vectors_stay() -> None:
    for given in matrices(1):
        left, _, right = torch.linalg.svd(given, full_matrices=False)
        seen = left.T @ orthogonal(given) @ right.T
        values = seen.diagonal()
        assert torch.allclose(seen, torch.diag(values), atol=1e-4)
        assert values.min() > 0.6 and values.max() < 1.3
    assert torch.equal(orthogonal(torch.zeros(2, 3, 4)), torch.zeros(2, 3, 4))


def test_several_at_once_are_as_one_by_one() -> None:
    both = torch.stack([matrices(2)[0], matrices(2)[2]])
    assert torch.allclose(orthogonal(both), torch.stack([orthogonal(one) for one in both]), atol=1e-6)


def test_steps_are_those_of_pytorch() -> None:
    ours, theirs = ([one.clone().requires_grad_() for one in matrices(3)] for _ in range(2))
    bias, same = (torch.ones(5).requires_grad_() for _ in range(2))
    muon = MuonAdamW([{"params": ours, "weight_decay": 0.05, "orthogonal": True},
                      {"params": [bias], "weight_decay": 0.0}], 0.01)
    reference = torch.optim.Muon(theirs, lr=0.01, weight_decay=0.05, adjust_lr_fn="match_rms_adamw")
    adam = torch.optim.AdamW([same], lr=0.01, weight_decay=0.0)
    for step in range(4):
        for one, other, gradient in zip(ours, theirs, matrices(10 + step), strict=True):
            one.grad, other.grad = gradient.clone(), gradient.clone()
        bias.grad = same.grad = torch.linspace(-1, 1, 5) + step
        for optimiser in (muon, reference, adam):
            optimiser.step()
    for one, other, begun in zip(ours, theirs, matrices(3), strict=True):
        moved = (one - begun).norm()
        assert moved > 0.05 and (one - other).norm() < 0.05 * moved
    assert torch.equal(bias, same)


def test_a_state_that_was_stored_goes_on() -> None:
    whole, first = ([one.requires_grad_() for one in matrices(5)] for _ in range(2))

    def steps(of: list[Tensor], some: range, stored: dict[str, Any] | None = None) -> dict[str, Any]:
        optimiser = MuonAdamW([{"params": of, "weight_decay": 0.05, "orthogonal": True}], 0.01)
        if stored:
            optimiser.load_state_dict(stored)
        for step in some:
            for one, gradient in zip(of, matrices(40 + step), strict=True):
                one.grad = gradient
            optimiser.step()
        return optimiser.state_dict()

    steps(whole, range(5))
    steps(first, range(2, 5), steps(first, range(2)))
    assert all(torch.equal(one, other) for one, other in zip(whole, first, strict=True))


@pytest.mark.parametrize("before", [0, 3])
def test_adamw_begins_anew_after_muon(before: int) -> None:
    [one, *_] = (given.requires_grad_() for given in matrices(4))
    optimiser = MuonAdamW([{"params": [one], "weight_decay": 0.05, "orthogonal": True}], 0.01)
    for step in range(before):
        one.grad = matrices(20 + step)[0]
        optimiser.step()
    optimiser.param_groups[0]["orthogonal"] = False
    other = one.detach().clone().requires_grad_()
    adam = torch.optim.AdamW([other], lr=0.01, weight_decay=0.05)
    for step in range(3):
        one.grad, other.grad = matrices(30 + step)[0], matrices(30 + step)[0]
        optimiser.step()
        adam.step()
    assert torch.equal(one, other)
