"""What the two stages of SoFT's pipeline will ask, cost and take, before they begin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from cir_core.construct.sessions.estimate import LETTERS, PICTURE, SECONDS, TRIAL, Estimate, Prices, RoleEstimate
from cir_core.construct.sessions.journal import Tally
from cir_core.construct.targets.given import to_ask
from cir_core.construct.targets.multi_target import MultiTargets
from cir_core.construct.targets.settings import ATTEMPTS, DISTRACTORS, GROUPS
from cir_core.construct.targets.single_target import SingleTargets
from cir_core.datasets.files.captions import query_texts
from cir_core.errors import DatasetError
from cir_core.language.base import LanguageModel
from cir_core.language.openai.form import in_words
from cir_core.language.prompts import load
from cir_core.language.tasks import CaptionTask, ConfidenceTask, Picture, RewriteTask, Task, TwoSentencesTask
from cir_core.language.wrappers.routed import answering
from cir_core.support.texts import counted

_SENTENCES, _CONFIDENCE, _REWRITE, _CAPTION = 50, 12, 30, 60     # tokens of an answer; of a confidence, of each
_TRIES = 1.2                                                    # texts until one passes the check


def estimate_targets(
    about: MultiTargets, left: Sequence[int], *, workers: int, prices: Prices = Prices(), before: Tally | None = None,
) -> Estimate:
    """Requests, tokens, cost and time to find the targets of the queries at ``left``; nothing is sent. The numbers are
    those of ``before``, a journal, if enough is over; else they follow from the prompts. Answers that are in the cache
    cost nothing, which is not known here."""
    n, roles = len(left), dict[str, RoleEstimate]()
    if left:
        text = about.benchmark.queries[left[0]].modification_text
        scored = min(about.settings.scored, max(len(one.image_ids) for one in about.chosen))
        names = tuple(f"candidate {number}" for number in range(1, scored + 1))
        sizes = _sizes(about, left) if about.given else Counter({scored: len(GROUPS) * n})
        groups, images = sizes.total(), sum(size * count for size, count in sizes.items())
        tokens = sum(count * _tokens(about.language, ConfidenceTask(
            Picture(), text, names[:size], (Picture(),) * size, about.domain)) for size, count in sizes.items())
        if about.given is None and not _free(about.language, "two-sentences"):
            task = TwoSentencesTask(Picture(), text, about.domain)
            roles["two-sentences"] = RoleEstimate(n, n, n * _tokens(about.language, task), n * _SENTENCES)
        roles["confidence"] = RoleEstimate(groups, groups * ATTEMPTS, tokens, _CONFIDENCE * images)
    return _estimate(n, roles, workers, prices, before, "queries")


def _sizes(about: MultiTargets, left: Sequence[int]) -> Counter[int]:
    """Of given candidates the numbers of images that are asked about in one request. Queries that the files lack ask
    nothing."""
    sizes, wanted = Counter[int](), frozenset(left)
    for subset in about.chosen:
        given, there = about.candidates[subset.name], frozenset(subset.image_ids)
        for query in (about.benchmark.queries[at] for at in subset.positions if at in wanted):
            try:
                records = given.of(query)
            except DatasetError:
                continue
            for group, record in records.items():
                _, asked = to_ask(record.image_ids, there, query, given.known(query, group), about.settings.scored)
                sizes[len(asked)] += bool(asked)
    return +sizes


def estimate_rewriting(
    about: SingleTargets, left: Sequence[int], *, workers: int, prices: Prices = Prices(), before: Tally | None = None,
) -> Estimate:
    """:func:`estimate_targets` of the pieces at ``left``. Those whose captions are empty ask nothing."""
    n, roles = len(left), dict[str, RoleEstimate]()
    texts = [texts[0] for at in left if (texts := query_texts(about.pieces[at].record.captions, "joined"))]
    if left and not _free(about.language, "rewrite"):
        text, calls, most = texts[0] if texts else "", len(texts) * _TRIES, len(texts) * about.attempts
        task = RewriteTask(Picture(), Picture(), (Picture(),) * DISTRACTORS, text, about.domain)
        roles["rewrite"] = RoleEstimate(calls, most, calls * _tokens(about.language, task), calls * _REWRITE)
        if about.check == "confidence":
            shown = 1 + DISTRACTORS
            names = tuple(f"candidate {number}" for number in range(1, shown + 1))
            each = _tokens(about.language, ConfidenceTask(Picture(), text, names, (Picture(),) * shown, about.domain))
            roles["confidence"] = RoleEstimate(calls, most * ATTEMPTS, calls * each, calls * _CONFIDENCE * shown)
        elif not about.language.sees and not _free(about.language, "caption"):
            images = {name for at in left for name in (about.pieces[at].record.reference_id,
                                                       about.pieces[at].drawn.target,
                                                       *about.pieces[at].drawn.distractors)}
            asked = sum(name in about.gallery and not about.gallery.caption_of(name) for name in images)
            each = _tokens(about.language, CaptionTask(Picture(), about.domain))
            roles["caption"] = RoleEstimate(asked, asked, asked * each, asked * _CAPTION)
    return _estimate(n, roles, workers, prices, before, "texts")


def _estimate(
    n: int, roles: Mapping[str, RoleEstimate], workers: int, prices: Prices, before: Tally | None, things: str
) -> Estimate:
    if before is not None and before.sessions >= TRIAL and n:
        share, usage = n / before.sessions, before.usage
        tokens = (usage.prompt_tokens * share, usage.completion_tokens * share)
        asked = {"all roles": RoleEstimate(usage.calls * share, sum(role.most for role in roles.values()), *tokens)}
        return Estimate(n, asked, prices.of(*tokens), before.seconds * share / workers,
                        f"measured on the {counted(before.sessions, 'query', 'queries')} that are over")
    calls = sum(role.calls for role in roles.values())
    total = [sum(role.prompt_tokens for role in roles.values()), sum(role.completion_tokens for role in roles.values())]
    if not roles:
        return Estimate(n, roles, None, 0.0, f"the built-in model, which costs nothing, writes the {things}")
    return Estimate(n, roles, prices.of(*total), calls * SECONDS / workers,
                    f"the length of the prompts and {SECONDS:g} s a request")


def _free(language: LanguageModel, role: str) -> bool:
    return answering(language, role).name.startswith(("built-in/", "blip"))


def _tokens(language: LanguageModel, task: Task[Any]) -> float:
    """Of the prompt with its images, or with captions of some forty letters."""
    prompt = load(task.role)
    words = sum(map(len, prompt.fill(task, in_words(task)))) / LETTERS if prompt else 0.0
    return words + len(task.pictures()) * (PICTURE if language.sees else 2 * 40 / LETTERS)
