"""What marks do: how much of what two images marked "more", and two marked "less", share is in the first ten.

``python -m benchmarks.marks HOME`` plays sessions of the sample gallery (those of ``cirque evaluate requests``) up to
their second request, marks results of the first, and answers the second with the marks and without. Two kinds of marks:

* *taste*: two images that show a value that the reference does not, of those among the first 20 the most frequent, in a
  group that no request mentions; against two that show another such value in another group;
* *random*: any four of the first 20.

What a pair shares is by the ground truth, in groups that no request mentions, without what the other pair shares too.
"""

from __future__ import annotations

import argparse
import itertools
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from benchmarks.own_settings import settings_of
from cir_core.encoders.specs import BUNDLED, load_encoder
from cir_core.evaluation.metrics.bootstrap import estimates
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.methods.declared import builtin_methods, find_method
from cir_core.methods.guidance import MARKED
from cir_core.sample.evaluate_requests import pick, read_truth
from cir_core.sample.gallery import ensure_sample, sample_folder
from cir_core.sample.request_figures import judge
from cir_core.sample.request_set import Pool, SessionPlan, carried_on, make_request_set, next_request, unmentioned
from cir_core.sample.requests import Request, Wants
from cir_core.search.searcher import Previous, Searcher
from cir_core.types.composition import Marks
from cir_core.types.records import MethodSettings

SEEN, MARKED_FROM, PAIR, REFERENCES = 10, 20, 2, 24
Kind = Literal["taste", "random"]
Values = Mapping[str, str]   # group to value
ROWS = ("what those marked more share", "what those marked less share", "satisfaction@5", "preservation@5",
        "stays, in groups that marks do not speak of", "overlap@10 with the turn without marks")


@dataclass(frozen=True)
class SecondTurn:
    """A second request, and the marks that come with it. ``more`` and ``less``: what either pair alone shares."""

    reference_id: str
    request: Request
    wants: Wants
    used: tuple[str, ...]
    previous: Previous
    marks: Marks
    more: Values
    less: Values


def second_turns(
    searcher: Searcher, pool: Pool, settings: MethodSettings, plans: Sequence[SessionPlan], kind: Kind, seed: int
) -> Iterator[SecondTurn]:
    """One for each of ``plans`` with a second request and pairs that share something."""
    for plan in plans:
        used: tuple[str, ...] = (plan.reference_id,)
        first = next_request(plan, 1, plan.reference_id, {}, used, pool, "measured")
        if first is None:
            continue
        before = searcher.turn(searcher.gallery_reference(plan.reference_id), first.text, settings)
        shown = [hit.image_id for hit in before.hits[:MARKED_FROM]]
        next_id = pick(shown[:SEEN], plan.reference_id, [first], first.wants, pool)
        used = (*used, next_id)
        second = next_request(plan, 2, next_id, first.wants, used, pool, "measured")
        if second is None:
            continue
        wants = carried_on(first.wants, second.wants)
        rng = random.Random(f"marks/{seed}/{plan.salt}")
        marks = _marks([one for one in shown if one != next_id], next_id, wants, pool, kind, rng)
        more, less = (_shared(ids, wants, pool) for ids in (marks.more_like, marks.less_like))
        only_more = {group: value for group, value in more.items() if less.get(group) != value}
        only_less = {group: value for group, value in less.items() if more.get(group) != value}
        if only_more and only_less:
            previous = Previous.after(None, used[:1], before.vector, before.hits, before.composition)
            yield SecondTurn(next_id, second, wants, used, previous, marks, only_more, only_less)


def measured(turn: SecondTurn, searcher: Searcher, pool: Pool, settings: MethodSettings) -> list[list[float]]:
    """``[2, ROWS]``: without the marks, and with them."""
    reference, groups = pool.truth[turn.reference_id], unmentioned(turn.wants)
    silent = [group for group in groups if group not in turn.more and group not in turn.less]
    found = [searcher.turn(searcher.gallery_reference(turn.reference_id), turn.request.text, settings,
                           previous=turn.previous, marks=marks, k=SEEN) for marks in (Marks(), turn.marks)]
    shown = [[hit.image_id for hit in one.hits] for one in found]
    judged = [judge(one, turn.request, turn.reference_id, turn.wants, turn.used, pool) for one in found]
    return [[_share(ids, turn.more, pool), _share(ids, turn.less, pool), one.satisfaction, one.preservation,
             _share(ids, {group: reference[group] for group in silent}, pool), len({*ids} & {*shown[0]}) / SEEN]
            for ids, one in zip(shown, judged, strict=True)]


def _marks(shown: Sequence[str], reference_id: str, wants: Wants, pool: Pool, kind: Kind, rng: random.Random) -> Marks:
    """No marks where there is no taste to have."""
    if kind == "random":
        four = rng.sample(shown, 2 * PAIR)
        return Marks(tuple(four[:PAIR]), tuple(four[PAIR:]))
    reference = pool.truth[reference_id]
    counted = Counter((group, pool.truth[one][group]) for one in shown for group in unmentioned(wants)
                      if pool.truth[one][group] != reference[group])
    for (liked, value), (disliked, other) in itertools.permutations((pair for pair, _ in counted.most_common()), 2):
        more = [one for one in shown if pool.truth[one][liked] == value and pool.truth[one][disliked] != other]
        less = [one for one in shown if pool.truth[one][disliked] == other and pool.truth[one][liked] != value]
        if liked != disliked and min(len(more), len(less)) >= PAIR:
            return Marks(tuple(more[:PAIR]), tuple(less[:PAIR]))
    return Marks()


def _shared(ids: Sequence[str], wants: Wants, pool: Pool) -> Values:
    read = [pool.truth[one] for one in ids]
    return {group: read[0][group] for group in unmentioned(wants) if len({one[group] for one in read}) == 1}


def _share(ids: Sequence[str], values: Values, pool: Pool) -> float:
    """Of the ``values`` of the images; 1 of none."""
    shown = [pool.truth[one][group] == value for one in ids for group, value in values.items()]
    return float(np.mean(shown)) if shown else 1.0


def _report(values: Sequence[Sequence[Sequence[float]]], seed: int) -> None:
    without, given = np.moveaxis(np.array(values), 1, 0)   # [turns, ROWS] each
    for name, before, after, change in zip(
        ROWS, without.mean(axis=0), given.mean(axis=0), estimates([given - without], seed=seed), strict=True,
    ):
        interval = "" if change.low is None or change.high is None else (
            f" ({100 * change.low:+.1f} to {100 * change.high:+.1f})")
        print(f"  {name:45} {100 * before:5.1f} -> {100 * after:5.1f}   {100 * change.value:+5.1f}{interval}",
              flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.marks", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", type=Path, help="folder whose sample gallery is used; drawn and indexed if necessary")
    parser.add_argument("--methods", default="guided", help="names, separated by commas")
    parser.add_argument("--references", type=int, default=REFERENCES)
    parser.add_argument("--seed", type=int, help="other sessions and intervals")
    options = parser.parse_args()
    encoder = load_encoder(BUNDLED)
    seed: int = settings_of(options.home).seed if options.seed is None else options.seed
    gallery = ensure_sample(options.home, encoder)
    truth = read_truth(sample_folder(options.home))
    pool = Pool({image_id: truth[image_id] for image_id in gallery.ids})
    searcher = Searcher(gallery, encoder, BuiltinLanguageModel(encoder))
    plans = make_request_set(pool.truth, seed=seed, requests=0, sessions=3 * options.references, turns=2).sessions
    print(f"Gallery {gallery.digest}, encoder {encoder.identity.revision}, seed {seed}; a wish from marks weighs "
          f"{MARKED:g} of what is asked. In percent, without marks -> with them, differences with 95 % bootstrap "
          "intervals.")
    for name in options.methods.split(","):
        settings = find_method(name, builtin_methods()).settings
        for kind in ("taste", "random"):
            turns = itertools.islice(second_turns(searcher, pool, settings, plans, kind, seed), options.references)
            found = [measured(turn, searcher, pool, settings) for turn in turns]
            print(f"{name}, {kind} marks, {len(found)} references", flush=True)
            _report(found, seed)


if __name__ == "__main__":
    main()
