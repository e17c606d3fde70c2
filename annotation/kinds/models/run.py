"""Put a study's items to a language model: a long job that can be killed, resumed and limited.

The model reads what people read and sees what they see, nothing of ``Item.hidden``. Its answers go through the kind's
``normalize``; one that is refused is asked for once more, with the complaint. They are kept apart from people's
(:mod:`annotation.kinds.models.kept`).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any, ClassVar

from PIL import Image

from annotation.kinds.asking import Asked, Asking, ShownImage
from annotation.kinds.models.kept import folder_of
from annotation.kinds.table import KINDS
from annotation.records import Item, Study, StudyImage
from annotation.studies.image_snapshots import studies_folder
from annotation.studies.kinds import NOTHING
from annotation.studies.store import StudyStore
from cir_core.errors import IncompleteJudgement, LanguageModelError, SettingsError, StudyError
from cir_core.images.load import process_image
from cir_core.jobs.estimate import Estimate, Prices, asked, estimate_job, prompt_tokens
from cir_core.jobs.job import JobOptions, JobReport, open_job
from cir_core.jobs.journal import JobCard, JobProgress
from cir_core.jobs.spending import ItemWatch
from cir_core.language.base import LanguageModel
from cir_core.language.tasks import FormTask, Picture
from cir_core.language.wrappers.base import conditions_of
from cir_core.language.wrappers.routed import answering
from cir_core.support.texts import shortened
from cir_core.version import __version__

_ANSWER = 120          # tokens
_REASON = 1000         # characters that are kept
_ENOUGH = 3            # people with whom a model can be compared on an item
_MEGAPIXELS = 64.0     # of snapshots, which are small


@dataclass(frozen=True)
class ModelCard(JobCard):
    """What a model's answers depend on, besides the items."""

    kept: ClassVar[str] = "answers"

    study: str
    protocol: str
    instructions: str        # digest
    language_model: str
    prompt: str
    temperature: float
    version: str


@dataclass(frozen=True)
class ModelJob:
    """A study with the model that answers it.

    Args:
        limit: items at most, those with the most answers of people first; None: all.
        both_sides: ask each item again with the sides exchanged.

    Raises ``StudyError`` for a study that cannot be asked, ``SettingsError`` for a model that cannot answer.
    """

    home: Path
    study: Study
    items: tuple[Item, ...]
    images: Mapping[str, StudyImage]
    people: Mapping[str, int]           # answers by item
    language: LanguageModel
    limit: int | None = None
    both_sides: bool = False

    def __post_init__(self) -> None:
        if KINDS[self.study.kind].asking is None:
            raise StudyError(f"{self.study.name} is {self.study.called}, which no language model can be asked yet.")
        if not any(image.width for image in self.images.values()):
            raise StudyError(f"{self.study.name} was imported without images: there is nothing to show to a model.")
        if self.both_sides and self.asking.turned is None:
            raise StudyError(f"The items of {self.study.name} look the same to everybody: they have no sides. Leave "
                             "--both-sides out.")
        if answering(self.language, FormTask.role).name.startswith("built-in/"):
            raise SettingsError("A study needs a connected language model: the built-in one cannot judge. Set "
                                "CIRQUE_LLM_BASE_URL and CIRQUE_LLM_MODEL (docs/how-to/language-models.md).")
        if not self.language.sees:
            raise SettingsError(f"{self.language.name} does not accept images, which people judge by. Connect a model "
                                "that does, and set CIRQUE_LLM_SEES (docs/how-to/language-models.md).")

    @property
    def asking(self) -> Asking:
        found = KINDS[self.study.kind].asking
        assert found is not None
        return found

    @cached_property
    def card(self) -> ModelCard:
        read = "\n".join(dict.fromkeys(self.asked(2 * item.number).form.instructions for item in self.items[:1]))
        conditions = conditions_of(self.language, FormTask())
        return ModelCard(self.study.study_id, self.study.protocol, hashlib.sha256(read.encode()).hexdigest()[:16],
                         self.language.name, conditions.prompt_version, conditions.temperature, __version__)

    @property
    def folder(self) -> Path:
        return folder_of(self.home, self.study, self.language.name, self.card)

    @cached_property
    def wanted(self) -> list[int]:
        """Numbers in the journal: of item n 2n, and 2n + 1 with the sides exchanged."""
        def order(item: Item) -> tuple[int, bytes]:
            return (-min(self.people.get(item.item_id, 0), _ENOUGH),
                    hashlib.sha256(f"{self.study.plan.seed} {item.key}".encode()).digest())

        chosen = sorted(self.items, key=order)[:self.limit]
        return [2 * item.number + side for item in chosen for side in range(1 + self.both_sides)]

    def item(self, at: int) -> Item:
        return self._by_number[at // 2]

    @cached_property
    def _by_number(self) -> dict[int, Item]:
        """Without what must stay unknown."""
        return {item.number: replace(item, hidden={}) for item in self.items}

    def extra(self, at: int) -> Mapping[str, Any]:
        """How the item is shown: drawn as for a person."""
        rng = Random(f"{self.study.plan.seed} {self.item(at).key}")
        drawn = KINDS[self.study.kind].answers.dealt_extra(rng, NOTHING, NOTHING)
        return self.asking.turned(drawn) if at % 2 and self.asking.turned else drawn

    def asked(self, at: int) -> Asked:
        return self.asking.asked(self.item(at), self.study, self.extra(at))

    def task(self, at: int, complaint: str = "", *, load: bool = True) -> FormTask:
        """Raises ``StudyError`` for an image that is not there. Without ``load`` images are only counted."""
        found = self.asked(at)
        pictures = tuple(self._picture(one) if load else Picture("") for one in found.images)
        return FormTask(found.form, found.texts, tuple(one.name for one in found.images), pictures, complaint)

    def _picture(self, shown: ShownImage) -> Picture:
        path = studies_folder(self.home) / self.study.study_id / f"{shown.token}-{'s' if shown.small else 'l'}.webp"
        try:
            content = path.read_bytes()
        except OSError as error:
            raise StudyError(f"The image of {shown.name} is missing.") from error

        def load() -> Image.Image:
            return process_image(content, lambda image: image.copy(), name=shown.name, max_megapixels=_MEGAPIXELS)

        return Picture(digest=hashlib.sha256(content).hexdigest(), load=load)


def model_job(
    store: StudyStore, home: Path, study: Study, language: LanguageModel, *, limit: int | None = None,
    both_sides: bool = False,
) -> ModelJob:
    people = Counter(one.item_id for one in store.judgements(study.study_id))
    return ModelJob(home, study, tuple(store.items(study.study_id)), store.images(study.study_id), people, language,
                    limit, both_sides)


@dataclass(frozen=True)
class ModelReport(JobReport):
    """``failures``: of this run and of earlier ones, the item's key and the reason."""

    failures: Sequence[tuple[str, str]]

    def as_json(self) -> dict[str, Any]:
        return {"card": dict(self.card), "answered": self.done - len(self.failures), "wanted": self.total,
                "failures": [{"item": key, "reason": reason} for key, reason in self.failures]}


def ask_model(job: ModelJob, options: JobOptions) -> ModelReport:
    """Ask what is wanted and not answered. An answer is on disk before the next is asked for by the same worker.

    Raises:
        DatasetError: there are answers (and no ``resume``), or another process asks.
        LanguageModelUnavailable: nothing is lost; run it again with ``resume``.
    """
    with open_job(job.folder, job.card, options, f"runs the model on {job.study.name}") as run:
        language = run.language(job.language)
        report = run.run(job.wanted, lambda at, watch: _ask(job, language, at, watch))
        failures = [(job.item(one.item).key, one.failure) for one in run.journal.results(job.wanted)
                    if one.result is None]
        return ModelReport(**vars(report), failures=failures)


def _ask(job: ModelJob, language: LanguageModel, at: int, watch: ItemWatch) -> dict[str, Any]:
    item, extra, kind = job.item(at), job.extra(at), KINDS[job.study.kind].answers
    complaint = ""
    for again in (False, True):
        said = language.complete(job.task(at, complaint), watch)
        reason = shortened(said.reason, _REASON)
        try:
            made = kind.normalize(job.asking.answer(said.answers, reason, item, again), item, job.study, extra=extra)
        except IncompleteJudgement as error:
            complaint = str(error)
            continue
        return {"item": item.item_id, "answer": dict(made.answer), "reason": reason, "again": again}
    raise LanguageModelError(f"Its answer was refused twice: {complaint}")


def estimate_model(
    job: ModelJob, left: Sequence[int], *, workers: int, prices: Prices = Prices(), before: JobProgress = JobProgress(),
) -> Estimate:
    """Requests, tokens, cost and time for the items at ``left``; nothing is sent."""
    roles = {}
    if left:
        prompts = sum(prompt_tokens(job.language, job.task(at, load=False)) for at in left)
        roles[FormTask.role] = asked(len(left), 4 * len(left), prompts / len(left), _ANSWER)
    return estimate_job(len(left), roles, "the length of the texts", workers=workers, prices=prices, before=before,
                        things=("item", "items"))
