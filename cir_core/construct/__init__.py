"""Data sets constructed from a gallery, offline."""
