"""Sets of requests and of sessions of requests, drawn over the ground truth of a gallery. The ranked images with
their ground truth, for evaluation only."""

from __future__ import annotations

import hashlib
import itertools
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from cir_core.garments.lexicon import GROUPS
from cir_core.sample.requests import (
    GROUP_SHARES,
    WORDINGS,
    Attributes,
    Kind,
    Meaning,
    Purpose,
    Request,
    Wants,
    in_principle,
    meanings,
    pattern_with_accent,
    shuffled,
    together,
    worded,
)

Truth = Mapping[str, Attributes]
Mask = npt.NDArray[np.bool_]
_KEYS = tuple(group.key for group in GROUPS)


def unmentioned(wants: Wants) -> list[str]:
    """The attribute groups that ``wants`` say nothing about."""
    return [key for key in _KEYS if key not in wants]


class Pool:
    """The images that are ranked, with their ground truth, in the order of ``truth``."""

    def __init__(self, truth: Truth) -> None:
        self.truth = truth
        self.ids = tuple(truth)
        self._row = {image_id: row for row, image_id in enumerate(self.ids)}
        self._values = {key: np.array([truth[image_id][key] for image_id in self.ids]) for key in _KEYS}
        self._with: dict[tuple[str, frozenset[str]], Mask] = {}

    def satisfying(self, wants: Wants, without: Sequence[str] = ()) -> Mask:
        """``[n]``: which images satisfy all of ``wants``; those of ``without`` count as not."""
        mask = np.ones(len(self.ids), dtype=np.bool_)
        for group, values in wants.items():
            if (group, values) not in self._with:
                self._with[group, values] = np.isin(self._values[group], sorted(values))
            mask &= self._with[group, values]
        mask[[self._row[image_id] for image_id in without]] = False
        return mask

    def shared(self, reference: Attributes, groups: Sequence[str]) -> npt.NDArray[np.int64]:
        """``[n]``: in how many of ``groups`` each image is as ``reference``."""
        counts = np.zeros(len(self.ids), dtype=np.int64)
        for group in groups:
            counts += self._values[group] == reference[group]
        return counts

    def rows(self, image_ids: Sequence[str]) -> list[int]:
        return [self._row[image_id] for image_id in image_ids]


REQUESTS, SESSIONS, TURNS = 320, 60, 4
KIND_SHARES: Mapping[Kind, int] = {"single": 45, "double": 25, "negated": 15, "comparative": 15}
#: Of comparatives ("a bit longer"), in percent.
LADDER_SHARES: Mapping[str, int] = {"sleeves": 30, "length": 30, "fit": 15, "colour": 15, "neckline": 10}
PAIRS = 60  # that are tried for a double request, before another reference is
CONTRADICTING = 5  # one session in so many takes something back
_K = TypeVar("_K")


@dataclass(frozen=True)
class ReferenceRequest:
    """A request for one turn."""

    reference_id: str
    request: Request


@dataclass(frozen=True)
class PlannedRequest:
    """What a person is going to ask for. ``takes_back``: something else than before, in the same group."""

    kind: Kind
    groups: tuple[str, ...]
    takes_back: bool = False


@dataclass(frozen=True)
class SessionPlan:
    """A session before anybody answers. The words of later turns depend on the image picked meanwhile (nobody asks
    for red where it is red), but are the same wherever they apply."""

    reference_id: str
    plan: tuple[PlannedRequest, ...]
    salt: str


@dataclass(frozen=True)
class RequestSet:
    """Requests for one turn, and sessions. The first ones of a set are a smaller set like it."""

    purpose: Purpose
    seed: int
    requests: tuple[ReferenceRequest, ...]
    sessions: tuple[SessionPlan, ...]

    def first(self, limit: int | None) -> RequestSet:
        """At most ``limit`` of the requests and of the sessions."""
        return replace(self, requests=self.requests[:limit], sessions=self.sessions[:limit])

    @property
    def digest(self) -> str:
        """16 hex digits of all that is asked."""
        asked = [[one.reference_id, one.request.text, _plain(one.request.wants)] for one in self.requests]
        planned = [[one.reference_id, one.salt, [[step.kind, step.groups, step.takes_back] for step in one.plan]]
                   for one in self.sessions]
        return hashlib.sha256(json.dumps([asked, planned], sort_keys=True).encode()).hexdigest()[:16]


def make_request_set(
    truth: Truth, *, purpose: Purpose = "measured", seed: int, requests: int = REQUESTS, sessions: int = SESSIONS,
    turns: int = TURNS,
) -> RequestSet:
    """Requests about the images of ``truth``, each of which at least one other image satisfies; fewer than asked for
    where the images are too few. References are used once, as long as there are enough."""
    pool, rng = Pool(truth), random.Random(f"requests/{purpose}/{seed}")
    references = _References(pool.ids, rng)
    planned = [PlannedRequest(kind, groups) for kind, groups in _slots(requests, rng)]
    made: list[ReferenceRequest] = []
    for number, slot in enumerate(planned):
        salt = f"{purpose}/{seed}/{number}"
        for reference_id in references:
            if request := _request(slot, pool, reference_id, {}, (reference_id,), purpose, salt):
                references.used(reference_id)
                made.append(ReferenceRequest(reference_id, request))
                break
    plans: list[SessionPlan] = []
    for number in range(sessions):
        salt = f"{purpose}/{seed}/session {number}"
        plan = _plan(turns, rng, takes_back=number % CONTRADICTING == CONTRADICTING - 1)
        for reference_id in references:
            if _request(plan[0], pool, reference_id, {}, (reference_id,), purpose, f"{salt}/1"):
                references.used(reference_id)
                plans.append(SessionPlan(reference_id, plan, salt))
                break
    return RequestSet(purpose, seed, tuple(made), tuple(plans))


def next_request(
    session: SessionPlan, turn: int, reference_id: str, earlier: Wants, used: Sequence[str], pool: Pool,
    purpose: Purpose,
) -> Request | None:
    """What the person asks for at ``turn`` (from 1), looking at ``reference_id``; None if no image but those of
    ``used`` could satisfy it and ``earlier``, the wants so far."""
    planned, salt = session.plan[turn - 1], f"{session.salt}/{turn}"
    found = _request(planned, pool, reference_id, earlier, used, purpose, salt)
    others: tuple[Kind, ...] = ("single", "negated", "comparative")
    for kind in others if planned.kind != "double" and not planned.takes_back else ():
        found = found or _request(replace(planned, kind=kind), pool, reference_id, earlier, used, purpose, salt)
    return found


def carried_on(earlier: Wants, wants: Wants) -> dict[str, frozenset[str]]:
    """All that is wanted after a new request: in a group where both cannot be had, the later one counts."""
    return {**earlier, **{group: (earlier.get(group, values) & values) or values for group, values in wants.items()}}


def _request(
    planned: PlannedRequest, pool: Pool, reference_id: str, earlier: Wants, used: Sequence[str], purpose: Purpose,
    salt: str,
) -> Request | None:
    reference = pool.truth[reference_id]
    for meaning in _candidates(planned, reference, purpose, salt):
        clashes = {group for group, values in meaning.wants.items() if not earlier.get(group, values) & values}
        if clashes != (set(planned.groups) if planned.takes_back else set()):
            continue
        possible = pool.satisfying(carried_on(earlier, meaning.wants), used).any()
        if possible and in_principle(reference, meaning.wants):
            return worded(meaning, WORDINGS[purpose], salt)
    return None


def _candidates(planned: PlannedRequest, reference: Attributes, purpose: Purpose, salt: str) -> Iterator[Meaning]:
    wording = WORDINGS[purpose]
    if planned.kind != "double":
        found = [one for one in meanings(reference, planned.groups[0], wording) if one.kind == planned.kind]
        yield from shuffled(found, salt)
    elif set(planned.groups) == {"pattern", "second_colour"}:
        yield from shuffled(list(pattern_with_accent(reference, wording)), salt)
    else:
        first, second = (
            shuffled([one for one in meanings(reference, group, wording) if one.kind != "negated"], salt)
            for group in planned.groups
        )
        for one, other in itertools.islice(itertools.product(first, second), PAIRS):
            if joined := together(one, other, wording):
                yield joined


def _slots(count: int, rng: random.Random) -> list[tuple[Kind, tuple[str, ...]]]:
    """Kinds and groups of ``count`` requests in their proportions, shuffled."""
    slots: list[tuple[Kind, tuple[str, ...]]] = []
    for kind, share in _allotted(count, KIND_SHARES).items():
        if kind == "double":
            slots += [(kind, tuple(_weighted(2, rng))) for _ in range(share)]
            continue
        groups = LADDER_SHARES if kind == "comparative" else GROUP_SHARES
        slots += [(kind, (group,)) for group, times in _allotted(share, groups).items() for _ in range(times)]
    rng.shuffle(slots)
    return slots


def _plan(turns: int, rng: random.Random, *, takes_back: bool) -> tuple[PlannedRequest, ...]:
    """Groups are asked for once, except for the one that is taken back at the last turn or the one before."""
    asked, plan, doubles = list[str](), list[PlannedRequest](), 1
    back = rng.choice(range(max(1, turns - 2), turns)) if takes_back and turns > 1 else None
    for number in range(turns):
        kind = rng.choices(list(KIND_SHARES), weights=list(KIND_SHARES.values()))[0]
        if number == back:
            plan.append(PlannedRequest("single", (rng.choice(asked),), takes_back=True))
            continue
        if kind == "double":
            kind, doubles = ("double", doubles - 1) if doubles else ("single", 0)
        among = LADDER_SHARES if kind == "comparative" else GROUP_SHARES
        left = {group: share for group, share in among.items() if group not in asked}
        chosen = _weighted(2 if kind == "double" else 1, rng, left)
        asked += chosen
        plan.append(PlannedRequest(kind, tuple(chosen)))
    return tuple(plan)


def _weighted(count: int, rng: random.Random, shares: Mapping[str, int] = GROUP_SHARES) -> list[str]:
    """``count`` different groups."""
    left, chosen = dict(shares), list[str]()
    for _ in range(min(count, len(left))):
        chosen.append(rng.choices(list(left), weights=list(left.values()))[0])
        del left[chosen[-1]]
    return chosen


def _allotted(count: int, shares: Mapping[_K, int]) -> dict[_K, int]:
    """``count`` in proportion to ``shares``, by largest remainders."""
    exact = {key: count * share / sum(shares.values()) for key, share in shares.items()}
    given = {key: int(value) for key, value in exact.items()}
    for key in sorted(exact, key=lambda key: given[key] - exact[key])[:count - sum(given.values())]:
        given[key] += 1
    return given


class _References:
    """Images in a random order; those used go to the end of it."""

    def __init__(self, ids: Sequence[str], rng: random.Random) -> None:
        self._order = rng.sample(ids, len(ids))

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._order))

    def used(self, image_id: str) -> None:
        self._order.remove(image_id)
        self._order.append(image_id)


def _plain(wants: Wants) -> dict[str, list[str]]:
    return {group: sorted(values) for group, values in wants.items()}
