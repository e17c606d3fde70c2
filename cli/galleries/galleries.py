"""``cirque index`` and ``cirque galleries``: manage galleries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from cir_core.gallery.progress import IndexProgress
from cir_core.settings import get_settings
from cli.console import err, out, print_notes, progress_bar, write_file

if TYPE_CHECKING:
    from cir_core.gallery.indexing import IndexReport

_LISTED = 20


app = typer.Typer(help="List and remove galleries.", no_args_is_help=True)


@contextmanager
def index_bar(label: str) -> Iterator[Callable[[IndexProgress], None]]:
    with progress_bar(label) as update:
        yield lambda progress: update(progress.done, progress.total)


def index(
    folder: Annotated[Path, typer.Argument(help="Folder of images (including subfolders).")],
    name: Annotated[str, typer.Option("--name", "-n", help="Name of the gallery.")],
    encoder: Annotated[str | None, typer.Option(
        "--encoder", "-e", help="E.g. atelier, ViT-B-32/openai. Default: the gallery's own, else the one chosen last, "
        "at first atelier.")] = None,
    manifest: Annotated[Path | None, typer.Option(help="CSV or JSONL with id, path, caption.")] = None,
    split: Annotated[str, typer.Option(help="Name of the split, for protocol cards.")] = "all",
    batch_size: Annotated[int, typer.Option(min=1, max=4096)] = 32,
    report: Annotated[Path | None, typer.Option(help="Write the list of skipped files here.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Fetch an encoder's weights without asking.")] = False,
) -> None:
    """Index a folder of images as a gallery, or update it."""
    from cir_core.encoders.remembered import remember, usual_encoder
    from cir_core.gallery.indexing import index_folder
    from cir_core.gallery.paths import gallery_folder
    from cir_core.search.own_pictures import look_at
    from cli.galleries.choosing import named_encoder, photo_encoder_instead, print_usual

    settings = get_settings()
    gallery_folder(name, settings.home)   # a name that cannot be is said first
    own = encoder is None and _encoder_of(name)
    spec = encoder or own or usual_encoder(settings.home)
    if encoder is None and not own:
        print_usual(spec)
    model = named_encoder(spec, yes=yes)
    look = look_at(folder, model, manifest=manifest, max_megapixels=settings.max_image_megapixels)
    other = photo_encoder_instead(look, folder, name, manifest, yes=yes, ask=encoder is None)
    chosen = settings.photo_encoder if other else encoder
    model = other or model
    with index_bar(f"Indexing {name}") as progress:
        result = index_folder(
            folder, name=name, encoder=model, home=settings.home, manifest=manifest, split=split,
            batch_size=batch_size, max_megapixels=settings.max_image_megapixels, progress=progress)
    print_index_report(result, report)
    if chosen is not None and remember(settings.home, chosen):
        out.print(f"Further galleries are indexed with {chosen}, too, unless another encoder is named "
                  "(cirque encoders default NAME).", soft_wrap=True)


def _encoder_of(name: str) -> str:
    """The encoder of the gallery ``name``; "" if there is none yet."""
    from cir_core.gallery.gallery import list_galleries

    return next((one.encoder.spec for one in list_galleries(get_settings().home) if one.name == name), "")


def print_index_report(result: IndexReport, report: Path | None) -> None:
    """Print a summary of the run and the first skipped files; write all skipped files to ``report``."""
    out.print(
        f"Gallery {result.name}: {result.n} images. {result.added} added, {result.changed} changed, "
        f"{result.removed} removed, {result.unchanged} unchanged, {len(result.skipped)} skipped "
        f"in {result.seconds:.1f} s.")
    print_notes(result.notes, soft_wrap=False)
    for path, reason in result.skipped[:_LISTED]:
        out.print(f"  skipped {path}: {reason}")
    if len(result.skipped) > _LISTED:
        out.print(f"  ... and {len(result.skipped) - _LISTED} more (--report FILE lists all)")
    if report is not None:
        write_file(report, "".join(f"{path}\t{reason}\n" for path, reason in result.skipped))
    out.print(f"Search it: CIRQUE_GALLERY={result.name} cirque serve")


@app.command("list")
def list_() -> None:
    """List the galleries on this machine."""
    from cir_core.gallery.gallery import list_galleries

    home = get_settings().home
    infos = list_galleries(home)
    if not infos:
        out.print(f"No gallery in {home} yet. Create one: cirque index DIR --name N   (or: cirque demo)")
        return
    table = Table("name", "images", "encoder", "made from", "updated", "state", box=None)
    for info in infos:
        table.add_row(info.name, str(info.size), info.encoder.spec, info.source,
                      f"{info.updated_at:%Y-%m-%d %H:%M}", info.status)
    out.print(table)


@app.command()
def remove(
    name: Annotated[str, typer.Argument()],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Delete a gallery's index. The image files stay."""
    from cir_core.gallery.gallery import remove_gallery

    if not yes:
        typer.confirm(f"Delete the index of gallery {name!r}?", abort=True)
    remove_gallery(name, home=get_settings().home)
    err.print(f"Deleted gallery {name}; its image files are unchanged.")
