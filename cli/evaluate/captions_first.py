"""Captions that reflection shows to a language model: whether to build them before an evaluation that lasts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from cir_core.methods.declared import Method
from cir_core.methods.reflection import PSEUDO_FEEDBACK
from cir_core.types.records import Domain
from cli.console import err

if TYPE_CHECKING:
    from cir_core.encoders.base import Encoder
    from cir_core.gallery.gallery import Gallery
    from cir_core.language.base import LanguageModel

LONG = 50   # queries of an evaluation that is worth a question

YesOption = Annotated[bool, typer.Option(
    "--yes", help="Build captions missing for reflection without asking.")]


def captions_first(
    gallery: Gallery, encoder: Encoder, language: LanguageModel, methods: Sequence[Method], domain: Domain,
    queries: int, *, yes: bool = False,
) -> None:
    """Build the gallery's captions, if somebody wants them: asked once, before :data:`LONG` queries or more.

    Only a model that sees is concerned: for one that does not, captions are made on the fly. Where nobody can answer
    (no terminal), nothing is built without ``yes``, and the evaluation says so. Raises as ``cirque captions build``
    does.
    """
    reflecting = [method.name for method in methods if _shows_captions(method)]
    if not reflecting or not language.sees or queries < LONG:
        return
    lacking = _lacking(gallery)
    if not lacking:
        return
    from cli.galleries.captions import SAMPLES, build_captions

    what = (f"{', '.join(reflecting)}: the language model is shown captions of the results, and {lacking:,} of the "
            f"{len(gallery):,} images of gallery {gallery.name} have none. Building them asks {language.name} for "
            f"{SAMPLES} captions of each image, once for all evaluations (cirque captions build).")
    if yes or _agreed(what):
        if yes:
            err.print(what, soft_wrap=True)
        build_captions(gallery, encoder, language, domain)


def _agreed(what: str) -> bool:
    if _at_a_terminal():
        err.print(what, soft_wrap=True)
        return typer.confirm("Build them now? Otherwise the rounds see pictures alone", default=False, err=True)
    err.print(f"{what} The rounds see pictures alone now; --yes builds the captions first.", soft_wrap=True)
    return False


def _at_a_terminal() -> bool:
    return sys.stdin.isatty()


def _shows_captions(method: Method) -> bool:
    reflection = method.settings.reflection
    return reflection is not None and reflection.fusion != PSEUDO_FEEDBACK and reflection.captions > 0


def _lacking(gallery: Gallery) -> int:
    """Images without any stored caption; 0 if captions were built."""
    from cir_core.captions.stored import read_captions

    if read_captions(gallery) is not None:
        return 0
    return sum(not gallery.caption_of(image_id) for image_id in gallery.ids)
