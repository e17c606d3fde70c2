"""Starting, watching, stopping and resuming a construction from the screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from annotation.records import AuditEvent
from cir_core.construct.browse.folders import ConstructionFolder, folder_of
from cir_core.construct.browse.journal import JournalFollower
from cir_core.construct.sessions.estimate import check_language, estimate
from cir_core.construct.sessions.settings import ConstructionSettings
from cir_core.construct.sessions.subsets import subset_name
from cir_core.errors import CirqueError, DatasetError, GalleryError
from cir_core.jobs.estimate import Estimate, Prices
from cir_core.jobs.journal import is_half_made
from cir_core.jobs.spending import Budget
from cir_core.registry.constructing import WITHOUT_PATH, own_path
from cir_core.support.texts import quoted
from web.benchmarks.jobs import ConstructionJobs, ConstructionState
from web.benchmarks.requests import (
    MODELS,
    ConstructionRequest,
    is_connected,
    read_request,
    resume_problem,
    resumed_request,
    text_field,
)
from web.benchmarks.shelf import BenchmarkShelf
from web.http.json_api import Deferred, Endpoint, Fields, get_endpoint, post_endpoint
from web.http.public_errors import public_message
from web.http.visitor import Visitor, check
from web.services import Services

Dict = dict[str, Any]
_FORM = ("name", "dataset", "gallery", "model")
_MORE = ("subsets", "limit", "max_turns", "budget", "max_calls")


class ConstructionRoutes:
    """Reading requires the permission to see results, everything else that to manage."""

    def __init__(self, services: Services, shelf: BenchmarkShelf, jobs: ConstructionJobs) -> None:
        self._services, self._shelf, self._jobs = services, shelf, jobs
        self._journals = JournalFollower()

    def gets(self) -> dict[str, Endpoint]:
        return {"/choices": get_endpoint(self._choices, slow=True), "/run": get_endpoint(self._run, slow=True)}

    def posts(self) -> dict[str, Endpoint]:
        return {"/estimate": post_endpoint(self._estimate, _FORM, _MORE, slow=True),
                "/start": post_endpoint(self._start, _FORM, _MORE, slow=True),
                "/stop": post_endpoint(self._stop, ("name",)),
                "/resume": post_endpoint(self._resume, ("name",), ("budget", "max_calls"), slow=True)}

    def progress(self, folder: ConstructionFolder) -> Dict | None:
        """How far ``folder`` is; None once it is finished."""
        job = self._job(folder.name)
        if folder.state == "unreadable" or (folder.state == "finished" and (job is None or job.finished)):
            return None
        if job is not None and not job.finished:
            return _progress(job)
        done, rate = self._journals.look(folder.journal)
        run = folder.run
        if run is not None:
            done = max(0, done - run.others)
        elsewhere = folder.state == "running"
        problem = "" if elsewhere else resume_problem(folder)
        return {
            "text": "Constructing in another process" if elsewhere else "Stopped", "done": done,
            "total": run.total if run else 0, "rate": rate if elsewhere else None, "here": False, "stopping": False,
            "running": elsewhere, "resumable": not elsewhere and not problem, "why_not": problem,
            "problem": "" if elsewhere or job is None else job.problem,
            "budget": run.budget.cost if run else None, "max_calls": run.budget.calls if run else None,
            "cost": None, "calls": job.usage.calls if job else 0,
        }

    def without_folder(self) -> Dict | None:
        """The job that has no folder yet, or failed before it had one."""
        job = self._jobs.state()
        if (job is None or (job.finished and not job.problem)
                or (self._shelf.root / job.name / "journal.jsonl").exists()):
            return None
        return {"name": job.name, "run": _progress(job)}

    def _choices(self, visitor: Visitor, query: Mapping[str, str]) -> object:
        check(visitor, "manage")
        galleries = [{"name": one.name, "size": one.size} for one in self._services.search.galleries()
                     if one.status == "complete"]
        return {"datasets": [self._dataset(name) for name in WITHOUT_PATH], "galleries": galleries,
                "models": [name for name in MODELS if name == "built-in" or is_connected(self._services)],
                "connected": self._services.settings.llm_model if is_connected(self._services) else "",
                "priced": self._services.settings.llm_prompt_price is not None,
                "max_turns": ConstructionSettings().max_turns}

    def _dataset(self, name: str) -> Dict:
        try:
            own_path(name, self._services.settings.home)
            benchmark = ConstructionRequest("", name, "", "built-in").queries(self._services)
        except CirqueError as error:
            return {"name": name, "subsets": [], "queries": 0, "problem": public_message(error)}
        return {"name": name, "subsets": [subset_name(benchmark, pool) for pool in benchmark.pools],
                "queries": len(benchmark.queries), "problem": ""}

    def _estimate(self, visitor: Visitor, sent: Fields) -> object:
        check(visitor, "manage")
        request = read_request(sent, self._services)
        self._check_free(request)
        return Deferred(lambda: self._estimated(request), "estimate")

    def _estimated(self, request: ConstructionRequest) -> Dict:
        settings, construction = self._services.settings, request.construction(self._services)
        chosen = construction.subsets.chosen(request.subsets)
        left = construction.wanted(chosen, request.limit)
        check_language(construction, left)
        found = estimate(construction, chosen, left, workers=request.at_a_time(self._services, construction),
                         prices=Prices(settings.llm_prompt_price, settings.llm_completion_price))
        return _estimate_json(found) | {"notes": list(construction.subsets.notes),
                                        "model": construction.language.name}

    def _start(self, visitor: Visitor, sent: Fields) -> object:
        check(visitor, "manage")
        request = read_request(sent, self._services)
        self._check_free(request)
        self._begin(request, visitor, resume=False)
        return {"name": request.name}

    def _resume(self, visitor: Visitor, sent: Fields) -> object:
        check(visitor, "manage")
        folder = self._shelf.folder(text_field(sent, "name"))
        request = resumed_request(folder)
        if "budget" in sent or "max_calls" in sent:
            limits = read_request({**sent, "dataset": request.dataset, "gallery": request.gallery,
                                   "model": "built-in"}, self._services).budget
            request = replace(request, budget=Budget(limits.cost, limits.calls))
        self._begin(request, visitor, resume=True)
        return {"name": request.name}

    def _begin(self, request: ConstructionRequest, visitor: Visitor, *, resume: bool) -> None:
        self._jobs.begin(request, resume=resume, started_by=visitor.name)
        self._services.log.note(AuditEvent("benchmark.started", visitor.name, request.name, details={
            "dataset": request.dataset, "gallery": request.gallery, "model": request.model,
            **({"resumed": True} if resume else {})}))

    def _stop(self, visitor: Visitor, sent: Fields) -> object:
        check(visitor, "manage")
        name = text_field(sent, "name")
        if stopped := self._jobs.stop(name):
            self._services.log.note(AuditEvent("benchmark.stopped", visitor.name, name))
        return {"stopping": stopped}

    def _run(self, visitor: Visitor, query: Mapping[str, str]) -> object:
        check(visitor, "manage", "results")
        name = query.get("name", "")
        waiting = self.without_folder()
        if waiting is not None and waiting["name"] == name:
            return {"kind": "sessions", "state": "running" if waiting["run"]["running"] else "unreadable",
                    "run": waiting["run"]}
        folder = self._shelf.folder(name)
        job = self._job(name)
        state = "running" if job is not None and not job.finished else folder.state
        return {"kind": folder.kind, "state": state, "run": self.progress(folder)}

    def _check_free(self, request: ConstructionRequest) -> None:
        """Before anything is loaded. Raises ``DatasetError``, ``GalleryError``."""
        if request.gallery not in {one.name for one in self._services.search.galleries()}:
            raise GalleryError(f"There is no gallery {quoted(request.gallery)} on this server. Reload the page.")
        folder = folder_of(self._shelf.root, request.name)
        if folder.exists() and not is_half_made(folder):
            raise DatasetError(f"The benchmark {quoted(request.name)} already exists. Choose another name.")

    def _job(self, name: str) -> ConstructionState | None:
        job = self._jobs.state()
        return job if job is not None and job.name == name else None


def _progress(job: ConstructionState) -> Dict:
    return {
        "text": "Stopping" if job.stopping else job.text, "done": job.done, "total": job.total, "rate": job.pace.rate,
        "here": True, "stopping": job.stopping, "running": not job.finished, "resumable": False, "why_not": "",
        "problem": job.problem, "budget": None, "max_calls": None, "cost": job.usage.cost, "calls": job.usage.calls,
    }


def _estimate_json(found: Estimate) -> Dict:
    return {
        "sessions": found.sessions, "calls": found.calls, "time": str(found.time), "cost": found.cost,
        "basis": found.basis,
        "roles": [{"role": name, "calls": one.calls, "most": one.most, "prompt_tokens": one.prompt_tokens,
                   "completion_tokens": one.completion_tokens} for name, one in found.roles.items()],
    }
