"""Location of the configured relevance model: bundled, a folder, or none. Loads nothing."""

from __future__ import annotations

from pathlib import Path

from cir_core.errors import RelevanceUnavailable
from cir_core.support.files import shipped_folder
from cir_core.support.texts import quoted

BUNDLED = "bundled"
OFF = "off"
WEIGHTS_FILE = "relevance.safetensors"
CARD_FILE = "relevance.json"


def bundled_relevance_dir() -> Path:
    """Folder of the model that ships with cirque. It may be missing in a damaged install."""
    return shipped_folder("relevance")


def folder_of(spec: str) -> Path:
    """``bundled`` or a folder. Raises ``RelevanceUnavailable`` for ``off`` and an empty name."""
    spec = spec.strip()
    if not spec or spec == OFF:
        raise RelevanceUnavailable("No relevance model is set. Set CIRQUE_RELEVANCE to bundled, or to a folder written "
                                   "by `cirque relevance train`.")
    if spec == BUNDLED:
        return bundled_relevance_dir()
    try:
        return Path(spec).expanduser()
    except RuntimeError as error:   # ~ of an unknown person
        raise RelevanceUnavailable(f"The folder of relevance model {quoted(spec)} is unknown. Write its whole "
                                   "path.") from error


def has_files(spec: str) -> bool:
    """Whether ``spec`` names a model whose files exist."""
    try:
        folder = folder_of(spec)
    except RelevanceUnavailable:
        return False
    return (folder / CARD_FILE).is_file() and (folder / WEIGHTS_FILE).is_file()
