"""Judge a sample of sessions: a long job that can be killed, resumed and limited, as a construction is.

    DIR/journal.jsonl   judged sessions, in the order in which they were judged
    DIR/protocol.json   what the scores depend on
    DIR/judged.json     scores with reasons, means with intervals, failures; written at the end, also of a part
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from cir_core.construct.judging.sample import (
    SAMPLE,
    SampledSession,
    Source,
    content_digest,
    draw_sample,
    sources_as_json,
)
from cir_core.construct.judging.scores import DIMENSIONS, JudgedSession, ScoreRow, score_rows
from cir_core.construct.judging.tasks import Galleries, JudgeTasks, check_galleries, galleries_as_json, gallery_for
from cir_core.errors import DatasetError, SettingsError
from cir_core.jobs.estimate import Estimate, Prices, RoleEstimate, asked, estimate_job, is_free, prompt_tokens
from cir_core.jobs.job import JobOptions, JobReport, open_job
from cir_core.jobs.journal import JobCard, JobJournal, JobProgress, as_bytes
from cir_core.jobs.spending import ItemWatch
from cir_core.language.base import LanguageModel
from cir_core.language.tasks import CaptionTask, JudgeTask, Picture
from cir_core.language.wrappers.base import conditions_of
from cir_core.language.wrappers.routed import answering
from cir_core.support.files import write_atomically
from cir_core.types.records import Domain
from cir_core.version import __version__

_ANSWER, _CAPTION = 90, 60      # tokens of a reason and five numbers; of a caption


@dataclass(frozen=True)
class JudgingCard(JobCard):
    """What scores depend on: the protocol card of judging."""

    kept: ClassVar[str] = "scores"

    sources: dict[str, dict[str, Any]]      # digest, and sessions by subset
    galleries: dict[str, str]               # source or subset to name and digest
    sample: int
    seed: int
    domain: str
    language_model: str
    shown: str                              # "images" or "captions"
    prompts: dict[str, str]
    version: str


@dataclass(frozen=True)
class Judging:
    """Sources of sessions with everything they are judged with. ``sample``: sessions of each subset of a source."""

    sources: Sequence[Source]
    galleries: Galleries
    language: LanguageModel
    sample: int = SAMPLE
    seed: int = 0
    domain: Domain = "garment"

    def __post_init__(self) -> None:
        if answering(self.language, "judge").name.startswith("built-in/"):
            raise SettingsError("Judging needs a connected language model: the built-in one cannot judge. Set "
                                "CIRQUE_LLM_BASE_URL and CIRQUE_LLM_MODEL (docs/how-to/language-models.md).")
        check_galleries(self.galleries, self.sources)

    @cached_property
    def sampled(self) -> tuple[SampledSession, ...]:
        return draw_sample(self.sources, self.sample, self.seed)

    @cached_property
    def card(self) -> JudgingCard:
        asked: list[Any] = [JudgeTask()] + ([] if self.language.sees else [CaptionTask(domain=self.domain)])
        return JudgingCard(
            sources_as_json(self.sources), galleries_as_json(self.galleries), self.sample, self.seed, self.domain,
            self.language.name, "images" if self.language.sees else "captions",
            {task.role: conditions_of(self.language, task).prompt_version for task in asked}, __version__,
        )

    @property
    def notes(self) -> list[str]:
        """Sources whose texts the same model wrote: CIRCLED judges with another one (self-preference bias)."""
        judge = answering(self.language, "judge").name
        own = [source.name for source in self.sources
               if any(judge in one.language_model.split(" + ") for one in source.subsets)]
        return [f"{judge} wrote texts of {', '.join(own)} itself, and models prefer their own: the paper judges with "
                "another model."] if own else []


@dataclass(frozen=True)
class JudgingReport(JobReport):
    """``sessions``: those judged, in the order of the sample; ``failures`` of this run and of earlier ones."""

    rows: Sequence[ScoreRow]
    sessions: Sequence[JudgedSession]
    failures: Sequence[Mapping[str, str]]
    notes: Sequence[str]

    def as_json(self) -> dict[str, Any]:
        """The same, however often it was interrupted."""
        complete = len(self.sessions) + len(self.failures) == self.total
        return {"card": dict(self.card), "complete": complete, "sampled": self.total,
                "rows": [row.as_json() for row in self.rows], "sessions": [one.as_json() for one in self.sessions],
                "failures": [dict(one) for one in self.failures], "notes": list(self.notes)}


def judge_sessions(judging: Judging, folder: Path, options: JobOptions = JobOptions()) -> JudgingReport:
    """Judge the sample, each session by itself, and write the scores to ``folder``.

    What a run has judged is kept, and ``options.resume`` goes on. A session that fails is listed with its reason. The
    files do not depend on the workers, nor on where earlier runs ended.

    Raises:
        DatasetError: ``folder`` has scores (and no ``resume``) or other ones, also of other sessions, or another
            process uses it.
        LanguageModelUnavailable: nothing is lost; run it again with ``resume``.
        GalleryError: the disk is full.
    """
    sampled = judging.sampled
    with open_job(folder, judging.card, options, "judges sessions") as job:
        _read(job.journal, sampled)     # before anything is asked
        language = job.language(judging.language)
        tasks = JudgeTasks(judging.galleries, language, judging.domain)
        run = job.run(range(len(sampled)), lambda at, watch: _judge(language, tasks, sampled[at], watch))
        judged, failures = _read(job.journal, sampled)
        report = JudgingReport(**vars(run), rows=score_rows(judged, judging.seed), sessions=judged, failures=failures,
                               notes=judging.notes)
        write_atomically(folder / "judged.json", as_bytes(report.as_json()))
        return report


def _judge(
    language: LanguageModel, tasks: JudgeTasks, sampled: SampledSession, watch: ItemWatch
) -> dict[str, Any]:
    answer, session = language.complete(tasks.task(sampled, watch), watch), sampled.session
    return JudgedSession(
        sampled.source, session.subset, session.session_id, len(session.turns),
        {name: getattr(answer, name) for name in DIMENSIONS}, answer.reason, answer.notes,
        content_digest(session)).as_json()


def _read(
    journal: JobJournal, sampled: Sequence[SampledSession]
) -> tuple[list[JudgedSession], list[dict[str, str]]]:
    """Raises ``DatasetError`` for the scores of another session than that at their place."""
    judged, failures = list[JudgedSession](), []
    for found in journal.results(range(len(sampled))):
        source, session = sampled[found.item].source, sampled[found.item].session
        if found.result is None:
            failures.append({"source": source, "subset": session.subset, "session_id": session.session_id,
                             "reason": found.failure})
            continue
        judged.append(one := JudgedSession.from_json(found.result))
        if (one.source, one.subset, one.session_id) != (source, session.subset, session.session_id):
            raise DatasetError(f"Finished scores belong to another session than {session.session_id} of {source}: an "
                               "earlier version of cirque began this folder with the sources in another order. Name "
                               "another folder with --out: answers are cached, and not paid for again.")
    return judged, failures


def estimate_judging(
    judging: Judging, left: Sequence[int], *, workers: int, prices: Prices = Prices(),
    before: JobProgress = JobProgress(),
) -> Estimate:
    """Requests, tokens, cost and time for the sessions of the sample at ``left``; nothing is sent. The numbers are
    those of ``before``, a journal, if enough were judged; else they follow from the length of the texts."""
    roles = dict[str, RoleEstimate]()
    if left:
        prompts = sum(_tokens(judging, at) for at in left)
        roles["judge"] = asked(len(left), 2 * len(left), prompts / len(left), _ANSWER)
    if captions := _captions(judging, left):
        each = prompt_tokens(judging.language, CaptionTask(Picture(""), judging.domain))
        roles["caption"] = asked(captions, 2 * captions, each, _CAPTION)
    return estimate_job(len(left), roles, "the length of the texts", workers=workers, prices=prices, before=before)


def _tokens(judging: Judging, at: int) -> float:
    turns = judging.sampled[at].session.turns
    return prompt_tokens(judging.language, JudgeTask((Picture(""),) * len(turns), tuple(turn.text for turn in turns),
                                                     Picture("")))


def _captions(judging: Judging, left: Sequence[int]) -> int:
    """Images that a server has to caption, because the judge does not see them and the manifest says nothing."""
    if judging.language.sees or is_free(judging.language, "caption"):
        return 0
    wanted = set()
    for one in (judging.sampled[at] for at in left):
        gallery = gallery_for(judging.galleries, one.source, one.session.subset)
        for image_id in (*(turn.reference_id for turn in one.session.turns), *one.session.target_ids[:1]):
            if image_id in gallery and not gallery.caption_of(image_id):
                wanted.add((gallery.name, image_id))
    return len(wanted)
