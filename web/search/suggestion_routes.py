"""Suggested texts for a reference, requested by the page after it shows the reference."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

from cir_core.errors import CirqueError
from cir_core.search.suggestions import Suggestions
from web.http.public_errors import public_message, status_of
from web.services import Services


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
