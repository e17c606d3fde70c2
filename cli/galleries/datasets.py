"""``cirque datasets``: check, index and convert local benchmark files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from cir_core.datasets.records import CaptionMode
from cir_core.errors import DatasetError, GalleryError
from cir_core.settings import get_settings
from cir_core.support.texts import quoted
from cli.console import RayOption, encoder_loader, open_encoder, out, place_of, print_notes, progress_bar
from cli.galleries.galleries import index_bar, print_index_report
from cli.galleries.indexes import index_again

if TYPE_CHECKING:
    from cir_core.datasets.files.image_files import ImageFolder
    from cir_core.datasets.records import Benchmark
    from cir_core.registry.checking import CheckReport

app = typer.Typer(help="List, check and index data sets.", no_args_is_help=True)
KindArgument = Annotated[str, typer.Argument(metavar="KIND", help="Kind from `cirque datasets list`.")]
PathArgument = Annotated[Path | None, typer.Argument(metavar="PATH", help="Its file or folder.")]
SplitOption = Annotated[str | None, typer.Option(help="Split: train, val, test, test1.")]
PoolOption = Annotated[Path | None, typer.Option(help="List of the gallery's images, if needed.")]
CaptionOption = Annotated[CaptionMode | None, typer.Option(help="How to join a query's two captions.")]
_LISTED = 20


@app.command("list")
def list_() -> None:
    """List the kinds of data sets and their files."""
    from cir_core.registry.kinds import KINDS

    table = Table("kind", "what it is", "PATH", "benchmark", box=None)
    for kind in KINDS.values():
        table.add_row(kind.name, kind.title, kind.expects, "yes" if kind.is_benchmark else "")
    out.print(table)
    out.print("\nA benchmark has queries to rank: `cirque datasets index` makes a gallery of its images.")


@app.command("check")
def check(
    kind: KindArgument,
    path: PathArgument = None,
    images: Annotated[Path | None, typer.Option(help="Root folder of the images.")] = None,
    split: SplitOption = None,
    annotations: Annotated[Path | None, typer.Option(help="Benchmark of a submission.")] = None,
    pool: PoolOption = None,
    caption_mode: CaptionOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON.")] = False,
) -> None:
    """Check a local copy; list every fault and missing image."""
    from cir_core.registry.checking import check as check_files

    report = check_files(kind, dataset_path(kind, path), images=images, annotations=annotations, pool=pool, split=split,
                         caption_mode=caption_mode)
    if as_json:
        typer.echo(json.dumps(report.as_json(), indent=1, ensure_ascii=False))
    else:
        _print(report)
    if not report.ok:
        raise typer.Exit(1)


@app.command("index")
def index(
    kind: KindArgument,
    path: PathArgument = None,
    images: Annotated[Path | None, typer.Option(help="Root folder of the images.")] = None,
    name: Annotated[str | None, typer.Option("--name", "-n", help="Gallery name (default: the data set's).")] = None,
    encoder: Annotated[str, typer.Option("--encoder", "-e", help="Encoder, such as ViT-B-32/openai.")] = "atelier",
    split: SplitOption = None,
    pool: PoolOption = None,
    allow_missing: Annotated[bool, typer.Option(help="Index even if images are missing.")] = False,
    batch_size: Annotated[int, typer.Option(min=1, max=4096, help="Images per pass.")] = 32,
    report: Annotated[Path | None, typer.Option(help="Write the list of skipped files here.")] = None,
    ray: RayOption = None,
) -> None:
    """Index a benchmark's images as a gallery, under the benchmark's image ids."""
    from cir_core.datasets.files.image_files import ImageFolder
    from cir_core.gallery.indexing import index_folder
    from cir_core.gallery.paths import gallery_folder
    from cir_core.registry.kinds import read_benchmark

    settings = get_settings()
    path = dataset_path(kind, path)
    if images is None:
        if kind != "sample":
            raise DatasetError("Give the folder with the images: --images FOLDER.")
        images = path
    benchmark = read_benchmark(kind, path, split=split, pool=pool)
    gallery = name or benchmark.name.lower()
    gallery_folder(gallery, settings.home)  # a bad name is refused before anything is looked for
    _refuse_another(gallery, benchmark)
    manifest = _write_manifest(
        settings.home / "manifests" / f"{gallery}.jsonl", benchmark, ImageFolder(images, benchmark.image_paths),
        settings.home.absolute() / "crops" / gallery, allow_missing=allow_missing)
    model = open_encoder(encoder)
    with index_bar(f"Indexing {gallery}") as progress:
        result = index_folder(
            images, name=gallery, encoder=model, home=settings.home, manifest=manifest, split=benchmark.split or "all",
            batch_size=batch_size, max_megapixels=settings.max_image_megapixels, progress=progress,
            place=place_of(ray), load=encoder_loader(model))
    print_notes(benchmark.notes, soft_wrap=False)
    print_index_report(result, report)
    index_again(gallery, model)


@app.command("convert")
def convert(
    kind: KindArgument,
    form: Annotated[str, typer.Option("--to", metavar="FORM", help="KIND itself, mbeir or trec-qrels.")],
    to: Annotated[Path, typer.Option("--out", "-o", help="Output file, or folder (mbeir).")],
    path: PathArgument = None,
    split: SplitOption = None,
    caption_mode: CaptionOption = None,
    pool: PoolOption = None,
) -> None:
    """Convert a data set to another form, or rewrite it in its own."""
    from cir_core.registry.converting import convert as converted

    result = converted(kind, dataset_path(kind, path), form, to, split=split, caption_mode=caption_mode, pool=pool)
    print_notes(result.notes, soft_wrap=False)
    for written in result.written:
        out.print(f"Wrote {written}", soft_wrap=True)


def _refuse_another(name: str, benchmark: Benchmark) -> None:
    """Refuse to index a data set into the gallery of another one, which would replace it."""
    from cir_core.gallery.gallery import open_gallery

    try:
        there = open_gallery(name, home=get_settings().home).ids
    except GalleryError:  # there is none, or one that is damaged, which indexing mends
        return
    if there and frozenset(there).isdisjoint(benchmark.image_ids):
        raise DatasetError(
            f"Gallery {quoted(name)} contains {len(there):,} images, none of them of {benchmark.name}, and indexing "
            "would empty it. Give this data set's gallery another name: --name NAME.")


def dataset_path(kind: str, path: Path | None) -> Path:
    from cir_core.registry.constructing import own_path

    return own_path(kind, get_settings().home) if path is None else path


def _write_manifest(
    path: Path, benchmark: Benchmark, folder: ImageFolder, crops: Path, *, allow_missing: bool
) -> Path:
    """Write id and path of every image, in pool order, which decides ties. The kept manifest allows re-indexing without
    the data set's files. Images that are boxes of larger ones are written to ``crops``."""
    from cir_core.datasets.files.image_files import write_crop
    from cir_core.support.files import write_atomically

    if any(ids is None for ids in benchmark.pools.values()):
        raise DatasetError(
            f"The files of {benchmark.kind} do not list the gallery's images, so it is not known which belong to it. "
            "Put the list next to them (docs/reference/datasets.md says where), or give it as --pool if the kind takes "
            "one.")
    found, missing = [], []
    with progress_bar("Looking for images") as update:
        ids = benchmark.image_ids
        for number, image_id in enumerate(ids, 1):
            where = folder.find(image_id)
            if where is None:
                missing.append(image_id)
            else:
                if (box := benchmark.boxes.get(image_id)) is not None:
                    source, crop = folder.root / where, crops / f"{image_id}.png"
                    write_crop(crop, source, box, max_megapixels=get_settings().max_image_megapixels)
                    where = str(crop)
                found.append({"id": image_id, "path": where})
            if number % 1000 == 0 or number == len(ids):
                update(number, len(ids))
    if not found or (missing and not allow_missing):
        first = ", ".join(missing[:5]) + (", …" if len(missing) > 5 else "")
        raise DatasetError(
            f"{len(missing):,} of {len(ids):,} images are not under {folder.root}: {first}. "
            + ("Check --images, or add --allow-missing to index the others; ranks are then over fewer images."
               if found else "Check --images."))
    write_atomically(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in found).encode())
    if missing:
        out.print(f"{len(missing):,} of {len(ids):,} images are missing: the gallery is smaller than the benchmark's.")
    return path


def _print(report: CheckReport) -> None:
    table = Table(report.kind, "", box=None)
    table.columns[1].justify = "right"
    for name, count in report.counts.items():
        table.add_row(name, f"{count:,}" if isinstance(count, int) else f"{count:.4f}" if isinstance(count, float)
                      else count)
    out.print(table)
    print_notes(report.notes, soft_wrap=False)
    if report.images is not None:
        found = report.image_count - report.missing_count
        out.print(f"Images: {found:,} of {report.image_count:,} are under {report.images}.")
        if report.missing_count:
            more = f" and {report.missing_count - len(report.missing_images):,} more" \
                if report.missing_count > len(report.missing_images) else ""
            out.print(f"  missing: {', '.join(report.missing_images)}{more}")
    if not report.fault_count:
        out.print("No faults." if report.ok else "No faults in the files.")
        return
    out.print(f"{report.fault_count:,} fault{'s' if report.fault_count > 1 else ''}:")
    for fault in report.faults[:_LISTED]:
        out.print(f"  {fault}")
    if report.fault_count > _LISTED:
        out.print(f"  ... and {report.fault_count - _LISTED:,} more (--json lists them)")
