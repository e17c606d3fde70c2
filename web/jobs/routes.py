"""Endpoints of the page Jobs: all long jobs of the home folder; stop, resume and forget them, and index a folder."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter

from annotation.records import AuditEvent
from cir_core.errors import CirqueError, DatasetError
from cir_core.jobs.commands import again
from cir_core.jobs.estimate import TimeRange
from cir_core.jobs.records import JobRecord, JobRecords
from cir_core.support.texts import quoted
from web.http.json_api import Fields, get_endpoint, json_routes, post_endpoint
from web.http.public_errors import public_message
from web.http.visitor import Visitor, check
from web.jobs.folders import IndexFolders
from web.jobs.processes import JobProcesses
from web.services import Services

_LONGEST = 300      # characters of a command


def job_routes(services: Services) -> APIRouter:
    """``/jobs/…``, for people who may manage; indexing a folder, and seeing which there are, for administrators."""
    home = services.settings.home
    records = JobRecords(home)
    processes, folders = JobProcesses(home, records), IndexFolders(services.settings)

    def everything(visitor: Visitor, query: Mapping[str, str]) -> object:
        check(visitor, "manage")
        opened = query.get("open", "")
        return {"jobs": [_listed(one, records.asked_to_stop(one.job_id), log=one.job_id == opened)
                         for one in records.all()],
                "may_index": folders.root is not None and "people" in visitor.may}

    def stop(visitor: Visitor, sent: Fields) -> object:
        record = found(visitor, sent)
        if stopping := records.ask_to_stop(record.job_id):
            note("job.stopped", visitor, record)
        return {"stopping": stopping}

    def resume(visitor: Visitor, sent: Fields) -> object:
        record = found(visitor, sent)
        if record.running or again(record.command) is None:
            raise DatasetError(f"Job {record.job_id} cannot be resumed: it "
                               f"{'is running' if record.running else 'has to be run from a command line'}. Reload the "
                               "page.")
        processes.run(record.job_id, visitor.name)
        note("job.resumed", visitor, record)
        return {"id": record.job_id}

    def forget(visitor: Visitor, sent: Fields) -> object:
        record = found(visitor, sent)
        records.forget(record.job_id)
        note("job.forgotten", visitor, record)
        return {"id": record.job_id}

    def choices(visitor: Visitor, query: Mapping[str, str]) -> object:
        check(visitor, "people")
        return folders.choices()

    def index(visitor: Visitor, sent: Fields) -> object:
        check(visitor, "people")
        command = folders.command(*(_text(sent, name) for name in ("folder", "name", "encoder")))
        try:
            record = records.add(command, str(home), visitor.name)
        except OSError as error:
            raise DatasetError(f"The job cannot be recorded: {error.strerror}. Free some space.") from error
        try:
            processes.run(record.job_id, visitor.name)
        except CirqueError:
            records.forget(record.job_id)
            raise
        note("job.started", visitor, record)
        return {"id": record.job_id}

    def found(visitor: Visitor, sent: Fields) -> JobRecord:
        check(visitor, "manage")
        return records.find(_text(sent, "id"))

    def note(action: Any, visitor: Visitor, record: JobRecord) -> None:
        services.log.note(AuditEvent(action, visitor.name, record.kind, details={"job": record.job_id}))

    return json_routes("/jobs", {
        "/all": get_endpoint(everything, slow=True), "/choices": get_endpoint(choices, slow=True),
    }, {
        "/stop": post_endpoint(stop, ("id",)), "/resume": post_endpoint(resume, ("id",), slow=True),
        "/forget": post_endpoint(forget, ("id",)),
        "/index": post_endpoint(index, ("folder", "name", "encoder"), slow=True),
    })


def _listed(one: JobRecord, stopping: bool, *, log: bool) -> dict[str, Any]:
    """For the page: without folders of this machine."""
    command = public_message(CirqueError("cirque " + " ".join(one.command)))
    return {
        "id": one.job_id, "kind": one.kind, "command": command[:_LONGEST], "by": one.started_by, "screen": one.screen,
        "state": one.state, "stopping": stopping and one.running, "stage": one.stage, "done": one.done,
        "total": one.total, "rate": one.rate if one.running else None,
        "left": str(TimeRange(*one.left)) if one.running and one.left else "",
        "error": public_message(CirqueError(one.error)), "began": _moment(one.began_at), "alive": _moment(one.alive_at),
        "resumable": one.resumable, "resumes": one.resumes,
        "log": [public_message(CirqueError(line)) for line in one.log] if log else None,
    }


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def _text(sent: Fields, name: str) -> str:
    value = sent[name]
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise DatasetError(f"{quoted(name)} must be a text of at most {_LONGEST} characters.")
    return value.strip()
