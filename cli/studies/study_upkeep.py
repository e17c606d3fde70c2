"""``cirque study rename`` and ``remove``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cir_core.errors import StudyError
from cir_core.settings import get_settings
from cir_core.support.texts import counted
from cli.console import open_stores, out

if TYPE_CHECKING:
    from collections.abc import Mapping

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the study.")]


def rename(
    old: Annotated[str, typer.Argument(metavar="OLD", help="Name of the study.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="New name.")],
) -> None:
    """Rename a study. Links to its pages contain the name: send them out again."""
    from annotation.studies.lifecycle import rename_study

    with open_stores() as stores:
        study = stores.studies.study(old)
        changed = rename_study(stores.studies, study, new)
    out.print(f"{study.name} is now called {changed.name}.", soft_wrap=True)


def remove(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Delete a study with all its judgements and images. This cannot be undone: export first."""
    from annotation.studies.lifecycle import remove_study

    settings = get_settings()
    with open_stores() as stores:
        study = stores.studies.study(name)
        counts = stores.studies.counts(study.study_id)
        if not yes:
            out.print(f"This deletes {study.name}: {_all(counts)}, and its images. It cannot be undone. To keep a "
                      f"copy: cirque study export csv {study.name!r} --out FOLDER", soft_wrap=True)
            if str(typer.prompt("Type its name to delete it", default="", show_default=False)) != study.name:
                raise StudyError(f"The name does not match: {study.name} was not deleted.")
            counts = stores.studies.counts(study.study_id)   # people may have gone on meanwhile
        remove_study(stores.studies, settings.home, study)
    out.print(f"Removed {study.name}: {_all(counts)}.", soft_wrap=True)


def _all(counts: Mapping[str, int]) -> str:
    return (f"{counted(counts['items'], 'item')}, {counted(counts['done'], 'judgement')} by "
            f"{counted(counts['people'], 'person', 'people')}, {counted(counts['decisions'], 'decision')}")
