"""Endpoints that the search screen asks beside its events: what metrics say of a comparison after the vote, the audit
of a turn, a region of a reference, suggested texts, what is new in a session, the stop of a run (the page's event
channel is busy with the run itself), and files of sessions in CIRCLED's public format."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from functools import partial

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, Response

from annotation.records import AuditEvent, MethodVote
from annotation.votes import agreement
from cir_core.audit.live import LiveAudits
from cir_core.errors import CirqueError, SearchError, UnknownSession
from cir_core.images.decode_budget import PATIENCE
from cir_core.search.suggestions import Suggestions
from cir_core.sessions.export import export_name
from cir_core.sessions.importing import Imported, read_export
from cir_core.support.texts import quoted
from web.http.background import in_decoding_thread
from web.http.json_api import checked_fields, disposition, file_stem
from web.http.long_actions import Runs
from web.http.public_errors import public_message, retry_after, status_of
from web.http.request_fields import TooLarge, is_json, json_object, whole_body
from web.http.visitor import visitor_of
from web.search.presenters import audit as present_audit
from web.search.presenters import columns as present_judges
from web.services import Services
from web.ui.static_files import fill

MOST_IMPORTED = 32 * 2**20   # bytes of a file
MOST_VOTES = 100   # of a person's votes, the latest, that agreement is counted over
_MOST_NEW = 5      # of them, whose metrics one request computes
_FRESH = {"Cache-Control": "no-store"}


def judge_routes(services: Services) -> APIRouter:
    routes = APIRouter(prefix="/judges", include_in_schema=False)

    @routes.post("/comparison")
    async def judged(request: Request) -> JSONResponse:
        """``{"comparison", "who"}`` to ``{"html"}``, which is empty before ``who`` has voted on it, and where no metric
        can be computed."""
        try:
            asked = checked_fields(await json_object(request), ("comparison", "who"))
            comparison_id, who = asked["comparison"], asked["who"]
            if not isinstance(comparison_id, str) or not isinstance(who, str) or not who:
                raise SearchError("Give the id of a comparison, and who voted.")
            html = await run_in_threadpool(_judged, services, comparison_id, who)
        except CirqueError as error:
            return JSONResponse({"problem": public_message(error)}, status_of(error, 400), _FRESH)
        return JSONResponse({"html": html}, headers=_FRESH)

    return routes


def _judged(services: Services, comparison_id: str, who: str) -> str:
    own = next(iter(services.votes.votes(comparison_id, who)), None)
    if own is None:
        return ""
    comparison = services.compare.comparison(comparison_id)
    found = services.judges.of(comparison)
    if not found:
        return ""
    so_far = _so_far(services, who)
    agreed = {one.metric: agreement((vote, scores[one.metric]) for vote, scores in so_far if one.metric in scores)
              for one in found}
    return fill("search/judges.html", judges=present_judges.judges(comparison, own, found, agreed))


def _so_far(services: Services, who: str) -> list[tuple[MethodVote, Mapping[str, Mapping[str, float]]]]:
    """The person's latest votes, each with every metric's scores. A blind vote that was changed once names and metrics
    had been seen is left out; so are, after a restart of the server, votes whose metrics are yet to be computed: a few
    at each request, the latest first."""
    found: list[tuple[MethodVote, Mapping[str, Mapping[str, float]]]] = []
    new = 0
    for vote in reversed(services.votes.votes(annotator=who)[-MOST_VOTES:]):
        comparison = services.compare.comparison(vote.comparison_id)
        if vote.blind or not comparison.blind:
            if not services.judges.is_known(comparison):
                new += 1
                if new > _MOST_NEW:
                    continue
            found.append((vote, {one.metric: one.scores for one in services.judges.of(comparison)}))
    return found


def audit_routes(services: Services) -> APIRouter:
    routes = APIRouter(prefix="/audit", include_in_schema=False)
    audits = LiveAudits(services.search)

    @routes.get("/{session_id}/{turn_id}")
    def audit(session_id: str, turn_id: str) -> Response:
        """``{"html", "ranks"}``, or ``{"problem"}`` if no audit is possible (for example, the gallery has changed),
        which is not an error. A hidden target is neither named nor ranked."""
        try:
            session, found = audits.of(session_id, turn_id)
            version = services.search.gallery(session.gallery).digest[:8]
        except CirqueError as error:
            return JSONResponse({"problem": public_message(error)}, headers=_FRESH)
        shown = present_audit.audit(found, session.gallery, version)
        return JSONResponse({"html": fill("search/audit.html", audit=shown), "ranks": shown["ranks"]}, headers=_FRESH)

    return routes


def region_routes(services: Services) -> APIRouter:
    routes = APIRouter(prefix="/media", include_in_schema=False)

    @routes.post("/region")
    async def region(request: Request) -> JSONResponse:
        """``{"gallery", "image", "region"}`` to ``{"reference_id"}`` of the upload that the region became, or
        ``{"problem"}``. ``region``: left, top, width and height, as fractions of the picture."""
        try:
            person = visitor_of(request).counted
            asked = checked_fields(await json_object(request), ("gallery", "image", "region"))
            gallery, image_id = asked["gallery"], asked["image"]
            if not isinstance(gallery, str) or not isinstance(image_id, str):
                raise SearchError("Give a gallery, the id of an image, and a region.")
            work = partial(_cut, services, person, gallery, image_id, asked["region"])
            return JSONResponse({"reference_id": await in_decoding_thread(work, PATIENCE)},
                                headers={"Cache-Control": "no-store"})
        except CirqueError as error:
            return JSONResponse({"problem": public_message(error)}, status_of(error, 400),
                                {"Cache-Control": "no-store", **retry_after(error)})

    return routes


def _cut(services: Services, person: str, gallery: str, image_id: str, region: object, patience: float) -> str:
    services.quota.add_picture(person)   # it is decoded and stored like any other upload
    return services.search.cut_out(gallery, image_id, region, patience=patience)


def suggestion_routes(services: Services) -> APIRouter:
    routes = APIRouter(prefix="/media", include_in_schema=False)
    service, suggestions = services.search, Suggestions()

    @routes.get("/suggestions")
    def suggested(gallery: str, image: str) -> Response:
        """``{"texts"}``: each has answers in the gallery. None without the gallery's encoder."""
        try:
            searcher = service.searcher(gallery)
            texts = suggestions.known(searcher, image)
            if texts is None:
                reference, _ = service.reference(searcher, image)
                texts = suggestions.of(searcher, image, reference.features)
        except CirqueError as error:
            return JSONResponse({"error": public_message(error)}, status_code=status_of(error, 404))
        return JSONResponse({"texts": texts}, headers={"Cache-Control": "no-store"})

    return routes


def session_routes(services: Services) -> APIRouter:
    routes = APIRouter(prefix="/session", include_in_schema=False)

    @routes.get("/{session_id}/news")
    def news(session_id: str, turns: int = 0) -> Response:
        """For a page that shows ``turns`` of a session: ``{"turns", "newest", "running"}``. ``newest`` is the id of the
        newest turn if there are more, else "". ``running``: whether a search of the session is under way."""
        try:
            rows = services.search.sessions(1, among=(session_id,))
            if not rows:
                raise UnknownSession(f"There is no session {quoted(session_id)}.")
            count = rows[0].turns
            latest = services.search.session(session_id).latest if count > turns else None
        except CirqueError as error:
            return JSONResponse({"problem": public_message(error)}, status_of(error, 404), _FRESH)
        return JSONResponse({"turns": count, "newest": latest.turn_id if latest else "",
                             "running": services.runs.at_work(session_id)}, headers=_FRESH)

    return routes


def live_routes(runs: Runs) -> APIRouter:
    routes = APIRouter(prefix="/runs", include_in_schema=False)

    @routes.post("/{run_id}/stop")
    def stop(run_id: str) -> Response:
        """Ask a run to finish with its current results: 204, or 404 if it has ended."""
        return Response(status_code=204 if runs.stop(run_id) else 404, headers={"Cache-Control": "no-store"})

    return routes


def export_routes(services: Services) -> APIRouter:
    routes, one_at_a_time = APIRouter(prefix="/export", include_in_schema=False), threading.Lock()

    @routes.get("/{session_id}.json")
    def export(request: Request, session_id: str, turn: str | None = None) -> Response:
        """One branch up to ``turn``, or every branch of the session."""
        try:
            visitor, session = visitor_of(request), services.search.session(session_id)
            with one_at_a_time:   # a file with pictures is in memory several times over
                # A demo has no import, and forgets the pictures after a day.
                records = services.search.export(session_id, turn or None, pictures=not visitor.demo)
                content = json.dumps(records, ensure_ascii=False, indent=2).encode() + b"\n" if records else b""
        except CirqueError as error:
            return JSONResponse({"error": public_message(error)}, status_code=status_of(error, 404))
        if not content:
            return JSONResponse({"error": "There is no such turn in this session."}, status_code=404)
        services.log.note(AuditEvent("session.exported", visitor.name, session.session_id))
        return Response(
            content, media_type="application/json",
            headers={"Content-Disposition": disposition(f"{file_stem(export_name(session), 120)}.json"),
                     "Cache-Control": "no-store"},
        )

    return routes


def import_routes(services: Services) -> APIRouter:
    routes, one_at_a_time = APIRouter(prefix="/import", include_in_schema=False), CapacityLimiter(1)

    @routes.post("/sessions")
    async def imported(request: Request) -> JSONResponse:
        """The JSON of an exported file to ``{"sessions": [{"id", "new", "notes"}]}``, or ``{"problem"}``. A
        fault of the file, a gallery that is missing and a damaged picture are found before any is stored."""
        try:
            visitor = visitor_of(request)
            if not is_json(request):
                raise SearchError("Send an exported file as JSON, with Content-Type: application/json.")
            await run_in_threadpool(services.quota.check, visitor.counted)
            try:
                content = await whole_body(request, MOST_IMPORTED)
                services.quota.add_bytes(visitor.counted, len(content))
                work = partial(_imported, services, visitor.counted, "" if visitor.open else visitor.name, content)
                # With threads of its own: a large file takes a second of one, and a gigabyte if it is no export.
                found = await run_sync(work, limiter=one_at_a_time)
            finally:
                await run_in_threadpool(services.quota.end_bytes, visitor.counted)
        except TooLarge:
            problem = (f"The file is larger than {MOST_IMPORTED >> 20} MB. Import it on the server: "
                       "cirque sessions import FILE")
            return JSONResponse({"problem": problem}, 413, _FRESH)
        except CirqueError as error:
            return JSONResponse({"problem": public_message(error)}, status_of(error, 400), _FRESH | retry_after(error))
        return JSONResponse({"sessions": [
            {"id": one.session_id, "new": one.new, "notes": list(one.notes)} for one in found]}, headers=_FRESH)

    return routes


def _imported(services: Services, person: str, owner: str, content: bytes) -> list[Imported]:
    exported = read_export(content)
    for one in exported:
        for _ in one.pictures:
            services.quota.add_picture(person)   # stored like any other upload
    return services.search.import_sessions(exported, owner)
