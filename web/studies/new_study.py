"""Endpoints of *New study*: files come in, columns are proposed, the first items are shown as judges will see them, and
the study is created, by the functions of ``cirque study create KIND NAME --from-table``."""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote

from fastapi import APIRouter
from PIL import Image
from starlette.requests import Request
from starlette.responses import Response

from annotation.kinds.intake import SEED, Intake, NewStudy, TableItems, items_of
from annotation.kinds.judgements import described, import_judgements
from annotation.kinds.proposal import preview, propose
from annotation.kinds.stored import StoredSources
from annotation.kinds.table import KINDS
from annotation.records import Study, StudyKind, StudyPlan
from annotation.sources.tables.columns import checked
from annotation.sources.tables.files import MOST_ROWS, Table
from annotation.sources.tables.known import open_table
from annotation.sources.tables.pictures import PictureFiles, of_gallery, open_pictures
from annotation.studies.creation import Created, check_name
from annotation.studies.guidelines import Guidelines, nodes_of, pictures_of
from annotation.studies.image_snapshots import FindPicture
from annotation.studies.protocols import OwnFile, line_said, newest_text, own_text
from cir_core.errors import CirqueError, DatasetError, GalleryError, StudyError, UnknownItem
from cir_core.gallery.gallery import list_galleries, open_gallery
from cir_core.images.load import process_image, within
from cir_core.images.uploads import UploadFolder
from cir_core.sessions.store import SessionSummary
from cir_core.settings import Settings
from cir_core.support.texts import quoted
from web.http.json_api import Endpoint, Fields, get_endpoint, in_thread, json_routes, post_endpoint, refused, reply
from web.http.public_errors import public_message
from web.http.request_fields import TooLarge
from web.http.visitor import Visitor, check, require
from web.services import Services
from web.studies import annotate_json as present
from web.studies.images import PICTURE_NAME
from web.studies.uploads import PARTS, Draft, Drafts

_HEAD = 5            # rows that are shown
_CELL = 200          # characters of one
_EDGE = 1280         # pixels of a picture
_QUESTIONS = "questions.toml"   # what an own file is called in errors
_OPTION = re.compile(r" ?\(--[^()]*\)")   # of the command line, in a sentence
_ASKED = ("draft", "kind", "columns")
_ALSO = ("gallery", "skip_missing", "design", "source", "sample")
_ALL = 1_000_000_000   # sessions
Json = dict[str, Any]
INTAKES: Mapping[str, Intake] = {name: kind.intake for name, kind in KINDS.items() if kind.intake}


def new_study_routes(services: Services) -> APIRouter:
    """``/studies/new/…``, for those who manage studies; each sees only what they have uploaded."""
    settings, intakes = services.settings, INTAKES
    drafts = Drafts(settings.home / "new-studies", settings.max_study_upload_mb * 2**20)
    search, uploads = services.search, UploadFolder(settings.uploads, max_megapixels=settings.max_image_megapixels)

    def stored(visitor: Visitor) -> StoredSources:
        """What this person may read: an administrator everybody's searches, others their own."""
        def sessions(gallery: str, most: int) -> Sequence[SessionSummary]:
            if "people" in visitor.may:
                return search.sessions(most, gallery)
            return [one for one in search.listed(visitor.name, (), limit=_ALL)[0] if one.gallery == gallery]

        return StoredSources(settings.home, uploads, lambda gallery: bool(sessions(gallery, 1)), lambda gallery: (
            search.session(one.session_id, whole=True) for one in reversed(sessions(gallery, _ALL))))

    def choices(visitor: Visitor, query: Mapping[str, str]) -> object:
        check(visitor, "manage")
        studies = services.study_store.studies()
        return {"kinds": [_kind_json(name, intake, settings.seed, studies) for name, intake in intakes.items()],
                "galleries": [{"name": one.name, "size": one.size} for one in list_galleries(settings.home)
                              if one.status == "complete"],
                "sources": [asdict(one) for one in stored(visitor).all() if one.kind in intakes],
                "most_mb": settings.max_study_upload_mb}

    def begin(visitor: Visitor, sent: Fields) -> object:
        check(visitor, "manage")
        return {"draft": drafts.begin(visitor.name).name}

    def of(visitor: Visitor, sent: Mapping[str, Any]) -> Draft:
        check(visitor, "manage")
        return drafts.find(sent.get("draft"), visitor.name)

    def files(visitor: Visitor, query: Mapping[str, str]) -> object:
        return _files_json(of(visitor, query))

    def drop(visitor: Visitor, sent: Fields) -> object:
        draft = of(visitor, sent)
        if sent["part"] == "":
            drafts.discard(draft)
            return {part: [] for part in PARTS}
        drafts.remove(draft, str(sent["part"]), str(sent.get("name", "")))
        return _files_json(draft)

    def table(visitor: Visitor, query: Mapping[str, str]) -> object:
        draft = of(visitor, query)
        with without_options():
            found = _table(draft, intakes)
        proposal = propose(found, intakes)
        return {"file": found.file, "names": list(found.names), "rows": len(found.rows), "notes": list(found.notes),
                "head": [[where, *(cell[:_CELL] for cell in cells)] for where, cells in found.rows[:_HEAD]],
                "kind": proposal.kind, "columns": {kind: {field: list(of_field) for field, of_field in columns.items()}
                                                   for kind, columns in proposal.columns.items()}}

    def pictures(draft: Draft, gallery: object) -> PictureFiles:
        if gallery:
            return of_gallery(open_gallery(str(gallery), home=settings.home))
        if not draft.files("pictures"):
            raise StudyError("There are no pictures yet. Add them, or choose a gallery.")
        return open_pictures(draft.pictures, "the pictures")

    def items(visitor: Visitor, draft: Draft, kind: StudyKind, sent: Fields) -> TableItems:
        """Of what was chosen as their source."""
        _, intake = known_kind(kind)
        if source := sent.get("source"):
            seed = intake.checked_design({"seed": settings.seed, **_design(sent.get("design"))})["seed"]
            return stored(visitor).items(
                str(source), kind, intake, str(sent.get("gallery") or ""), _size(sent.get("sample")), seed)
        read = _table(draft, intakes)
        columns = checked(_columns(sent["columns"]), read, intake.fields)
        return items_of(intake, read, columns, pictures(draft, sent.get("gallery")),
                        skip_missing=sent.get("skip_missing") is True)

    def look(visitor: Visitor, sent: Fields) -> object:
        draft, (kind, intake) = of(visitor, sent), known_kind(sent["kind"])
        earlier = list((draft.scratch / "studies").glob("*"))   # not what a call after this one has made
        with without_options():
            found = items(visitor, draft, kind, sent)
            for one in earlier:
                shutil.rmtree(one, ignore_errors=True)
            shown = preview(found, draft.scratch, settings.max_image_megapixels)
        page = {**KINDS[kind].answers.page(shown.study), "own_guidelines": []}
        return {"items": len(found.items), "counts": dict(found.counts), "notes": list(found.notes),
                "forecast": _forecast(intake, len(found.items), sent.get("design")), "page": page,
                "desks": [_moved(present.workspace(desk), draft) for desk in shown.desks]}

    def plan(visitor: Visitor, sent: Fields) -> object:
        check(visitor, "manage")
        _, intake = known_kind(sent["kind"])
        if not isinstance(sent["items"], int) or not 1 <= sent["items"] <= MOST_ROWS:
            raise StudyError(f"“items” must be a whole number from 1 to {MOST_ROWS:,}.")
        return _forecast(intake, sent["items"], sent["design"])

    def questions(visitor: Visitor, query: Mapping[str, str]) -> object:
        """What a study asks, if it has a file of its own, or else the newest of the kind, to begin from."""
        check(visitor, "manage")
        if name := query.get("study"):
            return {"text": own_text(services.study_store.study(name)) or ""}
        return {"text": newest_text(*KINDS[known_kind(query.get("kind"))[0]].asked_in)}

    def check_questions(visitor: Visitor, sent: Fields) -> object:
        """How judges will see them; {"problem", "line"} for a file with a fault, which is no reason to lose it."""
        check(visitor, "manage")
        kind, _ = known_kind(sent["kind"])
        shown = uploaded(of(visitor, sent) if sent.get("draft") else None)
        try:
            own = _own(sent["text"])
            asked, kept = KINDS[kind].choose(own, services.study_store.studies)
            appendix = nodes_of(asked.appendix, shown)
            if missing := [name for name in pictures_of(asked.appendix) if shown(name) is None]:
                raise StudyError(f"The appendix shows {quoted(missing[0])}, which is not there. Add it to the pictures "
                                 "of the guidelines.")
        except StudyError as error:
            problem = public_message(error)
            return {"problem": problem, "line": line_said(problem, _QUESTIONS)}
        study = Study("", "Preview", kind, asked.protocol, StudyPlan(1, 1, 0, 0), True, kept, {}, "",
                      datetime.now(UTC))
        return {"protocol": asked.protocol, "page": {**KINDS[kind].answers.page(study), "own_guidelines": appendix}}

    def uploaded(draft: Draft | None) -> Callable[[str], str | None]:
        """Addresses of a draft's pictures of guidelines, by name."""
        there = {name for name, _ in draft.files("guidelines")} if draft else set()
        return lambda name: f"studies/new/guide/{draft.name}/{name}" if draft and name in there else None

    def guide(visitor: Visitor, sent: Fields) -> object:
        """Guidelines as people will read them."""
        return {"nodes": nodes_of(str(sent["text"]), uploaded(of(visitor, sent)))}

    def create(visitor: Visitor, sent: Fields) -> object:
        draft, (kind, intake) = of(visitor, sent), known_kind(sent["kind"])
        if not isinstance(sent["name"], str) or not isinstance(sent.get("guidelines", ""), str):
            raise StudyError("“name” and “guidelines” must be texts.")
        with without_options():
            check_name(services.study_store, sent["name"])
            found, skip = items(visitor, draft, kind, sent), sent.get("skip_missing") is True
            design = intake.checked_design({"seed": settings.seed, **_design(sent.get("design"))})
            text, beside = sent.get("guidelines", ""), _beside(draft.guidelines)
            made = found.create(NewStudy(
                services.study_store, settings.home, sent["name"], visitor.name, design, found.pictures,
                {"seed": design["seed"]}, settings.max_image_megapixels, skip,
                questions=_own(sent.get("questions", ""), beside),
                guidelines=Guidelines(text, beside) if text.strip() else None,
                accepting=sent.get("open") is True))
        drafts.discard(draft)
        return {"name": made.study.name, "items": made.counts["items"], "notes": list(made.notes)}

    def judgements(visitor: Visitor, query: Mapping[str, str]) -> object:
        """What the uploaded files of judgements contain."""
        with without_options():
            return _created_json(described(_judgement_files(of(visitor, query))))

    def imports(visitor: Visitor, sent: Fields) -> object:
        draft = of(visitor, sent)
        if not isinstance(sent["name"], str):
            raise StudyError("“name” must be a text.")
        with without_options():
            made = import_judgements(services.study_store, sent["name"], _judgement_files(draft),
                                     created_by=visitor.name)
        drafts.discard(draft)
        return _created_json(made)

    return _joined(json_routes("/studies/new", {
        "/choices": get_endpoint(choices, slow=True), "/files": get_endpoint(files, slow=True),
        "/table": get_endpoint(table, slow=True), "/questions": get_endpoint(questions, slow=True),
        "/judgements": get_endpoint(judgements, slow=True),
    }, {
        "/begin": post_endpoint(begin, (), slow=True), "/drop": post_endpoint(drop, ("draft", "part"), ("name",)),
        "/look": post_endpoint(look, _ASKED, _ALSO, slow=True),
        "/plan": post_endpoint(plan, ("kind", "items", "design"), slow=True),
        "/guide": post_endpoint(guide, ("draft", "text")),
        "/check": post_endpoint(check_questions, ("kind", "text"), ("draft",), slow=True),
        "/create": post_endpoint(create, (*_ASKED, "name"), (*_ALSO, "guidelines", "questions", "open"), slow=True),
        "/import": post_endpoint(imports, ("draft", "name"), slow=True),
    }), drafts, settings)


def _joined(routes: APIRouter, drafts: Drafts, settings: Settings) -> APIRouter:
    """``routes``, and those that are no JSON: a file's bytes in, and pictures out."""

    async def upload(request: Request) -> Response:
        """The bytes of a file, whose name is in the header ``X-File-Name``, which no form of another site can set."""
        try:
            visitor = require(request, "manage")
            draft = drafts.find(request.query_params.get("draft"), visitor.name)
            if not (name := request.headers.get("x-file-name")):
                raise StudyError("Name the file in the header X-File-Name.")
            await drafts.receive(draft, request.query_params.get("part", ""), unquote(name), request.stream())
            return reply(await in_thread(lambda: _files_json(draft), page="studies"))
        except TooLarge as error:
            return reply({"problem": public_message(error), "kind": "too-large"}, 413)
        except CirqueError as error:
            return refused(error)

    def of_draft(path_of: Callable[[Draft, Mapping[str, str]], Path | None]) -> Endpoint:
        """A picture of a draft, as WebP."""
        def read(request: Request) -> Response:
            draft = drafts.find(request.path_params["draft"], require(request, "manage").name)
            if (path := path_of(draft, request.path_params)) is None or not path.is_file():
                raise UnknownItem("This image does not exist, or no longer exists.")
            made = process_image(path, _as_webp, max_megapixels=settings.max_image_megapixels, draft_edge=2 * _EDGE)
            return Response(made, media_type="image/webp", headers={
                "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
                "Content-Security-Policy": "default-src 'none'; sandbox"})

        async def endpoint(request: Request) -> Response:
            try:
                found: Response = await in_thread(lambda: read(request), page="studies")
            except CirqueError as error:
                return refused(error)
            return found
        return endpoint

    picture = of_draft(lambda draft, of: (   # of the first items
        draft.scratch / "studies" / of["study"] / of["name"]
        if of["study"].isalnum() and PICTURE_NAME.fullmatch(of["name"]) else None))
    guide_picture = of_draft(lambda draft, of: next(
        (draft.guidelines / name for name, _ in draft.files("guidelines") if name == of["name"]), None))
    for path, endpoint, verb in (("file", upload, "POST"), ("image/{draft}/{study}/{name}", picture, "GET"),
                                 ("guide/{draft}/{name:path}", guide_picture, "GET")):
        routes.add_route(f"/studies/new/{path}", endpoint, [verb], include_in_schema=False)
    return routes


def _as_webp(image: Image.Image) -> bytes:
    made = io.BytesIO()
    within(image, _EDGE, gap=2.0).save(made, "WEBP", quality=85, method=2)
    return made.getvalue()


@contextmanager
def without_options() -> Iterator[None]:
    """Errors of what is read and created, without the options of the command line."""
    try:
        yield
    except (DatasetError, GalleryError, StudyError) as error:
        raise StudyError(_OPTION.sub("", public_message(error))) from error


def known_kind(name: object) -> tuple[StudyKind, Intake]:
    """Raises ``StudyError`` for a kind that is made of no table."""
    if not isinstance(name, str) or name not in INTAKES:
        raise StudyError(f"There is no kind of study {quoted(name)}. There are: {', '.join(INTAKES)}.")
    return cast(StudyKind, name), INTAKES[name]


def _table(draft: Draft, intakes: Mapping[str, Intake]) -> Table:
    return open_table(draft.table(), tuple(dict.fromkeys(name for one in intakes.values() for name in one.known)))


def _columns(sent: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(sent, Mapping) or not all(
            isinstance(of, list) and all(isinstance(one, str) for one in of) for of in sent.values()):
        raise StudyError("“columns” must be an object of lists of column names.")
    return {str(field): tuple(of) for field, of in sent.items()}


def _design(sent: object) -> Mapping[str, object]:
    if sent is not None and not isinstance(sent, Mapping):
        raise StudyError("“design” must be an object of numbers.")
    return sent or {}


def _size(sent: object) -> int | None:
    if sent is not None and (isinstance(sent, bool) or not isinstance(sent, int)):
        raise StudyError("“sample” must be a whole number.")
    return sent


def _forecast(intake: Intake, items: int, design: object) -> Json:
    """Figures of the planner; {"problem"} for an impossible plan, which is no reason not to show the items."""
    try:
        return asdict(intake.forecast(items, intake.checked_design(_design(design))))
    except StudyError as error:
        return {"problem": public_message(error)}


def _beside(folder: Path) -> Callable[[str], Path | None]:
    return lambda name: next((path for path in (folder / name,) if path.is_file()
                              and path.resolve().is_relative_to(folder.resolve())), None)


def _own(sent: object, find: FindPicture = lambda name: None) -> OwnFile | None:
    if not isinstance(sent, str):
        raise StudyError("“questions” must be a text.")
    return OwnFile(_QUESTIONS, sent, find) if sent.strip() else None


def _kind_json(name: str, intake: Intake, seed: int, studies: Sequence[Study]) -> Json:
    kind = KINDS[name]
    earlier = {one.protocol: one.name for one in studies if one.kind == name and own_text(one) is not None}
    return {"kind": name, "title": kind.title, "one": kind.one, "many": kind.many, "about": intake.about,
            "asks": kind.asks, "protocol": kind.choose(None, tuple)[0].protocol,
            "earlier": [{"study": study, "protocol": protocol} for protocol, study in earlier.items()],
            "fields": [{"name": one.name, "title": one.title, "required": one.required, "many": one.many,
                        "least": one.least} for one in intake.fields],
            "design": [{**asdict(one), **({"value": seed} if one is SEED else {})} for one in intake.design]}


def _judgement_files(draft: Draft) -> list[Path]:
    return [draft.folder / "judgements" / name for name, _ in draft.files("judgements")]


def _created_json(made: Created) -> Json:
    kind = KINDS[made.study.kind]
    return {"name": made.study.name, "title": kind.title, "one": kind.one, "many": kind.many,
            **{name: made.counts[name] for name in ("items", "people", "judgements")}, "notes": list(made.notes)}


def _files_json(draft: Draft) -> Json:
    return {part: [{"name": name, "bytes": size} for name, size in draft.files(part)]
            for part in PARTS}


def _moved(value: Any, draft: Draft) -> Any:
    """JSON of a study with its pictures at the draft's address."""
    match value:
        case str() if value.startswith("study/image/"):
            return f"studies/new/image/{draft.name}/{value.removeprefix('study/image/')}"
        case dict():
            return {name: each if name == "text" else _moved(each, draft) for name, each in value.items()}
        case list():
            return [_moved(each, draft) for each in value]
    return value


