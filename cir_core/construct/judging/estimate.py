"""What judging will ask, cost and take, before it begins."""

from __future__ import annotations

from collections.abc import Sequence

from cir_core.construct.judging.run import Judging
from cir_core.construct.judging.sample import SampledSession
from cir_core.construct.judging.tasks import gallery_for
from cir_core.construct.sessions.estimate import (
    LETTERS,
    PICTURE,
    SECONDS,
    TRIAL,
    Estimate,
    Prices,
    RoleEstimate,
)
from cir_core.construct.sessions.journal import Tally
from cir_core.language.openai.form import in_words
from cir_core.language.prompts import load
from cir_core.language.tasks import CaptionTask, JudgeTask, Picture
from cir_core.language.wrappers.routed import answering
from cir_core.support.texts import counted

_ANSWER = 90        # tokens of a reason and five numbers
_CAPTION = 60


def estimate_judging(
    judging: Judging, left: Sequence[SampledSession], *, workers: int, prices: Prices = Prices(),
    before: Tally | None = None,
) -> Estimate:
    """Requests, tokens, cost and time for the sessions in ``left``; nothing is sent. The numbers are those of
    ``before``, a journal, if enough were judged; else they follow from the length of the texts. Answers that are in
    the cache cost nothing, which is not known here."""
    if before is not None and before.sessions >= TRIAL and left:
        share, usage = len(left) / before.sessions, before.usage
        tokens = (usage.prompt_tokens * share, usage.completion_tokens * share)
        role = RoleEstimate(usage.calls * share, 2 * len(left), *tokens)
        return Estimate(len(left), {"judge": role}, prices.of(*tokens), before.seconds * share / workers,
                        f"measured on the {counted(before.sessions, 'session')} judged so far")
    roles = {}
    if left:
        roles["judge"] = RoleEstimate(len(left), 2 * len(left), sum(_tokens(judging, one) for one in left),
                                      len(left) * _ANSWER)
    if captions := _captions(judging, left):
        roles["caption"] = RoleEstimate(captions, 2 * captions, captions * _length(CaptionTask(Picture(""),
                                        judging.domain)), captions * _CAPTION)
    total = [sum(role.prompt_tokens for role in roles.values()), sum(role.completion_tokens for role in roles.values())]
    calls = sum(role.calls for role in roles.values())
    return Estimate(len(left), roles, prices.of(*total), calls * SECONDS / workers,
                    f"the length of the texts and {SECONDS:g} s a request")


def _tokens(judging: Judging, sampled: SampledSession) -> float:
    session = sampled.session
    picture = Picture("" if judging.language.sees else "a caption of some twenty words, as models write them " * 2)
    task = JudgeTask((picture,) * len(session.turns), tuple(turn.text for turn in session.turns), picture)
    images = len(task.pictures())
    return _length(task) + images * (PICTURE if judging.language.sees else len(picture.caption or "") / LETTERS)


def _length(task: JudgeTask | CaptionTask) -> float:
    prompt = load(task.role)
    return sum(map(len, prompt.fill(task, in_words(task)))) / LETTERS if prompt else 0.0


def _captions(judging: Judging, left: Sequence[SampledSession]) -> int:
    """Images that a server has to caption, because the judge does not see them and the manifest says nothing."""
    if judging.language.sees or answering(judging.language, "caption").name.startswith(("built-in/", "blip")):
        return 0
    wanted = set()
    for one in left:
        gallery = gallery_for(judging.galleries, one.source, one.session.subset)
        for image_id in (*(turn.reference_id for turn in one.session.turns), *one.session.target_ids[:1]):
            if image_id in gallery and not gallery.caption_of(image_id):
                wanted.add((gallery.name, image_id))
    return len(wanted)
