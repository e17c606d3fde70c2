"""Replacement of image URLs in Gradio calls by fetched files, before Gradio sees the call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool

from web.http.visitor import Visitor, check
from web.limits.url_downloads import ImageFetcher, ImageRefused, check_upload, is_remote

_LONG = 1000   # characters of a path; paths of uploads have about 200


async def with_local_images(body: Any, visitor: Visitor, images: ImageFetcher) -> Path | None:
    """``body`` with its image URL replaced by the path of the fetched file. None without a URL.

    Raises ``AccessError`` for visitors who may not search, ``ImageRefused``, and ``TryLater``.
    """
    files = _files_in(body)
    remote = [file for file in files if is_remote(file["path"])]
    for file in files:
        if not is_remote(file["path"]) and (len(file["path"]) > _LONG or "\0" in file["path"]):
            await run_in_threadpool(check_upload, file["path"])
    if not remote:
        return None
    check(visitor, "search")
    if len(remote) > 1:
        raise ImageRefused("a call can have only one image by URL.")
    [file] = remote
    path = await images.fetch_image(file["path"], visitor.name)
    file["path"] = str(path)
    file.pop("url", None)
    return path


def _files_in(body: Any) -> list[dict[str, Any]]:
    """Objects that Gradio treats as files, anywhere in ``body``, which may be nested deeply."""
    found: list[dict[str, Any]] = []
    left = [body]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            meta = value.get("meta")
            if (isinstance(meta, dict) and meta.get("_type") == "gradio.FileData"
                    and isinstance(value.get("path"), str)):
                found.append(value)
            left.extend(value.values())
        elif isinstance(value, list):
            left.extend(value)
    return found
