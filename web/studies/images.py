"""Images of studies, frozen at creation: for members only, cacheable by browsers. Image URLs of studies, relative to
the app's root, by token."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from cachetools import LRUCache
from starlette.requests import Request
from starlette.responses import Response

from annotation.records import StudyImage
from cir_core.errors import AccessError, StorageError
from cir_core.settings import Settings
from web.http.json_api import in_shared_thread, in_thread, refused, reply
from web.http.visitor import StudyMembers, visitor_of
from web.ui.static_files import handed_over

_STUDY = re.compile(r"[0-9a-z]{8,64}")
PICTURE_NAME = re.compile(r"[0-9a-f]{24}-[sl]\.webp")
_KEPT_BYTES = 64 * 2**20
_HEADERS = {
    # By cookie: who signs in at the same browser later gets nothing that was kept for somebody else.
    "Cache-Control": "private, max-age=31536000, immutable", "Vary": "Cookie", "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
}


def study_image(settings: Settings, members: StudyMembers) -> Callable[[Request], Awaitable[Response]]:
    """Endpoint for ``{study_id}/{name}``, with an in-memory cache.

    Non-members get the same 404 as for a missing image, so that nobody can probe for studies.
    """
    # Of the event loop's thread alone, so without a lock.
    kept: LRUCache[tuple[str, str], Response] = LRUCache(_KEPT_BYTES, lambda answer: len(answer.body))

    def read(study_id: str, name: str) -> Response | None:
        path = settings.home / "studies" / study_id / name
        if (sent := handed_over(path, "image/webp", _HEADERS, settings)) is not None:
            return sent
        try:
            content = path.read_bytes()
        except OSError:
            return None
        return Response(content, headers=_HEADERS, media_type="image/webp")

    async def endpoint(request: Request) -> Response:
        study_id, name = request.path_params["study_id"], request.path_params["name"]
        missing = reply({"problem": "This image does not exist, or no longer exists.", "kind": "unknown"}, 404)
        if not (_STUDY.fullmatch(study_id) and PICTURE_NAME.fullmatch(name)):
            return missing
        try:
            visitor = visitor_of(request)

            def ask() -> bool:
                return members.knows(visitor, study_id) or members.look(visitor, study_id)

            # Of a page of pictures the first ones ask; the others wait, and know by then.
            if not members.knows(visitor, study_id) and not await in_shared_thread(ask, visitor.name, study_id):
                return missing
        except (AccessError, StorageError) as error:
            return refused(error)
        answer = kept.get((study_id, name)) or await in_thread(lambda: read(study_id, name))
        if answer is not None and 0 < len(answer.body) <= _KEPT_BYTES:     # one for nginx to send weighs nothing
            kept[study_id, name] = answer
        return answer or missing

    return endpoint


Images = Mapping[str, StudyImage]   # by token


def picture(study_id: str, token: str | None, images: Images) -> dict[str, Any]:
    """``{"token", "small", "large", "width", "height"}``, or ``{"token", "missing": true}``."""
    image = None if token is None else images.get(token)
    if image is None or not image.width:
        return {"token": token or "", "missing": True}
    return {"token": token, "small": address(study_id, image.token, "s"), "large": address(study_id, image.token, "l"),
            "width": image.width, "height": image.height}


def address(study_id: str, token: str, size: str) -> str:
    """URL of an image. ``size``: "s" or "l"."""
    return f"study/image/{study_id}/{token}-{size}.webp"


def addresses(study_id: str, wanted: Iterable[tuple[str, str]], images: Images) -> list[str]:
    """URLs of tokens with a size each; unavailable images are omitted."""
    return [address(study_id, token, size) for token, size in wanted if token in images and images[token].width]
