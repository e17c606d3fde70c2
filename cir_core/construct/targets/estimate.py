"""What the two stages of SoFT's pipeline will ask, cost and take, before they begin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cir_core.construct.targets.given import to_ask
from cir_core.construct.targets.multi_target import MultiTargets
from cir_core.construct.targets.settings import ATTEMPTS, DISTRACTORS, GROUPS
from cir_core.construct.targets.single_target import SingleTargets
from cir_core.datasets.files.captions import query_texts
from cir_core.errors import DatasetError
from cir_core.jobs.estimate import Estimate, Prices, RoleEstimate, asked, estimate_job, is_free, prompt_tokens
from cir_core.jobs.journal import JobProgress
from cir_core.language.tasks import CaptionTask, ConfidenceTask, Picture, RewriteTask, TwoSentencesTask

_SENTENCES, _CONFIDENCE, _REWRITE, _CAPTION = 50, 12, 30, 60     # tokens of an answer; of a confidence, of each
_TRIES = 1.2                                                    # texts until one passes the check


def estimate_targets(
    about: MultiTargets, left: Sequence[int], *, workers: int, prices: Prices = Prices(),
    before: JobProgress = JobProgress(),
) -> Estimate:
    """Requests, tokens, cost and time to find the targets of the queries at ``left``; nothing is sent. The numbers are
    those of ``before``, a journal, if enough is over; else they follow from the prompts."""
    n, roles = len(left), dict[str, RoleEstimate]()
    if left:
        text = about.benchmark.queries[left[0]].modification_text
        scored = min(about.settings.scored, max(len(one.image_ids) for one in about.chosen))
        names = tuple(f"candidate {number}" for number in range(1, scored + 1))
        sizes = _sizes(about, left) if about.given else Counter({scored: len(GROUPS) * n})
        groups, images = sizes.total(), sum(size * count for size, count in sizes.items())
        tokens = sum(count * prompt_tokens(about.language, ConfidenceTask(
            Picture(), text, names[:size], (Picture(),) * size, about.domain)) for size, count in sizes.items())
        if about.given is None and not is_free(about.language, "two-sentences"):
            task = TwoSentencesTask(Picture(), text, about.domain)
            roles["two-sentences"] = asked(n, n, prompt_tokens(about.language, task), _SENTENCES)
        roles["confidence"] = RoleEstimate(groups, groups * ATTEMPTS, tokens, _CONFIDENCE * images)
    return estimate_job(n, roles, "the length of the prompts", workers=workers, prices=prices, before=before,
                        things=("query", "queries"))


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
                _, unknown = to_ask(record.image_ids, there, query, given.known(query, group), about.settings.scored)
                sizes[len(unknown)] += bool(unknown)
    return +sizes


def estimate_rewriting(
    about: SingleTargets, left: Sequence[int], *, workers: int, prices: Prices = Prices(),
    before: JobProgress = JobProgress(),
) -> Estimate:
    """:func:`estimate_targets` of the texts at ``left``. Those whose captions are empty ask nothing."""
    n, roles = len(left), dict[str, RoleEstimate]()
    texts = [texts[0] for at in left if (texts := query_texts(about.items[at].record.captions, "joined"))]
    if left and not is_free(about.language, "rewrite"):
        text, calls, most = texts[0] if texts else "", len(texts) * _TRIES, len(texts) * about.attempts
        task = RewriteTask(Picture(), Picture(), (Picture(),) * DISTRACTORS, text, about.domain)
        roles["rewrite"] = asked(calls, most, prompt_tokens(about.language, task), _REWRITE)
        if about.check == "confidence":
            shown = 1 + DISTRACTORS
            names = tuple(f"candidate {number}" for number in range(1, shown + 1))
            each = prompt_tokens(about.language, ConfidenceTask(Picture(), text, names, (Picture(),) * shown,
                                                                about.domain))
            roles["confidence"] = asked(calls, most * ATTEMPTS, each, _CONFIDENCE * shown)
        elif not about.language.sees and not is_free(about.language, "caption"):
            images = {name for at in left for name in (about.items[at].record.reference_id,
                                                       about.items[at].drawn.target,
                                                       *about.items[at].drawn.distractors)}
            captions = sum(name in about.gallery and not about.gallery.caption_of(name) for name in images)
            each = prompt_tokens(about.language, CaptionTask(Picture(), about.domain))
            roles["caption"] = asked(captions, captions, each, _CAPTION)
    return estimate_job(n, roles, "the length of the prompts", workers=workers, prices=prices, before=before,
                        things=("query", "queries"))
