"""Draws garments: from attributes and a seed to a picture, nothing else involved."""

from cir_core.sample.atelier.draw.render import render

__all__ = ["render"]
