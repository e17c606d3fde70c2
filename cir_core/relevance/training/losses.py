"""The loss of CIRQRS."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor


def pair_loss(positive: Tensor, negative: Tensor, temperature: Tensor | float) -> Tensor:
    """CIRQRS, eq. 2 and 3: mean of ``-log sigmoid((s_pos - s_neg) / temperature)`` over ``[n]`` scores of each.

    QuRe's code writes it as the divergence of (1, 0) from the softmax of the two scores, which is the same number.
    """
    return F.softplus((negative - positive) / temperature).mean()
