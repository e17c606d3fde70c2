"""Creation of a sample study on demand, for trying the screens."""

from __future__ import annotations

import threading

from fastapi import APIRouter

from annotation.studies.creation import remove_study
from cir_core.errors import StudyError, UnknownStudy
from web.http.json_api import Fields, json_routes, post_endpoint
from web.http.visitor import Visitor, check
from web.services import Services

_NAME, _JUDGED = "Sample study", "Sample study with simulated answers"


def sample_routes(services: Services) -> APIRouter:
    """``POST /studies/sample`` → ``{"name"}``: takes several seconds. ``judged``: with simulated answers."""
    at_work = threading.Lock()

    def make(visitor: Visitor, sent: Fields) -> object:
        from annotation.kinds.validity.sample_study import (  # what draws pictures is large
            make_sample_study,
            simulate_answers,
        )

        check(visitor, "manage")
        if not at_work.acquire(blocking=False):
            raise StudyError("The sample study is already being created. It will appear here in a moment.")
        try:
            created = make_sample_study(
                services.study_store, services.audits, services.settings.home,
                _free(services, _JUDGED if sent.get("judged") is True else _NAME),
                load_encoder=services.load_encoder, created_by=visitor.name, seed=services.settings.seed)
            if sent.get("judged") is True:
                try:
                    simulate_answers(services.study_store, created.study, seed=services.settings.seed)
                except BaseException:   # half of the answers are no sample
                    remove_study(services.study_store, services.settings.home, created.study)
                    raise
        finally:
            at_work.release()
        return {"name": created.study.name}

    return json_routes("/studies", {}, {"/sample": post_endpoint(make, (), ("judged",), slow=True)})


def _free(services: Services, first: str) -> str:
    """The first free name of "Sample study", "Sample study 2", …"""
    number = 1
    while True:
        name = first if number == 1 else f"{first} {number}"
        try:
            services.study_store.study(name)
        except UnknownStudy:
            return name
        number += 1
