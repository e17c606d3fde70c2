"""Which columns of a table are what: the images (bytes, or addresses to fetch them from), their ids, their captions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from cir_core.errors import GalleryError
from cir_core.support.texts import quoted

_IMAGES = ("image", "img", "jpg", "png", "picture", "photo")
_ADDRESSES = ("url", "image_url", "img_url", "image_link", "link")
_IDS = ("id", "image_id", "key", "__key__", "uid", "item_id", "file_name", "filename")
_CAPTIONS = ("caption", "captions", "text", "txt", "alt", "alt_text", "description", "title", "prompt", "label",
             "labels", "class", "category")
_LISTED = 40


@dataclass(frozen=True)
class Columns:
    """``is_address``: the image column holds addresses. ``labels``: names of the numbers in the caption column."""

    image: str
    is_address: bool
    id: str = ""
    caption: str = ""
    labels: Sequence[str] = ()


def choose(schema: pa.Schema, where: str, image: str = "", id_: str = "", caption: str = "") -> Columns:
    """Columns as named, else by type and name. Raises ``GalleryError`` that lists them all if it is not clear which one
    holds the images, or one that was named is missing or of another type."""
    for option, name in (("--column", image), ("--id-column", id_), ("--caption-column", caption)):
        if name and name not in schema.names:
            raise GalleryError(f"{where} has no column {quoted(name)} ({option}). It has: {_listed(schema)}.")
    image = image or _image_column(schema, where)
    kind = schema.field(image).type
    if not (holds_bytes(kind) or _is_text(kind)):
        raise GalleryError(f"The column {quoted(image)} of {where} contains no images and no addresses ({kind}). Name "
                           f"another one with --column; there are: {_listed(schema)}.")
    names = {name.lower(): name for name in reversed(schema.names) if name != image}
    found_id = id_ or next((names[one] for one in _IDS if one in names and _names_things(schema, names[one])), "")
    labels = _labels(schema)
    found_caption = caption or next(
        (names[one] for one in _CAPTIONS
         if (name := names.get(one, "")) and name != found_id and (_is_text_list(schema, name) or name in labels)), "")
    return Columns(image, not holds_bytes(kind), found_id, found_caption, labels.get(found_caption, ()))


def holds_bytes(kind: pa.DataType) -> bool:
    """Bytes, or the form of Hugging Face: bytes and a path."""
    if pa.types.is_struct(kind):
        at = kind.get_field_index("bytes")
        return at >= 0 and holds_bytes(kind.field(at).type)
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind))


def _image_column(schema: pa.Schema, where: str) -> str:
    of_bytes = [name for name in schema.names if holds_bytes(schema.field(name).type)]
    of_addresses = [name for name in schema.names
                    if name.lower() in _ADDRESSES and _is_text(schema.field(name).type)]
    for found, usual in ((of_bytes, _IMAGES), (of_addresses, _ADDRESSES)):
        if len(found) > 1:
            known = [name for name in found if name.lower() in usual[:1]]
            found = known or found
        if len(found) == 1:
            return str(found[0])
        if found:
            raise GalleryError(f"{where} has several columns that may contain the images: {', '.join(found)}. Name one "
                               "with --column.")
    raise GalleryError(f"{where} has no column of images: neither bytes nor addresses. It has: {_listed(schema)}. Name "
                       "the one that contains addresses of images with --column.")


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_text_list(schema: pa.Schema, name: str) -> bool:
    kind = schema.field(name).type
    return _is_text(kind) or (pa.types.is_list(kind) and _is_text(kind.value_type))


def _names_things(schema: pa.Schema, name: str) -> bool:
    kind = schema.field(name).type
    return _is_text(kind) or bool(pa.types.is_integer(kind))


def _labels(schema: pa.Schema) -> Mapping[str, Sequence[str]]:
    """Names of classes by column, as Hugging Face stores them with the schema."""
    try:
        features = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
        return {name: tuple(map(str, of["names"])) for name, of in features.items()
                if isinstance(of, dict) and of.get("_type") == "ClassLabel" and isinstance(of.get("names"), list)}
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return {}


def _listed(schema: pa.Schema) -> str:
    shown = [f"{field.name} ({_kind(field.type)})" for field in list(schema)[:_LISTED]]
    more = f" and {len(schema) - _LISTED} more" if len(schema) > _LISTED else ""
    return f"{', '.join(shown) or 'none'}{more}"


def _kind(kind: pa.DataType) -> str:
    return str(kind) if len(str(kind)) <= 40 else f"{str(kind)[:39]}…"
