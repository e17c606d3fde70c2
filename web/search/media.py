"""Image endpoints: gallery images and uploads by id.

URLs contain a gallery and an id; only the gallery maps the id to a file.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, BinaryIO, cast
from urllib.parse import unquote

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, JSONResponse, Response
from PIL import Image
from starlette.concurrency import run_in_threadpool

from cir_core.errors import CirqueError, ImageUnreadable, SearchError
from cir_core.images.decode_budget import PATIENCE
from cir_core.images.load import process_image
from cir_core.images.uploads import is_upload
from cir_core.settings import Settings
from web.http.background import in_decoding_thread
from web.http.json_api import checked_fields
from web.http.public_errors import public_message, retry_after, status_of
from web.http.request_fields import TooLarge, Unreadable, json_object, says_more_than
from web.http.visitor import visitor_of
from web.limits.url_downloads import ImageFetcher, ImageRefused
from web.search.presenters import results
from web.services import Services
from web.ui.static_files import handed_over

_SHOWN_AS_THEY_ARE = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp", "GIF": "image/gif"}
_FULL_EDGE = 2048
_PICKED = 36
_IN_MEMORY = 2**20   # bytes of an upload: many wait for their turn, and larger ones wait on the disk
_HEADERS = {
    "Cache-Control": "private, max-age=604800", "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
}
# Of a picture whose address has the digest of its gallery in it, or of its own pixels.
_FOR_GOOD = _HEADERS | {"Cache-Control": "private, max-age=31536000, immutable"}


def media_routes(services: Services, images: ImageFetcher) -> APIRouter:
    routes = APIRouter(prefix="/media", include_in_schema=False)
    service, settings = services.search, services.settings

    @routes.get("/thumb")
    def thumb(gallery: str, image: str, v: str = "") -> Response:
        return _picture(gallery, image, v, thumbnail=True)

    @routes.get("/full")
    def full(gallery: str, image: str, v: str = "") -> Response:
        return _picture(gallery, image, v, thumbnail=False)

    @routes.get("/find")
    def find(gallery: str, text: str = "") -> JSONResponse:
        """Images for the gallery picker: nearest to ``text``, or random."""
        try:
            images = service.gallery(gallery)
            ids = ([hit.image_id for hit in service.find_images(gallery, text, _PICKED)] if text.strip()
                   else service.random_images(gallery, _PICKED))
            version, said = images.digest[:8], service.searcher(gallery).descriptions.of(ids)
            return JSONResponse({"images": [
                results.picture(gallery, image_id, version, said.get(image_id)) for image_id in ids
            ]})
        except CirqueError as error:
            return _refused(error, status_of(error, 404))

    @routes.post("/upload")
    async def upload(request: Request) -> JSONResponse:
        person, limit = visitor_of(request).counted, settings.max_upload_mb * 2**20
        name = Path(unquote(request.headers.get("x-file-name", ""))).name[:200]
        with SpooledTemporaryFile(_IN_MEMORY) as content:
            try:
                await run_in_threadpool(services.quota.check, person)
                await _received(request, content, limit, lambda count: services.quota.add_bytes(person, count))
                reference_id = await in_decoding_thread(partial(_kept, person, content, name), PATIENCE)
            except TooLarge:
                return _refused(f"The image is larger than {settings.max_upload_mb} MB. Make it smaller.", 413)
            except CirqueError as error:
                return _refused(error, status_of(error, 422))
            finally:
                await run_in_threadpool(services.quota.end_bytes, person)
        return JSONResponse({"reference_id": reference_id})

    @routes.post("/address")
    async def address(request: Request) -> JSONResponse:
        """``{"address"}``, an http or https URL of a picture, to ``{"reference_id"}`` of the upload that it became, as
        the call ``/search`` does with an image's URL."""
        try:
            visitor = visitor_of(request)
            asked = checked_fields(await json_object(request), ("address",))["address"]
            if visitor.demo:
                raise SearchError("This demo fetches no pictures from other sites. Save the picture, and upload it.")
            if not isinstance(asked, str) or not asked.lower().startswith(("http://", "https://")):
                raise SearchError("Give the address of a picture: an http or https URL.")
            path = await images.fetch_image(asked, visitor.counted)
            try:
                reference_id = await in_decoding_thread(partial(_fetched, visitor.counted, path), PATIENCE)
            finally:
                await images.discard(path)
        except ImageRefused as error:
            return _refused(error.reason[0].upper() + error.reason[1:], 422)
        except CirqueError as error:
            return _refused(error, status_of(error, 400 if isinstance(error, Unreadable) else 422))
        return JSONResponse({"reference_id": reference_id})

    def _fetched(person: str, path: Path, patience: float) -> str:
        services.quota.add_picture(person)
        return service.add_upload(path, path.name, patience=patience)

    def _kept(person: str, content: IO[bytes], name: str, patience: float) -> str:
        services.quota.add_picture(person)
        content.seek(0)
        return service.add_upload(cast(BinaryIO, content), name, patience=patience)

    def _picture(gallery: str, image: str, version: str, *, thumbnail: bool) -> Response:
        found: list[Path | bytes] = []

        def find() -> Path | bytes:
            found.append(service.picture(gallery, image, thumbnail=thumbnail))
            return found[0]

        answer = picture_answer(find, settings)
        # A page that was open while the gallery was indexed again still asks under the old digest. A file of a folder
        # may be another one tomorrow; bytes are checked to be those that were indexed.
        if answer.status_code == 200 and (is_upload(image) or (
                (thumbnail or isinstance(found[0], bytes)) and version == service.gallery(gallery).digest[:8])):
            answer.headers.update(_FOR_GOOD)
        return answer

    return routes


def picture_answer(find: Callable[[], Path | bytes], settings: Settings) -> Response:
    """The image that ``find`` finds, in a format that browsers show; or why there is none."""
    try:
        picture = find()
        kind = _SHOWN_AS_THEY_ARE.get(_format_of(picture))
        if kind is None:
            return _converted(picture, settings.max_image_megapixels)
        if isinstance(picture, bytes):
            return Response(picture, media_type=kind, headers=_HEADERS)
        return handed_over(picture, kind, _HEADERS, settings) or FileResponse(
            picture, media_type=kind, headers=_HEADERS)
    except CirqueError as error:
        return _refused(error, status_of(error, 404))


async def _received(request: Request, content: IO[bytes], most: int, counted: Callable[[int], None]) -> None:
    """Read the body into ``content``. Raises ``TooLarge``, ``QuotaExceeded``."""
    came = 0
    if says_more_than(request, most):
        raise TooLarge("too large")
    async for piece in request.stream():
        came += len(piece)
        counted(len(piece))
        if came > most:
            raise TooLarge("too large")
        content.write(piece)


def _format_of(picture: Path | bytes) -> str:
    """Image format by content, not by file name."""
    if isinstance(picture, bytes):
        head = picture[:16]
    else:
        try:
            with picture.open("rb") as stream:
                head = stream.read(16)
        except OSError as error:
            raise ImageUnreadable("The image file no longer exists.") from error
    if head.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    if head.startswith(b"\x89PNG"):
        return "PNG"
    if head.startswith(b"GIF8"):
        return "GIF"
    return "WEBP" if head[:4] == b"RIFF" and head[8:12] == b"WEBP" else ""


def _converted(picture: Path | bytes, max_megapixels: float) -> Response:
    """Convert HEIC, TIFF and other formats that browsers do not show to JPEG."""
    def shown(image: Image.Image) -> Image.Image:
        image.thumbnail((_FULL_EDGE, _FULL_EDGE), Image.Resampling.LANCZOS)
        return image

    image = process_image(picture, shown, max_megapixels=max_megapixels, name="The image")
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=90)
    return Response(buffer.getvalue(), media_type="image/jpeg", headers=_HEADERS)


def _refused(error: CirqueError | str, status: int) -> JSONResponse:
    problem = error if isinstance(error, str) else public_message(error)
    after = {} if isinstance(error, str) else retry_after(error)
    return JSONResponse({"error": problem}, status_code=status, headers={"Cache-Control": "no-store", **after})
