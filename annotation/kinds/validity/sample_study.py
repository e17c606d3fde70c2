"""Sample validity study, from freshly audited queries of the sample benchmark, and simulated answers to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from annotation.kinds.validity.answers import Validity
from annotation.kinds.validity.create import create_validity_study
from annotation.kinds.validity.rubric import rubric_of
from annotation.records import Study, StudyPlan
from annotation.sources.audit import read_audit
from annotation.sources.queries import sample
from annotation.studies.creation import Created, set_accepting
from annotation.studies.service import StudyService
from annotation.studies.store import StudyStore
from cir_core.audit.records import AuditStore
from cir_core.audit.report import make_report, write_files
from cir_core.audit.retrievers.models import Load, Models
from cir_core.audit.retrievers.opening import Audited, open_retrievers
from cir_core.audit.retrievers.specs import parse_retrievers
from cir_core.audit.runner import run_audit
from cir_core.audit.scope import limited, over_gallery
from cir_core.errors import GalleryError
from cir_core.gallery.gallery import open_gallery
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.methods.declared import all_methods
from cir_core.registry.kinds import read_benchmark
from cir_core.sample.gallery import NAME, sample_folder

ITEMS = 20
SIMULATED = ("Simulated judge 1", "Simulated judge 2")
_RETRIEVERS = ("slerp", "text-only", "image-only", "cirevl")
_OF_EACH_CATEGORY = 20


def make_sample_study(
    store: StudyStore, audits: AuditStore, home: Path, name: str, *, load_encoder: Load, created_by: str, seed: int,
) -> Created:
    """Create a study of twenty queries, all for both of two people, in a few seconds; labels are of a real audit.
    Raises ``GalleryError`` without the sample gallery, ``StudyError`` for a taken name."""
    folder = sample_folder(home)
    if not folder.is_dir():
        raise GalleryError("The sample gallery is missing. Create it with: cirque demo")
    gallery = open_gallery(NAME, home=home)
    whole = read_benchmark("sample", folder)
    benchmark = over_gallery(limited(whole, _OF_EACH_CATEGORY), gallery)
    models = Models(load_encoder, BuiltinLanguageModel)
    specs = parse_retrievers(list(_RETRIEVERS), all_methods(None), [NAME], NAME)
    with TemporaryDirectory() as temporary:
        runs = run_audit(benchmark, open_retrievers(specs, Audited(benchmark, whole, gallery, home), models),
                         audits).runs
        report = make_report(benchmark, runs, seed=seed)
        write_files(Path(temporary), benchmark, report, whole=whole)
        found = read_audit(Path(temporary), gallery=gallery,
                           categories=sorted({label.label for label in report.aggregate.labels}))
    queries = sample(found.queries, min(ITEMS, len(found.queries)), "hidden_category", seed)
    plan = StudyPlan(seats=2, overlap=2, agreement_items=0, seed=seed)
    return create_validity_study(store, home, name, queries, found.find_picture, plan, created_by=created_by,
                                 source={**found.source, "sample": True})


def simulate_answers(store: StudyStore, study: Study, *, seed: int) -> Study:
    """Have :data:`SIMULATED` answer everything, and close the study: something to look at on the page Analysis.
    Chance decides: the answers say nothing about the queries."""
    service, random = StudyService(store, {"validity": Validity()}), Random(seed)
    for who in SIMULATED:
        service.join(study.study_id, who)
    for number, item in enumerate(store.items(study.study_id)):
        for who, answer in zip(SIMULATED, _alike(study, random), strict=True):
            service.save(study.study_id, who, item.item_id, answer, f"simulated-{who[-1]}-{number}",
                         seconds=round(random.lognormvariate(3.3, 0.5), 1))
    return set_accepting(store, study, False)


def _alike(study: Study, random: Random) -> Iterator[Mapping[str, Any]]:
    """Of four in five items the same verdict twice. Six in ten are valid."""
    flags = rubric_of(study).flags
    verdicts = [None if random.random() < 0.6 else random.choice(flags) for _ in SIMULATED]
    for flag in [verdicts[0]] * 2 if random.random() < 0.8 else verdicts:
        reasons = [one.code for one in flag.reasons if not one.needs_note] if flag else []
        yield {"validated": flag is None, "flags": [flag.code] if flag else [], "reasons": reasons[:1], "note": "",
               "alternatives": [], "unsure": False, "panel_opened": False}
