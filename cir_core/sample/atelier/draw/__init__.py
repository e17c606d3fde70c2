"""Render garments deterministically from attributes and a seed."""

from cir_core.sample.atelier.draw.render import render

__all__ = ["render"]
