"""What judging will ask, cost and take, before it begins."""

from __future__ import annotations

from collections.abc import Sequence

from cir_core.construct.judging.run import Judging
from cir_core.construct.judging.tasks import gallery_for
from cir_core.jobs.estimate import Estimate, Prices, RoleEstimate, asked, estimate_job, is_free, prompt_tokens
from cir_core.jobs.journal import JobProgress
from cir_core.language.tasks import CaptionTask, JudgeTask, Picture

_ANSWER = 90        # tokens of a reason and five numbers
_CAPTION = 60


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
