"""``cirque study invite``, ``payment`` and ``pay``: participants without accounts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cir_core.errors import StudyError
from cir_core.settings import get_settings
from cir_core.support.texts import counted
from cli.console import open_stores, out

if TYPE_CHECKING:
    from annotation.recruitment.service import RecruitmentService
    from storage.stores import Stores

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the study.")]


def invite(
    name: Name,
    settings: Annotated[Path | None, typer.Option(
        metavar="FILE", help="Settings in TOML: consent, questions, quotas, ends.")] = None,
    let_in: Annotated[bool | None, typer.Option(
        "--open/--pause", help="Let new people in, or not (default: unchanged; new links are open).")] = None,
    new_link: Annotated[bool, typer.Option("--new-link", help="Replace the link; the old one ends.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON.")] = False,
) -> None:
    """Make or show the link for participants of Prolific, MTurk or CloudResearch."""
    from annotation.recruitment.settings import settings_from_toml

    with open_stores() as stores:
        service, study = _service(stores), stores.studies.study(name)
        door = service.of_study(study)
        wanted = door.settings if settings is None else settings_from_toml(_read(settings), settings.name)
        if let_in is not None or not door.link.token:
            wanted = wanted.model_copy(update={"open": let_in is not False})
        if not door.link.token or new_link or wanted != door.settings:
            door = service.save(study, wanted, new_link=new_link)
    where = get_settings()
    base = (where.public_url or f"http://{where.host}:{where.port}").rstrip("/")
    link = f"{base}/take/{door.link.token}"
    if as_json:
        typer.echo(json.dumps({"study": study.name, "link": link, "settings": door.settings.model_dump(mode="json")},
                              indent=1, ensure_ascii=False))
        return
    typer.echo(link)
    state = "lets people in" if door.settings.open and study.accepting else "lets nobody in"
    why = "" if study.accepting else f": the study is closed (cirque study open {study.name!r})"
    out.print(f"The link {state}{why}. For Prolific, add: ?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&STUDY_ID="
              "{{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}", soft_wrap=True)


def payment(
    name: Name,
    to: Annotated[Path, typer.Option("--out", metavar="FILE", help="File to write.")],
    form: Annotated[Literal["table", "ids", "mturk"], typer.Option(
        help="Everything; approved ids, one per line; or decided assignments, for MTurk.")] = "table",
) -> None:
    """Write a study's participants with time, items and payment."""
    from annotation.recruitment.payment import payment_file, payment_rows
    from cir_core.support.files import write_atomically

    with open_stores() as stores:
        study = stores.studies.study(name)
        rows = payment_rows(stores.recruitment.participants(study.study_id), stores.studies.seats(study.study_id),
                            stores.studies.assignments(study.study_id))
    write_atomically(to, payment_file(study, rows, form)[1])
    out.print(f"Wrote {to}: {counted(len(rows), 'participant')}.", soft_wrap=True)


def pay(
    name: Name,
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID", help="Participants.")] = None,
    approve: Annotated[bool, typer.Option("--approve", help="Approve them.")] = False,
    reject: Annotated[str | None, typer.Option(metavar="REASON", help="Reject them, with this reason.")] = None,
    from_file: Annotated[Path | None, typer.Option(
        "--from", metavar="FILE", help="File of ids, one per line.")] = None,
) -> None:
    """Approve or reject participants in bulk."""
    from annotation.recruitment.payment import decisions_from

    if approve == (reject is not None):
        raise StudyError("Give one of: --approve, or --reject with a reason.")
    listed = [line.strip() for line in _read(from_file).splitlines() if line.strip()] if from_file else []
    decisions = decisions_from([*(ids or ()), *listed], "approved" if approve else "rejected", reject or "")
    with open_stores() as stores:
        study = stores.studies.study(name)
        decided = stores.recruitment.pay(study.study_id, decisions)
    out.print(f"{counted(decided, 'participant')} of {study.name}: {'approved' if approve else 'rejected'}.",
              soft_wrap=True)


def _service(stores: Stores) -> RecruitmentService:
    from annotation.kinds.table import KINDS
    from annotation.recruitment.service import RecruitmentService
    from annotation.studies.service import StudyService

    answers = {name: kind.answers for name, kind in KINDS.items()}
    return RecruitmentService(stores.recruitment, stores.studies, StudyService(stores.studies, answers), answers)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{path} cannot be read as a text file in UTF-8. Check the path.") from error
