"""The loss, both rules and the schedule against separately written references."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from cir_core.relevance.training.losses import pair_loss
from cir_core.relevance.training.negatives import Schedule, between_drops, top_below_target

# Multiples of 1/8, of which many are equal and whose differences are exact.
POOLS = st.lists(st.integers(-8, 8).map(lambda n: n / 8), min_size=1, max_size=30)


def top_reference(scores, target, n):
    """CIRQRS, section 3.3, with sorted tuples."""
    below = sorted((-score, row) for row, score in enumerate(scores) if score < scores[target])
    return [row for _, row in below[:n]] or [row for row in range(len(scores)) if row != target]


def drops_reference(scores, target):
    """QuRe's rule, with ranks from 0 and pairs of (drop, rank before it)."""
    ranked = sorted(range(len(scores)), key=lambda row: (-scores[row], row))
    after = ranked.index(target)
    drops = [(scores[ranked[rank]] - scores[ranked[rank + 1]], rank) for rank in range(after, len(ranked) - 1)]
    if not drops:
        return [row for row in range(len(scores)) if row != target]
    drops.sort(key=lambda drop: (-drop[0], drop[1]))
    for (_, one), (_, other) in zip(drops, drops[1:], strict=False):
        if abs(one - other) > 1:
            return [ranked[rank] for rank in range(min(one, other) + 1, max(one, other) + 1)]
    return ranked[after + 1:]


@settings(deadline=None, max_examples=400)
@given(POOLS, st.data())
def test_rules_equal_the_references(pool, data):
    place = data.draw(st.sampled_from(["anywhere", "top", "bottom"]))
    order = sorted(range(len(pool)), key=lambda row: pool[row])
    target = {"top": order[-1], "bottom": order[0], "anywhere": data.draw(st.integers(0, len(pool) - 1))}[place]
    scores, n = np.array(pool, np.float32), data.draw(st.integers(1, 8))
    assert top_below_target(scores, target, n).tolist() == top_reference(pool, target, n)
    assert between_drops(scores, target).tolist() == drops_reference(pool, target)
    for found in (top_below_target(scores, target, n), between_drops(scores, target)):
        assert target not in found and len(set(found.tolist())) == len(found) and found.dtype == np.int64


def test_top_of_scores_written_out():
    scores = np.array([0.9, 0.5, 0.7, 0.5, 0.1, 0.4], np.float32)
    assert top_below_target(scores, 2, 3).tolist() == [1, 3, 5]     # equal scores by row; never row 0, above the target
    assert top_below_target(scores, 1, 9).tolist() == [5, 4]        # row 3 equals the target
    assert top_below_target(scores, 4, 2).tolist() == [0, 1, 2, 3, 5]   # none below: all others


def test_drops_of_scores_written_out():
    # Ranked: 0.95 | target 0.9, 0.85, 0.5, 0.45, 0.4, 0.1: the drops 0.35 (to row 3) and 0.3 (to row 6) enclose
    # rows 3, 4 and 5.
    scores = np.array([0.95, 0.9, 0.85, 0.5, 0.45, 0.4, 0.1], np.float32)
    assert between_drops(scores, 1).tolist() == [3, 4, 5]
    assert between_drops(scores, 5).tolist() == [6]                 # one drop: all below
    assert between_drops(scores, 6).tolist() == [0, 1, 2, 3, 4, 5]  # none below: all others
    # The steepest, 0.4 and 0.3, are neighbours; the next pair in the order of steepness is 0.3 and 0.2.
    steps = np.array([1.0, 0.6, 0.3, 0.25, 0.05, 0.0], np.float32)
    assert between_drops(steps, 0).tolist() == [2, 3]


def test_the_loss_is_the_divergence_of_one_and_zero_from_the_softmax():
    rng = torch.Generator().manual_seed(0)
    positive, negative = torch.randn(20, generator=rng), torch.randn(20, generator=rng)
    tau = 0.07
    plain = [math.log1p(math.exp(-(float(p) - float(n)) / tau)) for p, n in zip(positive, negative, strict=True)]
    assert float(pair_loss(positive, negative, tau)) == pytest.approx(sum(plain) / 20, rel=1e-5)
    logits = torch.log_softmax(torch.stack([positive, negative], dim=1) / tau, dim=1)
    divergence = F.kl_div(logits, torch.tensor([[1.0, 0.0]]).expand(20, 2), reduction="batchmean")
    assert float(pair_loss(positive, negative, tau)) == pytest.approx(float(divergence), rel=1e-5)
    assert float(pair_loss(torch.zeros(3), torch.zeros(3), tau)) == pytest.approx(math.log(2))


def test_the_loss_moves_scores_and_temperature_and_stays_finite():
    positive, negative = torch.zeros(2, requires_grad=True), torch.ones(2, requires_grad=True)
    tau = torch.tensor(0.01, requires_grad=True)
    loss = pair_loss(positive, negative, tau)
    loss.backward()
    assert loss.item() == pytest.approx(100) and (positive.grad < 0).all() and (negative.grad > 0).all()
    assert float(tau.grad) < 0 and torch.isfinite(tau.grad)


def test_schedules_of_the_paper():
    assert Schedule(30, 5, 50).rebuilds == ((6, 50), (12, 25), (18, 12), (24, 6))
    assert Schedule(50, 6, 100).rebuilds == ((8, 100), (16, 50), (24, 25), (32, 12), (40, 6), (48, 3))
    assert [Schedule(30, 5, 50).rebuild(epoch) for epoch in (0, 5, 6, 7, 29)] == [None, None, 50, None, None]


def test_a_schedule_never_falls_below_one_negative():
    assert Schedule(5, 5, 2).rebuilds == ((1, 2), (2, 1), (3, 1), (4, 1))
    assert Schedule(3, 1, 9).rebuilds == ()     # warm-up alone


@pytest.mark.parametrize(("epochs", "stages", "n"), [(5, 6, 10), (5, 0, 10), (0, 0, 10), (5, 2, 0), (-1, 1, 5)])
def test_bad_schedules(epochs, stages, n):
    with pytest.raises(ValueError, match="cannot have"):
        Schedule(epochs, stages, n)
