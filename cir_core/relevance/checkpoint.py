"""Files of a relevance model: weights as safetensors, and a description as JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from cir_core.encoders.files.fingerprint import revision
from cir_core.errors import RelevanceMismatch, RelevanceUnavailable
from cir_core.relevance.scores import READINGS, Reading
from cir_core.relevance.where import CARD_FILE as CARD_FILE
from cir_core.relevance.where import WEIGHTS_FILE as WEIGHTS_FILE
from cir_core.support.files import flush_to_disk, write_durably
from cir_core.support.texts import quoted

_FORMAT = 2   # 1: scores of the reading "mean" had another scale


@dataclass(frozen=True)
class RelevanceCard:
    """What a checkpoint was trained on and with. ``trained`` holds figures for people: seed, epochs, time, recall."""

    backbone: str                 # spec: atelier, ViT-B-32/openai, blip2:/FOLDER
    backbone_revision: str
    reading: Reading
    pad: float                    # target ratio that images are padded to; 0: as they are
    preset: str
    dataset: str
    size: Mapping[str, int] = field(default_factory=dict)   # of the Q-Former, where the backbone does not decide it
    trained: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Checkpoint:
    """Weights and card. ``revision``: 16 hex digits; scores of different revisions are not comparable (T-21)."""

    card: RelevanceCard
    weights: Mapping[str, torch.Tensor]
    revision: str


def save_checkpoint(
    folder: Path, card: RelevanceCard, weights: Mapping[str, torch.Tensor], *, half: bool
) -> Checkpoint:
    """Write both files, each atomically. ``half``: weights in half precision, the temperature in single."""
    folder.mkdir(parents=True, exist_ok=True)
    stored = {
        name: (value.half() if half and value.ndim else value).detach().cpu().clone().contiguous()
        for name, value in weights.items()
    }
    made = _revision(card, stored)
    partial = folder / f".{WEIGHTS_FILE}.partial"
    save_file(stored, str(partial), metadata={"format": "pt"})
    partial.chmod(0o644)   # safetensors makes it readable by the owner only
    with partial.open("rb+") as file:
        flush_to_disk(file)
    content = json.dumps({"format": _FORMAT, "revision": made, **asdict(card)}, indent=2, ensure_ascii=False) + "\n"
    os.replace(partial, folder / WEIGHTS_FILE)
    write_durably(folder / CARD_FILE, content.encode())
    return Checkpoint(card, stored, made)


def load_checkpoint(folder: Path) -> Checkpoint:
    """Raises ``RelevanceUnavailable`` for missing or damaged files, and for two that do not belong together."""
    card, expected = _read_card(folder)
    path = folder / WEIGHTS_FILE
    try:
        weights = load_file(str(path))
    except (OSError, SafetensorError) as error:
        raise RelevanceUnavailable(f"The weights {path} cannot be read: {error}. Train the model again, or copy "
                                   "the file again.") from error
    found = _revision(card, weights)
    if expected != found:
        raise RelevanceUnavailable(f"{WEIGHTS_FILE} and {CARD_FILE} in {folder} do not belong together, or one was "
                                   f"changed (revision {found}, not {quoted(str(expected))}). Copy both again, or "
                                   "train the model again.")
    return Checkpoint(card, weights, found)


def read_card(folder: Path) -> RelevanceCard:
    """The description alone. Raises ``RelevanceUnavailable``."""
    return _read_card(folder)[0]


def _read_card(folder: Path) -> tuple[RelevanceCard, Any]:
    path = folder / CARD_FILE
    if not path.is_file():
        raise RelevanceUnavailable(f"No {CARD_FILE} in {folder}. Name a folder written by `cirque relevance train`.")
    try:
        content = json.loads(path.read_text("utf-8"))
        found = content.pop("format", None)
        if found not in (1, _FORMAT) or content["reading"] not in READINGS:
            raise ValueError("it has another format; update cirque")
        if found == 1 and content["reading"] == "mean":
            raise ValueError("it was trained by an earlier version of cirque, whose scores were on another scale")
        expected = content.pop("revision")
        return _checked(RelevanceCard(**content)), expected
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise RelevanceUnavailable(f"{path} does not describe a relevance model: {error}. Copy the file again, or "
                                   "train the model again.") from error


def _checked(card: RelevanceCard) -> RelevanceCard:
    texts = (card.backbone, card.backbone_revision, card.preset, card.dataset)
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("backbone, backbone_revision, preset and dataset must be texts")
    if type(card.pad) not in (int, float) or not (card.pad == 0 or 1 <= card.pad <= 100):
        raise ValueError("pad must be 0, or a ratio from 1 to 100")
    if not all(isinstance(part, dict) for part in (card.size, card.trained)):
        raise ValueError("size and trained must be objects")
    if not all(type(number) is int for number in card.size.values()):
        raise ValueError("size must contain whole numbers")
    return card


def _revision(card: RelevanceCard, weights: Mapping[str, torch.Tensor]) -> str:
    parts = {"backbone": card.backbone_revision, "reading": card.reading, "pad": card.pad, "size": dict(card.size)}
    return revision(weights, parts)


def check_same(revisions: Mapping[str, str]) -> None:
    """``revisions``: what was scored → revision of its scores. Raises ``RelevanceMismatch`` if they differ."""
    if len(set(revisions.values())) > 1:
        listed = ", ".join(f"{quoted(name)}: {one}" for name, one in revisions.items())
        raise RelevanceMismatch(f"Scores of different relevance models are not comparable ({listed}). Score all with "
                                "the same model.")
