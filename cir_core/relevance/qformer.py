"""The network of CIRQRS: a Q-Former over frozen image features.

Query: 32 learned tokens attend to the reference's patches and to the words of the modification text; the mean of
their outputs, projected, is the query vector. Candidate: the same tokens attend to the image's patches alone; each
output, projected, is one vector. The layers are BLIP-2's (Li et al., 2023, section 3.1), those of ``transformers``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import Blip2QFormerConfig, Blip2QFormerModel

from cir_core.relevance.backbones.base import NewParts, Texts

START_TEMPERATURE = 0.07


class RelevanceNetwork(nn.Module):
    """Trainable weights of a relevance model; everything before it is frozen."""

    def __init__(self, parts: NewParts) -> None:
        super().__init__()
        config = Blip2QFormerConfig(**parts.qformer)
        self.query_tokens = nn.Parameter(torch.randn(1, parts.tokens, config.hidden_size) * 0.02)
        self.patch_input = parts.patches
        self.text_input = parts.texts
        self.qformer = Blip2QFormerModel(config)
        last: Any = self.qformer.encoder.layer[-1]
        last.feed_forward_chunk = _unread
        self.vision_projection = nn.Linear(config.hidden_size, parts.dim)
        self.text_projection = nn.Linear(config.hidden_size, parts.dim)
        self.temperature = nn.Parameter(torch.tensor(START_TEMPERATURE))
        if parts.weights:
            self._start_from(parts.weights)

    def query(self, patches: Tensor, texts: Texts) -> Tensor:
        """``[n, dim]`` unit rows of references ``[n, patches, width]`` and as many texts."""
        tokens = self.query_tokens.expand(len(patches), -1, -1)
        words = self.text_input(texts.values)
        mask = torch.cat([texts.mask.new_ones(tokens.shape[:2]), texts.mask], dim=1)
        out = self._attend(torch.cat([tokens, words.to(tokens.dtype)], dim=1), patches, mask)
        return F.normalize(self.text_projection(out).mean(dim=1), dim=-1)

    def candidates(self, patches: Tensor) -> Tensor:
        """``[n, tokens, dim]`` unit rows of images ``[n, patches, width]``."""
        out = self._attend(self.query_tokens.expand(len(patches), -1, -1), patches, None)
        return F.normalize(self.vision_projection(out), dim=-1)

    def forward(
        self, references: Tensor | None, texts: Texts | None, images: Tensor | None
    ) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        """:meth:`query` of references and texts, and :meth:`candidates` of images, as far as they are given, and
        with both the temperature: one call with all that a loss needs, so that several processes can share a step."""
        queries = None if references is None or texts is None else self.query(references, texts)
        tokens = None if images is None else self.candidates(images)
        return queries, tokens, None if queries is None or tokens is None else self.temperature * 1

    def _attend(self, embedded: Tensor, patches: Tensor, mask: Tensor | None) -> Tensor:
        out = self.qformer(
            query_embeds=embedded, query_length=self.query_tokens.shape[1], attention_mask=mask,
            encoder_hidden_states=self.patch_input(patches),
        )
        return cast(Tensor, out.last_hidden_state[:, : self.query_tokens.shape[1]])

    def _start_from(self, weights: Mapping[str, Any]) -> None:
        missing, unexpected = self.load_state_dict(weights, strict=False)
        if unexpected or set(missing) - {"temperature"}:
            raise ValueError(f"weights to begin with do not fit: missing {missing}, unexpected {unexpected}")


def _unread(words: Tensor) -> Tensor:
    """In place of the last layer's feed-forward part for the words, an eighth of a small network's time: only the query
    tokens are read after it."""
    return words
