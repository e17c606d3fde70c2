"""What metrics say of a comparison, requested by the page after the person's vote is stored."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from annotation.records import MethodVote
from annotation.votes import agreement
from cir_core.errors import CirqueError, SearchError
from web.http.json_api import checked_fields
from web.http.public_errors import public_message, status_of
from web.http.request_fields import json_object
from web.search.presenters import judges as present_judges
from web.services import Services
from web.ui.templating import fill

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
