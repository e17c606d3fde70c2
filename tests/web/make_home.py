"""Draws and indexes a small sample gallery: ``python make_home.py HOME COUNT``."""

import sys
from pathlib import Path

from cir_core.encoders import load_encoder
from cir_core.gallery.indexing import index_folder
from cir_core.sample.atelier.build import build_atelier

if __name__ == "__main__":
    home = Path(sys.argv[1])
    drawn = build_atelier(home / "sample", limit=int(sys.argv[2]))
    index_folder(drawn.images, name="atelier", encoder=load_encoder("atelier"), home=home, split="test")
