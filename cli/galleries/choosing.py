"""Choice of a gallery's encoder: the named one, the earlier one, or one that is fetched after confirmation."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cir_core.encoders.specs import BUNDLED, parse_spec
from cir_core.errors import EncoderUnavailable
from cir_core.settings import get_settings
from cli.console import err, open_encoder, out, progress_bar

if TYPE_CHECKING:
    from cir_core.encoders.base import Encoder
    from cir_core.encoders.weights import Weights
    from cir_core.search.far_pictures import Look

KNOWS = "The encoder 'atelier' comes with the sample and knows drawn garments only"


def can_ask() -> bool:
    """Whether a person sees the question and can answer it."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def named_encoder(spec: str, *, yes: bool) -> Encoder:
    """The encoder ``spec``. If its weights are not on this machine they are fetched, after a yes: ``yes``, or that of
    the person at the terminal. Raises ``EncoderUnavailable``, with the ways to get them."""
    from cir_core.encoders.weights import fetched

    settings = get_settings()
    try:
        return open_encoder(fetched(spec, settings.home) or spec)
    except EncoderUnavailable:
        if parse_spec(spec).kind not in ("pretrained", "hub", "transformers"):
            raise
        weights = _weights(spec)
        if weights is None:   # not of a kind that is fetched to the home folder, or no such weights
            if not _is_missing(spec) or not (yes or (can_ask() and typer.confirm(
                    f"{spec} is not on this machine. Fetch it from huggingface.co (licence: see its page there)?"))):
                raise
            return open_encoder(spec, allow_downloads=True)
        if not weights.file.is_file() and not (yes or (can_ask() and typer.confirm(_question(weights)))):
            raise EncoderUnavailable(_missing(weights)) from None
    return open_encoder(fetch(weights))


def photo_encoder_instead(look: Look, source: str, name: str, manifest: Path | None, *, yes: bool,
                          ask: bool) -> Encoder | None:
    """Say what ``look`` found in ``source``, and offer an encoder for photos; None if the bundled one stays. With
    ``ask`` false nothing is offered. Raises ``EncoderUnavailable`` if a yes cannot be followed."""
    if not look.unlike:
        return None
    spec = get_settings().photo_encoder
    rest = f" --manifest {shlex.quote(str(manifest))}" if manifest else ""
    out.print(f"{KNOWS}: {look.unlike} of {look.seen} pictures looked at show something else. These get no captions, "
              "attributes or ticks, and results may have little to do with the words.", soft_wrap=True)
    out.print("With an encoder that knows photos: "
              f"cirque index {shlex.quote(source)} --name {name} --encoder {spec}{rest}", soft_wrap=True)
    if not (ask and look.mostly_unlike):
        return None
    if yes or (can_ask() and _confirmed(spec)):
        return named_encoder(spec, yes=True)
    return None


def fetch(weights: Weights) -> str:
    """Fetch ``weights`` to the home folder; returns the spec of the encoder."""
    from cir_core.encoders.weights import fetch_weights

    if not weights.file.is_file():
        err.print(f"Fetching {weights.spec}, about {weights.megabytes} MB, from {weights.host} (licence: "
                  f"{weights.licence}).", soft_wrap=True)
    try:
        with progress_bar(f"Fetching {weights.spec}") as update:
            return fetch_weights(weights, update, lambda: False)
    except EncoderUnavailable as error:
        if weights.file.is_file():   # put there by hand, and unfit: that is what the error says
            raise
        raise EncoderUnavailable(f"{str(error).partition(' Nothing was kept')[0]} {_by_file(weights)}") from error


def print_usual(spec: str) -> None:
    if spec != BUNDLED:
        out.print(f"Encoder: {spec}, chosen before (another: --encoder NAME; cirque encoders default NAME).",
                  soft_wrap=True)


def _confirmed(spec: str) -> bool:
    from cir_core.encoders.weights import fetched

    weights = _weights(spec)
    if weights is None or fetched(spec, get_settings().home) or weights.file.is_file():
        return typer.confirm(f"Index with {spec} instead?")
    return typer.confirm(_question(weights, " and index with it"))


def _question(weights: Weights, then: str = "") -> str:
    return (f"Fetch {weights.spec} now (about {weights.megabytes} MB from {weights.host}, licence: {weights.licence}) "
            f"to {weights.folder}{then}?")


def _weights(spec: str) -> Weights | None:
    from cir_core.encoders.weights import weights_of

    try:
        return weights_of(spec, get_settings().home)
    except EncoderUnavailable:
        return None


def _is_missing(spec: str) -> bool:
    """Whether weights may be had by asking for them: open_clip has such a name, or it is one of the hub."""
    import open_clip

    parsed = parse_spec(spec)
    return parsed.kind != "pretrained" or bool(open_clip.get_pretrained_cfg(parsed.source, parsed.tag))


def _missing(weights: Weights) -> str:
    return (f"The weights of {weights.spec} (about {weights.megabytes} MB) are not on this machine. Fetch them with: "
            f"cirque encoders fetch {weights.spec} (or --yes here). {_by_file(weights)}")


def _by_file(weights: Weights) -> str:
    return (f"Without a connection: get {weights.url} elsewhere, save it as {weights.file}, and run the same command "
            "again.")
