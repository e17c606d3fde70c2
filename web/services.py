"""Composition root: settings in, services for the screens out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path

from annotation.accounts.audit_log import AuditLog
from annotation.accounts.service import PeopleService
from annotation.recruitment.service import RecruitmentService, given_by
from annotation.recruitment.webhooks import WebhookStore
from annotation.studies.service import StudyService
from annotation.studies.store import StudyStore
from annotation.votes import VoteStore
from cir_core.audit.records import AuditStore
from cir_core.audit.retrievers.models import Load
from cir_core.encoders.base import Encoder
from cir_core.errors import SettingsError, StorageError
from cir_core.images.decode_budget import set_budget
from cir_core.images.upload_quota import UploadQuota
from cir_core.language.base import LanguageModel
from cir_core.methods.declared import Method, all_methods
from cir_core.sessions.compare import ComparisonService
from cir_core.sessions.judges import ComparisonJudges
from cir_core.sessions.service import SearchService
from cir_core.sessions.store import ComparisonStore, SessionStore
from cir_core.settings import Settings
from storage.engine.processes import ServingProcesses
from storage.engine.readiness import Readiness
from web.http.long_actions import Runs
from web.http.meter import Meter
from web.http.visitor import StudyMembers, browser_at_work


@dataclass(frozen=True)
class Services:
    settings: Settings
    search: SearchService
    compare: ComparisonService
    judges: ComparisonJudges
    votes: VoteStore
    study_store: StudyStore
    studies: StudyService
    recruitment: RecruitmentService
    webhooks: WebhookStore
    people: PeopleService
    audits: AuditStore
    log: AuditLog
    load_encoder: Load
    methods: Mapping[str, Method]
    database: Readiness
    study_members: StudyMembers
    language_for: Callable[[Encoder | None], LanguageModel]   # the connected one, without a fallback
    meter: Meter = field(default_factory=Meter)
    runs: Runs = field(default_factory=Runs)
    quota: UploadQuota = field(default_factory=UploadQuota.unlimited)
    back_up: Callable[[str], Path] | None = None   # the database, on an occasion
    forget_before: Callable[[datetime], object] = lambda before: None   # what visitors of a public demo left

    @cached_property
    def processes(self) -> ServingProcesses:
        return ServingProcesses(self.settings.home, sqlite=self.settings.resolved_database_url.startswith("sqlite"))


def open_services(settings: Settings) -> Services:
    """Open the store and the gallery pool. Models are loaded on first use."""
    from annotation.kinds.table import KINDS
    from cir_core.encoders import load_encoder
    from cir_core.encoders.together import together
    from cir_core.images.uploads import UploadFolder
    from cir_core.language.connect import language_models
    from cir_core.relevance.configured import scorers_of
    from cir_core.sessions.pool import SearcherPool
    from cir_core.sessions.private import Owners, PrivateComparisons, PrivateSessions
    from storage.sessions.store import remove_before
    from storage.stores import open_stores

    methods = all_methods(settings.methods)
    set_budget(settings.decode_memory_mb)
    meter = _meter(settings)
    _make_home(settings)
    stores = open_stores(settings, on_wait=meter.waited)
    loader = partial(
        load_encoder, device=settings.device, precision=settings.precision,
        allow_downloads=settings.allow_downloads,
    )
    pool = SearcherPool(
        settings.home, language_models(settings, stores.answers, heard=meter.asked_model),
        lambda spec: together(loader(spec), settings.text_batch),
        domain=settings.domain, relevance=scorers_of(settings),
        only=(settings.gallery,) if settings.public_demo else None,
    )
    sessions: SessionStore = stores.sessions
    comparisons: ComparisonStore = stores.comparisons
    owners = Owners(browser_at_work)
    if settings.public_demo:
        sessions, comparisons = PrivateSessions(sessions, owners), PrivateComparisons(comparisons, owners)
    search = SearchService(
        pool, sessions, UploadFolder(settings.uploads, max_megapixels=settings.max_image_megapixels),
    )
    answers = {name: kind.answers for name, kind in KINDS.items()}
    studies = StudyService(stores.studies, answers, is_given=given_by(stores.recruitment))
    return Services(
        settings, search, ComparisonService(search, comparisons),
        ComparisonJudges(search, scorers_of(settings)), stores.votes, stores.studies,
        studies, RecruitmentService(stores.recruitment, stores.studies, studies, answers), stores.webhooks,
        PeopleService(stores.people, sign_in_days=settings.sign_in_days), stores.audits, stores.log, loader, methods,
        stores.readiness, StudyMembers(stores.studies),
        language_models(settings, stores.answers, fallback=False, heard=meter.asked_model), meter,
        quota=UploadQuota(settings.upload_counts, pictures=settings.uploads_per_day,
                          megabytes=settings.upload_mb_per_day),
        back_up=lambda occasion: stores.back_up(settings.home / "backups", occasion),
        forget_before=lambda before: owners.forget(remove_before(stores.sessions.engine, before)),
    )


def _make_home(settings: Settings) -> None:
    """Create the home folder, which no database file does if the database is on a server. Raises ``StorageError``."""
    try:
        settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StorageError(f"The home folder {settings.home} cannot be created: {error.strerror}. Point CIRQUE_HOME at "
                           "a writable folder.") from error


def _meter(settings: Settings) -> Meter:
    """Raises ``SettingsError`` if metrics are on but nobody may read them."""
    if not settings.metrics:
        return Meter()
    if not settings.metrics_from and not settings.metrics_token.get_secret_value():
        raise SettingsError("CIRQUE_METRICS is on, but nobody may read the metrics. List allowed addresses in "
                            "CIRQUE_METRICS_FROM, or set CIRQUE_METRICS_TOKEN.")
    from web.http.prometheus import PrometheusMeter

    return PrometheusMeter()
