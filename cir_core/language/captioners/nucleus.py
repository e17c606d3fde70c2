"""Reproducible nucleus sampling: every row samples from its own generator.

Holtzman et al., ICLR 2020. transformers samples from torch's global generator, which
threads and the neighbours in a batch share; here noise is added to the logits instead, and
the largest taken (Gumbel-max: the argmax of logits and Gumbel noise is a sample from their softmax).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import torch
from PIL import Image
from transformers import LogitsProcessor


def seed_of(image: Image.Image, sample: int) -> int:
    """63 bits of a SHA-256 over the pixels and the sample number."""
    digest = hashlib.sha256(f"{sample} {image.mode} {image.size} ".encode() + image.tobytes())
    return int.from_bytes(digest.digest()[:8], "big") >> 1


class NucleusNoise(LogitsProcessor):
    """Makes greedy decoding sample from the smallest set of tokens whose probabilities reach ``top_p``. One seed per
    row of the batch."""

    def __init__(self, seeds: Sequence[int], top_p: float) -> None:
        # On the CPU, so that every device samples the same.
        self._generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        self._top_p = top_p

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        scores = scores.float()
        ordered, places = scores.softmax(-1).sort(dim=-1, descending=True)
        beyond = ordered.cumsum(-1) - ordered >= self._top_p   # the tokens before already reach it
        outside = torch.zeros_like(beyond).scatter(-1, places, beyond)
        noise = torch.stack([
            -torch.empty(scores.shape[-1]).exponential_(generator=generator).log()
            for generator in self._generators
        ])
        return (scores + noise.to(scores.device)).masked_fill(outside, -torch.inf)
