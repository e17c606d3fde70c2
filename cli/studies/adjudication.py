"""Which items of a study need an adjudicator's decision."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Annotated, Literal

import typer

from cir_core.support.texts import counted
from cli.console import open_stores, out
from cli.studies.preference_files import AsJson, Name


def adjudicate(
    name: Name,
    when: Annotated[list[str] | None, typer.Option(help=(
        "Repeatable: split (any difference), tie (equal votes), unsure (a judge was unsure), none."))] = None,
    below: Annotated[float | None, typer.Option(min=0, max=1, help=(
        "Also items whose mean pairwise agreement is below this; 0: none."))] = None,
    discussion: Annotated[Literal["none", "adjudicators", "judges"] | None, typer.Option(help=(
        "Who discusses items: nobody, adjudicators, or also judges."))] = None,
    as_json: AsJson = False,
) -> None:
    """Show or set which items need an adjudicator's decision."""
    from annotation.accounts.account_names import LOCAL
    from annotation.adjudication.needs import SETTING, needs_of
    from annotation.kinds.table import KINDS

    with open_stores() as stores:
        study = stores.studies.study(name)
        kind = KINDS[study.kind]
        needs = needs_of(study, kind.answers)
        if when:
            needs = replace(needs, needs=tuple(one for one in when if one != "none"))
        if below is not None:
            needs = replace(needs, below=below or None)
        if discussion:
            needs = replace(needs, discussion=discussion)
        if when or below is not None or discussion:
            study = stores.studies.change_settings(study.study_id, {SETTING: needs.as_settings()}, by=LOCAL)
        cases = kind.cases(stores.studies, study)
    waiting = Counter(one.why for one in cases if not one.decided)
    decided = sum(one.decided for one in cases)
    if as_json:
        typer.echo(json.dumps({"needs": needs.as_settings(), "open": waiting.total(), "decided": decided,
                               "why": {str(why): count for why, count in waiting.items()}}, indent=1))
        return
    reasons = f" ({', '.join(f'{why} {count:,}' for why, count in waiting.most_common())})" if waiting else ""
    rule = ", ".join((*needs.needs, *(() if needs.below is None else (f"agreement below {needs.below:g}",))))
    out.print(f"{study.name}: {counted(waiting.total(), 'item')} to decide{reasons}, {decided:,} decided. A decision "
              f"is needed for: {rule or 'nothing'}. Discussed by: {needs.discussion}.", soft_wrap=True)
