"""Account and invitation endpoints for the people page and scripts. Admins only. Endpoints of the audit log: entries
for the log page, and file downloads. Admins only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from fastapi import APIRouter
from starlette.responses import Response

from annotation.accounts.audit_log import LOG_FORMS, act_json, every_act, log_file, read_filter
from annotation.accounts.roles import ROLES, SAYS, as_role
from annotation.accounts.service import link_path
from annotation.records import AUDIT_ACTIONS, AUDIT_GROUPS, AuditEvent, AuditFilter, Person
from cir_core.errors import AccessError, CirqueError, LogError
from web.http.json_api import Fields, disposition, get_endpoint, post_endpoint
from web.http.visitor import Visitor, check
from web.services import Services

_Given = TypeVar("_Given")


def people_routes(services: Services) -> APIRouter:
    """Endpoints below ``/people``. Each returns the updated list, as ``/people/all`` does."""
    routes = APIRouter(prefix="/people", include_in_schema=False)
    people = services.people

    def everybody(visitor: Visitor, query: Mapping[str, str]) -> dict[str, Any]:
        return _list(services)

    def add(visitor: Visitor, fields: Fields) -> dict[str, Any]:
        added = people.add(fields["name"], fields["password"], as_role(fields["role"]), by=visitor.name)
        return {"added": added.name, **_list(services)}

    def role(visitor: Visitor, fields: Fields) -> dict[str, Any]:
        """``withdrawn``: number of open invitations withdrawn from a former admin; likewise in ``active``."""
        changed = people.set_role(_text(fields, "name"), as_role(fields["role"]), by=visitor.name)
        return {"withdrawn": changed.withdrawn, **_list(services)}

    def password(visitor: Visitor, fields: Fields) -> dict[str, Any]:
        people.set_password(_text(fields, "name"), fields["password"], by=visitor.name)
        return _list(services)

    def active(visitor: Visitor, fields: Fields) -> dict[str, Any]:
        name, wanted = _text(fields, "name"), fields["active"]
        if not isinstance(wanted, bool):
            raise AccessError("“active” must be true or false.")
        if wanted:
            people.reactivate(name, by=visitor.name)
            return _list(services)
        return {"withdrawn": people.deactivate(name, by=visitor.name).withdrawn, **_list(services)}

    def invite(visitor: Visitor, fields: Fields) -> dict[str, Any]:
        """``path``: the link, relative to the app's root. Returned only once; the database stores its digest."""
        days, uses = _number(fields, "days", 7), _number(fields, "uses", 1)
        if not uses.is_integer():
            raise AccessError("“uses” must be a whole number.")
        secret = people.invite(as_role(fields["role"]), days, int(uses), visitor.name)
        return {"path": link_path(secret), **_list(services)}

    def withdraw(visitor: Visitor, fields: Fields) -> dict[str, Any]:
        people.withdraw(_text(fields, "invitation"), by=visitor.name)
        return _list(services)

    routes.add_api_route("/all", get_endpoint(_admin(everybody)), methods=["GET"])
    for path, call, required, optional in (
        ("/add", add, ("name", "password", "role"), ()), ("/role", role, ("name", "role"), ()),
        ("/password", password, ("name", "password"), ()), ("/active", active, ("name", "active"), ()),
        ("/invite", invite, ("role",), ("days", "uses")), ("/withdraw", withdraw, ("invitation",), ()),
    ):
        routes.add_api_route(path, post_endpoint(_admin(call), required, optional), methods=["POST"])
    return routes


def _admin(work: Callable[[Visitor, _Given], dict[str, Any]]) -> Callable[[Visitor, _Given], dict[str, Any]]:
    def checked(visitor: Visitor, given: _Given) -> dict[str, Any]:
        # The guard has asked already; this holds should the routes ever be mounted elsewhere.
        if "people" not in visitor.may:
            raise AccessError("Only an admin may manage accounts.")
        try:
            return work(visitor, given)
        except AccessError as error:   # of what was asked for, not of who asks
            raise CirqueError(str(error)) from error

    return checked


def _list(services: Services) -> dict[str, Any]:
    people, processes = services.people, services.processes
    return {
        "notice": processes.advice(processes.others()),
        "people": [_shown(person) for person in people.people()],
        "invitations": [
            {"invitation": one.handle, "role": one.role, "uses_left": one.uses_left, "created_by": one.created_by,
             "expires_at": one.expires_at.isoformat()} for one in people.invitations()],
        "roles": [{"role": role, "says": SAYS[role]} for role in ROLES],
    }


def _shown(person: Person) -> dict[str, Any]:
    return {"name": person.name, "role": person.role, "active": person.active,
            "created_at": person.created_at.isoformat()}


def _text(fields: Fields, name: str) -> str:
    if not isinstance(fields[name], str):
        raise AccessError(f"“{name}” must be a text.")
    return str(fields[name])


def _number(fields: Fields, name: str, otherwise: float) -> float:
    value = fields.get(name, otherwise)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise AccessError(f"“{name}” must be a number.")
    return float(value)


_PAGE = 100
_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}


def log_routes(services: Services) -> APIRouter:
    """``/log/acts`` and ``/log/file``, both filtered by ``person``, ``kind``, ``since`` and ``until``
    (:func:`annotation.accounts.audit_log.read_filter`). Pages of entries end ``before`` a number."""
    log = services.log

    def acts(visitor: Visitor, query: Mapping[str, str]) -> dict[str, Any]:
        check(visitor, "people")
        found = log.acts(_filter(query), before=_before(query), limit=_PAGE + 1)
        return {"acts": [act_json(one) for one in found[:_PAGE]], "more": len(found) > _PAGE,
                "groups": list(AUDIT_GROUPS), "kinds": list(AUDIT_ACTIONS)}

    def file(visitor: Visitor, query: Mapping[str, str]) -> Response:
        check(visitor, "people")
        which, form = _filter(query), next((one for one in LOG_FORMS if one == query.get("form", "csv")), None)
        if form is None:
            raise LogError(f"The format of the log must be one of: {', '.join(LOG_FORMS)}.")
        content = log_file(every_act(log, which), form)
        log.note(AuditEvent("log.exported", visitor.name, details={"form": form}))
        return Response(content, media_type=_TYPES[form], headers={
            "Content-Disposition": disposition(f"cirque log {datetime.now(UTC):%Y-%m-%d}.{form}"),
            "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"})

    routes = APIRouter(prefix="/log", include_in_schema=False)
    routes.add_api_route("/acts", get_endpoint(acts), methods=["GET"])
    routes.add_api_route("/file", get_endpoint(file, slow=True), methods=["GET"])
    return routes


def _filter(query: Mapping[str, str]) -> AuditFilter:
    return read_filter(*(query.get(name, "") for name in ("person", "kind", "since", "until")))


def _before(query: Mapping[str, str]) -> int | None:
    text = query.get("before", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise LogError("“before” must be the number of an event.")
    return int(text)
