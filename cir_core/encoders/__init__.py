"""Encoders: map images and texts to unit vectors in a shared space.

Importing this package loads no model library; :func:`load_encoder` does.
"""

from cir_core.encoders.base import ComposingEncoder, Encoder, composes
from cir_core.encoders.specs import EncoderSpec, bundled_encoder_dir, load_encoder, parse_spec

__all__ = [
    "ComposingEncoder", "Encoder", "EncoderSpec", "bundled_encoder_dir", "composes", "load_encoder", "parse_spec",
]
