"""Calls that manage studies, for programs: a list, people, results; a new study, opened and closed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from annotation.kinds.intake import Intake, NewStudy, items_of
from annotation.kinds.proposal import propose
from annotation.kinds.table import results_of
from annotation.sources.tables.columns import checked
from annotation.sources.tables.files import read_table_file
from annotation.sources.tables.pictures import of_gallery
from annotation.studies.creation import check_name, set_accepting
from annotation.studies.guidelines import Guidelines
from annotation.studies.overview import seat_progress
from annotation.studies.protocols import OwnFile
from cir_core.gallery.gallery import open_gallery
from web.http.call_answers import AcceptingAnswer, CreatedAnswer, PeopleAnswer, ResultsAnswer, StudiesAnswer
from web.http.calls import Call, threads
from web.http.visitor import Visitor
from web.services import Services
from web.studies.manage import people_rows
from web.studies.new_study import known_kind, without_options

_AT_ONCE = 2   # of each call


def managing_calls(services: Services) -> list[Call]:
    """``/list_studies``, ``/study_people`` and ``/study_results``; ``/create_study`` and ``/open_study``."""
    store, settings = services.study_store, services.settings

    def list_studies(visitor: Visitor) -> StudiesAnswer:
        """List all studies, newest first.

        Returns:
            Of each study id, name, kind, protocol, whether it takes answers, when it was made, and counts of items,
            planned and given answers, and people.
        """
        found = []
        for study in store.studies():
            counts = store.counts(study.study_id)
            found.append({
                "id": study.study_id, "name": study.name, "kind": study.kind, "protocol": study.protocol,
                "accepting": study.accepting, "created_at": study.created_at.isoformat(), "items": counts["items"],
                "assignments": counts["assignments"], "done": counts["done"], "people": counts["people"]})
        return cast(StudiesAnswer, {"studies": found})

    def study_people(visitor: Visitor, study: str) -> PeopleAnswer:
        """Show a study's people and how far each of them is.

        Args:
            study: The study's name or id.

        Returns:
            Of each seat its number, the person, items done, unsure, open and in all, median seconds per item, when the
            person was last seen and finished, and the completion code.
        """
        found = store.study(study)
        progress = seat_progress(found, store.seats(found.study_id), store.assignments(found.study_id),
                                 store.judgements(found.study_id), datetime.now(UTC),
                                 store.events(found.study_id, kind="finish"))
        return cast(PeopleAnswer, {"study": found.name, "people": people_rows(progress)})

    def study_results(visitor: Visitor, study: str) -> ResultsAnswer:
        """Show a study's results so far: counts of valid queries, mean ratings, or targets, by kind.

        Args:
            study: The study's name or id.

        Returns:
            The results, as cirque study results --json prints them.
        """
        found = store.study(study)
        return cast(ResultsAnswer, {"study": found.name, "results": results_of(store, found, "majority").json})

    def create_study(
        visitor: Visitor, name: str, kind: str, gallery: str, rows: list[dict[str, Any]],
        columns: dict[str, list[str]] | None = None, design: dict[str, int] | None = None, questions: str = "",
        guidelines: str = "", accepting: bool = False,
    ) -> CreatedAnswer:
        """Create a study from a table. Images are copied from a gallery.

        Args:
            name: Name of the study.
            kind: Kind of the study: "validity", "preference", "sessions" or "targets".
            gallery: Name of the gallery with the images that the rows name.
            rows: A list of objects, a row of the table each, such as {"text": "in red", "reference": "a", "target":
                "b"}.
            columns: The columns of each field, by field, if their names are not the usual ones.
            design: Numbers such as people, overlap and agreement_items, by name. What is left out has its usual value.
            questions: Text of a file of questions; empty: cirque's.
            guidelines: Guidelines in Markdown, without pictures.
            accepting: Whether people can begin at once; else open_study opens it.

        Returns:
            The name, the number of items, and notes on what was left out.
        """
        known, intake = known_kind(kind)
        check_name(store, name)
        with without_options():
            table = _table(rows, intake)
            given = columns or propose(table, {known: intake}).columns[known]
            assigned = checked({field: tuple(of) for field, of in given.items()}, table, intake.fields)
            items = items_of(intake, table, assigned, of_gallery(open_gallery(gallery, home=settings.home)))
            plan = intake.checked_design({"seed": settings.seed, **(design or {})})
            made = items.create(NewStudy(
                store, settings.home, name, visitor.name, plan, items.pictures, {"seed": plan["seed"]},
                settings.max_image_megapixels, questions=OwnFile("questions", questions) if questions.strip() else None,
                guidelines=Guidelines(guidelines, lambda picture: None) if guidelines.strip() else None,
                accepting=accepting))
        return {"study": made.study.name, "items": made.counts["items"], "notes": [*items.notes, *made.notes]}

    def open_study(visitor: Visitor, study: str, accepting: bool = True) -> AcceptingAnswer:
        """Open a study for answers, or close it. Judgements stay.

        Args:
            study: The study's name or id.
            accepting: True opens it, false closes it.

        Returns:
            The study's name, and whether it takes answers now.
        """
        changed = set_accepting(store, store.study(study), accepting, by=visitor.name)
        return {"study": changed.name, "accepting": changed.accepting}

    reading: Sequence[Callable[..., Any]] = (list_studies, study_people, study_results)
    return [*(Call(work, "results", threads(_AT_ONCE)) for work in reading),
            *(Call(work, "manage", threads(_AT_ONCE)) for work in (create_study, open_study))]


def _table(rows: Sequence[Mapping[str, Any]], intake: Intake) -> Any:
    """As of a JSON file, with its checks."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.json"
        path.write_text(json.dumps(rows), "utf-8")
        return read_table_file(path, intake.known)
