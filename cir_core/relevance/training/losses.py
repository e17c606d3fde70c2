"""The loss of CIRQRS."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def pair_loss(positive: Tensor, negative: Tensor, temperature: Tensor | float) -> Tensor:
    """CIRQRS, eq. 2 and 3: mean of ``-log sigmoid((s_pos - s_neg) / temperature)`` over ``[n]`` scores of each.

    QuRe's code writes it as the divergence of (1, 0) from the softmax of the two scores, which is the same number.
    """
    return F.softplus((negative - positive) / temperature).mean()


def batch_loss(queries: Tensor, candidates: Tensor, targets: Tensor, temperature: float) -> Tensor:
    """Cross-entropy of each query ``[n, dim]`` among the targets of its batch ``[n, tokens, dim]``, and of each target
    among the queries: BLIP-2's image-text contrastive loss (Li et al., 2023, section 3.1) with the mean of the tokens.

    Queries that share a target (``targets`` ``[n]``: image rows) are no negatives of one another.
    """
    logits = queries @ candidates.mean(dim=1).T / temperature
    shared = targets[:, None] == targets[None]
    shared.fill_diagonal_(False)
    logits = logits.masked_fill(shared, float("-inf"))
    right = torch.arange(len(queries), device=queries.device)
    return (F.cross_entropy(logits, right) + F.cross_entropy(logits.T, right)) / 2
