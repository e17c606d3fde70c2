"""Losses of the bundled encoder. Features are unit rows, ``[n, dim]``."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.training.sample_texts import PromptBook
from cir_core.garments.lexicon import GROUPS

#: What a small part of the picture shows weighs more; 1 in the mean.
_DETAILS = {"trim": 3.0, "neckline": 2.0, "second_colour": 2.0, "pattern": 1.5}
_WEIGHTS = torch.tensor([_DETAILS.get(group.key, 1.0) for group in GROUPS])
_WEIGHTS = _WEIGHTS / _WEIGHTS.mean()


class Helpers(nn.Module):
    """Training-only modules: the other losses' inverse temperatures, and linear heads.

    The heads predict each attribute directly from the image features. A fixed row per value
    is an easier target than a text that is itself still being learned, so they bring small
    details (necklines, buttons) into the image tower early. None of this is exported.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.partial = nn.Parameter(torch.tensor(2.7))
        self.prompt = nn.Parameter(torch.tensor(2.7))
        self.heads = nn.Linear(dim, sum(len(group.keys) for group in GROUPS))

    def reading(self, image: Tensor, codes: Tensor) -> Tensor:
        """Weighted mean cross entropy of the heads. ``image`` is ``[n, dim]``, *not* normalised."""
        parts = self.heads(image).split([len(group.keys) for group in GROUPS], dim=1)
        each = [F.cross_entropy(part, codes[:, g]) for g, part in enumerate(parts)]
        return (_WEIGHTS * torch.stack(each)).mean()


def contrastive(image: Tensor, text: Tensor, scale: Tensor) -> Tensor:
    """CLIP's loss (Radford et al., 2021): each image and its caption against the batch."""
    logits = scale * image @ text.T
    own = torch.arange(len(logits))
    return (F.cross_entropy(logits, own) + F.cross_entropy(logits.T, own)) / 2


def multi_positive(image: Tensor, text: Tensor, fits: Tensor, scale: Tensor) -> Tensor:
    """Each partial caption against the batch, with all matching images sharing the target.

    ``fits`` is ``[images, texts]`` of zeros and ones, at least one 1 in each column.
    Equal shares require equal scores: attributes a text omits must not affect it.
    """
    logits = scale * text @ image.T
    target = fits.T / fits.T.sum(dim=1, keepdim=True)
    # Less the target's entropy, so that a perfect fit is 0 however many images share.
    entropy = -torch.special.xlogy(target, target).sum(dim=1)
    return (F.cross_entropy(logits, target, reduction="none") - entropy).mean()


def naming(image: Tensor, prompts: Tensor, book: PromptBook, codes: Tensor, scale: Tensor) -> Tensor:
    """Each image against the prompts of every group, for its own category.

    ``prompts`` are the features of ``book.texts``; ``codes`` is ``[images, groups]``.
    """
    logits = scale * image @ prompts.T
    total = image.new_zeros(())
    for group, (start, n_values) in book.spans.items():
        offset = start + (codes[:, 0] * n_values if group else torch.zeros_like(codes[:, 0]))
        columns = offset[:, None] + torch.arange(n_values)
        total = total + _WEIGHTS[group] * F.cross_entropy(logits.gather(1, columns), codes[:, group])
    return total / len(book.spans)
