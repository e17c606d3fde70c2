"""What results and galleries have of what was asked: groups that keep the ranking's order, and counts."""

import numpy as np
import pytest

from cir_core.methods import guidance
from cir_core.methods.guidance import Aspect, Guidance, ticks
from cir_core.search import having
from cir_core.search.having import Group, Having, groups_of
from cir_core.search.searcher import Searcher
from cir_core.types.composition import Composition
from tests.fakes.colours import colour_gallery
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ReplayingLanguageModel

RED = Aspect("colour", "red", ("red",), ("green", "blue"), turn=1)
BLUE = Aspect("tint", "blue", ("blue",), ("green",), turn=2)
GREY = Aspect("shade", "grey", ("zebra",), ("red", "green", "blue"), turn=2)


def made(*aspects, settings=Guidance()):
    return Composition(np.ones(2), ()).with_parts({"guidance": settings, "aspects": aspects})


def read(text):
    """One result for each sign: the number of three requests that it lacks, "?" if of one it is not sure."""
    lost = [["not sure"] if sign == "?" else ["no"] * int(sign) for sign in text]
    return [[(label, tick) for label, tick in zip("abc", (*one, "yes", "yes", "yes"), strict=False)] for one in lost]


def sizes(text):
    return [one.size for one in groups_of(read(text))]


@pytest.mark.parametrize(("results", "groups"), [
    ("000", [3]), ("00111", [2, 3]), ("0010111", [4, 3]), ("00?0111", [4, 3]), ("00?111", [2, 4]),
    ("111222", [3, 3]), ("112121", [6]), ("121", [3]), ("011223", [1, 2, 2, 1]), ("333", [3]), ("1", [1]), ("0", [1]),
    ("01111112111", [1, 6, 4]), ("0111112111", [1, 9]),    # a row of those that lack one thing alone
    ("0" + "1" * 400 + "2" * 599, [1, 400, 599]),
])
def test_results_are_cut_only_where_the_order_agrees(results, groups):
    assert sizes(results) == groups and sum(groups) == len(results)


def test_groups_say_what_is_in_them():
    assert groups_of(read("0?1012")) == (Group(4, 0, 1, True, True), Group(1, 1, 1, True, False),
                                         Group(1, 2, 2, True, False))
    assert groups_of(read("0??")) == (Group(1, 0, 0, False, False), Group(2, 1, 1, False, True))
    assert groups_of([]) == groups_of([[], []]) == ()
    # Of a picture that is not read nothing is known.
    assert groups_of([*read("0"), [], *read("1")]) == (Group(1, 0, 0, False, False), Group(2, 1, 3, True, True))


@pytest.fixture
def searcher(tmp_path):
    return Searcher(colour_gallery(tmp_path), FakeEncoder(words={"zebra": 3}), ReplayingLanguageModel({}))


def likely(searcher, aspect):
    """By hand: how likely the wanted texts are, of each image."""
    found = {}
    for image_id in searcher.gallery.ids:
        x = searcher.features_of([image_id])[0].astype(float)
        yes, no = (sum(np.exp(x @ searcher.text_vector(text) / 0.025) for text in texts)
                   for texts in (aspect.wanted, aspect.others))
        found[image_id] = yes / (yes + no)
    return found


def seen(searcher, aspect):
    return {one for one, p in likely(searcher, aspect).items() if p > 0.5}


@pytest.fixture
def even(searcher):
    """Images as much one as the other, which rounding decides."""
    return [one for aspect in (RED, BLUE) for one, p in likely(searcher, aspect).items() if abs(p - 0.5) < 1e-3]


@pytest.mark.parametrize("excluded", [(), ("r3g0b0", "r3g1b2", "upload:1"), ("r2g0b1",)])
def test_counts_are_of_the_whole_gallery_without_what_cannot_be_shown(searcher, even, excluded):
    shown = set(searcher.gallery.ids) - {*excluded, *even}
    red, blue = (seen(searcher, one) & shown for one in (RED, BLUE))
    found = Having().of(searcher, made(RED, BLUE), (*excluded, *even), enough=64)
    assert (found.images, found.requests, found.whole, found.perhaps) == (len(shown), 2, len(red & blue), 0)
    assert found.fewest == 0 and found.unseen == () and red & blue and red - blue and blue - red
    # Without red those remain that are blue, and the other way round.
    rarest, own, rest = (RED, red, blue) if len(blue) > len(red) else (BLUE, blue, red)
    assert (found.rarest, found.own, found.without) == (rarest, len(own), len(rest))


def test_that_none_has_all_and_what_none_has_is_counted(searcher, even):
    red, grey = seen(searcher, RED) - set(even), seen(searcher, GREY)
    assert len(grey) == 1 and not red & grey, "the black image alone"
    found = Having().of(searcher, made(RED, GREY), [*grey, *even], enough=5)
    assert (found.whole, found.fewest, found.unseen) == (0, 1, ("grey",))
    assert (found.rarest, found.without, found.own) == (GREY, len(red), 0)
    again = Having().of(searcher, made(RED, GREY), set(even) - grey, enough=5)
    assert (again.whole, again.fewest, again.unseen, again.own) == (0, 1, (), 1)


def test_nothing_is_counted_where_there_is_nothing_to_say(searcher, even):
    enough = len(seen(searcher, RED) - set(even))
    assert Having().of(searcher, made(RED), even, enough=enough) is None, "as many have all as are shown"
    assert Having().of(searcher, made(RED), even, enough=enough + 1).whole == enough
    kept, marked = Aspect("colour", "red", ("red",), ("green",)), Aspect("hue", "red", ("red",), ("green",), 1, "more")
    for other in (None, made(), made(kept), made(marked), made(RED, settings=Guidance(asked=0))):
        assert Having().of(searcher, other, enough=64) is None
    assert Having().of(searcher, made(RED), searcher.gallery.ids, enough=64) is None, "nothing can be shown"


def test_counts_agree_with_the_ticks_of_all_results(searcher, even):
    """The score's parts say of each request what the counts say."""
    composition = made(RED, BLUE)
    features = searcher.features_of([one for one in searcher.gallery.ids if one not in even])
    score = guidance.guided_score(features[0], (RED, BLUE), Guidance(), searcher.encoder)
    rows = list(ticks(composition, score.ledgers([()] * len(features), features @ score.vectors[1:].T)))
    found = Having().of(searcher, composition, even, enough=64)
    assert found.whole == sum(all(tick == "yes" for _, tick in row) for row in rows) > 0


class Reader:
    """Reads red of one dimension: sure at both ends, and not in between."""

    def columns(self, wanted, others):
        if wanted != ("red",):
            return None
        vector = np.zeros((2, 32), np.float32)
        vector[0, 0] = 20
        return vector, np.array([-10, 0], np.float32), 1


def test_of_some_images_it_is_not_sure(searcher, even, monkeypatch):
    monkeypatch.setattr(having, "aspect_reader", lambda encoder: Reader())
    blue = seen(searcher, BLUE) - set(even)
    p = {one: 1 / (1 + np.exp(10 - 20 * searcher.features_of([one])[0, 0])) for one in searcher.gallery.ids}
    yes, may = ({one for one, value in p.items() if value >= least} for least in (0.988, 0.012 + 1e-9))
    assert yes and may - yes and set(p) - may
    found = Having().of(searcher, made(RED, BLUE), even, enough=64)
    assert (found.whole, found.perhaps) == (len(yes & blue), len((may - yes) & blue))


def test_what_the_encoder_does_not_know_has_nothing(searcher, even, monkeypatch):
    whole = sorted((seen(searcher, RED) & seen(searcher, BLUE)) - set(even))
    unlike = searcher.features_of(whole[:2])
    monkeypatch.setattr(having, "undescribed", lambda features, encoder: np.array(
        [any(np.array_equal(one, other) for other in unlike) for one in features]))
    assert Having().of(searcher, made(RED, BLUE), even, enough=64).whole == len(whole) - 2


def test_a_gallery_is_read_once_for_the_values_of_an_aspect(searcher, monkeypatch):
    read, shares = [], having._shares
    monkeypatch.setattr(having, "_shares", lambda x, *values: read.append(len(x)) or shares(x, *values))
    green = Aspect("colour", "green", ("green",), ("blue", "red"), turn=3)    # of the same values as red
    counts = Having()
    first = counts.of(searcher, made(RED), enough=64)
    both = counts.of(searcher, made(RED, BLUE), ["r3g0b0"], enough=64)
    other = counts.of(searcher, made(green), enough=64)
    assert read == [64, 64]
    assert (first.images, both.images) == (64, 63) and other == Having().of(searcher, made(green), enough=64) != first
    assert counts.of(searcher, made(RED), enough=64) == first, "what is kept is not changed"


def test_large_galleries_are_read_in_parts(searcher, monkeypatch):
    whole = Having().of(searcher, made(RED, BLUE), enough=64)
    monkeypatch.setattr(having, "_CHUNK", 7)
    assert Having().of(searcher, made(RED, BLUE), enough=64) == whole
    monkeypatch.setattr(having, "_KEPT", 10)   # too small to keep anything
    assert Having().of(searcher, made(RED, BLUE), enough=64) == whole
