"""Results as points of a plane."""

import numpy as np
import pytest
from sklearn.manifold import trustworthiness

from cir_core.search.projection import Projections, project


def clusters(count, each, dim=24):
    random = np.random.default_rng(1)
    centres = np.repeat(random.normal(size=(count, dim)), each, axis=0)
    vectors = centres + 0.05 * random.normal(size=(count * each, dim))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def test_neighbours_stay_neighbours_and_it_is_the_same_each_time():
    vectors = clusters(5, 12)
    places = project(vectors)
    assert places.min() == 0 and places.max() == 1
    assert trustworthiness(vectors, places, n_neighbors=8) > 0.9
    assert np.array_equal(places, project(vectors))


@pytest.mark.parametrize("count", [0, 1, 2, 3, 11, 12, 13])
def test_few_images(count):
    places = project(clusters(13, 1)[:count])
    assert places.shape == (count, 2) and np.isfinite(places).all() and ((places >= 0) & (places <= 1)).all()


def test_copies_of_one_image_lie_in_the_middle():
    assert np.array_equal(project(np.repeat(clusters(1, 1), 20, axis=0)), np.full((20, 2), 0.5, dtype=np.float32))


def test_a_layout_is_computed_once():
    vectors, asked, maps = clusters(2, 10), [], Projections()
    ids = [f"i{n}" for n in range(20)]

    def features_of(wanted):
        asked.append(len(wanted))
        return vectors[: len(wanted)]

    first = maps.of("gallery", ids, features_of)
    assert maps.of("gallery", ids, features_of) is first
    maps.of("gallery", ids[:5], features_of)
    maps.of("other", ids, features_of)
    assert asked == [20, 5, 20]
