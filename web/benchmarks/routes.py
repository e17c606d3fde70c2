"""Endpoints of the benchmarks screen: constructions, their sessions or queries with targets and pictures, downloads,
opening one in the search screen."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from fastapi import APIRouter
from starlette.responses import Response

from annotation.records import AuditEvent
from cir_core.construct.browse.query import find_queries, find_sessions
from cir_core.errors import CirqueError, DatasetError, UnknownImage
from cir_core.support.texts import quoted
from web.benchmarks import session_json as present
from web.benchmarks.downloads import filtered_files, target_files
from web.benchmarks.gallery import gallery_of
from web.benchmarks.job_routes import ConstructionRoutes
from web.benchmarks.jobs import ConstructionJobs
from web.benchmarks.opening import open_query, open_session
from web.benchmarks.query import read_query, read_settings, read_target_query, read_threshold
from web.benchmarks.shelf import BenchmarkShelf
from web.benchmarks.target_json import about_targets, target_page
from web.http.json_api import Deferred, Fields, get_endpoint, json_routes, post_endpoint
from web.http.visitor import Visitor, check
from web.search.media import picture_answer
from web.services import Services


def benchmark_routes(services: Services, shelf: BenchmarkShelf, jobs: ConstructionJobs) -> APIRouter:
    """``/benchmarks/…``, for people who may see results or manage studies. Starting and stopping a construction
    requires the permission to manage, opening a session that to search.

    ``/sessions`` takes ``name`` and the parameters of :func:`web.benchmarks.query.read_query`, ``/targets`` those of
    :func:`web.benchmarks.query.read_target_query`.
    """
    running = ConstructionRoutes(services, shelf, jobs)

    def everything(visitor: Visitor, query: Mapping[str, str]) -> object:
        check(visitor, "manage", "results")
        return {"benchmarks": [present.listed(one, running.progress(one)) for one in shelf.all()],
                "starting": running.without_folder()}

    def sessions(visitor: Visitor, query: Mapping[str, str]) -> object:
        check(visitor, "manage", "results")
        folder, wanted = shelf.folder(query.get("name", "")), read_query(query)

        def found() -> object:
            opened, gallery = shelf.opened(folder), gallery_of(services.search, folder)
            page = find_sessions(opened.found, wanted, opened.scores)
            return {"about": present.about(opened, gallery, running.progress(folder)),
                    "page": present.page(page, opened, gallery, visitor)}

        return found() if shelf.is_near(folder) else Deferred(found)

    def targets(visitor: Visitor, query: Mapping[str, str]) -> object:
        check(visitor, "manage", "results")
        folder, wanted = shelf.folder(query.get("name", "")), read_target_query(query)

        def found() -> object:
            opened, gallery = shelf.targets(folder), gallery_of(services.search, folder)
            page = find_queries(opened.found.queries, wanted)
            return {"about": about_targets(opened, gallery, running.progress(folder)),
                    "page": target_page(page, opened, gallery, visitor)}

        return found() if shelf.is_near(folder) else Deferred(found)

    def download(visitor: Visitor, query: Mapping[str, str]) -> object:
        check(visitor, "manage", "results")
        folder, settings, threshold = shelf.folder(query.get("name", "")), read_settings(query), read_threshold(query)

        def made() -> Response:
            if folder.kind == "targets":
                answer, chosen = target_files(folder, threshold), {"threshold": threshold}
            else:
                answer = filtered_files(folder, settings)
                chosen = {"epsilon": settings.epsilon, "tau": settings.tau}
            services.log.note(AuditEvent("benchmark.downloaded", visitor.name, folder.name, details=chosen))
            return answer

        return Deferred(made)

    def open_one(visitor: Visitor, sent: Fields) -> object:
        check(visitor, "search")
        folder, key = shelf.folder(_text(sent["name"], "name")), _text(sent["key"], "key")
        gallery = gallery_of(services.search, folder)
        if folder.kind == "targets":
            if (query := shelf.targets(folder).found.find(key)) is not None:
                return {"session": open_query(services, folder, query, gallery)}
        elif (one := shelf.opened(folder).found.find(key)) is not None:
            return {"session": open_session(services, folder, one, gallery)}
        thing = "query" if folder.kind == "targets" else "session"
        raise DatasetError(f"The files of {quoted(folder.name)} have changed since this page was loaded, and this "
                           f"{thing} is no longer in them as it was shown. Reload the page and open it again.")

    def _path(name: str, image_id: str, *, thumbnail: bool) -> Path:
        folder = shelf.folder(name)
        gallery = gallery_of(services.search, folder).gallery
        if gallery is None:
            raise UnknownImage("The gallery of this benchmark is gone.")
        if image_id not in shelf.image_ids(folder):
            raise UnknownImage(f"This benchmark does not show the image {quoted(image_id)}.")
        return gallery.thumbnail_of(image_id) if thumbnail else gallery.path_of(image_id)

    routes = json_routes("/benchmarks", {
        "/all": get_endpoint(everything, slow=True), "/sessions": get_endpoint(sessions, slow=True),
        "/targets": get_endpoint(targets, slow=True), "/download": get_endpoint(download, slow=True), **running.gets(),
    }, {"/open": post_endpoint(open_one, ("name", "key"), searches=True), **running.posts()})

    @routes.get("/benchmarks/thumb", include_in_schema=False)
    def thumb(name: str, image: str) -> Response:
        return picture_answer(partial(_path, name, image, thumbnail=True), services.settings.max_image_megapixels)

    @routes.get("/benchmarks/full", include_in_schema=False)
    def full(name: str, image: str) -> Response:
        return picture_answer(partial(_path, name, image, thumbnail=False), services.settings.max_image_megapixels)

    return routes


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise CirqueError(f"“{name}” must be a text.")
    return value
