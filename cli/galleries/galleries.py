"""``cirque index`` and ``cirque galleries``: manage galleries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from cir_core.errors import GalleryError
from cir_core.gallery.progress import IndexProgress
from cir_core.settings import get_settings
from cir_core.support.texts import counted
from cli.console import (
    RayOption,
    encoder_loader,
    err,
    open_encoder,
    out,
    place_of,
    print_notes,
    progress_bar,
    write_file,
)
from cli.galleries.indexes import KIND_HELP, RECALL_HELP, give_index, index_again, index_of

if TYPE_CHECKING:
    from cir_core.gallery.indexing import IndexReport

_LISTED = 20
_FETCHING_THREADS = 16      # that mostly wait


app = typer.Typer(help="List, check, repair and remove galleries.", no_args_is_help=True)


@contextmanager
def index_bar(label: str) -> Iterator[Callable[[IndexProgress], None]]:
    with progress_bar(label) as update:
        yield lambda progress: update(progress.done, progress.total)


def index(
    source: Annotated[str, typer.Argument(
        metavar="SOURCE", help=(
            "Folder, searched recursively; .tar archives (WebDataset), Parquet files, a Hugging Face data set "
            "on disk; or a store with any of these, such as s3://bucket/prefix."))],
    name: Annotated[str, typer.Option("--name", "-n", help="Name of the gallery.")],
    encoder: Annotated[str | None, typer.Option(
        "--encoder", "-e", help=(
            "Encoder, such as ViT-B-32/openai (default: the gallery's, else the last chosen, at first "
            "atelier)."))] = None,
    manifest: Annotated[Path | None, typer.Option(help="CSV or JSONL with id, path, caption.")] = None,
    split: Annotated[str, typer.Option(help="Name of the split, for protocol cards.")] = "all",
    batch_size: Annotated[int, typer.Option(min=1, max=4096, help="Images per pass.")] = 32,
    report: Annotated[Path | None, typer.Option(help="Write the list of skipped files here.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(
        "--exclude", metavar="PATTERN", help=(
            "Leave these files or folders out (patterns of .gitignore); repeatable."))] = None,
    include: Annotated[list[str] | None, typer.Option(
        "--include", metavar="PATTERN", help="Include these although left out; repeatable.")] = None,
    column: Annotated[str, typer.Option(help="Column of a table with images or their addresses.")] = "",
    id_column: Annotated[str, typer.Option(help="Column with ids.")] = "",
    caption_column: Annotated[str, typer.Option(help="Column with captions.")] = "",
    fetch: Annotated[bool, typer.Option(
        "--fetch", help="Fetch images from a table's addresses; originals again when shown.")] = False,
    fetch_rate: Annotated[float, typer.Option(min=0.1, max=1000, help="Maximum images fetched per second.")] = 20,
    yes: Annotated[bool, typer.Option("--yes", help="Download an encoder's weights without asking.")] = False,
    kind: Annotated[str | None, typer.Option(
        "--index", metavar="KIND", help=f"{KIND_HELP} Default: the gallery's own, exact for a new gallery.")] = None,
    recall: Annotated[float | None, typer.Option(min=0, max=1, help=RECALL_HELP)] = None,
    ray: RayOption = None,
) -> None:
    """Index images (a folder, archives, tables, a store) as a gallery, or update it."""
    from cir_core.encoders.remembered import remember, usual_encoder
    from cir_core.gallery.indexing import index_source
    from cir_core.gallery.paths import gallery_folder
    from cir_core.gallery.sources.opening import Asked, open_source
    from cir_core.index.building import check_kind
    from cir_core.index.engines import EXACT
    from cir_core.search.far_pictures import look_at
    from cli.galleries.choosing import named_encoder, photo_encoder_instead, print_usual

    settings = get_settings()
    gallery_folder(name, settings.home)   # a name that cannot be is said first
    check_kind(kind or EXACT)
    own = encoder is None and _encoder_of(name)
    spec = encoder or own or usual_encoder(settings.home)
    if encoder is None and not own:
        print_usual(spec)
    images = open_source(source, Asked(manifest, exclude or (), include or (), column, id_column, caption_column,
                                       fetch, fetch_rate, gallery_folder(name, settings.home) / "listings"))
    model = named_encoder(spec, yes=yes)
    look = look_at(images, model, max_megapixels=settings.max_image_megapixels)
    other = photo_encoder_instead(look, source, name, manifest, yes=yes, ask=encoder is None and not own)
    chosen = settings.photo_encoder if other else encoder
    model = other or model
    with index_bar(f"Indexing {name}") as progress:
        result = index_source(
            images, name=name, encoder=model, home=settings.home, split=split, batch_size=batch_size,
            max_megapixels=settings.max_image_megapixels, progress=progress,
            decode_threads=_FETCHING_THREADS if images.is_far else None, place=place_of(ray),
            load=encoder_loader(model))
    print_index_report(result, report)
    if kind is None:
        index_again(name, model, recall)
    else:
        give_index(name, kind, recall, model)
    if chosen is not None and remember(settings.home, chosen):
        out.print(f"Further galleries are indexed with {chosen}, too, unless another encoder is named "
                  "(cirque encoders default NAME).", soft_wrap=True)


def _encoder_of(name: str) -> str:
    """The encoder of the gallery ``name``; "" if there is none yet."""
    from cir_core.gallery.gallery import list_galleries

    return next((one.encoder.spec for one in list_galleries(get_settings().home) if one.name == name), "")


def print_index_report(result: IndexReport, report: Path | None) -> None:
    """Print a summary of the run, the first skipped files and how much was left out; write all of both to
    ``report``."""
    out.print(
        f"Gallery {result.name}: {result.n} images. {result.added} added, {result.changed} changed, "
        f"{result.removed} removed, {result.unchanged} unchanged, {len(result.skipped)} skipped "
        f"in {result.seconds:.1f} s.")
    print_notes(result.notes, soft_wrap=False)
    for path, reason in result.skipped[:_LISTED]:
        out.print(f"  skipped {_one_line(path)}: {reason}")
    if len(result.skipped) > _LISTED:
        out.print(f"  ... and {len(result.skipped) - _LISTED} more (--report FILE lists all)")
    _print_left_out(result.left_out)
    if report is not None:
        listed = (*result.skipped, *((path, f"left out: {reason}") for path, reason in result.left_out))
        write_file(report, "".join(f"{_one_line(path)}\t{reason}\n" for path, reason in listed))
    out.print(f"Search it: CIRQUE_GALLERY={result.name} cirque serve")


def _one_line(path: str) -> str:
    """A path as it can be printed: names may hold line breaks, and bytes that are not UTF-8."""
    plain = path.replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
    return plain.encode("utf-8", "backslashreplace").decode()


def _print_left_out(left_out: Sequence[tuple[str, str]]) -> None:
    if not left_out:
        return
    folders = sum(path.endswith("/") for path, _ in left_out)
    out.print(f"Left out: {len(left_out) - folders} files and {folders} folders (--report FILE lists them, "
              "--include PATTERN takes them back)")
    reasons = Counter(reason for _, reason in left_out).most_common()
    for reason, count in reasons[:_LISTED]:
        out.print(f"  {count} {reason}")
    if len(reasons) > _LISTED:
        out.print(f"  ... and {sum(count for _, count in reasons[_LISTED:])} for other reasons")


@app.command("list")
def list_() -> None:
    """List the galleries on this machine."""
    from cir_core.gallery.gallery import list_galleries, unreadable_galleries

    home = get_settings().home
    infos = list_galleries(home)
    broken = unreadable_galleries(home)
    print_notes(broken)
    if not infos and not broken:
        out.print(f"No gallery in {home} yet. Create one: cirque index DIR --name N   (or: cirque demo)")
        return
    table = Table("name", "images", "encoder", "made from", "updated", "state", "index", box=None)
    for info in infos:
        table.add_row(info.name, str(info.size), info.encoder.spec, info.source,
                      f"{info.updated_at:%Y-%m-%d %H:%M}", info.status, index_of(info.name, home))
    out.print(table)


@app.command("index")
def index_(
    name: Annotated[str, typer.Argument(help="Name of the gallery.")],
    kind: Annotated[str, typer.Argument(metavar="KIND", help=KIND_HELP)],
    recall: Annotated[float | None, typer.Option(min=0, max=1, help=RECALL_HELP)] = None,
) -> None:
    """Choose a gallery's search index; build and measure it."""
    give_index(name, kind, recall)


@app.command()
def check(
    names: Annotated[list[str] | None, typer.Argument(
        metavar="[NAME]...", help="Galleries (default: all).", show_default=False)] = None,
) -> None:
    """Check galleries for damage. Changes nothing.

    Vectors, captions and candidate features are compared with their checksums. Fails if anything is damaged."""
    from cir_core.gallery.gallery import gallery_names
    from cir_core.gallery.integrity import check_gallery

    home = get_settings().home
    wanted, damaged = list(names or gallery_names(home)), False
    if not wanted:
        out.print(f"No gallery in {home} yet.")
        return
    with progress_bar("Checking") as progress:
        for done, name in enumerate(wanted):
            progress(done, len(wanted))
            found = check_gallery(name, home=home)
            if found is None:
                raise GalleryError(f"No gallery {name!r}. There are: {', '.join(gallery_names(home)) or 'none'}.")
            problems = [*([found.damage] if found.damage else []), *_more_damage(name, home)]
            damaged = damaged or bool(problems)
            without = "" if found.has_sums or problems else (
                ", no checksums yet: vectors that no encoder gives would be found, others not; cirque galleries repair "
                f"{name} adds them")
            state = "damaged" if problems else "ok"
            out.print(f"{name}: {state}, {counted(found.images, 'image')}{without}", soft_wrap=True)
            for problem in problems:
                out.print(f"  {problem}", soft_wrap=True)
    if damaged:
        raise typer.Exit(1)


def _more_damage(name: str, home: Path) -> list[str]:
    """Of what was made of a gallery: captions and candidate features."""
    from cir_core.captions.stored import check_captions
    from cir_core.gallery.paths import gallery_folder
    from cir_core.relevance.store import check_features

    folder = gallery_folder(name, home)
    return [problem for problem in (check_captions(name, folder), *check_features(name, folder)) if problem]


@app.command()
def repair(name: Annotated[str, typer.Argument(help="Name of the gallery.")]) -> None:
    """Encode images with damaged vectors again."""
    from cir_core.gallery.indexing import repair_gallery
    from cir_core.gallery.integrity import check_gallery
    from cir_core.gallery.paths import gallery_folder, read_header

    home = get_settings().home
    found, header = check_gallery(name, home=home), read_header(gallery_folder(name, home))
    if found is None or header is None:
        raise GalleryError(f"No gallery {name!r} that could be repaired.")
    if not found.damage and found.has_sums:
        out.print(f"Gallery {name} is in order.")
        return
    encoder = open_encoder(header.encoder.spec)
    with index_bar(f"Repairing {name}") as progress:
        result = repair_gallery(name, home=home, encoder=encoder, progress=progress)
    out.print(f"Gallery {name} is in order: {counted(result.encoded + result.resumed, 'image was', 'images were')} "
              "encoded again.")
    index_again(name, encoder)


@app.command()
def remove(
    name: Annotated[str, typer.Argument(help="Name of the gallery.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Delete a gallery's index. The image files stay."""
    from cir_core.gallery.gallery import remove_gallery
    from cir_core.index.building import discard_index

    if not yes:
        typer.confirm(f"Delete the index of gallery {name!r}?", abort=True)
    problems = discard_index(name, home=get_settings().home)
    remove_gallery(name, home=get_settings().home)
    print_notes(problems)
    err.print(f"Deleted gallery {name}; its image files are unchanged.")
