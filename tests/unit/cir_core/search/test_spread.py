"""Images that look unlike one another."""

import numpy as np

from cir_core.search.spread import farthest_first


def test_variants_come_after_everything_else():
    designs = np.eye(3, 4, dtype=np.float32)
    variants = np.concatenate([designs + np.array([0, 0, 0, place / 10]) for place in range(4)]).astype(np.float32)
    variants /= np.linalg.norm(variants, axis=1, keepdims=True)
    chosen = farthest_first(variants, 12)
    assert chosen[0] == 0 and {row % 3 for row in chosen[:3]} == {0, 1, 2}
    assert sorted(chosen) == list(range(12))


def test_no_more_than_there_are():
    assert farthest_first(np.zeros((0, 4), np.float32), 3) == []
    assert farthest_first(np.ones((2, 1), np.float32), 3) == [0, 1]
    assert farthest_first(np.ones((2, 1), np.float32), 0) == []
