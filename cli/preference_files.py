"""Files of preference studies, and how carefully people answered: ``cirque study import hp-fashioniq``, ``export``
of preference studies, and ``quality``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cir_core.errors import StudyError
from cir_core.settings import get_settings
from cli.console import out

if TYPE_CHECKING:
    from annotation.exclusion import Removed, Rules
    from annotation.quality import PersonQuality
    from annotation.records import Judgement, Study
    from annotation.store import StudyStore

FORMS = ("hp-fashioniq", "csv", "parquet", "preferences")
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the study.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]


def register_import(import_app: typer.Typer) -> None:
    import_app.command("hp-fashioniq")(import_hp_fashioniq)


def register(app: typer.Typer) -> None:
    app.command("quality")(quality)


def import_hp_fashioniq(
    name: Name,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="hpfiq.json as it was released, or in its form.")],
    as_json: AsJson = False,
) -> None:
    """Ratings and preferences of HP-FashionIQ as a closed study; its images are not needed."""
    from annotation.account_names import LOCAL
    from annotation.hp_studies import import_hp_study
    from cli.study_tables import study_json
    from storage.stores import open_stores

    with closing(open_stores(get_settings())) as stores:
        created = import_hp_study(stores.studies, name, file, created_by=LOCAL)
    if as_json:
        typer.echo(json.dumps({**study_json(created.study, created.counts), "notes": list(created.notes)}, indent=1,
                              ensure_ascii=False))
        return
    for note in created.notes:
        out.print(f"Note: {note}")
    counts = created.counts
    out.print(f"Made {created.study.name}: {counts['items']:,} questions to {counts['people']:,} people, "
              f"{counts['rated_sets']:,} rated sets. It takes no answers.")


def export_files(
    store: StudyStore, study: Study, form: str, *, everything: bool = False
) -> tuple[Mapping[str, bytes], tuple[str, ...]]:
    """Files of a preference study by name, and notes on what they lack.

    The study's rules mark rows of tables; from the other forms they take answers out, unless
    ``everything`` is asked for. Raises ``StudyError`` for a form that is none of :data:`FORMS`.
    """
    from annotation.exports.tables import to_csv, to_parquet
    from annotation.hp_studies import hp_form
    from annotation.preference_exports import judgement_table, preference_pairs, set_table

    if form not in FORMS:
        raise StudyError(f"{study.name} is a {study.kind} study. It is exported as {', '.join(FORMS)}.")
    items, assignments = store.items(study.study_id), store.assignments(study.study_id)
    judgements, _, removed = _judged(store, study)
    if form in ("csv", "parquet"):
        excluded = {} if everything else removed.excluded
        tables = {"judgements": judgement_table(study, items, assignments, judgements, excluded),
                  "sets": set_table(study, items, assignments, judgements, excluded)}
        written = to_csv if form == "csv" else to_parquet
        return {f"{table}.{form}": written(content) for table, content in tables.items()}, ()
    kept = judgements if everything else removed.kept
    notes = []
    if len(kept) < len(judgements):
        notes.append(f"The study's rules take {len(judgements) - len(kept):,} of {len(judgements):,} answers out. "
                     "With --all they are there too.")
    if form == "hp-fashioniq":
        found = hp_form(items, assignments, kept)
        return {"hpfiq.json": found.content}, (*notes, *found.notes)
    pairs = preference_pairs(items, kept)
    if pairs.ties:
        notes.append(f"Ties left out: {pairs.ties:,}.")
    return {"preferences.jsonl": pairs.content}, tuple(notes)


def quality(
    name: Name,
    rule: Annotated[list[str] | None, typer.Option(metavar="RULE", help=
        "What to leave out, may be repeated: irrelevant, failed-checks=2 (more wrong ones), median-seconds=5 (less), "
        "straight-lining=12 (so many in a row, or more), one-side=0.9 (of the answers, or more). none: nothing. "
        "Without it the study's own rules.")] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep these rules with the study: exports follow them.")] = False,
    as_json: AsJson = False,
) -> None:
    """How carefully people answered a preference study, and what rules would leave out."""
    from annotation.exclusion import parse_rules, rules_of
    from annotation.quality import side_bias
    from cli.quality_tables import print_quality, quality_json
    from storage.stores import open_stores

    with closing(open_stores(get_settings())) as stores:
        store = stores.studies
        study = store.study(name)
        if study.kind != "preference":
            raise StudyError(f"{study.name} is a {study.kind} study. This is for preference studies; its results are "
                             "there: cirque study results")
        rules = rules_of(study.settings) if rule is None else parse_rules(rule)
        judgements, people, removed = _judged(store, study, rules)
        if keep:
            store.change_settings(study.study_id, {**study.settings, "exclude": rules.as_settings()})
    bias = side_bias(judgements)
    if as_json:
        typer.echo(json.dumps(quality_json(study, people, bias, rules, removed), indent=1, ensure_ascii=False))
        return
    print_quality(people, bias, rules, removed)
    if keep:
        out.print(f"Kept with {study.name}: {', '.join(rule or ()) or 'its rules, as they were'}.")


def _judged(
    store: StudyStore, study: Study, rules: Rules | None = None
) -> tuple[tuple[Judgement, ...], list[PersonQuality], Removed]:
    """Current judgements, their people, and what ``rules`` (else the study's own) leave out."""
    from annotation.exclusion import apply_rules, rules_of
    from annotation.quality import people_quality

    judgements = tuple(store.judgements(study.study_id))
    people = people_quality(store.seats(study.study_id), store.assignments(study.study_id), judgements,
                            store.events(study.study_id, kind="check"))
    return judgements, people, apply_rules(rules_of(study.settings) if rules is None else rules, judgements, people)
