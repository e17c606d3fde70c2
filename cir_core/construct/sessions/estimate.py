"""What a construction will ask, cost and take, before it begins."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cir_core.construct.sessions.journal import Tally
from cir_core.construct.sessions.run import Construction
from cir_core.construct.sessions.spending import Budget, SessionWatch, Spending
from cir_core.construct.sessions.subsets import Subset
from cir_core.datasets.records import BenchmarkQuery
from cir_core.errors import CirqueError, SettingsError, UnsupportedTask
from cir_core.language.base import LanguageModel
from cir_core.language.openai.form import in_words
from cir_core.language.prompts import load
from cir_core.language.tasks import CaptionTask, DifferenceTask, MergeTask, Picture, Task
from cir_core.language.wrappers.routed import answering
from cir_core.support.texts import counted
from cir_core.types.domains import Domain

GARMENTS: tuple[Domain, ...] = ("garment", "dress", "shirt", "toptee")
TURNS = 3.3
"""Turns a query, in CIRCLED: 25,183 failures of six turns, 22,967 of one, 22,608 of 2.56 and 7,130 of 3.53
(Tables 3 to 5)."""
_SHOWN = 10                 # images captioned for a later turn
_TRIES = 1.2                # requests for a later turn's text
LETTERS = 4                # of a token of English
PICTURE = 85               # tokens of an image of 512 pixels at low detail; servers differ
_ANSWER = {"caption": 60, "merge": 30, "difference": 25}   # tokens
SECONDS = 2.0              # of a request, until one was measured
_BUSY = 1.5
TRIAL = 12                 # sessions that the built-in model constructs for an estimate


@dataclass(frozen=True)
class RoleEstimate:
    calls: float
    most: int               # at worst: no session succeeds and every text is tried again
    prompt_tokens: float
    completion_tokens: float


@dataclass(frozen=True)
class Estimate:
    """``cost`` is None without prices. ``basis`` says what the numbers rest on. ``busy_seconds``: what it takes while
    the machine has as much other work as during the trial; None if that was little."""

    sessions: int           # left to construct
    roles: Mapping[str, RoleEstimate]
    cost: float | None
    seconds: float
    basis: str
    busy_seconds: float | None = None

    @property
    def calls(self) -> float:
        return sum(role.calls for role in self.roles.values())


@dataclass(frozen=True)
class Prices:
    """Per million tokens."""

    prompt: float | None = None
    completion: float | None = None

    def of(self, prompt: float, completion: float) -> float | None:
        if self.prompt is None or self.completion is None:
            return None
        return (prompt * self.prompt + completion * self.completion) / 1e6


def queries_left(
    construction: Construction, subsets: Sequence[Subset], limit: int | None, before: Tally | None
) -> list[tuple[str, BenchmarkQuery]]:
    """Of the first ``limit`` queries of each of ``subsets`` those that ``before`` has not, with their subset."""
    return [(one.name, construction.benchmark.queries[at]) for one in subsets for at in one.positions[:limit]
            if before is None or at not in before.offsets]


def estimate(
    construction: Construction, subsets: Sequence[Subset], queries: Sequence[tuple[str, BenchmarkQuery]], *,
    workers: int, prices: Prices = Prices(), before: Tally | None = None,
) -> Estimate:
    """Requests, tokens, cost and time for ``queries``, each with its subset's name. Nothing is sent to a server.

    The built-in model, which costs nothing, constructs a few sessions. For a server the numbers are those of
    ``journal``, if it has sessions; else CIRCLED's turns per query, and the length of the prompts.
    """
    if is_builtin(construction.language) or not queries:
        return _tried(construction, subsets, queries)
    assumed = _assumed(construction, subsets, queries, workers, prices)
    if before is None or before.sessions < TRIAL:
        return assumed
    share, usage = len(queries) / before.sessions, before.usage
    calls = usage.calls * share
    scale = calls / assumed.calls if assumed.calls else 0.0
    tokens = (usage.prompt_tokens * share, usage.completion_tokens * share)
    roles = {name: RoleEstimate(role.calls * scale, role.most, role.prompt_tokens * tokens[0] / _all(assumed, 0),
                                role.completion_tokens * tokens[1] / _all(assumed, 1))
             for name, role in assumed.roles.items()}
    return Estimate(len(queries), roles, prices.of(*tokens), before.seconds * share / workers,
                    f"measured on the {counted(before.sessions, 'session')} constructed so far")


def check_language(construction: Construction, queries: Sequence[tuple[str, BenchmarkQuery]]) -> None:
    """Raises ``SettingsError`` if the built-in model is to caption or compare images that it cannot: before anything
    begins, not at every session."""
    if not is_builtin(construction.language):
        _check_captioner(construction, queries)
        return
    if construction.domain not in GARMENTS:
        raise SettingsError(f"The built-in language model tells differences between garments only, and these images "
                            f"show '{construction.domain}'. Connect a language model that sees "
                            "(docs/language-models.md) and construct with --model settings.")
    [builder] = construction.builders(construction.subsets.subsets[:1], Spending(Budget())).values()
    problem = ""
    for _, query in queries[:TRIAL]:
        try:
            builder.difference(query.reference_id, query.target_ids[0])
            return
        except UnsupportedTask as error:
            problem = str(error)
        except (CirqueError, IndexError):
            return
    if problem:
        raise SettingsError(problem)


def _check_captioner(construction: Construction, queries: Sequence[tuple[str, BenchmarkQuery]]) -> None:
    """A model that sees nothing leaves captions to the built-in one."""
    if construction.domain in GARMENTS or not answering(construction.language, "caption").name.startswith("built-in/"):
        return
    gallery = construction.gallery
    shown = [query.reference_id for _, query in queries if query.reference_id in gallery]
    if any(not gallery.caption_of(image_id) for image_id in shown):
        raise SettingsError(f"{construction.language.name} sees no images, and the built-in language model, which "
                            f"captions in its place, knows garments only; these images show '{construction.domain}'. "
                            "Connect a model that sees (CIRQUE_LLM_SEES), a captioner (CIRQUE_CAPTIONER), or put "
                            "captions into the gallery's manifest.")


def is_builtin(language: LanguageModel) -> bool:
    return answering(language, "difference").name.startswith("built-in/")


def _all(one: Estimate, place: int) -> float:
    return sum((role.prompt_tokens, role.completion_tokens)[place] for role in one.roles.values()) or 1.0


def _tried(
    construction: Construction, subsets: Sequence[Subset], queries: Sequence[tuple[str, BenchmarkQuery]]
) -> Estimate:
    spending = Spending(Budget())
    builders = construction.builders(subsets, spending)
    step = max(1, len(queries) // TRIAL)
    trial = queries[::step][:TRIAL]
    # Of this thread alone: the other work of a busy machine, twelve estimates at a time included, is not this one's.
    worked, captioning, waited = list[float](), list[float](), 0.0
    for number, (name, query) in enumerate((*trial[:1], *trial)):   # the first one loads what all of them use
        began, used = time.perf_counter(), time.thread_time()
        with contextlib.suppress(CirqueError):
            builders[name].build(query, SessionWatch(spending))
        captions = spending.worked.pop("caption", 0.0)
        if not number:
            spending.answers.clear()
            continue
        worked.append(time.thread_time() - used - captions)
        captioning.append(captions)
        waited += time.perf_counter() - began
    share = len(queries) / max(1, len(trial))
    images = sum(len(subset.image_ids) for subset in subsets)
    expected = {name: number * share for name, number in sorted(spending.answers.items())}
    ahead = _usual(worked) * len(queries)
    if asked := spending.answers.get("caption", 0):
        # Each image is captioned once, and few of a trial's are captioned already.
        expected["caption"] = min(expected["caption"], images)
        ahead += sum(captioning) / asked * expected["caption"]
    seconds = sum(worked) + sum(captioning)
    roles = {name: RoleEstimate(number, round(number), 0, 0) for name, number in expected.items()}
    return Estimate(len(queries), roles, None, ahead,
                    f"a trial of {counted(len(trial), 'session')} with the built-in model, which costs nothing",
                    ahead * waited / seconds if seconds and waited > _BUSY * seconds else None)


def _usual(seconds: Sequence[float]) -> float:
    """The mean without the longest, which has loaded what all later ones use."""
    longest = max(seconds, default=0.0) if len(seconds) > 2 else 0.0
    return (sum(seconds) - longest) / max(1, len(seconds) - bool(longest))


def _assumed(
    construction: Construction, subsets: Sequence[Subset], queries: Sequence[tuple[str, BenchmarkQuery]], workers: int,
    prices: Prices,
) -> Estimate:
    n, settings = len(queries), construction.settings
    turns = min(TURNS, settings.total_turns)
    later, most_later = n * (turns - 1), n * (settings.total_turns - 1)
    images = [image_id for subset in subsets for image_id in subset.image_ids]
    without = sum(not construction.gallery.caption_of(image_id) for image_id in images)
    drawn = n + later * (_SHOWN + 1)
    captions = without * -math.expm1(-drawn / max(1, len(images)))   # images drawn at random, some of them again
    expected = {"caption": captions, "merge": n * turns, "difference": later * _TRIES}
    most = {"caption": min(without, n * 2 + most_later * _SHOWN), "merge": n * settings.total_turns,
            "difference": most_later * settings.attempts}
    tokens = _prompt_tokens(construction, queries[0][1])
    asked = {role: RoleEstimate(calls, most[role], calls * tokens[role], calls * _ANSWER[role])
             for role, calls in expected.items()
             if not answering(construction.language, role).name.startswith("built-in/")}
    total = [sum(role.prompt_tokens for role in asked.values()), sum(role.completion_tokens for role in asked.values())]
    calls = sum(role.calls for role in asked.values())
    return Estimate(n, asked, prices.of(*total), calls * SECONDS / workers,
                    f"CIRCLED's {TURNS:g} turns a query, the length of the prompts and {SECONDS:g} s a request")


def _prompt_tokens(construction: Construction, query: BenchmarkQuery) -> dict[str, float]:
    caption, picture = "a caption of some twenty words, as models write them for a picture " * 2, Picture("")
    tasks: tuple[Task[Any], ...] = (
        CaptionTask(picture, construction.domain), MergeTask(caption, query.modification_text, construction.domain),
        DifferenceTask(picture, picture, (query.modification_text,), construction.domain),
    )
    found = {}
    for task in tasks:
        prompt = load(task.role)
        words = prompt.fill(task, in_words(task)) if prompt else ("", "")
        pictures = len(task.pictures()) * PICTURE if construction.language.sees else 0
        found[task.role] = sum(map(len, words)) / LETTERS + pictures
    return found
