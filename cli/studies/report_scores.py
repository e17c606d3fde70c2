"""``cirque report scores``: metric scores of a preference study, a language model's scores of a session study."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cir_core.errors import DatasetError, StudyError
from cir_core.settings import Settings, get_settings
from cir_core.support.texts import counted
from cli.console import open_encoder, open_stores, out, print_notes
from cli.evaluate.further_metrics import MetricOption, scorer_in
from cli.evaluate.method_options import (
    DomainOption,
    ModelChoice,
    ModelOption,
    RelevanceOption,
    chosen_methods,
    language_model,
    named_bar,
)

if TYPE_CHECKING:
    from annotation.records import Item, MetricScores, Study
    from annotation.studies.store import StudyStore
    from cir_core.types.records import Domain


def scores(
    name: Annotated[str, typer.Argument(metavar="STUDY", help="Name of the study.")],
    add: Annotated[list[Path] | None, typer.Option(metavar="FILE", help=(
        "Store metrics of a CSV file (columns item and set as in sets.csv, and a numeric one per "
        "metric), or judged.json of `cirque construct judge`; repeatable."))] = None,
    method: Annotated[str | None, typer.Option("--method", "-m", help=(
        "Score the sets by a method, in --gallery."))] = None,
    gallery: Annotated[str | None, typer.Option("--gallery", "-g", help="Gallery with the images.")] = None,
    metric: MetricOption = None,
    relevance: RelevanceOption = None,
    called: Annotated[str | None, typer.Option("--name", help="Name of the scores.")] = None,
    remove: Annotated[list[str] | None, typer.Option(
        metavar="METRIC", help="Remove these scores; repeatable.")] = None,
    model: ModelOption = ModelChoice.built_in,
    domain: DomainOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON.")] = False,
) -> None:
    """Store scores of a study's sets or sessions for its reports. Scores of the same name are replaced."""
    from annotation.accounts.account_names import LOCAL
    from annotation.records.studies import SCORED
    from cli.tables.report_tables import print_scores

    if [bool(add), method is not None, metric is not None, bool(remove)].count(True) > 1:
        raise StudyError("Do one thing at a time: --add, --method, --metric or --remove.")
    if method is None and metric is None and (gallery is not None or called is not None):
        raise StudyError("--gallery and --name belong to --method and --metric: name what is to score.")
    if metric is None and relevance is not None:
        raise StudyError("--relevance is the model of --metric cirqrs: name the metric, too.")
    settings = get_settings()
    with open_stores() as stores:
        store = stores.studies
        study = store.study(name)
        _check_kind(study, method is not None or metric is not None)
        what, each = SCORED[study.kind].what, SCORED[study.kind].each
        items = store.items(study.study_id)
        made: list[MetricScores] = []
        if method is not None:
            made = [_by_method(items, method, gallery, called, model, domain, settings)]
        if metric is not None:
            made = [_by_relevance(items, gallery, called, relevance)]
        for path in add or ():
            made += _read(study, path, items)
        _check_twice(made)
        for one in made:
            store.save_scores(study.study_id, one, LOCAL, datetime.now(UTC))
        for gone in remove or ():
            store.drop_scores(study.study_id, gone)
        kept = store.scores(study.study_id)
    if as_json:
        typer.echo(json.dumps([{
            "name": one.name, "description": one.description, f"{what}s": len(one.scores), "of": each * len(items),
            "notes": list(one.notes)} for one in kept], indent=1, ensure_ascii=False))
        return
    for one in made:
        out.print(f"Stored {one.name} with {study.name}: {counted(len(one.scores), what)} of {each * len(items):,}.",
                  soft_wrap=True)
        print_notes(one.notes)
    for gone in remove or ():
        out.print(f"Removed {gone} from {study.name}.", soft_wrap=True)
    if not made and not remove:
        print_scores(study, kept, each * len(items))


def metrics(store: StudyStore, study: Study, items: Sequence[Item], files: Sequence[Path]) -> list[MetricScores]:
    """Stored metrics and those of ``files``, which replace stored ones of the same name."""
    from annotation.records import name_key

    given = [one for path in files for one in _read(study, path, items)]
    _check_twice(given)
    named = {name_key(one.name) for one in given}
    return [*(one for one in store.scores(study.study_id) if name_key(one.name) not in named), *given]


def _by_relevance(items: Sequence[Item], gallery: str | None, name: str | None, relevance: str | None) -> MetricScores:
    from annotation.kinds.preference.metric_scoring import checked_name, relevance_scores

    if name is not None:
        checked_name(name)   # before anything is computed
    scorer = scorer_in(_named(gallery), relevance)
    with named_bar() as progress:
        return relevance_scores(items, scorer, name=name or "", progress=progress)


def _named(gallery: str | None) -> str:
    if gallery is None:
        raise StudyError("Which gallery contains the study's images? Name it with --gallery (cirque galleries).")
    return gallery


def _by_method(
    items: Sequence[Item], method: str, gallery: str | None, name: str | None, model: ModelChoice,
    domain: Domain | None, settings: Settings,
) -> MetricScores:
    from annotation.kinds.preference.metric_scoring import checked_name, method_scores
    from cir_core.gallery.gallery import open_gallery
    from cir_core.methods.declared import all_methods

    if name is not None:
        checked_name(name)   # before anything is computed
    gallery = _named(gallery)
    chosen = chosen_methods(method, None, all_methods(settings.methods))
    if len(chosen) != 1:
        raise StudyError("Only one method at a time. Name one with --method.")
    opened = open_gallery(gallery, home=settings.home)
    encoder = open_encoder(opened.encoder.spec)
    with language_model(model, encoder) as language, named_bar() as progress:
        return method_scores(items, opened, encoder, language, chosen[0], name=name or "", domain=domain,
                             otherwise=settings.domain, progress=progress)


def _read(study: Study, path: Path, items: Sequence[Item]) -> Sequence[MetricScores]:
    from annotation.kinds.table import KINDS

    read = KINDS[study.kind].read_scores
    return read(study, _content(path), items, path.name) if read else ()


def _check_kind(study: Study, by_method: bool) -> None:
    """Raises ``StudyError`` for a study without anything that could be scored so."""
    from annotation.kinds.table import KINDS

    kind = KINDS[study.kind]
    if kind.read_scores is None or (by_method and not kind.has_sets):
        what = "metric" if kind.read_scores is None else "method"
        raise StudyError(f"{study.name} is {study.called}: it has no sets that a {what} could score. Its report: "
                         f"cirque report {json.dumps(study.name, ensure_ascii=False)}")


def _check_twice(given: Sequence[MetricScores]) -> None:
    from annotation.records import name_key

    seen: dict[str, str] = {}
    for one in given:
        if name_key(one.name) in seen:
            raise StudyError(f"Two of the files have scores called {one.name}. Rename a column of one of them.")
        seen[name_key(one.name)] = one.name


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror}. Name the file of the scores.") from error
