"""Endpoints of the benchmarks screen: constructions, their sessions or queries with targets and pictures, downloads,
opening one in the search screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Any, TypeVar

from fastapi import APIRouter
from starlette.responses import Response, StreamingResponse

from annotation.records import AuditEvent
from annotation.tables import write_zip
from cir_core.construct.browse.folders import ConstructionFolder
from cir_core.construct.browse.query import (
    SHOWN,
    SORTS,
    TARGET_SORTS,
    TARGETS_SHOWN,
    SessionQuery,
    TargetQuery,
    find_queries,
    find_sessions,
)
from cir_core.construct.browse.targets import broken_lines
from cir_core.construct.filtering.files import filter_sessions, raw_files
from cir_core.construct.filtering.stages import FilterSettings
from cir_core.construct.targets.files import multi_targets, selection_of
from cir_core.construct.targets.provenance import read_provenance
from cir_core.construct.targets.settings import THRESHOLD
from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.readers.soft import write_multi_target
from cir_core.errors import DatasetError, UnknownImage
from cir_core.evaluation.metrics.consistency import EPSILON, TAU
from cir_core.support.texts import quoted
from web.benchmarks import page_json as present
from web.benchmarks.gallery import BenchmarkGallery, gallery_of
from web.benchmarks.job_routes import ConstructionRoutes
from web.benchmarks.jobs import ConstructionJobs
from web.benchmarks.opening import open_query, open_session
from web.benchmarks.requests import text_field
from web.benchmarks.shelf import BenchmarkShelf
from web.http.json_api import (
    Deferred,
    Endpoint,
    Fields,
    disposition,
    file_stem,
    get_endpoint,
    json_routes,
    post_endpoint,
)
from web.http.request_fields import one_of, real, whole
from web.http.visitor import Visitor, check
from web.search.media import picture_answer
from web.services import Services

PAGE = 20
_MOST_ON_A_PAGE = 100
_LONGEST_TEXT, _LONGEST_KEY = 200, 10_000
LARGEST_EPSILON, LARGEST_TAU = 1_000_000, 2.0
Wanted = TypeVar("Wanted", SessionQuery, TargetQuery)


def read_settings(query: Mapping[str, str]) -> FilterSettings:
    """``epsilon`` and ``tau``. Raises ``CirqueError``."""
    return FilterSettings(whole(query, "epsilon", EPSILON, most=LARGEST_EPSILON),
                          real(query, "tau", TAU, least=0, most=LARGEST_TAU))


def read_query(query: Mapping[str, str]) -> SessionQuery:
    """Raises ``CirqueError`` for what is out of range."""
    return SessionQuery(read_settings(query), **_page(query, SHOWN, SORTS))


def read_threshold(query: Mapping[str, str]) -> float:
    """``threshold``. Raises ``CirqueError``."""
    return real(query, "threshold", THRESHOLD, least=0, most=1)


def read_target_query(query: Mapping[str, str]) -> TargetQuery:
    """Raises ``CirqueError`` for what is out of range."""
    return TargetQuery(read_threshold(query), **_page(query, TARGETS_SHOWN, TARGET_SORTS))


def _page(query: Mapping[str, str], shown: Sequence[str], sorts: Sequence[str]) -> dict[str, Any]:
    return {"subset": query.get("subset", "")[:_LONGEST_TEXT], "show": one_of(query, "show", shown, "all"),
            "text": query.get("q", "")[:_LONGEST_TEXT], "sort": one_of(query, "sort", sorts, "constructed"),
            "descending": one_of(query, "order", ("up", "down"), "up") == "down",
            "offset": whole(query, "offset", 0, most=10_000_000),
            "limit": whole(query, "limit", PAGE, least=1, most=_MOST_ON_A_PAGE)}


def benchmark_routes(services: Services, shelf: BenchmarkShelf, jobs: ConstructionJobs) -> APIRouter:
    """``/benchmarks/…``, for people who may see results or manage studies. Starting and stopping a construction
    requires the permission to manage, opening a session that to search.

    ``/sessions`` takes ``name`` and the parameters of :func:`read_query`, ``/targets`` those of
    :func:`read_target_query`.
    """
    running = ConstructionRoutes(services, shelf, jobs)

    def everything(visitor: Visitor, query: Mapping[str, str]) -> object:
        check(visitor, "manage", "results")
        return {"benchmarks": [present.listed(one, running.progress(one)) for one in shelf.all()],
                "starting": running.without_folder()}

    def pages(
        read: Callable[[Mapping[str, str]], Wanted],
        show: Callable[[ConstructionFolder, Wanted, BenchmarkGallery, Visitor], object],
    ) -> Endpoint:
        def page(visitor: Visitor, query: Mapping[str, str]) -> object:
            check(visitor, "manage", "results")
            folder, wanted = shelf.folder(query.get("name", "")), read(query)

            def found() -> object:
                return show(folder, wanted, gallery_of(services.search, folder), visitor)

            return found() if shelf.is_near(folder) else Deferred(found)

        return get_endpoint(page, slow=True)

    def sessions(
        folder: ConstructionFolder, wanted: SessionQuery, gallery: BenchmarkGallery, visitor: Visitor
    ) -> object:
        opened = shelf.opened(folder)
        return {"about": present.about(opened, gallery, running.progress(folder)),
                "page": present.page(find_sessions(opened.found, wanted, opened.scores), opened, gallery, visitor)}

    def targets(folder: ConstructionFolder, wanted: TargetQuery, gallery: BenchmarkGallery, visitor: Visitor) -> object:
        opened = shelf.targets(folder)
        return {"about": present.about_targets(opened, gallery, running.progress(folder)),
                "page": present.target_page(find_queries(opened.found.queries, wanted), opened, gallery, visitor)}

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
        folder, key = shelf.folder(text_field(sent, "name")), text_field(sent, "key", _LONGEST_KEY)
        gallery = gallery_of(services.search, folder)
        if folder.kind == "targets":
            if (query := shelf.targets(folder).found.find(key)) is not None:
                return {"session": open_query(services, folder, query, gallery)}
        elif (one := shelf.opened(folder).found.find(key)) is not None:
            return {"session": open_session(services, folder, one, gallery)}
        thing = "query" if folder.kind == "targets" else "session"
        raise DatasetError(f"The files of {quoted(folder.name)} have changed since this page was loaded, and this "
                           f"{thing} is no longer in them as it was shown. Reload the page and open it again.")

    def _picture(name: str, image_id: str, *, thumbnail: bool) -> Path | bytes:
        folder = shelf.folder(name)
        gallery = gallery_of(services.search, folder).gallery
        if gallery is None:
            raise UnknownImage("The gallery of this benchmark is gone.")
        if image_id not in shelf.image_ids(folder):
            raise UnknownImage(f"This benchmark does not show the image {quoted(image_id)}.")
        return gallery.thumbnail_of(image_id) if thumbnail else gallery.original_of(image_id)

    routes = json_routes("/benchmarks", {
        "/all": get_endpoint(everything, slow=True), "/sessions": pages(read_query, sessions),
        "/targets": pages(read_target_query, targets), "/download": get_endpoint(download, slow=True), **running.gets(),
    }, {"/open": post_endpoint(open_one, ("name", "key"), searches=True), **running.posts()})

    @routes.get("/benchmarks/thumb", include_in_schema=False)
    def thumb(name: str, image: str) -> Response:
        return picture_answer(partial(_picture, name, image, thumbnail=True), services.settings)

    @routes.get("/benchmarks/full", include_in_schema=False)
    def full(name: str, image: str) -> Response:
        return picture_answer(partial(_picture, name, image, thumbnail=False), services.settings)

    return routes


def filtered_files(folder: ConstructionFolder, settings: FilterSettings) -> Response:
    """Public and raw format, counts and the dropped sessions. Raises ``DatasetError``, also before the end of the
    construction."""
    if not folder.raws:
        raise DatasetError(f"{quoted(folder.name)} is not finished: its files are written when all sessions are done.")
    with TemporaryDirectory(prefix="cirque-benchmark-") as made:
        out = Path(made) / "filtered"
        filter_sessions(raw_files(folder.path), out, settings, explain=True)
        return _zip_answer(out, f"{file_stem(folder.name)} epsilon {settings.epsilon} tau {settings.tau:g}.zip")


def target_files(folder: ConstructionFolder, threshold: float) -> Response:
    """SoFT's multi-target file of each subset; what the page leaves out is left out, which ``NOTES.txt`` says. Raises
    ``DatasetError``, also before the end of the construction."""
    if not folder.provenance:
        raise DatasetError(f"{quoted(folder.name)} is not finished: its files are written when all queries are done.")
    with TemporaryDirectory(prefix="cirque-benchmark-") as made:
        out, notes = Path(made), []
        for path in folder.provenance:
            faults = ValidationIssues(collect=True)
            write_multi_target(selection_of(out, path.stem), multi_targets(read_provenance(path, faults), threshold))
            notes += [f"{path.stem}: {broken_lines(faults.count)}\n"] if faults.count else []
        if notes:
            (out / "NOTES.txt").write_text("".join(notes), "utf-8")
        return _zip_answer(out, f"{file_stem(folder.name)} threshold {threshold:g}.zip")


def _zip_answer(folder: Path, name: str) -> Response:
    """The files in ``folder``, which may be large: the archive is on the disk while it is sent."""
    archive = TemporaryFile()   # noqa: SIM115  closed when it is sent; a killed process leaves nothing either
    write_zip(archive, {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*"))
                        if path.is_file()})
    size = archive.tell()
    archive.seek(0)
    return StreamingResponse(_sent(archive), media_type="application/zip", headers={
        "Content-Length": str(size), "Content-Disposition": disposition(name), "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff"})


def _sent(archive: IO[bytes]) -> Iterator[bytes]:
    with archive:
        yield from iter(partial(archive.read, 2**18), b"")
