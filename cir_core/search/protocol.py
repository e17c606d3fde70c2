"""Protocol cards: everything a result depends on, under one hash."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import Any

from cir_core.methods.steps import method_from_dict
from cir_core.types.methods import flat
from cir_core.types.records import EncoderIdentity, MethodSettings, ProtocolCard
from cir_core.version import __version__

TIE_RULE = "score, then gallery order"


def make_card(
    *, gallery: str, gallery_size: int, gallery_digest: str, split: str,
    encoder: EncoderIdentity, language_model: str, method: MethodSettings,
    caption_mode: str = "single", seed: int | None = None, scope: str = "whole gallery",
    max_turns: int | None = None, captions: str = "", domain: str = "garment", relevance: str = "",
    index: str = "",
) -> ProtocolCard:
    """A card with its digest filled in."""
    card = ProtocolCard(
        gallery=gallery, gallery_size=gallery_size, gallery_digest=gallery_digest, split=split,
        encoder=encoder, language_model=language_model, method=method,
        caption_mode=caption_mode, tie_rule=TIE_RULE, seed=seed, version=__version__, digest="",
        scope=scope, max_turns=max_turns, captions=captions, domain=domain, relevance=relevance,
        index=index,
    )
    return dataclasses.replace(card, digest=_digest(card))


def with_method(card: ProtocolCard, method: MethodSettings) -> ProtocolCard:
    """``card`` under ``method``; ``card`` itself if the method is its own, even if
    an earlier version hashed other fields."""
    if method == card.method:
        return card
    changed = dataclasses.replace(card, method=method)
    return dataclasses.replace(changed, digest=_digest(changed))


def with_models(card: ProtocolCard, now: ProtocolCard) -> ProtocolCard:
    """``card`` with the language model, captions, domain, relevance model and index of ``now``; ``card`` itself, with
    its stored digest, if none of them differs."""
    if not differences(card, now):
        return card
    changed = dataclasses.replace(card, language_model=now.language_model, captions=now.captions, domain=now.domain,
                                  relevance=now.relevance, index=now.index)
    return dataclasses.replace(changed, digest=_digest(changed))


def with_stand_ins(card: ProtocolCard, stand_ins: tuple[str, ...]) -> ProtocolCard:
    """``card`` of a turn for which ``stand_ins`` answered in place of its language model; ``card`` itself, with its
    stored digest, if none did."""
    if stand_ins == card.stand_ins:
        return card
    changed = dataclasses.replace(card, stand_ins=stand_ins)
    return dataclasses.replace(changed, digest=_digest(changed))


def differences(old: ProtocolCard, new: ProtocolCard) -> tuple[str, ...]:
    """Notes for a session that began under ``old`` and continues under ``new``:
    one each for language model, captions, domain, relevance model and index, where they differ."""
    return tuple(
        f"this session began with {before}; this turn continues with {now}"
        for before, now in zip(_models(old), _models(new), strict=True) if before != now
    )


def _models(card: ProtocolCard) -> tuple[str, ...]:
    return (
        f"the language model {card.language_model}",
        f"the optimised captions {card.captions}" if card.captions else "no optimised captions",
        f"the domain {card.domain!r}",
        f"the relevance model {card.relevance}" if card.relevance else "no relevance model",
        f"the index {card.index}" if card.index else "exact search",
    )


def _digest(card: ProtocolCard) -> str:
    content = card_to_dict(card)
    # The name of a gallery and the way an encoder was named are addresses, not content:
    # two labs that index the same files with the same weights get the same digest.
    del content["digest"], content["gallery"], content["encoder"]["spec"]
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def card_to_dict(card: ProtocolCard) -> dict[str, Any]:
    """Plain types, for JSON files and the database. Without stand-ins, a relevance model or an approximate index
    nothing shows that there could be: digests do not change."""
    content = dataclasses.asdict(card, dict_factory=flat)
    return {name: value for name, value in content.items() if value or name not in ("stand_ins", "relevance", "index")}


def card_from_dict(content: dict[str, Any]) -> ProtocolCard:
    """The inverse of :func:`card_to_dict`; fields missing in older versions take their
    defaults, and the stored digest is retained."""
    return ProtocolCard(**{
        **content,
        "encoder": EncoderIdentity(**content["encoder"]),
        "method": method_from_dict(content["method"]),
        "stand_ins": tuple(content.get("stand_ins", ())),
    })
