"""The backbone of a spec."""

from __future__ import annotations

from collections.abc import Mapping

from cir_core.errors import EncoderUnavailable
from cir_core.relevance.backbones.base import RelevanceBackbone

BLIP2 = "blip2:"


def load_relevance_backbone(
    spec: str, *, device: str = "auto", allow_downloads: bool = False, size: Mapping[str, int] | None = None
) -> RelevanceBackbone:
    """``blip2:/FOLDER`` or ``blip2:ORG/NAME`` of the hub, or any open_clip spec with a small Q-Former of ``size``.

    Raises ``EncoderUnavailable``.
    """
    if spec.startswith(BLIP2):
        from cir_core.relevance.backbones.blip2 import Blip2Backbone

        return Blip2Backbone(spec, device=device, allow_downloads=allow_downloads)
    from cir_core.relevance.backbones.open_clip import OpenClipBackbone, SmallQFormer, check_open_clip

    check_open_clip(spec)
    try:
        small = SmallQFormer(**(size or {}))
    except (TypeError, ValueError) as error:
        raise EncoderUnavailable(f"The Q-Former's size is wrong: {error}. Use the description (relevance.json) as it "
                                 "was written by `cirque relevance train`.") from error
    return OpenClipBackbone(spec, device=device, allow_downloads=allow_downloads, size=small)
