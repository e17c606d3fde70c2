"""Data sets over images of COCO and Visual Genome."""
