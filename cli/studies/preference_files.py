"""``cirque study import hp-fashioniq``, and ``quality``: answer quality of preference studies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cir_core.support.texts import counted
from cli.console import open_stores, out

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the study.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print only JSON.")]


def import_hp_fashioniq(
    name: Name,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="hpfiq.json as released, or a file in its form.")],
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
    rule: Annotated[list[str] | None, typer.Option(metavar="RULE", help=
        "What to exclude, repeatable: irrelevant, failed-checks=2 (more wrong ones), median-seconds=5 (less), "
        "straight-lining=12 (so many in a row, or more), one-side=0.9 (of the answers, or more). none: nothing. "
        "Default: the study's own rules.")] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Store these rules with the study; exports apply them.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show answer quality of a preference study, and what exclusion rules would remove."""
    from annotation.kinds.preference.exclusion import parse_rules
    from annotation.kinds.preference.method_results import method_results
    from annotation.kinds.preference.review import review
    from cli.tables.quality_tables import print_quality, quality_json

    with open_stores() as stores:
        store = stores.studies
        study = store.study(name)
        found = review(store, study, None if rule is None else parse_rules(rule))
        _, pairs = method_results(store.items(study.study_id), found.removed.kept)
        if keep:
            store.change_settings(study.study_id, {**study.settings, "exclude": found.rules.as_settings()})
    if as_json:
        typer.echo(json.dumps(quality_json(found, pairs), indent=1, ensure_ascii=False))
        return
    print_quality(found, pairs)
    if keep:
        out.print(f"Stored with {study.name}: {', '.join(rule or ()) or 'its rules, as they were'}.")
