"""What a long job will ask, cost and take, before it begins or goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev
from time import monotonic
from typing import Any

from cir_core.jobs.journal import JobProgress
from cir_core.language.base import LanguageModel
from cir_core.language.openai.messages import in_words
from cir_core.language.prompts import load
from cir_core.language.tasks import Task
from cir_core.language.wrappers.routed import answering
from cir_core.support.texts import counted

_LETTERS = 4                # of a token of English
_PICTURE = 85               # tokens of an image of 512 pixels at low detail; servers differ
_CAPTION = 20               # tokens of the caption that stands for it
SECONDS = 2.0               # of a request, until one was measured
TRIAL = 12                  # items that are enough to measure requests and tokens
_UNKNOWN = 2.0              # a time that rests on one item or on none may be so many times shorter, or longer
_APART = 5.0                # times the mean of the others
_CONFIDENCE = 0.95          # one-sided, so 90 % of the ranges hold the time


@dataclass(frozen=True)
class RoleEstimate:
    calls: float
    most: int               # at worst: no item succeeds and every text is tried again
    prompt_tokens: float
    completion_tokens: float


@dataclass(frozen=True)
class TimeRange:
    """Seconds: what is expected, and between what it may well be."""

    expected: float
    shortest: float
    longest: float

    def __str__(self) -> str:
        """"2 to 5 min"."""
        low, high = (_rounded(seconds, self.longest) for seconds in (self.shortest, self.longest))
        if low == high:
            return f"about {high}"
        return f"{low.removesuffix(high[high.index(' '):])} to {high}"


def _rounded(seconds: float, longest: float) -> str:
    """In the unit that suits ``longest``, unless it is less than one of that."""
    if longest >= 5400 and seconds >= 3600:
        return f"{seconds / 3600:.1f} h"
    if longest >= 90 and seconds >= 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.0f} s"


def time_left(items: int, workers: int, warm: Sequence[float], cold: Sequence[float] = ()) -> TimeRange:
    """How long ``items`` take, ``workers`` at a time, when others took ``warm`` seconds each.

    ``cold``: seconds of items that may have loaded models; what they took beyond a warm one is added once. The range is
    that of a sum of items as different as the measured ones (Student's t). If one took far longer than all others, it
    may have loaded something, or more such items may follow: the shortest time counts it once, the longest takes it for
    one of them.
    """
    if not items or not (warm or cold):
        return TimeRange(0.0, 0.0, 0.0)
    rounds = max(1.0, items / workers)
    if not warm:
        return TimeRange(rounds * fmean(cold), fmean(cold), rounds * fmean(cold))   # at best all of it was loading
    *usual, longest = sorted(warm)
    apart = longest if len(usual) > 1 and longest > _APART * fmean(usual) else 0.0
    if not apart:
        usual.append(longest)
    each = fmean(usual)
    beyond = _UNKNOWN - 1
    if len(usual) > 1:
        from scipy.special import stdtrit  # takes a while, and a server that starts needs none

        beyond = 0.0 if not each else float(stdtrit(len(usual) - 1, _CONFIDENCE)) * stdev(usual) / each * sqrt(
            1 / len(usual) + 1 / items)
    start = max(0.0, fmean(cold) - each) if cold else 0.0
    work = rounds * each
    once = start + max(0.0, apart - each)
    return TimeRange(once + work, once + work / (1 + beyond),
                     max(once + work * (1 + beyond), start + rounds * fmean(warm)))


class Pace:
    """How fast a run is, from the end of its first ``workers`` items on: these load models, beside each other."""

    def __init__(self, workers: int = 1, clock: Callable[[], float] = monotonic) -> None:
        self._workers, self._clock = workers, clock
        self._done, self._before = 0, -1        # -1: not begun
        self._start: tuple[float, int] | None = None

    def update(self, done: int) -> None:
        """So many items are done, those of earlier runs included. The first call is that of the beginning."""
        self._done = done
        if self._before < 0:
            self._before = done
        elif self._start is None and done >= self._before + self._workers:
            self._start = self._clock(), done

    @property
    def rate(self) -> float | None:
        """Items a second; None until one more has finished."""
        began, first = self._start or (0.0, self._done)
        seconds = self._clock() - began
        return (self._done - first) / seconds if self._done > first and seconds > 0 else None


def time_unmeasured(calls: float, workers: int) -> TimeRange:
    """Of so many requests, of which none was measured."""
    expected = calls * SECONDS / workers
    return TimeRange(expected, expected / _UNKNOWN, expected * _UNKNOWN)


@dataclass(frozen=True)
class Estimate:
    """``sessions``: items that are left. ``cost`` is None without prices. ``basis`` says what the numbers rest on."""

    sessions: int
    roles: Mapping[str, RoleEstimate]
    cost: float | None
    time: TimeRange
    basis: str

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


def estimate_job(
    left: int, roles: Mapping[str, RoleEstimate], basis: str, *, workers: int, prices: Prices, before: JobProgress,
    things: tuple[str, str] = ("session", "sessions"),
) -> Estimate:
    """For ``left`` items of which ``roles`` assumes so much, for the reasons in ``basis``. If enough items are in
    ``before``, what those asked counts instead, and if there are three, what they took. Answers that are in the cache
    cost nothing, which is not known here."""
    over = f"the {counted(before.items, *things)} that are over"
    basis = basis if roles else "the built-in model, which costs nothing"
    time = time_left(left, workers, before.warm, before.cold)
    if left and before.items >= TRIAL:
        share, usage = left / before.items, before.usage
        roles = _scaled(roles, usage.calls * share, usage.prompt_tokens * share, usage.completion_tokens * share)
        basis = f"measured on {over}"
    elif before.items > 2:
        basis = f"{basis}, and the time of {over}"
    else:
        time = time_unmeasured(sum(role.calls for role in roles.values()), workers)
        basis += f" and {SECONDS:g} s a request" if roles else ""
    cost = prices.of(sum(role.prompt_tokens for role in roles.values()),
                     sum(role.completion_tokens for role in roles.values()))
    return Estimate(left, roles, cost if roles else None, time, basis)


def _scaled(
    roles: Mapping[str, RoleEstimate], calls: float, prompt: float, completion: float
) -> dict[str, RoleEstimate]:
    """With these sums, in the assumed proportions."""
    by = (calls / (sum(role.calls for role in roles.values()) or 1.0),
          prompt / (sum(role.prompt_tokens for role in roles.values()) or 1.0),
          completion / (sum(role.completion_tokens for role in roles.values()) or 1.0))
    return {name: RoleEstimate(role.calls * by[0], role.most, role.prompt_tokens * by[1],
                               role.completion_tokens * by[2]) for name, role in roles.items()}


def asked(calls: float, most: int, prompt_tokens: float, answer_tokens: float) -> RoleEstimate:
    """``calls`` requests with so many tokens each."""
    return RoleEstimate(calls, most, calls * prompt_tokens, calls * answer_tokens)


def is_free(language: LanguageModel, role: str) -> bool:
    """Whether a model of this machine answers, not a server."""
    return answering(language, role).name.startswith(("built-in/", "blip"))


def prompt_tokens(language: LanguageModel, task: Task[Any]) -> float:
    """Of the prompt with its images, or with captions in their place."""
    prompt = load(task.role)
    words = sum(map(len, prompt.fill(task, in_words(task)))) / _LETTERS if prompt else 0.0
    return words + len(task.pictures()) * (_PICTURE if language.sees else _CAPTION)
