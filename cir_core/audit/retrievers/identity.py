"""Identity of a method for a run's card: everything its ranks depend on, as plain JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cir_core.captions.stored import read_captions
from cir_core.encoders.specs import parse_spec
from cir_core.errors import EncoderUnavailable
from cir_core.gallery.gallery import Gallery
from cir_core.language.base import LanguageModel
from cir_core.language.tasks import CaptionTask, Domain, MergeTask, Task
from cir_core.language.wrappers.conditions import conditions_of
from cir_core.methods.relevance import needs_relevance
from cir_core.methods.steps import reads_captions, step_tasks
from cir_core.relevance.configured import configured_model
from cir_core.types.methods import method_to_dict
from cir_core.types.records import MethodSettings
from cir_core.version import __version__


def method_identity(
    settings: MethodSettings, gallery: Gallery, language: LanguageModel, domain: Domain
) -> dict[str, Any]:
    """Contains no paths or gallery names: the same files and weights give the same identity anywhere. The
    language and the relevance model are included only if the method uses one. Raises ``RelevanceUnavailable``."""
    encoder = gallery.encoder
    identity: dict[str, Any] = {
        "kind": "method",
        "version": __version__,
        "method": method_to_dict(settings),
        "encoder": {"name": _short(encoder.spec), "revision": encoder.revision, "dim": encoder.dim},
        "images": gallery.digest,
    }
    tasks = _tasks(settings, domain)
    if tasks:
        identity["language_model"] = language.name
        identity["domain"] = domain
        identity["answers"] = {role: _conditions(language, task) for role, task in tasks.items()}
    if reads_captions(settings) and (captions := read_captions(gallery)):
        identity["captions"] = captions.digest
    if needs_relevance(settings):
        identity["relevance"] = configured_model().identity.revision
    return identity


def _tasks(settings: MethodSettings, domain: Domain) -> Mapping[str, Task[Any]]:
    """The method's possible language model tasks, by role."""
    tasks: list[Task[Any]] = []
    of_steps = step_tasks(settings, domain)
    if settings.base == "cirevl" or of_steps:
        tasks.append(CaptionTask(domain=domain))
    if settings.base == "cirevl":
        tasks.append(MergeTask(domain=domain))
    return {task.role: task for task in (*tasks, *of_steps)}


def _conditions(language: LanguageModel, task: Task[Any]) -> dict[str, Any]:
    told = conditions_of(language, task)
    return {"prompt": told.prompt_version, "temperature": told.temperature}


def _short(spec: str) -> str:
    try:
        return parse_spec(spec).name
    except EncoderUnavailable:
        return spec
