"""Muon (Jordan et al., 2024) for matrices beside AdamW for all else, in one optimiser. The loss of CIRQRS, and those
of the start of a small model.

The update of a matrix is its momentum with all singular values brought near one, so that rare directions are learned as
fast as common ones. A small Q-Former of random weights learns far more of it in a step than of AdamW's
(docs/how-to/evaluate/relevance.md). PyTorch's own ``torch.optim.Muon`` works in bfloat16 and matrix by matrix, which
makes a step of this network four times as long on a processor.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

_MOMENTUM = 0.95
_ROUNDS = 5
_A, _B, _C = 3.4445, -4.7750, 2.0315   # steepest at zero that still ends near one: from about 0.7 to 1.2


class MuonAdamW(torch.optim.AdamW):
    """AdamW, and Muon for the groups that are ``orthogonal``, which may change between steps.

    Muon's steps are as large as AdamW's usually are (Liu et al., 2025, section 2.2), so both take the same rate.
    """

    def __init__(self, groups: Iterable[Mapping[str, Any]], rate: float) -> None:
        super().__init__([{"orthogonal": False, **group} for group in groups], lr=rate)

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        for group in self.param_groups:
            if group["orthogonal"]:
                self._orthogonal_step(group)
            else:
                for one in group["params"]:
                    if "momentum" in self.state.get(one, ()):
                        del self.state[one]   # AdamW begins with what it makes itself
        return super().step(closure)

    def _orthogonal_step(self, group: Mapping[str, Any]) -> None:
        alike: dict[tuple[int, ...], list[tuple[Tensor, Tensor]]] = defaultdict(list)
        for one in group["params"]:
            if one.grad is not None:
                alike[tuple(one.shape)].append((one, one.grad))
                one.grad = None   # AdamW passes over it
        for shape, found in alike.items():
            matrices, updates = [one for one, _ in found], []
            for one, gradient in found:
                state = self.state[one]
                if not state:   # AdamW asks every state for its step when it is loaded
                    state |= {"step": torch.zeros(()), "momentum": torch.zeros_like(one)}
                momentum: Tensor = state["momentum"]
                momentum.lerp_(gradient, 1 - _MOMENTUM)
                updates.append(gradient.lerp(momentum, _MOMENTUM))   # Nesterov's
            rate = group["lr"] * 0.2 * max(shape[-2:]) ** 0.5
            for one, update in zip(matrices, orthogonal(torch.stack(updates)), strict=True):
                one.mul_(1 - group["lr"] * group["weight_decay"]).sub_(update, alpha=rate)


def orthogonal(matrices: Tensor) -> Tensor:
    """``[..., rows, columns]`` with the singular vectors they have, and singular values near one: five rounds of Newton
    and Schulz's iteration with Jordan's coefficients. A matrix of zeros stays one."""
    wide = matrices.shape[-2] <= matrices.shape[-1]
    found: Tensor = matrices if wide else matrices.mT
    found = found / found.norm(dim=(-2, -1), keepdim=True).clamp(min=1e-7)
    for _ in range(_ROUNDS):
        gram = found @ found.mT
        found = _A * found + (_B * gram + _C * gram @ gram) @ found
    return found if wide else found.mT


def pair_loss(positive: Tensor, negative: Tensor, temperature: Tensor | float) -> Tensor:
    """CIRQRS, eq. 2 and 3: mean of ``-log sigmoid((s_pos - s_neg) / temperature)`` over ``[n]`` scores of each.

    QuRe's code writes it as the divergence of (1, 0) from the softmax of the two scores, which is the same number.
    """
    return F.softplus((negative - positive) / temperature).mean()


def reproduction_loss(candidates: Tensor, vectors: Tensor) -> Tensor:
    """One minus the mean cosine of each candidate's tokens ``[n, tokens, dim]`` and its encoder's vector ``[n, d]``,
    ``d <= dim``: the rest of ``dim`` is to be zero."""
    return 1 - torch.einsum("ntd,nd->nt", candidates[..., : vectors.shape[1]], vectors).mean()


def alignment_loss(queries: Tensor, vectors: Tensor, targets: Tensor, temperature: float) -> Tensor:
    """Cross-entropy of each query's target (``targets`` ``[n]``: rows of ``vectors``) among all images ``[images, d]``:
    BLIP-2's image-text contrastive loss (Li et al., 2023, section 3.1) with the whole collection as the batch."""
    return F.cross_entropy(queries[:, : vectors.shape[1]] @ vectors.T / temperature, targets)
