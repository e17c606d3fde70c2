"""``cirque construct judge --judge people``: the same sample of sessions as a study for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from cir_core.errors import SettingsError
from cir_core.settings import get_settings
from cir_core.support.texts import counted
from cli.console import open_stores, out, print_notes, progress_bar
from cli.tables.study_tables import answers_plan, print_answers_plan, print_created, print_pairs

if TYPE_CHECKING:
    from cir_core.construct.judging.sample import Source
    from cir_core.construct.judging.tasks import Galleries

SECONDS = 90.0   # that a session takes, unless said otherwise


@dataclass(frozen=True)
class StudyOptions:
    """Options of a study; None where they are not given."""

    name: str | None
    people: int | None
    overlap: int | None
    agreement_items: int | None
    seconds_per_item: float | None


def check_options(judge: str, llm: Sequence[tuple[str, Any]], people: Sequence[tuple[str, Any]]) -> None:
    """Raises ``SettingsError`` for a given option of the other judge. ``llm``, ``people``: options and their values,
    None or False where not given."""
    other, theirs = ("llm", llm) if judge == "people" else ("people", people)
    given = [option for option, value in theirs if value is not None and value is not False]
    if given:
        raise SettingsError(f"{', '.join(given)} {'is' if len(given) == 1 else 'are'} only for --judge {other}. Leave "
                            f"{'it' if len(given) == 1 else 'them'} out, or add --judge {other}.")


def create_study(
    sources: Sequence[Source], galleries: Galleries, notes: Sequence[str], sample: int, seed: int,
    options: StudyOptions, *, dry_run: bool, as_json: bool,
) -> None:
    """Create the study and print what it holds, or print only the plan."""
    from annotation.accounts.account_names import LOCAL
    from annotation.kinds.ratings.create import create_session_study
    from annotation.records import StudyPlan
    from annotation.studies.creation import check_name
    from annotation.studies.planner import plan_study
    from cir_core.construct.judging.sample import draw_sample, sources_as_json
    from cir_core.construct.judging.tasks import check_galleries, galleries_as_json

    if not options.name:
        raise SettingsError("A study needs a name: add --name NAME.")
    check_galleries(galleries, sources)
    settings, drawn = get_settings(), draw_sample(sources, sample, seed)
    plan = StudyPlan(options.people or 1, options.overlap or 1, options.agreement_items or 0, seed)
    source = {"form": "judged-sessions", "sources": sources_as_json(sources),
              "galleries": galleries_as_json(galleries), "sample": sample, "seed": seed}
    with open_stores() as stores:
        check_name(stores.studies, options.name)
        forecast = plan_study(plan.seats, len(drawn), plan.overlap, plan.agreement_items,
                              seconds_per_item=options.seconds_per_item or SECONDS)
        by_origin = Counter(f"{one.source}::{one.session.subset}" for one in drawn)
        if not as_json:
            print_notes(notes)
            print_pairs("sessions", "", [(origin, f"{count:,}") for origin, count in by_origin.items()])
            print_answers_plan(forecast, "session")
        result = {"sessions": dict(by_origin), "plan": answers_plan(forecast), "notes": list(notes)}
        created = None
        if not dry_run:
            with progress_bar("Copying images") as bar:
                created = create_session_study(
                    stores.studies, settings.home, options.name, drawn, galleries, plan, created_by=LOCAL,
                    source=source, max_megapixels=settings.max_image_megapixels, progress=bar)
    if made := print_created(created, result, as_json):
        counts = made.counts
        out.print(f"Created {made.study.name}: {counted(counts['items'], 'session')}, "
                  f"{counted(counts['pictures'], 'image file')}. To rate them: cirque serve, then the page Annotate "
                  f"(/annotate?study={quote(made.study.name)}).", soft_wrap=True)
