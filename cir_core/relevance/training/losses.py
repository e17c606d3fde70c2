"""The loss of CIRQRS, and those of the start of a small model."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


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
