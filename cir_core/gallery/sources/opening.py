"""Which kind of source a path or an address is, by looking at it; the source of a gallery that exists."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from cir_core.errors import GalleryError
from cir_core.gallery.paths import Header, Layout
from cir_core.gallery.sources.addresses import RATE, Addresses
from cir_core.gallery.sources.files import Files, LocalFiles
from cir_core.gallery.sources.folder import FolderSource
from cir_core.gallery.sources.objects import ObjectFiles, ObjectSource, is_image, is_store
from cir_core.gallery.sources.source import ImageSource
from cir_core.gallery.sources.tar import SUFFIX, TarSource
from cir_core.support.texts import quoted

_PACKED = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst", ".tar.lz4")
_ENDINGS = {"tar": (SUFFIX,), "parquet": (".parquet", ".pq"), "arrow": (".arrow",)}


@dataclass(frozen=True)
class Asked:
    """What the user says of a source. ``rate``: downloads a second; ``kept``: a folder of the gallery for what reading
    a store would take long to find again."""

    manifest: Path | None = None
    exclude: Sequence[str] = ()
    include: Sequence[str] = ()
    column: str = ""
    id_column: str = ""
    caption_column: str = ""
    fetch: bool = False
    rate: float = RATE
    kept: Path | None = None


def open_source(given: str, asked: Asked = Asked()) -> ImageSource:
    """The source at ``given``, a path or an address of a store. A folder with an image in it is a folder of images,
    whatever else lies there. Raises ``GalleryError``."""
    source = _opened(given, asked)
    kind = source.layout.kind if source.layout else ""
    if kind not in ("parquet", "arrow") and (asked.column or asked.id_column or asked.caption_column or asked.fetch):
        raise GalleryError(f"--column, --id-column, --caption-column and --fetch are for tables, and {given} is "
                           "not a table.")
    if kind and (asked.manifest or asked.exclude or asked.include):
        raise GalleryError(f"--manifest, --exclude and --include are for folders of images, and {given} is not "
                           "a folder of images.")
    return source


def _opened(given: str, asked: Asked) -> ImageSource:
    if is_store(given):
        files = ObjectFiles(given)
        paths = [one.path for one in files.listed()]
        if not paths:
            raise GalleryError(f"{given} is empty. Check the bucket and the prefix.")
        if any(map(is_image, paths)):
            return ObjectSource(files)
        kind = _kind(given, paths)
        files.endings = _ENDINGS[kind]
        return _of_files(kind, files, asked)
    path = Path(given).expanduser()
    if path.is_file():
        return _of_files(_kind(given, [path.name]), LocalFiles(path), asked)
    folder = FolderSource(path, manifest=asked.manifest, exclude=asked.exclude, include=asked.include)
    if asked.manifest:
        return folder
    scan = folder.scan()
    if scan.entries:
        return folder
    if arrow := _saved_to_disk(path):
        return _of_files("arrow", LocalFiles(path, arrow), asked)
    paths = [name for name, _ in scan.skipped]
    if not any(name.lower().endswith((SUFFIX, *_PACKED, *_ENDINGS["parquet"])) for name in paths):
        return folder
    kind = _kind(given, paths)
    return _of_files(kind, LocalFiles(path, [name for name in paths if _is(kind, name)]), asked)


def source_of(header: Header) -> ImageSource:
    """The source that a gallery was made from. Opens nothing."""
    return _at(header.source, header.layout)


@lru_cache(maxsize=4)
def source_at(location: str, layout: Layout | None) -> ImageSource:
    """On any machine, the source that has them; one object for all that a process reads there."""
    return _at(location, layout)


def _at(location: str, layout: Layout | None) -> ImageSource:
    if layout is None:
        return FolderSource(Path(location))
    if is_store(location):
        store = ObjectFiles(location)
        return ObjectSource(store) if layout.kind == "objects" else _with_layout(store, layout, Addresses(tries=1))
    return _with_layout(LocalFiles(Path(location)), layout, Addresses(tries=1))


def _of_files(kind: str, files: Files, asked: Asked) -> ImageSource:
    layout = Layout(kind, asked.column, asked.id_column, asked.caption_column, asked.fetch)
    return _with_layout(files, layout, Addresses(asked.rate), asked.kept)


def _with_layout(files: Files, layout: Layout, addresses: Addresses, kept: Path | None = None) -> ImageSource:
    if layout.kind == "tar":
        return TarSource(files, kept)
    # Here, as reading tables takes a while to load.
    from cir_core.gallery.sources.rows import ArrowRows, ParquetRows
    from cir_core.gallery.sources.table import TableSource

    if layout.kind == "parquet":
        def opened(path: str) -> ParquetRows:
            return ParquetRows(str(files.local(path)) if isinstance(files, LocalFiles) else files.open(path))

        return TableSource(files, opened, layout, addresses)
    if layout.kind == "arrow" and isinstance(files, LocalFiles):
        return TableSource(files, lambda path: ArrowRows(str(files.local(path))), layout, addresses)
    raise GalleryError(f"cirque cannot read images from {quoted(layout.kind)} files at {files.location}. Arrow files "
                       "are read from a disk: copy the data set, or save it as Parquet.")


def _is(kind: str, path: str) -> bool:
    return path.lower().endswith(_ENDINGS[kind])


def _kind(given: str, paths: Sequence[str]) -> str:
    kinds = {kind for kind in _ENDINGS for path in paths if _is(kind, path)}
    if len(kinds) == 1:
        return kinds.pop()
    if kinds:
        raise GalleryError(f"{given} contains files of several kinds ({', '.join(sorted(kinds))}). Give the folder or "
                           "the file of one of them.")
    if any(path.lower().endswith(_PACKED) for path in paths):
        raise GalleryError(f"{given}: in a packed archive no image can be read without unpacking all before it. Unpack "
                           "it to .tar (for example gunzip FILE.tar.gz), and index that.")
    raise GalleryError(f"{given} is not a folder of images, and contains no .tar or .parquet file and no data set of "
                       "Hugging Face. Give one of these.")


def _saved_to_disk(folder: Path) -> list[str]:
    """The Arrow files of a data set of Hugging Face, all splits, in order; none if the folder holds no such thing."""
    splits = _json(folder / "dataset_dict.json").get("splits")
    parts = [str(one) for one in splits] if isinstance(splits, list) else [""]
    found = []
    for part in parts:
        for one in _json(folder / part / "state.json").get("_data_files") or ():
            name = one.get("filename") if isinstance(one, dict) else None
            if isinstance(name, str) and ".." not in (path := str(Path(part) / name)).split("/") and not Path(
                    path).is_absolute():
                found.append(path)
    return found


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
