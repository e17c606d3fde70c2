"""Endpoint that cuts a region out of a reference picture."""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from cir_core.errors import CirqueError, SearchError
from cir_core.images.decode_budget import PATIENCE
from web.http.decoding_threads import in_decoding_thread
from web.http.json_api import checked_fields
from web.http.public_errors import public_message, retry_after, status_of
from web.http.request_fields import json_object
from web.http.visitor import visitor_of
from web.services import Services


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
