"""What a construction will ask, cost and take, before it begins."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Sequence
from dataclasses import replace

from cir_core.construct.sessions.run import Construction
from cir_core.construct.sessions.subsets import Subset
from cir_core.errors import CirqueError, SettingsError, UnsupportedTask
from cir_core.jobs.estimate import (
    TRIAL,
    Estimate,
    Prices,
    RoleEstimate,
    asked,
    estimate_job,
    prompt_tokens,
    time_left,
)
from cir_core.jobs.journal import JobProgress
from cir_core.jobs.spending import Budget, ItemWatch, Spending
from cir_core.language.tasks import CaptionTask, DifferenceTask, MergeTask, Picture
from cir_core.language.wrappers.routed import answering
from cir_core.support.texts import counted
from cir_core.types.records import Domain

GARMENTS: tuple[Domain, ...] = ("garment", "dress", "shirt", "toptee")
TURNS = 3.3
"""Turns a query, in CIRCLED: 25,183 failures of six turns, 22,967 of one, 22,608 of 2.56 and 7,130 of 3.53
(Tables 3 to 5)."""
_SHOWN = 10                 # images captioned for a later turn
_TRIES = 1.2                # requests for a later turn's text
_ANSWER = {"caption": 60, "merge": 30, "difference": 25}   # tokens
_BUSY = 1.5


def estimate(
    construction: Construction, subsets: Sequence[Subset], left: Sequence[int], *, workers: int,
    prices: Prices = Prices(), before: JobProgress = JobProgress(),
) -> Estimate:
    """Requests, tokens, cost and time for the queries ``left`` of ``subsets``. Nothing is sent to a server.

    The built-in model, which costs nothing, constructs a few sessions. For a server the numbers are those of
    ``before``, a journal, if it has sessions; else CIRCLED's turns per query, and the length of the prompts.
    """
    if is_builtin(construction) or not left:
        return _tried(construction, subsets, left)
    return estimate_job(len(left), _assumed(construction, subsets, left),
                        f"CIRCLED's {TURNS:g} turns a query, the length of the prompts", workers=workers,
                        prices=prices, before=before)


def check_language(construction: Construction, left: Sequence[int]) -> None:
    """Raises ``SettingsError`` if the built-in model is to caption or compare images that it cannot: before anything
    begins, not at every session."""
    if not is_builtin(construction):
        _check_captioner(construction, left)
        return
    if construction.domain not in GARMENTS:
        raise SettingsError(f"The built-in language model compares garments only, but these images "
                            f"show '{construction.domain}'. Connect a language model that sees "
                            "(docs/how-to/language-models.md) and construct with --model settings.")
    [builder] = construction.builders(construction.subsets.subsets[:1], Spending(Budget())).values()
    problem = ""
    for query in (construction.benchmark.queries[at] for at in left[:TRIAL]):
        try:
            builder.difference(query.reference_id, query.target_ids[0])
            return
        except UnsupportedTask as error:
            problem = str(error)
        except (CirqueError, IndexError):
            return
    if problem:
        raise SettingsError(problem)


def _check_captioner(construction: Construction, left: Sequence[int]) -> None:
    """A model that sees nothing leaves captions to the built-in one."""
    if construction.domain in GARMENTS or not answering(construction.language, "caption").name.startswith("built-in/"):
        return
    gallery = construction.gallery
    shown = (construction.benchmark.queries[at].reference_id for at in left)
    if any(image_id in gallery and not gallery.caption_of(image_id) for image_id in shown):
        raise SettingsError(f"{construction.language.name} accepts no images, and the built-in language model, which "
                            f"captions in its place, knows garments only; these images show '{construction.domain}'. "
                            "Connect a model that sees (CIRQUE_LLM_SEES), a captioner (CIRQUE_CAPTIONER), or put "
                            "captions into the gallery's manifest.")


def is_builtin(construction: Construction) -> bool:
    return answering(construction.language, "difference").name.startswith("built-in/")


def _tried(construction: Construction, subsets: Sequence[Subset], left: Sequence[int]) -> Estimate:
    spending = Spending(Budget())
    builders = construction.builders(subsets, spending)
    subset_of = {position: one.name for one in subsets for position in one.positions}
    trial = left[::max(1, len(left) // TRIAL)][:TRIAL]

    def build(position: int) -> tuple[float, float, float]:
        """Seconds of work, of captioning, and in all. Of this thread alone: the other work of a busy machine, twelve
        estimates at a time included, is not this one's."""
        began, used = time.perf_counter(), time.thread_time()
        with contextlib.suppress(CirqueError):
            builders[subset_of[position]].build(construction.benchmark.queries[position], ItemWatch(spending))
        captions = spending.worked.pop("caption", 0.0)
        return time.thread_time() - used - captions, captions, time.perf_counter() - began

    for position in trial[:1]:      # it loads what all of them use
        build(position)
    spending.answers.clear()
    times = [build(position) for position in trial]
    answers = dict(sorted(spending.answers.items()))
    worked = [one[0] for one in times]
    if worked:      # the longest may have loaded what no earlier one did
        longest = worked.index(max(worked))
        worked[longest] = min(worked[longest], build(trial[longest])[0])
    ahead = time_left(len(left), 1, worked)
    share, captioning = len(left) / max(1, len(trial)), 0.0
    expected = {name: number * share for name, number in answers.items()}
    if captions := answers.get("caption", 0):
        # Each image is captioned once, and few of a trial's are captioned already.
        expected["caption"] = min(expected["caption"], sum(len(subset.image_ids) for subset in subsets))
        captioning = sum(one[1] for one in times) / captions * expected["caption"]
    ahead = replace(ahead, expected=ahead.expected + captioning, shortest=ahead.shortest + captioning,
                    longest=ahead.longest + captioning)
    waiting = sum(one[2] for one in times) / (sum(one[0] + one[1] for one in times) or 1.0)
    if waiting > _BUSY:     # if the machine goes on having so much other work
        ahead = replace(ahead, longest=max(ahead.longest, ahead.expected * waiting))
    roles = {name: RoleEstimate(number, round(number), 0, 0) for name, number in expected.items()}
    return Estimate(len(left), roles, None, ahead,
                    f"a trial of {counted(len(trial), 'session')} with the built-in model, which costs nothing")


def _assumed(
    construction: Construction, subsets: Sequence[Subset], left: Sequence[int]
) -> dict[str, RoleEstimate]:
    n, settings, language = len(left), construction.settings, construction.language
    turns = min(TURNS, settings.total_turns)
    later, most_later = n * (turns - 1), n * (settings.total_turns - 1)
    images = [image_id for subset in subsets for image_id in subset.image_ids]
    without = sum(not construction.gallery.caption_of(image_id) for image_id in images)
    drawn = n + later * (_SHOWN + 1)
    captions = without * -math.expm1(-drawn / max(1, len(images)))   # images drawn at random, some of them again
    expected = {"caption": captions, "merge": n * turns, "difference": later * _TRIES}
    most = {"caption": min(without, n * 2 + most_later * _SHOWN), "merge": n * settings.total_turns,
            "difference": most_later * settings.attempts}
    text, picture = construction.benchmark.queries[left[0]].modification_text, Picture("")
    caption = "a caption of some twenty words, as models write them for a picture " * 2
    tasks = (CaptionTask(picture, construction.domain), MergeTask(caption, text, construction.domain),
             DifferenceTask(picture, picture, (text,), construction.domain))
    return {task.role: asked(expected[task.role], most[task.role], prompt_tokens(language, task), _ANSWER[task.role])
            for task in tasks if not answering(language, task.role).name.startswith("built-in/")}
