"""One entrance for every encoder."""

from __future__ import annotations

from pathlib import Path

from cir_core.encoders.base import Encoder
from cir_core.encoders.specs import parse_spec

_FOLDER = Path("assets/encoders/atelier-clip")


def bundled_encoder_dir() -> Path:
    """Folder of the model that ships with cirque. It may not exist in a damaged install."""
    package = Path(__file__).resolve().parents[1]
    inside, beside = package / _FOLDER, package.parent / _FOLDER
    return inside if inside.is_dir() else beside


def load_encoder(
    spec: str,
    *,
    device: str = "auto",
    precision: str = "auto",
    allow_downloads: bool = False,
    batch_size: int = 64,
) -> Encoder:
    """Load the encoder that ``spec`` names (forms: :mod:`cir_core.encoders.specs`).

    ``device`` is auto, cpu, cuda, cuda:N or mps; ``precision`` auto, fp32, fp16 or bf16
    (auto: fp16 on cuda, else fp32; weights stay fp32, the forward pass is autocast).
    ``batch_size`` is how many images or texts one forward pass takes.

    With ``allow_downloads`` false nothing is fetched: weights must be in a local folder
    or already in the Hugging Face cache. ``sentence-transformers:`` and ``embedding:`` read
    local folders only, whatever it says, and keep large models in the precision they run in.
    Raises ``EncoderUnavailable`` with the remedy.
    """
    parsed = parse_spec(spec)
    if parsed.kind == "transformers":
        from cir_core.encoders.transformers_encoder import load_transformers

        return load_transformers(
            parsed, device=device, precision=precision, allow_downloads=allow_downloads, batch_size=batch_size
        )
    if parsed.kind == "sentence-transformers":
        from cir_core.encoders.sentence_transformers_encoder import load_sentence_transformers

        return load_sentence_transformers(parsed, device=device, precision=precision, batch_size=batch_size)
    if parsed.kind == "embedding":
        from cir_core.encoders.embedding_encoder import load_embedding

        return load_embedding(parsed, device=device, precision=precision, batch_size=batch_size)
    if parsed.kind in ("pic2word", "searle"):
        from cir_core.encoders.pseudo_word import load_pseudo_word

        return load_pseudo_word(
            parsed, device=device, precision=precision, allow_downloads=allow_downloads, batch_size=batch_size
        )
    if parsed.kind == "magiclens":
        from cir_core.encoders.magiclens import load_magiclens

        return load_magiclens(
            parsed, device=device, precision=precision, allow_downloads=allow_downloads, batch_size=batch_size
        )
    from cir_core.encoders.open_clip_encoder import load_open_clip

    return load_open_clip(
        parsed, device=device, precision=precision, allow_downloads=allow_downloads, batch_size=batch_size
    )
