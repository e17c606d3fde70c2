"""Retriever specs on the command line.

    slerp                       a method over the audit's gallery
    cirevl@GALLERY              a method over another gallery of the same images
    slerp@ViT-B-32/openai       over the gallery's images, indexed with that encoder at first use
    magiclens:BACKBONE:/w.pt    a composing encoder alone: the method "joint" with it
    ranks:/path/ranks.json      precomputed ranks from a file
    NAME=…                      any of these under a custom name

Several are separated by commas; a comma within a path is written ``\\,``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cir_core.encoders.specs import COMPOSING, UNIVERSAL, parse_spec
from cir_core.errors import EncoderUnavailable, MethodError
from cir_core.methods.declared import Method
from cir_core.support.texts import quoted

JOINT = "joint"
_NAMED = re.compile(r"([A-Za-z0-9][A-Za-z0-9 ._-]*)=(.+)", re.DOTALL)
_COMMA = re.compile(r"(?<!\\),")


@dataclass(frozen=True)
class RetrieverSpec:
    """``name`` is "" if only a file contains it. ``method`` is None for a file of ranks; at most
    one of ``gallery`` and ``encoder`` is set, neither means the audit's gallery."""

    name: str
    method: Method | None = None
    gallery: str = ""
    encoder: str = ""
    ranks: Path | None = None


def parse_retrievers(
    texts: Iterable[str], methods: Mapping[str, Method], galleries: Collection[str], base: str = ""
) -> tuple[RetrieverSpec, ...]:
    """All retrievers in ``texts``, each of which may contain several. ``galleries`` are the existing ones; ``base`` is
    the audit's own. Raises ``MethodError`` for an invalid retriever, for two of one name and for a repeated one."""
    parts = [part.replace("\\,", ",").strip() for text in texts for part in _COMMA.split(text)]
    specs = tuple(_parse(part, methods, galleries) for part in parts if part)
    if not specs:
        raise MethodError(f"No retriever is named. Give some with --retrievers, for example text-only,slerp,cirevl. "
                          f"{_there_is(methods, galleries)}")
    for place, spec in enumerate(specs):
        for earlier in specs[:place]:
            if spec.name and spec.name == earlier.name:
                raise MethodError(f"Two retrievers are called {quoted(spec.name)}. Leave one out, or give it a name "
                                  f"of its own: NAME={spec.name}.")
            if _what(spec, base) == _what(earlier, base):
                raise MethodError(f"{earlier.name or earlier.ranks} and {spec.name or spec.ranks} are the same "
                                  "retriever and would count twice. Leave one out.")
    return specs


def _parse(text: str, methods: Mapping[str, Method], galleries: Collection[str]) -> RetrieverSpec:
    named = _NAMED.fullmatch(text)
    alias, rest = (named[1].strip(), named[2].strip()) if named else ("", text)
    if rest.startswith("ranks:"):
        if not rest.removeprefix("ranks:"):
            raise MethodError(f"The retriever {quoted(text)} does not name a file. Write ranks:/path/to/ranks.json.")
        return RetrieverSpec(alias, ranks=Path(rest.removeprefix("ranks:")).expanduser())
    if rest in methods:
        return RetrieverSpec(alias or rest, methods[rest])
    name, at, where = rest.partition("@")
    if at and name in methods:
        if where in galleries:
            return RetrieverSpec(alias or rest, methods[name], gallery=where)
        try:
            return RetrieverSpec(alias or f"{name}@{parse_spec(where).name}", methods[name], encoder=where)
        except EncoderUnavailable as error:
            raise MethodError(f"The retriever {quoted(text)} names neither a gallery nor an encoder after the @. "
                              f"{_galleries(galleries)} {error}") from error
    if ":" in rest and JOINT in methods:
        return _encoder_alone(text, alias, rest, methods)
    raise MethodError(f"There is no retriever {quoted(text)}. {_there_is(methods, galleries)}")


def _encoder_alone(text: str, alias: str, spec: str, methods: Mapping[str, Method]) -> RetrieverSpec:
    try:
        encoder = parse_spec(spec)
    except EncoderUnavailable as error:
        raise MethodError(f"The retriever {quoted(text)} is neither a method nor an encoder: {error}") from error
    if encoder.kind not in (*COMPOSING, *UNIVERSAL):
        raise MethodError(f"The encoder {quoted(text)} does not compose image and text by itself. Say how with a "
                          f"method, for example slerp@{spec}.")
    return RetrieverSpec(alias or encoder.name, methods[JOINT], encoder=spec)


def _what(spec: RetrieverSpec, base: str) -> tuple[object, ...]:
    if spec.ranks is not None:
        return (spec.ranks.resolve(),)
    return spec.method, spec.gallery or (base if not spec.encoder else ""), spec.encoder


def _there_is(methods: Mapping[str, Method], galleries: Collection[str]) -> str:
    return (f"The methods are: {', '.join(methods)}. {_galleries(galleries)} A retriever is METHOD, METHOD@GALLERY, "
            "METHOD@ENCODER, the spec of an encoder that composes, or ranks:FILE.")


def _galleries(galleries: Collection[str]) -> str:
    return f"The galleries are: {', '.join(galleries)}." if galleries else "There is no gallery yet."
