"""Which reader a gallery has, and what the built-in rules can do: for rooms that know nothing of garments."""

from __future__ import annotations

from cir_core.garments.known import Mask, knows_garments_only, unlike_garments
from cir_core.garments.learned import reader_of
from cir_core.garments.lexicon import describe
from cir_core.garments.zero_shot import attributes_of
from cir_core.language.base import LanguageModel
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.language.builtin.seeing import GARMENTS
from cir_core.language.readers.garments import GarmentReader, shows_garments
from cir_core.language.readers.plain import PlainReader
from cir_core.language.readers.reader import AspectReader, RequestReader
from cir_core.language.tasks import Domain
from cir_core.types.records import Matrix
from cir_core.types.vectors import TextEncoder


def reader_for(domain: Domain, features: Matrix, encoder: TextEncoder) -> RequestReader:
    """The reader of a gallery of that ``domain``. ``features`` ``[n, dim]`` are those of some of its images: if most
    show other things than garments, as far as the encoder can tell, it is the plain one."""
    if domain not in GARMENTS:
        return PlainReader()
    features = features[~undescribed(features, encoder)]
    return GarmentReader() if shows_garments(features, encoder) else PlainReader()


def undescribed(features: Matrix, encoder: TextEncoder | None) -> Mask:
    """For each row of ``features`` (``[n, dim]``) whether it shows something that ``encoder`` does not know, so that
    the built-in rules cannot describe it. All False for encoders of which that cannot be told."""
    return unlike_garments(features, encoder)


def described(features: Matrix, encoder: TextEncoder, domain: Domain) -> list[str]:
    """What the images with these ``features`` (``[n, dim]``) show, as the built-in rules read them without encoding a
    text; "" for what the encoder does not know, and for all images of other encoders."""
    if domain not in GARMENTS or not knows_garments_only(encoder):
        return [""] * len(features)
    return ["" if unknown else describe(slots) for slots, unknown in zip(
        attributes_of(encoder).predict(features), undescribed(features, encoder), strict=True)]


def aspect_reader(encoder: object) -> AspectReader | None:
    """The learned reader of ``encoder``'s vectors, if there is one."""
    return reader_of(encoder)


def knows_little(encoder: object) -> bool:
    """Whether ``encoder`` is one of which :func:`undescribed` can tell."""
    return knows_garments_only(encoder)


def by_rules(encoder: TextEncoder) -> LanguageModel:
    """The built-in rules over images of ``encoder``."""
    return BuiltinLanguageModel(encoder)


def is_by_rules(model: object) -> bool:
    return isinstance(model, BuiltinLanguageModel)
