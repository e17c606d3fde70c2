"""Pictures of studies, as they were frozen when the study was made: small, and for browsers to keep."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from annotation.latest import Latest
from web.json_calls import in_thread, reply

_STUDY = re.compile(r"[0-9a-z]{8,64}")
_NAME = re.compile(r"[0-9a-f]{24}-[sl]\.webp")
_KEPT_BYTES = 64 * 2**20
_HEADERS = {
    "Cache-Control": "private, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
}


def study_image(home: Path) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint for ``{study_id}/{name}``. What was shown lately is answered from memory at once."""
    kept: Latest[tuple[str, str], Response] = Latest(_KEPT_BYTES, lambda answer: len(answer.body))

    def read(study_id: str, name: str) -> Response | None:
        try:
            content = (home / "studies" / study_id / name).read_bytes()
        except OSError:
            return None
        return kept.put((study_id, name), Response(content, headers=_HEADERS, media_type="image/webp"))

    async def endpoint(request: Request) -> Response:
        study_id, name = request.path_params["study_id"], request.path_params["name"]
        answer = kept.get((study_id, name))
        if answer is None and _STUDY.fullmatch(study_id) and _NAME.fullmatch(name):
            answer = await in_thread(lambda: read(study_id, name))
        return answer or reply({"problem": "This picture is not here (any more).", "kind": "unknown"}, 404)

    return endpoint
