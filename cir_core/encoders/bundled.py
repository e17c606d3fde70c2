"""Location of the bundled encoder."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path("assets/encoders/atelier-clip")


def bundled_encoder_dir() -> Path:
    """Folder of the model that ships with cirque. It may be missing in a damaged install."""
    package = Path(__file__).resolve().parents[1]
    inside, beside = package / _FOLDER, package.parent / _FOLDER
    return inside if inside.is_dir() else beside
