"""JSON endpoints of the studies screen, with results and exports."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, cast, get_args

from fastapi import APIRouter
from starlette.responses import Response

from annotation.adjudication.needs import needs_of, queue_json
from annotation.kinds.preference.survey.position import settings_shown
from annotation.kinds.table import KINDS, Export, results_of
from annotation.kinds.validity.labels import LabelRule
from annotation.records import AuditEvent, Study, same_person
from annotation.studies import input_limits
from annotation.studies.copying import duplicate_study
from annotation.studies.creation import is_archived, remove_with_backup, rename_study, set_accepting, set_archived
from annotation.studies.creation import release as release_work
from annotation.studies.guidelines import Guidelines, set_guidelines, study_nodes, text_of, with_text
from annotation.studies.overview import SeatProgress, seat_progress
from annotation.studies.planner import plan_study
from annotation.studies.store import StudyStore
from annotation.tables import as_zip
from cir_core.errors import StudyError
from cir_core.support.texts import quoted
from web.http.json_api import Fields, disposition, file_stem, get_endpoint, json_routes, post_endpoint
from web.http.request_fields import whole
from web.http.visitor import Visitor, check
from web.services import Services
from web.studies.images import address
from web.ui.languages import SETTING, checked_language, language_of, languages

_PLAN = {"people": 5, "items": 500, "overlap": 1, "block": 0}
_MOST = 9_999_999
_LONGEST = 300
_SOURCE = {"form": "Made from", "file": "File", "files": "Files", "dataset": "Data set", "gallery": "Gallery",
           "retrievers": "Retrievers", "methods": "Methods", "runs": "Runs"}
_TYPES = {"json": "application/json", "jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8",
          "parquet": "application/vnd.apache.parquet"}
Json = dict[str, Any]


def studies_routes(services: Services) -> APIRouter:
    """``/studies/…``. Reading requires the permission to manage studies or see results, changes that to manage."""
    store = services.study_store

    def everything(visitor: Visitor, query: Mapping[str, str]) -> object:
        check(visitor, "manage", "results")
        return {"studies": [study_row(it, store.counts(it.study_id)) for it in store.studies()]}

    def one(visitor: Visitor, query: Mapping[str, str]) -> object:
        study = _reading(visitor, query)
        seats, judgements = store.seats(study.study_id), store.judgements(study.study_id)
        progress = seat_progress(study, seats, store.assignments(study.study_id), judgements, datetime.now(UTC),
                                 store.events(study.study_id, kind="finish"))
        return {
            "study": study_row(study, store.counts(study.study_id)), "people": people_rows(progress),
            "queue": queue_json(KINDS[study.kind].cases(store, study)),
            "needs": needs_of(study, KINDS[study.kind].answers).as_settings(),
            "downloads": [asdict(each) for each in KINDS[study.kind].downloads],
            "guidelines": text_of(study), "language": language_of(study), "languages": dict(languages()),
            "you_judge": any(same_person(seat.annotator, visitor.name) for seat in seats),
        }

    def counts(visitor: Visitor, query: Mapping[str, str]) -> object:
        study = _reading(visitor, query)
        return {"counts": dict(store.counts(study.study_id)), "accepting": study.accepting}

    def results(visitor: Visitor, query: Mapping[str, str]) -> object:
        return results_of(store, _reading(visitor, query), rule_of(query)).json

    def export(visitor: Visitor, query: Mapping[str, str]) -> object:
        study, form, table = _reading(visitor, query), query.get("form", ""), query.get("table", "judgements")
        made = _download(store, study, Export(form, (table,), rule_of(query)))
        store.log_event(AuditEvent("study.exported", visitor.name, study.name, study.study_id, {"form": form}))
        return made

    def plan(visitor: Visitor, query: Mapping[str, str]) -> object:
        check(visitor, "manage", "results")
        people, items, overlap, block = (whole(query, name, usual, most=_MOST) for name, usual in _PLAN.items())
        seconds = whole(query, "seconds", 60, most=_MOST)
        return asdict(plan_study(people, items, overlap, block, seconds_per_item=seconds))

    def accept(accepting: bool) -> Any:
        def change(visitor: Visitor, sent: Fields) -> object:
            study = _managing(visitor, sent)
            return _row(set_accepting(store, study, accepting, by=visitor.name))
        return post_endpoint(change, ("study",))

    def release(visitor: Visitor, sent: Fields) -> object:
        study = _managing(visitor, sent)
        name = sent["annotator"]
        if not isinstance(name, str) or not any(
            same_person(seat.annotator, name) for seat in store.seats(study.study_id)):
            raise StudyError("Nobody of that name has a seat in this study. Reload the page.")
        released = release_work(store, study, name, by=visitor.name)
        services.study_members.forget()
        return {"released": released.items, "block": released.block, "freed": released.freed}

    def rename(visitor: Visitor, sent: Fields) -> object:
        return _row(rename_study(store, _managing(visitor, sent), _name(sent), by=visitor.name))

    def duplicate(visitor: Visitor, sent: Fields) -> object:
        study = _managing(visitor, sent)
        return _row(duplicate_study(store, services.settings.home, study, _name(sent), by=visitor.name))

    def guide(visitor: Visitor, sent: Fields) -> object:
        """Guidelines as people will read them; with ``keep`` they are saved. They may show the pictures they have."""
        study, text = _managing(visitor, sent), str(sent["text"])
        changed = (set_guidelines(store, services.settings.home, study, Guidelines(text, lambda name: None),
                                  by=visitor.name) if sent["keep"] is True else with_text(study, text))
        return {"nodes": study_nodes(changed, lambda study_id, token: address(study_id, token, "l"))}

    def language(visitor: Visitor, sent: Fields) -> object:
        """Of the screens of judges and participants."""
        study, code = _managing(visitor, sent), checked_language(sent["language"])
        return {"language": language_of(store.change_settings(study.study_id, {SETTING: code}, by=visitor.name))}

    def archive(visitor: Visitor, sent: Fields) -> object:
        return _row(set_archived(store, _managing(visitor, sent), sent["archived"] is True, by=visitor.name))

    def remove(visitor: Visitor, sent: Fields) -> object:
        study, back_up = _managing(visitor, sent), services.back_up
        if back_up is None:
            raise StudyError("This server makes no backups. Remove the study with: cirque study remove")
        kept = remove_with_backup(store, services.settings.home, study, _name(sent), lambda: back_up("before-removal-"),
                                  by=visitor.name)
        services.study_members.forget()
        return {"backup": kept.name}

    def _name(sent: Fields) -> str:
        if not isinstance(sent["name"], str):
            raise StudyError("“name” must be a text.")
        return sent["name"]

    def _row(study: Study) -> Json:
        return {"study": study_row(study, store.counts(study.study_id))}

    def _reading(visitor: Visitor, query: Mapping[str, str]) -> Study:
        check(visitor, "manage", "results")
        return store.study(input_limits.checked_study(query.get("study", "")))

    def _managing(visitor: Visitor, sent: Fields) -> Study:
        check(visitor, "manage")
        return store.study(input_limits.checked_study(sent["study"]))

    slow = {"/all": everything, "/one": one, "/results": results, "/ratings": results, "/targets": results,
            "/export": export, "/plan": plan}
    gets = {path: get_endpoint(work, slow=True) for path, work in slow.items()} | {"/counts": get_endpoint(counts)}
    return json_routes("/studies", gets, {"/close": accept(False), "/open": accept(True),
                                          "/release": post_endpoint(release, ("study", "annotator")),
                                          "/rename": post_endpoint(rename, ("study", "name")),
                                          "/duplicate": post_endpoint(duplicate, ("study", "name"), slow=True),
                                          "/archive": post_endpoint(archive, ("study", "archived")),
                                          "/guide": post_endpoint(guide, ("study", "text", "keep")),
                                          "/language": post_endpoint(language, ("study", "language")),
                                          "/remove": post_endpoint(remove, ("study", "name"), slow=True)})


def rule_of(query: Mapping[str, str]) -> LabelRule:
    rule = query.get("rule") or "majority"
    if rule not in get_args(LabelRule):
        raise StudyError(f"There is no rule {quoted(rule)}. Choose one of: {', '.join(get_args(LabelRule))}.")
    return cast(LabelRule, rule)


def _download(store: StudyStore, study: Study, export: Export) -> Response:
    """A study in a form of its kind. Several files come as a zip, with notes on what they lack.

    Raises ``StudyError`` for an unknown form or table, and for a study that has nothing to write.
    """
    kind = KINDS[study.kind]
    files, notes = kind.export(store, study, export)
    if len(files) == 1 and not notes and export.form not in kind.zipped:
        (name, content), = files.items()
        return _file(content, study, name, _TYPES[name.rpartition(".")[2]])
    said = {"NOTES.txt": ("\n".join(notes) + "\n").encode()} if notes else {}
    return _file(as_zip({**files, **said}), study, f"{export.form}.zip", "application/zip")


def _file(content: bytes, study: Study, ending: str, media_type: str) -> Response:
    return Response(content, media_type=media_type, headers={
        "Content-Disposition": disposition(f"{file_stem(study.name)} {ending}"),
        "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
    })


def study_row(found: Study, counts: Mapping[str, int]) -> Json:
    """A study as JSON, with the settings of its survey, if it is one."""
    kind = KINDS[found.kind]
    return {
        "id": found.study_id, "name": found.name, "kind": found.kind, "words": kind.words,
        "protocol": found.protocol, "accepting": found.accepting, "archived": is_archived(found),
        "created_at": found.created_at.isoformat(),
        "created_by": found.created_by, "seats": found.plan.seats, "plan": asdict(found.plan), "counts": dict(counts),
        "source": kind.source(found) if kind.source else _source(found),
        **({"survey": settings_shown(found)} if kind.has_survey else {}),
    }


def _source(found: Study) -> list[list[str]]:
    return [[words, _short(found.source[name])] for name, words in _SOURCE.items() if found.source.get(name)]


def people_rows(rows: Sequence[SeatProgress]) -> list[Json]:
    return [{
        "seat": row.seat, "name": row.annotator, "done": row.done, "unsure": row.unsure, "open": row.open,
        "total": row.total, "median_seconds": None if row.median_seconds is None else round(row.median_seconds, 1),
        "seen_at": row.seen_at.isoformat() if row.seen_at else None, "away": row.away,
        "finished_at": row.finished_at.isoformat() if row.finished_at else None, "code": row.code,
    } for row in rows]


def _short(value: object) -> str:
    if isinstance(value, list | tuple):
        whole = any(isinstance(each, dict | list) for each in value)
        return f"{len(value):,}" if whole else ", ".join(map(str, value))
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else text[:_LONGEST - 1] + "…"
