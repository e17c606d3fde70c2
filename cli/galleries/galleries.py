"""``cirque index`` and ``cirque galleries``: manage galleries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from cir_core.gallery.progress import IndexProgress
from cir_core.settings import get_settings
from cli.console import err, open_encoder, out, print_notes, progress_bar, write_file

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
    encoder: Annotated[str, typer.Option("--encoder", "-e", help="E.g. atelier, ViT-B-32/openai.")] = "atelier",
    manifest: Annotated[Path | None, typer.Option(help="CSV or JSONL with id, path, caption.")] = None,
    split: Annotated[str, typer.Option(help="Name of the split, for protocol cards.")] = "all",
    batch_size: Annotated[int, typer.Option(min=1, max=4096)] = 32,
    report: Annotated[Path | None, typer.Option(help="Write the list of skipped and left out files here.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(
        "--exclude", metavar="PATTERN", help="Leave these files or folders out, as in .gitignore. Repeatable.")] = None,
    include: Annotated[list[str] | None, typer.Option(
        "--include", metavar="PATTERN", help="Take these although they would be left out. Repeatable.")] = None,
) -> None:
    """Index a folder of images as a gallery, or update it."""
    from cir_core.gallery.indexing import index_folder

    settings = get_settings()
    model = open_encoder(encoder)
    with index_bar(f"Indexing {name}") as progress:
        result = index_folder(
            folder, name=name, encoder=model, home=settings.home, manifest=manifest, split=split,
            batch_size=batch_size, max_megapixels=settings.max_image_megapixels, progress=progress,
            exclude=exclude or (), include=include or ())
    print_index_report(result, report)


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
