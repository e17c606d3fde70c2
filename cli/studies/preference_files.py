"""``cirque study import hp-fashioniq``; ``quality``: how people answered; ``gold``: items with a known answer."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from cir_core.support.texts import counted
from cli.console import open_stores, out

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the study.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print only JSON.")]


def import_hp_fashioniq(
    name: Name,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="hpfiq.json, or a file in its format.")],
    as_json: AsJson = False,
) -> None:
    """Import HP-FashionIQ's ratings and preferences as a closed study; images are not needed."""
    from annotation.accounts.account_names import LOCAL
    from annotation.kinds.preference.hp_fashioniq import import_hp_study
    from cli.tables.study_tables import print_created

    with open_stores() as stores:
        created = import_hp_study(stores.studies, name, file, created_by=LOCAL)
    if print_created(created, {}, as_json) is None:
        return
    counts = created.counts
    people = counted(counts["people"], "person", "people")
    out.print(f"Created {created.study.name}: {counted(counts['items'], 'question')} to {people}, "
              f"{counted(counts['rated_sets'], 'rated set')}. It takes no answers.", soft_wrap=True)


def quality(
    name: Name,
    rule: Annotated[list[str] | None, typer.Option(metavar="RULE", help=(
        "Repeatable: irrelevant, failed-checks=2 (more), median-seconds=5 (less), straight-lining=12 "
        "(in a row or more), one-side=0.9 (share or more), contradictions=0.2 (share or more), gold=0.7 "
        "(less), none. Default: the study's own."))] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Store these rules; exports apply them.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show how people answered, and what exclusion rules would remove."""
    from annotation.kinds.preference.method_results import method_results
    from annotation.kinds.preference.review import review
    from annotation.kinds.table import KINDS
    from annotation.quality.people import care_review
    from annotation.quality.rules import parse_rules
    from cli.tables.quality_tables import care_json, print_care, print_quality, quality_json

    with open_stores() as stores:
        store = stores.studies
        study = store.study(name)
        rules, kind = None if rule is None else parse_rules(rule), KINDS[study.kind]
        if kind.has_sets:
            rated = review(store, study, rules)
            rules, pairs = rated.rules, method_results(store.items(study.study_id), rated.removed.kept)[1]
            shown = quality_json(rated, pairs)
        else:
            found = care_review(store, study, kind.answers, rules)
            rules, shown = found.rules, care_json(found)
        if keep:
            store.change_settings(study.study_id, {"exclude": rules.as_settings()})
    if as_json:
        typer.echo(json.dumps(shown, indent=1, ensure_ascii=False))
        return
    if kind.has_sets:
        print_quality(rated, pairs)
    else:
        print_care(found)
    if keep:
        out.print(f"Stored with {study.name}: {', '.join(rule or ()) or 'its rules, as they were'}.")


def gold(
    name: Name,
    training: Annotated[int, typer.Option(min=0, metavar="N", help="Adjudicated items used for training.")] = 0,
    most: Annotated[int | None, typer.Option(min=1, metavar="N", help=(
        "Maximum items, including training (default: all)."))] = None,
    person: Annotated[str | None, typer.Option(metavar="NAME", help=(
        "Also take this person's answers as right."))] = None,
    training_mark: Annotated[float | None, typer.Option(min=0, max=1, help=(
        "Share of training to answer right (default: 0)."))] = None,
    training_tries: Annotated[int | None, typer.Option(min=1, help=(
        "Failed trainings that end the study for a person (default: 2)."))] = None,
    mark: Annotated[float | None, typer.Option(min=0, max=1, help=(
        "Minimum score on gold items (default: 0.7)."))] = None,
    least: Annotated[int | None, typer.Option(min=1, help=(
        "Gold items answered before the minimum applies (default: 5)."))] = None,
    below: Annotated[Literal["nothing", "train", "end"] | None, typer.Option(help=(
        "Below the minimum: nothing (default), train again, or end the study for the person."))] = None,
    as_json: AsJson = False,
) -> None:
    """Turn adjudicated items, or an expert's answers, into gold and training items of open work."""
    from annotation.accounts.account_names import LOCAL
    from annotation.kinds.table import KINDS
    from annotation.quality.care import care_of
    from annotation.studies.gold import make_gold

    given: dict[str, Any] = {"training_mark": training_mark, "training_tries": training_tries, "mark": mark,
                             "least": least, "below": below}
    with open_stores() as stores:
        study = stores.studies.study(name)
        care = replace(care_of(study.settings), **{key: value for key, value in given.items() if value is not None})
        made = make_gold(stores.studies, study, KINDS[study.kind].answers.dealt_extra, training=training, most=most,
                         person=person, care=care, by=LOCAL)
    if as_json:
        typer.echo(json.dumps({**asdict(made), "care": care.as_settings()}, indent=1))
        return
    out.print(f"{counted(made.gold, 'gold item')} and {counted(made.training, 'training item')}, dealt to "
              f"{counted(made.dealt, 'seat')} with open work.", soft_wrap=True)
