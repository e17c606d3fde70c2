"""Creation of a sample study on demand, for trying the screens."""

from __future__ import annotations

import threading

from fastapi import APIRouter

from cir_core.errors import StudyError, UnknownStudy
from web.http.json_api import Fields, json_routes, post_endpoint
from web.http.visitor import Visitor, check
from web.services import Services

_NAME = "Sample study"


def sample_routes(services: Services) -> APIRouter:
    """``POST /studies/sample`` → ``{"name"}``: takes several seconds."""
    at_work = threading.Lock()

    def make(visitor: Visitor, sent: Fields) -> object:
        from annotation.kinds.validity.sample_study import make_sample_study  # what draws pictures is large

        check(visitor, "manage")
        if not at_work.acquire(blocking=False):
            raise StudyError("The sample study is already being created. It will appear here in a moment.")
        try:
            created = make_sample_study(
                services.study_store, services.audits, services.settings.home, _free(services),
                load_encoder=services.load_encoder, created_by=visitor.name, seed=services.settings.seed)
        finally:
            at_work.release()
        return {"name": created.study.name}

    return json_routes("/studies", {}, {"/sample": post_endpoint(make, (), slow=True)})


def _free(services: Services) -> str:
    """The first free name of "Sample study", "Sample study 2", …"""
    number = 1
    while True:
        name = _NAME if number == 1 else f"{_NAME} {number}"
        try:
            services.study_store.study(name)
        except UnknownStudy:
            return name
        number += 1
