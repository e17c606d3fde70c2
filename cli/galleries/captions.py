"""``cirque captions``: one caption for each image of a gallery, chosen by how well it finds the image."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import ProgressColumn, Task, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from cir_core.settings import get_settings
from cir_core.types.records import Domain
from cli.console import ModelChoice, RayOption, bars, encoder_loader, err, open_encoder, open_stores, out, place_of

if TYPE_CHECKING:
    from cir_core.bulk.places import Place
    from cir_core.captions.caption_build import CaptionProgress, CaptionReport
    from cir_core.captions.stored import CaptionsHeader
    from cir_core.encoders.base import Encoder
    from cir_core.gallery.gallery import Gallery
    from cir_core.language.base import LanguageModel

app = typer.Typer(help="Build captions that retrieve their own image.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="Name of the gallery.")]
SAMPLES = 30   # of CoRR, section 3.4
_LISTED = 20
_STAGES = {"captions": "Captioning", "ranks": "Ranking"}


@app.command()
def build(
    name: Name,
    samples: Annotated[int, typer.Option(min=1, max=1000, help="Candidate captions per image.")] = SAMPLES,
    domain: Annotated[Domain | None, typer.Option(help="What the images show (default: CIRQUE_DOMAIN).")] = None,
    workers: Annotated[int | None, typer.Option(
        min=1, max=64, help="Parallel requests (default: CIRQUE_LLM_CONCURRENCY; built-in model: 1)."
    )] = None,
    restart: Annotated[bool, typer.Option("--restart", help="Discard earlier results and start over.")] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Trial: the first images, not published.")] = None,
    model: Annotated[ModelChoice, typer.Option(help="The built-in language model, or the one in the settings.")] = (
        ModelChoice.settings),
    ray: RayOption = None,
) -> None:
    """Caption every image several times; keep the caption that retrieves it best."""
    from cir_core.gallery.gallery import open_gallery

    settings = get_settings()
    gallery = open_gallery(name, home=settings.home)
    encoder = open_encoder(gallery.encoder.spec)
    with ExitStack() as stack:
        language = _language(model, encoder, stack)
        try:
            report = build_captions(gallery, encoder, language, domain or settings.domain, samples=samples,
                                    workers=workers, restart=restart, limit=limit, place=place_of(ray),
                                    built_in=model is ModelChoice.built_in)
        except KeyboardInterrupt:
            if not restart:
                raise  # the usual sentence, to run the same command again, is right
            err.print("\nStopped. What was generated is kept: run the command again without --restart to continue.")
            raise typer.Exit(1) from None
    _summary(name, report)


def build_captions(
    gallery: Gallery, encoder: Encoder, language: LanguageModel, domain: Domain, *, samples: int = SAMPLES,
    workers: int | None = None, restart: bool = False, limit: int | None = None, place: Place | None = None,
    built_in: bool = False,
) -> CaptionReport:
    """Captions of a gallery's images, with progress bars. ``workers`` as the option of ``cirque captions build``;
    ``built_in``: whether ``language`` is not that of the settings."""
    from cir_core.captions.caption_build import optimise_captions
    from cir_core.language.connect import LanguageLoader

    load = encoder_loader(encoder)
    at_a_time = workers or (1 if language.name.startswith("built-in/") else get_settings().llm_concurrency)
    err.print(f"Captions by {language.name}, {samples} for each image, domain {domain} ...")
    with _bars() as progress:
        return optimise_captions(gallery, encoder, language, samples=samples, domain=domain, workers=at_a_time,
                                 restart=restart, limit=limit, progress=progress, place=place, load=load,
                                 connect=LanguageLoader(load, built_in))


@app.command()
def show(
    name: Name,
    image: Annotated[str | None, typer.Option(help="Image id: its caption and how it was chosen.")] = None,
    worst: Annotated[int, typer.Option(min=0, help="Number of images ranked worst by their caption.")] = 10,
) -> None:
    """Show a gallery's captions, their ranks, and the worst cases."""
    from cir_core.captions.stored import read_captions, read_choices, why_ignored
    from cir_core.gallery.gallery import open_gallery

    gallery = open_gallery(name, home=get_settings().home)
    if image is not None:
        gallery.row_of(image)  # a misspelt id is not an image without a caption
    captions = read_captions(gallery)
    if captions is None:
        out.print(why_ignored(gallery) or f"Gallery {name} has no captions yet. To make them: cirque captions build "
                  f"{name}")
        return
    choices, problems = read_choices(gallery)
    if image is not None:
        choice = choices.get(image)
        if choice is not None:
            where = "the manifest" if choice.sample < 0 else f"answer {choice.sample + 1}"
            out.print(f"{image}: {choice.caption}")
            out.print(f"  finds the image at rank {choice.rank} of {len(gallery)} (the first caption: "
                      f"{choice.first_rank}), cosine {choice.cosine:.4f}; {where}, {choice.distinct} to choose from")
        if image in problems:
            out.print(f"  {'has no caption' if choice is None else 'had fewer to choose from'}: {problems[image]}")
        return
    _facts(captions.header)
    late = sorted(choices.items(), key=lambda one: (-one[1].rank, one[1].cosine))[:worst]
    if late:
        table = Table("image", "rank", "first caption's", "cosine", "caption", box=None)
        for image_id, choice in late:
            table.add_row(image_id, str(choice.rank), str(choice.first_rank), f"{choice.cosine:.4f}", choice.caption)
        out.print(table)
    _list(list(problems.items()))


@app.command()
def remove(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Delete a gallery's captions. The gallery stays."""
    from cir_core.captions.stored import remove_captions
    from cir_core.gallery.gallery import open_gallery

    gallery = open_gallery(name, home=get_settings().home)
    if not yes:
        typer.confirm(f"Delete the captions of gallery {name!r}?", abort=True)
    if remove_captions(gallery):
        err.print(f"The captions of gallery {name} are gone.")
    else:
        err.print(f"Gallery {name} has no captions.")


def _language(model: ModelChoice, encoder: Encoder, stack: ExitStack) -> LanguageModel:
    if model is ModelChoice.built_in:
        from cir_core.language.builtin import BuiltinLanguageModel

        return BuiltinLanguageModel(encoder)
    from cir_core.language.connect import language_models

    stores = stack.enter_context(open_stores())
    # No fallback: captions of two models under one name would not be comparable.
    return language_models(get_settings(), stores.answers, fallback=False)(encoder)


def _summary(name: str, report: CaptionReport) -> None:
    _facts(report.header)
    _list(report.problems)
    out.print(f"{report.asked} captions asked for, {report.resumed} images were captioned before; "
              f"{report.seconds:.1f} s.")
    if report.problems:
        out.print("The same command tries these images again.")
    if report.published:
        out.print(f"Reflection shows these captions to the language model: CIRQUE_GALLERY={name} cirque serve")
        out.print(f"See where they fail: cirque captions show {name}")
    else:
        out.print(f"Trial run: nothing was published. For all images, omit --limit: cirque captions build {name}")


def _facts(header: CaptionsHeader) -> None:
    out.print(f"Captions by {header.captioner} (domain {header.domain}), {header.created_at}, digest {header.digest}",
              soft_wrap=True)
    out.print(f"{header.captioned} of {header.images} images have one, chosen from {header.distinct:.1f} different "
              f"captions on average ({header.samples} asked for, {header.incomplete} images incomplete)")
    table = Table("rank of the image by", "mean", "median", "rank 1", box=None)
    for label, ranks in (("its first caption", header.before), ("the chosen caption", header.after)):
        table.add_row(label, f"{ranks.mean:.2f}", f"{ranks.median:g}", f"{100 * ranks.first:.2f} %")
    out.print(table)


def _list(problems: list[tuple[str, str]] | tuple[tuple[str, str], ...]) -> None:
    for image_id, problem in problems[:_LISTED]:
        out.print(f"  {image_id}: {problem}")
    if len(problems) > _LISTED:
        out.print(f"  ... and {len(problems) - _LISTED} more")


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.1f}/s" if task.speed else "")


@contextmanager
def _bars() -> Iterator[Callable[[CaptionProgress], None]]:
    """One progress bar per stage on standard error. Silent without a terminal."""
    with bars(_Rate(), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn()) as progress:
        tasks = {stage: progress.add_task(label, total=None, start=False, visible=False)
                 for stage, label in _STAGES.items()}

        def update(found: CaptionProgress) -> None:
            task = tasks[found.stage]
            progress.start_task(task)
            progress.update(task, completed=found.done, total=found.total, visible=True)

        yield update
